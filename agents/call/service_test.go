package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/speech/pcm"
)

// house is a call.Service with stores, a line and engines in memory. It runs in a synctest bubble.
type house struct {
	*call.Service
	t       *testing.T
	store   *memstore.Store
	calls   agentstore.Calls
	line    *agentstest.Line
	files   *files
	notices *notices
	ready   error
	stop    func()
}

// grace is the house's DrainTimeout.
const grace = 10 * time.Second

// newHouse starts a house with an empty store. limit is Config.MaxCalls. The functions in change may alter the service's configuration.
func newHouse(t *testing.T, limit int, phones agentstest.PhoneConfig, change ...func(*call.Config)) *house {
	t.Helper()
	return openHouse(t, memstore.New(), limit, phones, change...)
}

// openHouse starts a house with a store that other houses may have used.
func openHouse(
	t *testing.T, store *memstore.Store, limit int, phones agentstest.PhoneConfig, change ...func(*call.Config),
) *house {
	t.Helper()
	h := &house{
		t: t, store: store, calls: agentstore.Calls{Store: store}, line: agentstest.NewLine(phones),
		files: &files{kept: map[string]*file{}}, notices: &notices{},
	}
	work := memstore.NewWork(store, nil)
	config := call.Config{
		Store: h.calls, Leases: memstore.Leases{Store: store}, Atomic: store, Work: work, Line: h.line, Routes: routes{}, Model: model{},
		Recordings: h.files, Notifier: h.notices, Recognizer: listener{&agentstest.Recognizer{}},
		Synthesizer: speaker{&agentstest.Synthesizer{}}, Node: "n1", MaxCalls: limit, DrainTimeout: grace, Ready: func() error { return h.ready },
	}
	for _, c := range change {
		c(&config)
	}
	var err error
	if config.Agents == nil {
		if config.Agents, err = newAnswering(h, config); err != nil {
			t.Fatal(err)
		}
	}
	if h.Service, err = call.New(config); err != nil {
		t.Fatal(err)
	}
	running, stopRunning := context.WithCancel(t.Context())
	working, stopWorking := context.WithCancel(context.WithoutCancel(t.Context()))
	var serving, workers sync.WaitGroup
	serving.Go(func() { _ = h.Run(running) })
	workers.Go(func() { _ = work.Run(working) })
	synctest.Wait()
	h.stop = sync.OnceFunc(func() {
		stopRunning()
		serving.Wait()
		stopWorking()
		workers.Wait()
		h.line.Close()
	})
	return h
}

// inHouse runs a test with a house, and stops the house at the end.
func inHouse(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	inHouseWith(t, test)
}

// inHouseWith runs a test like inHouse. The functions in change may alter the configuration of the house.
func inHouseWith(t *testing.T, test func(t *testing.T, h *house), change ...func(*call.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{}, change...)
		defer h.stop()
		test(t, h)
	})
}

func (h *house) create(a agents.Agent) call.Call {
	h.t.Helper()
	return h.order(call.Request{Agent: a})
}

// order creates a call with the test's numbers, and with a task if r has neither a task nor a pathway.
func (h *house) order(r call.Request) call.Call {
	h.t.Helper()
	r.From, r.To = "+15550000001", "+15550000002"
	if r.Agent.Task == "" && r.Agent.Pathway.ID == "" {
		r.Agent.Task = "Talk."
	}
	c, err := h.Create(h.t.Context(), "a", r)
	if err != nil {
		h.t.Fatalf("create: %v", err)
	}
	return c
}

