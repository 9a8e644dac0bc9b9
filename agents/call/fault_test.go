package call_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
)

// faulty is a store with injected faults. Each hook that is set runs before or after its operation. A hook's error becomes the operation's
// error, and prevents the operation if the hook runs first.
type faulty struct {
	call.Store
	mu           sync.Mutex
	afterInsert  func(call.Call) error
	get          func(id string) error
	beforeUpdate func(call.Call) error
	afterUpdate  func(call.Call) error
	afterLost    func([]call.Call)
	append       func(call.Entry) error
	appendLog    func(pathway.Log) error
	logs         func(id string) error
}

func (f *faulty) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *faulty) Insert(ctx context.Context, c call.Call) error {
	if err := f.Store.Insert(ctx, c); err != nil {
		return err
	}
	return consult(f, &f.afterInsert, c)
}

func (f *faulty) Get(ctx context.Context, org callwright.OrgID, id string) (call.Call, error) {
	if err := consult(f, &f.get, id); err != nil {
		return call.Call{}, err
	}
	return f.Store.Get(ctx, org, id)
}

func (f *faulty) Update(ctx context.Context, c call.Call) error {
	if err := ctx.Err(); err != nil {
		return callwright.ErrUnavailable.Because(err) // as a database returns it
	}
	if err := consult(f, &f.beforeUpdate, c); err != nil {
		return err
	}
	if err := f.Store.Update(ctx, c); err != nil {
		return err
	}
	return consult(f, &f.afterUpdate, c)
}

func (f *faulty) Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]call.Call, error) {
	found, err := f.Store.Lost(ctx, alive, before, limit)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.afterLost != nil {
		f.afterLost(found)
	}
	return found, err
}

func (f *faulty) Append(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	if err := consult(f, &f.append, e); err != nil {
		return err
	}
	return f.Store.Append(ctx, org, id, e)
}

func (f *faulty) AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error {
	if err := consult(f, &f.appendLog, l); err != nil {
		return err
	}
	return f.Store.AppendLog(ctx, org, id, l)
}

func (f *faulty) Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error) {
	if err := consult(f, &f.logs, id); err != nil {
		return nil, err
	}
	return f.Store.Logs(ctx, org, id)
}

func consult[T any](f *faulty, ask *func(T) error, about T) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *ask == nil {
		return nil
	}
	return (*ask)(about)
}

// inFaultyHouse runs a test with a house whose store is f.
func inFaultyHouse(t *testing.T, test func(t *testing.T, h *house, f *faulty)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{}
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { f.Store, c.Store = c.Store, f })
		defer h.stop()
		test(t, h, f)
	})
}

// once returns a hook that fails the first write of a call in the given state, although the store has executed the write, as if the answer
// to the commit were lost.
func once(state call.QueueStatus) func(call.Call) error {
	lost := false
	return func(c call.Call) error {
		if c.Queue != state || lost {
			return nil
		}
		lost = true
		return callwright.ErrUnavailable
	}
}

// TestLostCommit checks that a call still ends, and is dialed once, if an update is stored but returns an error, as if a database
// connection broke during the commit.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state  call.QueueStatus
		status call.Status
	}{
		"of taking the call": {call.QueueAllocated, call.StatusCompleted},
		"of the answer":      {call.QueueStarted, call.StatusFailed},
		"of the end":         {call.QueueComplete, call.StatusCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
				f.set(func() { f.afterUpdate = once(test.state) })
				c := h.create(agents.Agent{FirstSentence: "hello", MaxDuration: time.Minute})
				h.answered()
				got, _ := h.ended(c.ID)
				if got.Status != test.status || got.StartedAt == nil || len(h.line.Dials()) != 1 {
					t.Errorf("dialed %d times, record %+v", len(h.line.Dials()), got)
				}
			})
		})
	}
}

func TestLostCommitOfAnIncomingCall(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		f.set(func() { f.afterInsert = once(call.QueueAllocated) })
		in := h.line.Call(call.CallerInfo{Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		if _, err := in.Phone(t.Context()); err == nil {
			t.Fatal("a call without a record was answered")
		}
		synctest.Wait()
		page, total, err := h.List(t.Context(), "a", call.Filter{})
		if err != nil || total != 1 {
			t.Fatalf("%d calls, %v", total, err)
		}
		if got, _ := h.ended(page.Items[0].ID); got.Status != call.StatusFailed {
			t.Errorf("record %+v", got)
		}
	})
}

