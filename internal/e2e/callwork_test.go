package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// office is a receiver of webhooks. While shut is set, it refuses them, so that the server sends each webhook again.
type office struct {
	url string

	mu      sync.Mutex
	shut    bool
	refused map[string]bool                       // messages refused while it was shut; "" is a record
	records map[string]int                        // number of accepted records, by call id
	events  map[string]map[string]bool            // accepted messages, by call id
	ids     map[string]map[string]map[string]bool // webhook ids, by call id and message; the message "" is a record
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{
		refused: map[string]bool{}, records: map[string]int{}, events: map[string]map[string]bool{},
		ids: map[string]map[string]map[string]bool{},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var told struct {
			CallID  string `json:"call_id"`
			Message string `json:"message"`
		}
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			t.Error(err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.ids[told.CallID] == nil {
			o.ids[told.CallID] = map[string]map[string]bool{}
		}
		if o.ids[told.CallID][told.Message] == nil {
			o.ids[told.CallID][told.Message] = map[string]bool{}
		}
		o.ids[told.CallID][told.Message][r.Header.Get("Webhook-Id")] = true
		switch {
		case o.shut:
			o.refused[told.Message] = true
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case told.Message == "":
			o.records[told.CallID]++
		case o.events[told.CallID] == nil:
			o.events[told.CallID] = map[string]bool{told.Message: true}
		default:
			o.events[told.CallID][told.Message] = true
		}
	}))
	t.Cleanup(s.Close)
	o.url = s.URL
	return o
}

// set sets whether the office is shut.
func (o *office) set(shut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = shut
}

// refuses waits until the office has refused each of the given messages.
func (o *office) refuses(t *testing.T, messages ...string) {
	t.Helper()
	await.That(t, "the webhook to refuse", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return !slices.ContainsFunc(messages, func(m string) bool { return !o.refused[m] })
	})
}

// takeover is the time limit for a server to finish the work of a killed server.
const takeover = 2 * await.Limit

