package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// counting returns a pathway that greets the caller. At each message it requests a count from another system and says it.
func counting(greeting, system string) graph.Document {
	return graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(fmt.Sprintf(`{"id":"begin","type":"Wait for Response","data":{"name":"Begin","isStart":true,"text":%q}}`, greeting)),
			json.RawMessage(fmt.Sprintf(`{"id":"count","type":"Webhook","data":{"name":"Count","url":%q,"method":"POST","body":"{}",
				"responseData":[{"name":"n","data":"$.n"}]}}`, system)),
			json.RawMessage(`{"id":"said","type":"Wait for Response","data":{"name":"Said","text":"That is number {{n}}."}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id":"e1","source":"begin","target":"count","data":{"alwaysPick":true}}`),
			json.RawMessage(`{"id":"e2","source":"count","target":"said","data":{"alwaysPick":true}}`),
			json.RawMessage(`{"id":"e3","source":"said","target":"count","data":{"alwaysPick":true}}`),
		},
	}
}

// counter starts the system that counts, and returns its URL. Before each answer it calls the given function with the count.
func counter(t *testing.T, before func(ctx context.Context, n int)) (address string) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the context does not end when the client disconnects
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		before(r.Context(), mine)
		fmt.Fprintf(w, `{"n":%d}`, mine)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// refusal is the error of a generated client if the server refuses a request.
type refusal interface {
	error
	GetStatusCode() int
}

// status returns the HTTP status of a refusal, or 0 for another error.
func status(err error) int {
	if r, ok := errors.AsType[refusal](err); ok {
		return r.GetStatusCode()
	}
	return 0
}