// panicking is a Recordings whose Create panics.
type panicking struct{ call.Recordings }

func (panicking) Create(context.Context, callwright.OrgID, string) (call.RecordingFile, error) {
	panic("broken")
}

func TestPanicEndsOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Recordings = panicking{} })
		defer h.stop()
		c := h.create(agents.Agent{FirstSentence: "hello", Record: true, Webhook: "https://example.com/"})
		<-h.answered().Done()
		got, _ := h.ended(c.ID)
		if got.Queue != call.QueueCompleteError || got.Status != call.StatusFailed || got.StartedAt == nil || h.Live() != 0 {
			t.Errorf("%d live, record %+v", h.Live(), got)
		}
	})
}

// TestPanicKeepsVariables checks that the record of a call whose goroutine panics contains the conversation's variables.
func TestPanicKeepsVariables(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleTool {
				return []llm.ReplyPart{{Text: "wait.", Action: llm.ActionTransfer}}, nil
			}
			return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "who", Arguments: []byte("{}")}}}, nil
		}}
		broken := agentstest.PhoneConfig{Transfer: func(string) error { panic("broken") }}
		h := newHouse(t, 0, broken, func(c *call.Config) {
			c.Model, c.Requests = m, &agentstest.Requests{Answer: answer}
		})
		defer h.stop()
		c := h.create(agents.Agent{TransferTo: "+15550000007", Tools: tools(
			`{"name":"who","url":"https://crm.example/42","response":{"name":"$.name"}}`)})
		got, _ := h.ended(c.ID)
		if got.Status != call.StatusFailed || got.StartedAt == nil || got.Variables["name"] != "Ada" {
			t.Errorf("record %+v", got)
		}
	})
}

// TestSweepSparesTheLiving checks that a sweep does not close the call of a node that revives after the search for dead nodes.
func TestSweepSparesTheLiving(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		now := time.Now()
		for _, id := range []string{"back", "dead"} {
			err := h.calls.Insert(t.Context(), call.Call{
				ID: id, Org: "a", Queue: call.QueueStarted, Node: id, CreatedAt: now, StartedAt: &now, TakenAt: now,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		f.set(func() {
			f.afterLost = func(found []call.Call) {
				if len(found) > 0 {
					h.beat("back")
				}
			}
		})
		h.ended("dead")
		if got, _, err := h.Get(t.Context(), "a", "back"); err != nil || got.Queue != call.QueueStarted {
			t.Errorf("the call of the node that came back is %s, %v", got.Queue, err)
		}
	})
}

// TestStopBeforePlacing checks that a stored request to stop a queued call prevents its dialing, even if the node that stored it died
// before it closed the call.
func TestStopBeforePlacing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, agentstest.PhoneConfig{})
		defer h.stop()
		first := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		second := h.create(agents.Agent{})
		if err := h.calls.RequestStop(t.Context(), "a", second.ID); err != nil {
			t.Fatal(err)
		}
		phone.Hangup()
		h.ended(first.ID)
		got, _ := h.ended(second.ID)
		if got.Status != call.StatusCanceled || len(h.line.Dials()) != 1 {
			t.Errorf("dialed %d times, record %+v", len(h.line.Dials()), got)
		}
	})
}

// TestStopAtTheAnswer checks that a call which is stopped at its answer counts as completed.
func TestStopAtTheAnswer(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		h.line.Script(func(context.Context, call.DialRequest, func()) (*agentstest.Phone, error) {
			return agentstest.NewPhone(agentstest.PhoneConfig{}), nil
		})
		f.set(func() {
			f.afterUpdate = func(c call.Call) error {
				if c.Queue == call.QueueStarted {
					go func() { _ = h.Stop(context.Background(), "a", c.ID) }()
				}
				return nil
			}
		})
		c := h.create(agents.Agent{FirstSentence: "hello"})
		if got, _ := h.ended(c.ID); got.Status != call.StatusCompleted {
			t.Errorf("record %+v", got)
		}
	})
}

// TestTranscriptSurvivesAnOutage checks that an outage of the store for five seconds loses no line of the transcript.
func TestTranscriptSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		f.set(func() { f.append = func(call.Entry) error { return callwright.ErrUnavailable } })
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "you said monday.")
		time.Sleep(5 * time.Second)
		f.set(func() { f.append = nil })
		phone.Hangup()
		_, lines := h.ended(c.ID)
		want := []string{"assistant: hello", "user: monday", "assistant: you said monday."}
		if said := spoken(lines); !slices.Equal(said, want) {
			t.Errorf("transcript %q, want %q", said, want)
		}
	})
}