// waitFor sleeps for d, and waits until all goroutines of the bubble are blocked.
func waitFor(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ended waits until the call has ended, and returns its record and its transcript.
func (h *house) ended(id string) (call.Call, []call.Entry) {
	h.t.Helper()
	for range 10_000 {
		c, lines, err := h.Get(h.t.Context(), "a", id)
		if err != nil {
			h.t.Fatalf("get: %v", err)
		}
		if c.Queue.Ended() {
			return c, lines
		}
		time.Sleep(time.Second)
	}
	h.t.Fatal("the call never ended")
	return call.Call{}, nil
}

func (h *house) answered() *agentstest.Phone {
	h.t.Helper()
	phone, err := h.line.Answered(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return phone
}

func (h *house) hears(p *agentstest.Phone, text string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	if err := p.WaitHeard(ctx, text); err != nil {
		h.t.Fatalf("waiting for %q, heard %q: %v", text, p.Heard(), err)
	}
}

// says makes the phone speak after the agent has been silent for a second.
func (h *house) says(p *agentstest.Phone, text string) {
	h.t.Helper()
	if err := p.WaitQuiet(h.t.Context(), time.Second); err != nil {
		h.t.Fatal(err)
	}
	p.Say(text)
}

// speaker is a Synthesizer that accepts only the default voice. listener is a Recognizer that accepts only the default language.
type speaker struct{ *agentstest.Synthesizer }

func (speaker) CheckVoice(_ context.Context, _ callwright.OrgID, voice, _ string) error {
	if voice != "" {
		return callwright.Invalid("voice", "is not here")
	}
	return nil
}

type listener struct{ *agentstest.Recognizer }

func (listener) CheckLanguage(language string) error {
	if language == "tlh" {
		return callwright.Invalid("language", "is not understood here")
	}
	return nil
}

type routes struct{}

func (routes) Caller(
	_ context.Context, _ callwright.OrgID, from callwright.PhoneNumber,
) (callwright.PhoneNumber, error) {
	if from != "" && from != "+15550000001" {
		return "", callwright.Invalid("from", "is not attached")
	}
	return "+15550000001", nil
}

// answering is an agents.Service for which the same agent answers at every number.
type answering struct{ *agents.Service }

func newAnswering(h *house, c call.Config) (answering, error) {
	config := agents.Config{
		Numbers: agentstore.Numbers{Store: h.store}, WebAgents: agentstore.WebAgents{Store: h.store}, Atomic: h.store,
		Voices: speaker{}, Languages: listener{}, Webhooks: h.notices, Brains: h.notices, Pathways: c.Pathways,
	}
	if c.Requests != nil {
		config.Requests = c.Requests
	}
	s, err := agents.New(config)
	return answering{s}, err
}

func (answering) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return agents.Agent{Task: "Answer.", FirstSentence: "welcome", MaxDuration: time.Hour}, nil
}

// model is an llm.Model that repeats the caller's words, transfers the call on "operator", ends it on "bye" and fails on "fail".
type model struct{}

func (model) Name() string { return "parrot" }

func (model) Reply(_ context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		if len(r.Messages) == 0 {
			yield(llm.ReplyPart{Text: "hi."}, nil)
			return
		}
		said := r.Messages[len(r.Messages)-1].Text
		part := llm.ReplyPart{Text: "you said " + said + "."}
		switch said {
		case "bye":
			part.Action = llm.ActionEnd
		case "operator":
			part.Action = llm.ActionTransfer
		case "fail":
			yield(llm.ReplyPart{}, &llm.Failure{Class: llm.ClassPermanent, Message: "no"})
			return
		}
		yield(part, nil)
	}
}

// files is a call.Recordings in memory.
type files struct {
	mu   sync.Mutex
	kept map[string]*file
}

type file struct {
	data []byte
	at   int64
}

func (f *files) Create(_ context.Context, _ callwright.OrgID, id string) (call.RecordingFile, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[id] = &file{}
	return f.kept[id], nil
}

func (f *files) Open(_ context.Context, _ callwright.OrgID, id string) (io.ReadSeekCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept[id] == nil {
		return nil, callwright.NotFound("recording")
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{strings.NewReader(string(f.kept[id].data)), f.kept[id]}, nil
}

func (f *file) Write(p []byte) (int, error) {
	if need := int(f.at) + len(p); need > len(f.data) {
		f.data = append(f.data, make([]byte, need-len(f.data))...)
	}
	f.at += int64(copy(f.data[f.at:], p))
	return len(p), nil
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		f.at = offset
	case io.SeekCurrent:
		f.at += offset
	default:
		f.at = int64(len(f.data)) + offset
	}
	return f.at, nil
}

func (f *file) Close() error { return nil }

// notices is a call.Notifier that collects messages. The first delivery of each record and of each event fails.
type notices struct {
	mu     sync.Mutex
	sent   []call.Call
	logs   []pathway.Log // logs of the last record that was sent
	events []call.Notice
	seen   map[string]bool
}

func (n *notices) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

func (n *notices) Notify(
	_ context.Context, _ callwright.OrgID, _ string, c call.Call, _ []call.Entry, logs []pathway.Log,
) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.first(c.ID); err != nil {
		return err
	}
	n.sent, n.logs = append(n.sent, c), logs
	return nil
}

func (n *notices) NotifyEvent(_ context.Context, _ callwright.OrgID, _ string, c call.Call, e call.Notice) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.first(fmt.Sprint(c.ID, "/", e.Seq)); err != nil {
		return err
	}
	n.events = append(n.events, e)
	return nil
}