// TestChatOverTwoNodes sends the turns of a chat to two servers on one database, first alternately and then concurrently. It checks that
// turns run one at a time, and that none is lost or taken twice.
func TestChatOverTwoNodes(t *testing.T) {
	t.Parallel()
	const alternating = 6
	hold, held := make(chan struct{}), make(chan struct{}, 1)
	system := counter(t, func(ctx context.Context, n int) {
		if n == alternating+1 {
			held <- struct{}{}
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
	})
	config := nodes(t, authority(t))
	one, two := server.StartTwo(t, config)
	both := []*server.Server{one, two}
	chat := both[0].Chat(t, both[1].Publish(t, counting("Go on.", system))).ChatID
	for i := range alternating {
		state := both[i%2].Say(t, chat, fmt.Sprint("Word ", i+1))
		if want := fmt.Sprintf("That is number %d.", i+1); !slices.Equal(state.AssistantResponses, []string{want}) {
			t.Fatalf("turn %d is answered with %q", i+1, state.AssistantResponses)
		}
	}
	say := func(i int) error {
		_, err := both[i%2].API.SendPathwayChatMessage(t.Context(), &pathwaysoas.PathwayChatTurn{Message: fmt.Sprint("At once ", i)},
			pathwaysoas.SendPathwayChatMessageParams{ChatID: chat})
		return err
	}
	var first error
	var turn sync.WaitGroup
	turn.Go(func() { first = say(0) })
	<-held
	for i := 1; i <= 4; i++ {
		if err := say(i); status(err) != http.StatusConflict {
			t.Errorf("a turn while another one is taken gives %v", err)
		}
	}
	close(hold)
	turn.Wait()
	if first != nil {
		t.Error(first)
	}
	checkHistory(t, both[1].Say(t, chat, "The last."), alternating+2)
}

// checkHistory checks that both sides have spoken in turn, and that each turn was counted once.
func checkHistory(t *testing.T, state pathwaysoas.PathwayChatState, turns int) {
	t.Helper()
	history := state.ChatHistory
	if len(history) != 1+2*turns {
		t.Fatalf("the history has %d messages: %+v", len(history), history)
	}
	for i, m := range history[1:] {
		role := pathwaysoas.PathwayChatMessageRoleUser
		if i%2 == 1 {
			role = pathwaysoas.PathwayChatMessageRoleAssistant
			if want := fmt.Sprintf("That is number %d.", i/2+1); m.Content != want {
				t.Errorf("message %d is %q", i, m.Content)
			}
		}
		if m.Role != role {
			t.Errorf("message %d is the %s's", i, m.Role)
		}
	}
}

// TestPublishOverTwoNodes publishes versions through either of two servers, and checks that both use the new version immediately. It also
// saves versions concurrently through both.
func TestPublishOverTwoNodes(t *testing.T) {
	t.Parallel()
	config := nodes(t, authority(t))
	one, two := server.StartTwo(t, config)
	both := []*server.Server{one, two}
	system := counter(t, func(context.Context, int) {})
	id := both[0].Publish(t, counting("Version 1.", system))
	for number := 2; number <= 7; number++ {
		greeting := fmt.Sprintf("Version %d.", number)
		if got := both[number%2].PublishNext(t, id, counting(greeting, system)); got != number {
			t.Fatalf("version %d became number %d", number, got)
		}
		for _, s := range both {
			if chat := s.Chat(t, id); chat.Message != greeting {
				t.Errorf("after version %d was published a chat begins with %q", number, chat.Message)
			}
		}
	}
	saves := make([]error, 8)
	var saving sync.WaitGroup
	for i := range saves {
		saving.Go(func() {
			d := counting(fmt.Sprint("Side ", i), system)
			version := &pathwaysoas.PathwayVersionCreate{Name: "side"}
			for _, n := range d.Nodes {
				version.Nodes = append(version.Nodes, pathwaysoas.PathwayNode(n))
			}
			for _, e := range d.Edges {
				version.Edges = append(version.Edges, pathwaysoas.PathwayEdge(e))
			}
			_, saves[i] = both[i%2].API.CreatePathwayVersion(t.Context(), version, pathwaysoas.CreatePathwayVersionParams{ID: id})
		})
	}
	saving.Wait()
	if err := errors.Join(saves...); err != nil {
		t.Errorf("saving at once over both: %v", err)
	}
	if got := both[0].PublishNext(t, id, counting("Again.", system)); got != 16 {
		t.Errorf("the next version has number %d", got)
	}
}

// TestPathwayGoesUnderCall archives the version of a running call through another server, and then deletes its pathway. The call must
// continue to its end, but no new call or chat may use the version or the pathway.
func TestPathwayGoesUnderCall(t *testing.T) {
	t.Parallel()
	base, _ := slots(t)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	config := nodes(t, ca)
	one, two := server.StartTwo(t, config)
	two.AttachInbound(t, ours.String())
	id := two.Publish(t, agentstest.EveryNode(base))
	report, err := two.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		PathwayID: agentsoas.NewOptNilString(id), Voice: agentsoas.NewOptNilString(agentVoice),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
	if err != nil || len(report.FailedUpdates) > 0 {
		t.Fatalf("the number's pathway: %v, %v", report, err)
	}
	phone.Dial(t, one.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	call := two.Calls(t)[0].CallID
	says(t, two, call, walk[0].answer)
	two.PublishNext(t, id, counting("Version 2.", base))
	if _, err := two.API.DeletePathwayVersion(t.Context(), pathwaysoas.DeletePathwayVersionParams{ID: id, Version: 1}); err != nil {
		t.Fatal(err)
	}
	phone.Say(t, speak(t, callerVoice, walk[1].caller))
	says(t, two, call, walk[1].answer)
	if _, err := two.API.DeletePathway(t.Context(), pathwaysoas.DeletePathwayParams{ID: id}); err != nil {
		t.Fatal(err)
	}
	phone.Say(t, speak(t, callerVoice, walk[3].caller))
	says(t, two, call, walk[3].answer)
	phone.Hangup(t)
	r := two.Ended(t, call)
	if r.Status != callsoas.CallStatusCompleted || r.PathwayVersion.Value != 1 || string(r.Variables["time"]) != `"afternoon"` || len(decisions(r.PathwayLogs)) < 3 {
		t.Errorf("the call ended as %s on version %d with %s", r.Status, r.PathwayVersion.Value, r.Variables)
	}
	if _, err := one.API.CreatePathwayChat(t.Context(), &pathwaysoas.PathwayChatCreate{PathwayID: id}); status(err) != http.StatusNotFound {
		t.Errorf("a chat with it gives %v", err)
	}
	// Calls to the number are refused from now on.
	phone.Dial(t, one.Number(ours.String()))
	phone.AwaitReceived(t, "SIP/2.0 480")
}

// wire is a proxy between a server and its database. A test can cut or freeze it.
type wire struct {
	dsn string
	to  string

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool

	frozen sync.RWMutex // while locked, connections stay open but carry no data
}

func newWire(t *testing.T) *wire {
	t.Helper()
	dsn, err := url.Parse(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{to: dsn.Host, conns: map[net.Conn]bool{}}
	dsn.Host = listener(t, w.serve).String()
	w.dsn = dsn.String()
	return w
}

// serve copies data in both directions until either side closes its connection or the wire is cut.
func (w *wire) serve(near net.Conn) {
	defer near.Close()
	far, err := new(net.Dialer).Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.note(near, far) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		w.carry(near, far)
		_ = near.Close()
	})
	w.carry(far, near)
	_ = far.Close()
	back.Wait()
}

// carry copies data in one direction until either side fails. It waits while the wire is frozen.
func (w *wire) carry(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.frozen.RLock()
		w.frozen.RUnlock() //nolint:staticcheck // an empty section: it waits for the thaw
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (w *wire) note(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		w.conns[c] = true
	}
	return !w.down
}

// cut closes all connections and refuses new ones for four seconds. Then the returned channel is closed.
func (w *wire) cut() (back <-chan struct{}) {
	const away = 4 * time.Second
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for c := range w.conns {
		_ = c.Close()
	}
	clear(w.conns)
	mended := make(chan struct{})
	time.AfterFunc(away, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.down = false
		close(mended)
	})
	return mended
}

