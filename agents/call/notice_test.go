package call_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/callwrighttest"
)

var everything = []call.EventCategory{
	call.EventsQueue, call.EventsCall, call.EventsLatency, call.EventsWebhook, call.EventsTool, call.EventsDynamicData,
}

// noticeTexts returns, for each notice that the webhook received, the category and the message up to " after ", in the order of the
// notices' Seq.
func (h *house) noticeTexts() []string {
	h.notices.mu.Lock()
	defer h.notices.mu.Unlock()
	events := slices.SortedFunc(slices.Values(h.notices.events), func(a, b call.Notice) int { return cmp.Compare(a.Seq, b.Seq) })
	var texts []string
	for _, e := range events {
		text, _, _ := strings.Cut(e.Message, " after ")
		texts = append(texts, string(e.Category)+": "+text)
	}
	return texts
}

// TestNotices checks that each event is delivered once, although the first delivery of each event fails.
func TestNotices(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.order(call.Request{
			Agent: agents.Agent{FirstSentence: "hello", Webhook: "https://example.com/", TransferTo: "+15550000007"},
			Plan:  call.Plan{Events: everything},
		})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "operator")
		h.ended(c.ID)
		waitFor(time.Hour)
		want := []string{
			"queue: queued", "queue: allocated", "call: ringing", "call: answered",
			"latency: the answer was heard", "latency: the answer was heard",
			"call: transferred the call to +15550000007", "call: ended: completed",
		}
		if got := h.noticeTexts(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		for _, e := range h.notices.events {
			if (e.Level == call.EventPerformance) != (e.Category == call.EventsLatency) || e.CreatedAt.IsZero() {
				t.Errorf("told %+v", e)
			}
		}
	})
}

// keyed enqueues notices without Task.Args, as older releases did.
type keyed struct{ callwright.Work }

func (w keyed) Enqueue(ctx context.Context, task callwright.Task) error {
	if task.Kind == "call.notice" {
		task.Args = nil
	}
	return w.Work.Enqueue(ctx, task)
}

// TestNoticesOfAnOlderRelease checks that notices which an older release has queued are delivered after an upgrade.
func TestNoticesOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	inHouseWith(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		c := h.order(call.Request{
			Agent: agents.Agent{Webhook: "https://example.com/"}, Plan: call.Plan{Events: everything},
		})
		h.ended(c.ID)
		waitFor(time.Hour)
		if got := h.noticeTexts(); !slices.Contains(got, "queue: queued") || len(got) < 3 {
			t.Errorf("told %q", got)
		}
	}, func(c *call.Config) { c.Work = keyed{c.Work} })
}

// TestNoticesThatNobodyWants checks that notices of categories outside the plan are neither sent nor stored.
func TestNoticesThatNobodyWants(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		c := h.order(call.Request{
			Agent: agents.Agent{Webhook: "https://example.com/"}, Plan: call.Plan{Events: []call.EventCategory{call.EventsLatency}},
		})
		h.ended(c.ID)
		waitFor(time.Hour)
		if got := h.noticeTexts(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
		if _, err := h.calls.Notice(t.Context(), "a", c.ID, 1); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a notice is kept: %v", err)
		}
	})
}

// TestNoticeOfACallThatWaits checks that a call that is canceled while it is queued sends two notices.
func TestNoticeOfACallThatWaits(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.order(call.Request{
			Agent: agents.Agent{Webhook: "https://example.com/"}, Plan: call.Plan{Events: everything},
			StartAt: new(time.Now().Add(time.Hour)),
		})
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		waitFor(2 * time.Hour)
		got := h.noticeTexts()
		if len(got) != 2 || !strings.HasPrefix(got[0], "queue: queued, not to be placed before 2000-") || got[1] != "call: ended: canceled" {
			t.Errorf("told %q", got)
		}
	})
}

// muted is a webhook that accepts records and refuses events.
type muted struct {
	call.Notifier
	tries *int
}