// hanging is a store whose Append blocks until freed is closed or its context ends.
type hanging struct {
	call.Store
	freed chan struct{}
}

func (s *hanging) Append(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	select {
	case <-s.freed:
		return s.Store.Append(ctx, org, id, e)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestConversationNeverWaitsForTheDatabase checks that the conversation continues while the queue of writes is full.
func TestConversationNeverWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &hanging{freed: make(chan struct{})}
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { store.Store, c.Store = c.Store, store })
		defer h.stop()
		c := h.order(call.Request{
			Agent: agents.Agent{FirstSentence: "hello", Webhook: "https://example.com/"},
			Plan:  call.Plan{Events: []call.EventCategory{call.EventsLatency}},
		})
		phone := h.answered()
		const turns = 450 // each turn writes two lines and a notice
		for range turns {
			if err := phone.WaitQuiet(t.Context(), 300*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			phone.Say("go")
			if err := phone.WaitElapsed(t.Context(), phone.Elapsed()+900*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(phone.Heard(), "you said go."); n < turns-1 {
			t.Errorf("%d of %d turns were answered", n, turns)
		}
		close(store.freed)
		phone.Hangup()
		got, lines := h.ended(c.ID)
		if got.Status != call.StatusCompleted || len(lines) == 0 || len(lines) >= 2*turns {
			t.Errorf("%d lines, record %+v", len(lines), got)
		}
	})
}

// TestUnwritableTexts checks that the record of a call contains a peer's reason without the characters that databases cannot store.
func TestUnwritableTexts(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		f.set(func() {
			f.afterUpdate = func(c call.Call) error {
				if c.Ending != nil && (!utf8.ValidString(c.Ending.Reason) || strings.Contains(c.Ending.Reason, "\x00")) {
					t.Errorf("the reason is %q", c.Ending.Reason)
				}
				return nil
			}
		})
		h.line.Script(func(context.Context, call.DialRequest, func()) (*agentstest.Phone, error) {
			return nil, &call.HangupReason{Cause: call.CauseRejected, Reason: "valid for a\x00b\xff"}
		})
		c := h.create(agents.Agent{})
		if got, _ := h.ended(c.ID); got.Ending.Reason != "valid for ab" {
			t.Errorf("record %+v", got)
		}
	})
}

// putOff is a receiver that accepts no record, and always requests a retry after a second.
type putOff struct {
	call.Notifier
	tries *int
}

func (p putOff) Notify(
	context.Context, callwright.OrgID, string, call.Call, []call.Entry, []pathway.Log,
) error {
	*p.tries++
	return &callwright.Error{Code: callwright.CodeUnavailable, Message: "later", RetryAfter: time.Second}
}

func TestWebhookThatPutsOffForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries int
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Notifier = putOff{c.Notifier, &tries} })
		defer h.stop()
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		h.ended(h.create(agents.Agent{Webhook: "https://example.com/"}).ID)
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if tries < 5 || tries > 50 {
			t.Errorf("the record was sent %d times", tries)
		}
		before := tries
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if tries != before {
			t.Error("and is sent again")
		}
	})
}

// TestIncomingCallThatCannotBeWritten checks that a node rejects a call with 503 if it cannot load the agent or store the record, so that
// the caller's side tries another node.
func TestIncomingCallThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	full := callwright.Errorf(callwright.CodeUnavailable, "the disk is full")
	for name, change := range map[string]func(*call.Config){
		"record": func(c *call.Config) {
			c.Store = &faulty{Store: c.Store, afterInsert: func(call.Call) error { return full }}
		},
		"agent": func(c *call.Config) { c.Agents = lost{err: full} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouseWith(t, func(t *testing.T, h *house) {
				_, err := h.line.Call(call.CallerInfo{Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{}).Phone(t.Context())
				if ending, ok := errors.AsType[*call.HangupReason](err); !ok || ending.SIPCode != 503 {
					t.Errorf("the caller gets %v", err)
				}
			}, change)
		})
	}
}

// lost is an Agents that returns err.
type lost struct {
	call.Agents
	err error
}

func (l lost) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return agents.Agent{}, l.err
}