// TestDatabaseGoesAway disconnects the database for four seconds: in a turn of a chat, in a call that follows a pathway, at the end of this
// call, and at the end of a retried call. All must continue, and no data may be lost or doubled.
func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	busy := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Manual: true})
	w := newWire(t)
	s := start(t, ca.CertFile(), "--database-url", w.dsn)
	s.AttachOutbound(t, ours.String(), phone.Server())
	s.AttachOutbound(t, "+14155550101", busy.Server())
	cuts := make(chan (<-chan struct{}), 1)
	system := counter(t, func(_ context.Context, n int) {
		if n <= 2 { // first turn of the chat and of the call
			cuts <- w.cut()
		}
	})
	id := s.Publish(t, counting("Go on.", system))

	chat := s.Chat(t, id).ChatID
	s.Say(t, chat, "One.")
	<-<-cuts

	request := appointment()
	request.Task, request.FirstSentence, request.PathwayID = callsoas.OptString{}, callsoas.OptString{}, callsoas.NewOptString(id)
	call := s.Call(t, request)
	says(t, s, call, "Go on.")
	phone.Press(t, "5")
	<-<-cuts
	says(t, s, call, "That is number 2.")
	back := w.cut()
	phone.Hangup(t)
	<-back
	record := s.Ended(t, call)
	if record.Status != callsoas.CallStatusCompleted || string(record.Variables["n"]) != "2" {
		t.Errorf("the call ended as %s with %s", record.Status, record.Variables)
	}
	if got := decisions(record.PathwayLogs); len(got) != 2 || got[0].chosen != "count" || got[1].chosen != "said" {
		t.Errorf("its log has the decisions %v", got)
	}

	again := brief()
	again.From = callsoas.NewOptString("+14155550101")
	again.Retry = callsoas.NewOptRetryOptions(callsoas.RetryOptions{Wait: 600})
	first := s.Call(t, again)
	busy.Await(t, "CALL_INCOMING", 1)
	back = w.cut()
	busy.Hangup(t)
	<-back
	second := s.Ended(t, first).RetriedBy.Value
	if calls := s.Calls(t); len(calls) != 3 || second == "" || s.Record(t, second).RetryOf.Value != first {
		t.Errorf("the call is tried again by %q; calls %+v", second, calls)
	}

	back = w.cut()
	if _, err := s.API.PublishPathway(t.Context(), &pathwaysoas.PathwayPublish{VersionID: 1}, pathwaysoas.PublishPathwayParams{ID: id}); status(err) < 500 {
		t.Errorf("without the database publishing gives %v", err)
	}
	<-back
	await.That(t, "the server to be ready again", func() bool {
		code, _ := s.Get(t, "/readyz")
		return code == http.StatusOK
	})
	if got := s.PublishNext(t, id, counting("Version 2.", system)); got != 2 || s.Chat(t, id).Message != "Version 2." {
		t.Errorf("version %d was published", got)
	}
	state := s.Say(t, chat, "Three.")
	if said := strings.Join(state.AssistantResponses, " "); said != "That is number 3." || len(state.ChatHistory) != 5 {
		t.Errorf("the chat goes on with %q: %+v", said, state.ChatHistory)
	}
}