func (m muted) NotifyEvent(context.Context, callwright.OrgID, string, call.Call, call.Notice) error {
	*m.tries++
	return errors.New("the receiver is down")
}

// TestNoticesAreGivenUp checks that events which the webhook keeps refusing are given up, and that the record is still delivered.
func TestNoticesAreGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries int
		deliveries := callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()})
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.Notifier, c.Deliveries = muted{c.Notifier, &tries}, deliveries
		})
		defer h.stop()
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		c := h.order(call.Request{
			Agent: agents.Agent{Webhook: "https://example.com/"}, Plan: call.Plan{Events: []call.EventCategory{call.EventsCall}},
		})
		waitFor(48 * time.Hour)
		if tries != 2*11 || len(h.notices.sent) != 1 {
			t.Errorf("two events were sent %d times, the record %d times", tries, len(h.notices.sent))
		}
		want := "call_event " + c.ID + " example.com given_up 11"
		callwrighttest.WantDeliveries(t, deliveries, "a", want, want, "call "+c.ID+" example.com delivered 2")
	})
}

// TestLogsSurviveAnOutage checks that the conversation continues and no log is lost if the store fails while turns are logged.
func TestLogsSurviveAnOutage(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	inClinic(t, func(t *testing.T, h *house, _ *library, _ *agentstest.Requests) {
		f.set(func() { f.appendLog = func(pathway.Log) error { return callwright.ErrUnavailable } })
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production}})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "come at nine")
		waitFor(5 * time.Second)
		f.set(func() { f.appendLog = nil })
		phone.Hangup()
		got, lines := h.ended(c.ID)
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) != 2 || len(lines) != 3 || got.Variables["slot"] != "nine" {
			t.Errorf("%d lines, logs %+v, %v; the call knows %v", len(lines), logs, err, got.Variables)
		}
	}, func(c *call.Config) { f.Store, c.Store = c.Store, f })
}

// TestLogsLost checks that the record contains the variables even if the store refuses all logs.
func TestLogsLost(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	inClinic(t, func(t *testing.T, h *house, _ *library, _ *agentstest.Requests) {
		f.set(func() { f.appendLog = func(pathway.Log) error { return callwright.ErrInternal } })
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production}})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "come at nine")
		phone.Hangup()
		if got, _ := h.ended(c.ID); got.Variables["slot"] != "nine" || got.Status != call.StatusCompleted {
			t.Errorf("record %+v", got)
		}
	}, func(c *call.Config) { f.Store, c.Store = c.Store, f })
}

// TestUnwritableLogs checks that logs are stored even if a model's texts and tool calls contain characters that databases cannot store.
func TestUnwritableLogs(t *testing.T) {
	t.Parallel()
	g, err := graph.Compile(graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","isStart":true,"prompt":"Say bye.",
				"tools":[{"name":"who","url":"https://crm.example/42"}]}}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleTool {
			return agentstest.Texts("bye\x00\xff."), nil
		}
		return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "whom\x00\xff", Arguments: []byte(`{}`)}}}, nil
	}}
	inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
		l.change(func() { l.graphs["clinic"][7] = g })
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production}})
		h.ended(c.ID)
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) != 1 || logs[0].Said != "bye." {
			t.Fatalf("logs %+v, %v", logs, err)
		}
		if r := logs[0].Entries[1].Request; r == nil || r.Name != "whom" {
			t.Errorf("the request is %+v", logs[0].Entries)
		}
	}, func(c *call.Config) { c.Model = m })
}