// told waits until the office has accepted the record of a call and the given messages, and checks that it accepted the record once. The
// wait is long, because the server may first have to claim the work of a killed server.
func (o *office) told(t *testing.T, call string, messages ...string) {
	t.Helper()
	ok := await.Within(t.Context(), takeover, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.records[call] > 0 && !slices.ContainsFunc(messages, func(m string) bool { return !o.events[call][m] })
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	if !ok || o.records[call] != 1 {
		t.Errorf("the webhook got the record of %s %d times, and was told %v of it", call, o.records[call], o.events[call])
	}
}

// TestScheduledCallsOutliveServer kills the server while scheduled calls wait, and starts it again. It checks that each call is placed
// once, and not before its time.
func TestScheduledCallsOutliveServer(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	first := start(t, ca.CertFile())
	first.AttachOutbound(t, ours.String(), phone.Server())
	due := map[string]time.Time{}
	for _, wait := range []time.Duration{12 * time.Second, 14 * time.Second} { // enough time to request both calls and to kill the server
		at := time.Now().Add(wait).Truncate(time.Second)
		request := brief()
		request.StartTime = callsoas.NewOptDateTime(at)
		due[first.Call(t, request)] = at
	}
	first.Kill()
	if rang := len(phone.Events("CALL_INCOMING")); rang > 0 {
		t.Fatalf("%d calls were placed before their time, or ordering them took too long", rang)
	}

	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	for id, at := range due {
		r := second.Ended(t, id)
		if r.Status != callsoas.CallStatusCompleted || r.StartedAt.Value.Before(at) || !r.StartTime.Value.Equal(at) {
			t.Errorf("a call for %s ended as %s, %q; it began at %s", at, r.Status, r.ErrorMessage.Value, r.StartedAt.Value)
		}
	}
	if rang, calls := len(phone.Events("CALL_ESTABLISHED")), len(second.Calls(t)); rang != len(due) || calls != len(due) {
		t.Errorf("the phone rang %d times, and there are %d records", rang, calls)
	}
}

// TestKilledDuringPathwayCall kills the server during a call that follows a pathway. It checks that the record is closed once, with all
// variables and decisions so far, and delivered once to the webhook.
func TestKilledDuringPathwayCall(t *testing.T) {
	t.Parallel()
	base, _ := slots(t)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	first := start(t, ca.CertFile())
	first.AttachOutbound(t, ours.String(), phone.Server())
	office := newOffice(t)
	id := first.Call(t, callsoas.CallCreate{
		PhoneNumber: theirs.String(), From: callsoas.NewOptString(ours.String()), Voice: callsoas.NewOptString(agentVoice),
		PathwayID: callsoas.NewOptString(first.Publish(t, agentstest.EveryNode(base))), Webhook: callsoas.NewOptString(office.url),
		WebhookEvents: []callsoas.CallEventCategory{callsoas.CallEventCategoryCall, callsoas.CallEventCategoryWebhook},
		RequestData:   callsoas.NewOptRequestData(callsoas.RequestData{"customer": []byte(`"Ada"`)}),
	})
	phone.Await(t, "CALL_ESTABLISHED", 1)
	says(t, first, id, walk[0].answer)
	phone.Say(t, speak(t, callerVoice, walk[1].caller))
	says(t, first, id, walk[1].answer)
	first.Until(t, id, "to have the log of its second turn", func(r *callsoas.CallRecord) bool { return len(decisions(r.PathwayLogs)) >= 2 })
	before := first.Record(t, id)
	first.Kill()

	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	r := second.Ended(t, id)
	if r.Status != callsoas.CallStatusFailed || r.QueueStatus != callsoas.QueueStatusCompleteError || r.PathwayVersion.Value != 1 {
		t.Errorf("it ended as %s, %s, %q, on version %d", r.Status, r.QueueStatus, r.ErrorMessage.Value, r.PathwayVersion.Value)
	}
	for name, want := range map[string]string{"day": `"Tuesday"`, "free": "1", "customer": `"Ada"`} {
		if got := string(r.Variables[name]); got != want {
			t.Errorf("the variable %s is %s", name, got)
		}
	}
	if got, want := decisions(r.PathwayLogs), decisions(before.PathwayLogs); !slices.Equal(got, want) || len(r.PathwayLogs) != len(before.PathwayLogs) {
		t.Errorf("%d entries and the decisions %v; before the end there were %d, %v", len(r.PathwayLogs), got, len(before.PathwayLogs), want)
	}
	if said := strings.Join(lines(r, callsoas.TranscriptLineUserAssistant), " "); !strings.HasSuffix(said, walk[1].answer) {
		t.Errorf("the agent said %q", said)
	}
	office.told(t, id, "answered", "ended: failed, "+r.ErrorMessage.Value)
	if calls := second.Calls(t); len(calls) != 1 {
		t.Errorf("%d records of a call", len(calls))
	}
}

// TestKilledAfterCall kills the server after an unanswered call, before its retry and its webhooks. It checks that the call is retried
// once, and that every webhook is delivered although the receiver refused the first attempts.
func TestKilledAfterCall(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Manual: true})
	first := start(t, ca.CertFile())
	first.AttachOutbound(t, ours.String(), phone.Server())
	office := newOffice(t)
	office.set(true)
	request := brief()
	request.Retry = callsoas.NewOptRetryOptions(callsoas.RetryOptions{Wait: 3})
	request.Webhook = callsoas.NewOptString(office.url)
	request.WebhookEvents = []callsoas.CallEventCategory{callsoas.CallEventCategoryCall, callsoas.CallEventCategoryQueue}
	id := first.Call(t, request)
	phone.Await(t, "CALL_INCOMING", 1)
	phone.Hangup(t)
	again := first.Ended(t, id).RetriedBy.Value
	if again == "" {
		t.Fatal("the call is not tried again")
	}
	const ended = "ended: busy, the number called is busy"
	office.refuses(t, "queued", "allocated", ended, "")
	first.Kill()
	office.set(false)

	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	phone.Await(t, "CALL_INCOMING", 2)
	phone.Hangup(t)
	last := second.Ended(t, again)
	if last.Status != callsoas.CallStatusBusy || last.RetryOf.Value != id || last.RetriedBy.Value != "" {
		t.Errorf("the second call ended as %s; it tries %q again and is tried again by %q", last.Status, last.RetryOf.Value, last.RetriedBy.Value)
	}
	office.told(t, id, "queued", "allocated", ended)
	office.told(t, again, "allocated", ended)
	if rang, calls := len(phone.Events("CALL_INCOMING")), len(second.Calls(t)); rang != 2 || calls != 2 {
		t.Errorf("the phone rang %d times, and there are %d records", rang, calls)
	}
}