// first returns an error for the first delivery of a message, and nil for later deliveries.
func (n *notices) first(what string) error {
	if n.seen[what] {
		return nil
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[what] = true
	return errors.New("the receiver is down")
}

func TestCallFromEndToEnd(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello", Record: true, Webhook: "https://example.com/"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "you said monday.")
		h.says(phone, "bye")
		got, lines := h.ended(c.ID)
		if got.Queue != call.QueueComplete || got.Status != call.StatusCompleted || got.ModelUsed != "parrot" ||
			got.Ending.Cause != call.CauseLocalHangup || got.Ending.ByPeer || got.Length() <= 0 || got.Node != "" {
			t.Errorf("record %+v", got)
		}
		want := []string{"assistant: hello", "user: monday", "assistant: you said monday.", "user: bye", "assistant: you said bye."}
		if said := spoken(lines); !slices.Equal(said, want) {
			t.Errorf("transcript %q, want %q", said, want)
		}
		h.checkRecording(got, phone)
		synctest.Wait()
		time.Sleep(time.Hour) // lets the webhook's second attempt happen
		if len(h.notices.sent) != 1 || h.notices.sent[0].Status != call.StatusCompleted {
			t.Errorf("the webhook got %+v", h.notices.sent)
		}
	})
}

func spoken(lines []call.Entry) []string {
	var out []string
	for _, l := range lines {
		out = append(out, string(l.Speaker)+": "+l.Text)
	}
	return out
}

// checkRecording checks that the recording contains the agent's words on the right and the other side's words on the left.
func (h *house) checkRecording(c call.Call, phone *agentstest.Phone) {
	h.t.Helper()
	f, err := h.Recording(h.t.Context(), "a", c.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	audio, err := pcm.ReadWAV(f, 1<<24)
	if err != nil {
		h.t.Fatal(err)
	}
	var left, right []int16
	for i := 0; i+1 < len(audio.Samples); i += 2 {
		left, right = append(left, audio.Samples[i]), append(right, audio.Samples[i+1])
	}
	if got := agentstest.TextOf(right); got != phone.Heard() {
		h.t.Errorf("on the right is %q, the phone heard %q", got, phone.Heard())
	}
	if got := agentstest.TextOf(left); !strings.Contains(got, "monday") || !strings.Contains(got, "bye") {
		h.t.Errorf("on the left is %q", got)
	}
}

func TestCallsThatNobodyTakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		callee call.Cause
		code   int
		queue  call.QueueStatus
		status call.Status
	}{
		"busy":        {call.CauseBusy, 486, call.QueueCallError, call.StatusBusy},
		"declined":    {call.CauseRejected, 603, call.QueueCallError, call.StatusFailed},
		"no answer":   {call.CauseNoAnswer, 480, call.QueueCallError, call.StatusNoAnswer},
		"no SRTP":     {call.CauseNotAcceptable, 488, call.QueueCallError, call.StatusFailed},
		"unreachable": {call.CauseUnreachable, 0, call.QueueCallError, call.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				h.line.Script(agentstest.Refuse(test.callee, test.code))
				got, lines := h.ended(h.create(agents.Agent{}).ID)
				if got.Queue != test.queue || got.Status != test.status || got.ErrorMessage == "" || len(lines) != 0 ||
					got.StartedAt != nil || got.Length() != 0 || got.AnsweredBy != call.AnsweredByNobody {
					t.Errorf("record %+v, lines %v", got, lines)
				}
				if n := len(h.line.Dials()); n != 1 {
					t.Errorf("dialed %d times", n)
				}
			})
		})
	}
}

func TestIncomingCall(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		in := h.line.Call(call.CallerInfo{Org: "a", From: "+15550000009", To: "+15550000001"}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.hears(phone, "welcome")
		phone.Hangup()
		synctest.Wait()
		page, total, err := h.List(t.Context(), "a", call.Filter{})
		if err != nil || total != 1 {
			t.Fatalf("%d calls, %v", total, err)
		}
		got, _ := h.ended(page.Items[0].ID)
		if !got.Inbound || got.From != "+15550000009" || got.Status != call.StatusCompleted || !got.Ending.ByPeer {
			t.Errorf("record %+v", got)
		}
	})
}

func TestIncomingCallWithoutEngines(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.ready = callwright.ErrUnavailable
		in := h.line.Call(call.CallerInfo{Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		_, err := in.Phone(t.Context())
		var ending *call.HangupReason
		if !errors.As(err, &ending) || ending.SIPCode != 503 {
			t.Errorf("got %v", err)
		}
		_, err = h.Create(t.Context(), "a", call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t"}})
		if !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("create gave %v", err)
		}
	})
}

func (model) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, &llm.Failure{Class: llm.ClassUnsupported, Message: "it only talks"}
}