// TestSweepWithoutLogs checks that a sweep closes a call only when it can read the call's logs.
func TestSweepWithoutLogs(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		now := time.Now()
		err := h.calls.Insert(t.Context(), call.Call{
			ID: "dead", Org: "a", Queue: call.QueueStarted, Node: "n0", CreatedAt: now, StartedAt: &now, TakenAt: now,
		})
		err = errors.Join(err, h.calls.AppendLog(t.Context(), "a", "dead", pathway.Log{
			Turn: 1, Entries: []pathway.LogEntry{{Kind: pathway.LogVariables, Variables: map[string]any{"slot": "nine"}}},
		}))
		if err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.logs = func(string) error { return callwright.ErrUnavailable } })
		waitFor(time.Minute)
		if got, _, err := h.Get(t.Context(), "a", "dead"); err != nil || got.Queue.Ended() {
			t.Fatalf("it was closed: %+v, %v", got, err)
		}
		f.set(func() { f.logs = nil })
		if got, _ := h.ended("dead"); got.Variables["slot"] != "nine" {
			t.Errorf("the call knows %v", got.Variables)
		}
	})
}

// TestSweepKeepsVariables checks that a sweep restores the variables of a dead node's conversation from its logs.
func TestSweepKeepsVariables(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now()
		err := h.calls.Insert(t.Context(), call.Call{
			ID: "dead", Org: "a", Queue: call.QueueStarted, Node: "n0", CreatedAt: now, StartedAt: &now, TakenAt: now,
			RequestData: map[string]any{"name": "Ada"}, Variables: map[string]any{"name": "Ada", "day": "monday"},
		})
		for turn, variables := range []map[string]any{{"slot": "nine"}, {"day": "friday"}, nil} {
			err = errors.Join(err, h.calls.AppendLog(t.Context(), "a", "dead", pathway.Log{
				Turn: turn, Entries: []pathway.LogEntry{{Kind: pathway.LogVariables, Variables: variables}},
			}))
		}
		if err != nil {
			t.Fatal(err)
		}
		got, _ := h.ended("dead")
		if got.Variables["name"] != "Ada" || got.Variables["slot"] != "nine" || got.Variables["day"] != "friday" {
			t.Errorf("the call knows %v", got.Variables)
		}
	})
}

// TestLogsAreBounded checks that the logs of a call end with a note if a tool floods them, and that the variables are kept.
func TestLogsAreBounded(t *testing.T) {
	t.Parallel()
	rounds := 0
	m := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if rounds++; rounds%5 == 0 { // the model must speak after four rounds of tool calls
			return agentstest.Texts("still here."), nil
		}
		var parts []llm.ReplyPart
		for i := range 8 {
			parts = append(parts, llm.ReplyPart{Call: &llm.ToolCall{ID: fmt.Sprint(i), Name: "flood", Arguments: []byte(`{}`)}})
		}
		return parts, nil
	}}
	flood := agentstest.JSON(`{"n": 7, "text": "` + strings.Repeat("x", 30_000) + `"}`)
	inOffice(t, func(t *testing.T, h *house, r *agentstest.Requests) {
		r.Answer = flood
		c := h.order(call.Request{Agent: agents.Agent{Task: "t", FirstSentence: "hello", Tools: tools(
			`{"name":"flood","url":"https://crm.example/","response":{"n":"$.n","text":"$.text"}}`)}})
		phone := h.answered()
		h.hears(phone, "hello")
		const turns = 12
		for range turns {
			h.says(phone, "more")
			h.hears(phone, "still here.")
		}
		phone.Hangup()
		got, _ := h.ended(c.ID)
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) < 5 || len(logs) >= turns || fmt.Sprint(got.Variables["n"]) != "7" {
			t.Fatalf("%d logs, %v; n is %v", len(logs), err, got.Variables["n"])
		}
		last := logs[len(logs)-1].Entries
		if len(last) != 1 || last[0].Kind != pathway.LogError {
			t.Errorf("the last log has %d entries", len(last))
		}
		if raw, err := json.Marshal(logs); err != nil || len(raw) > 17<<20 { //nolint:musttag // only its length matters
			t.Errorf("the logs have %d bytes, %v", len(raw), err)
		}
	}, func(c *call.Config) { c.Model = m })
}
