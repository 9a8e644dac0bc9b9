package engine_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// killer is a model that cancels the run at its n-th call: before the call is made, while it is in flight, or after the answer and before
// the answer is stored.
type killer struct {
	llm.Model

	at     int
	moment string
	kill   context.CancelFunc
	free   map[llm.Task]bool // tasks whose calls cost nothing

	mu    sync.Mutex
	calls int
	paid  int
}

// count counts a call, and reports whether it is the call at which to cancel the run.
func (k *killer) count() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls++
	return k.calls == k.at
}

func (k *killer) pay(t llm.Task) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.free[t] {
		k.paid++
	}
}

func (k *killer) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		if err := k.call(ctx, r.Task, func(ctx context.Context) error {
			for p, err := range k.Model.Reply(ctx, r) {
				if err != nil || !yield(p, nil) {
					return err
				}
			}
			return nil
		}); err != nil {
			yield(llm.ReplyPart{}, err)
		}
	}
}

func (k *killer) Answer(ctx context.Context, q llm.Question) (a llm.Answer, err error) {
	err = k.call(ctx, q.Task, func(ctx context.Context) error {
		a, err = k.Model.Answer(ctx, q)
		return err
	})
	return a, err
}

func (k *killer) call(ctx context.Context, t llm.Task, ask func(context.Context) error) error {
	it := k.count()
	if it && k.moment == "before" {
		k.kill()
		<-ctx.Done()
		return &llm.Failure{Class: llm.ClassTransient, Message: "cancelled", Cause: ctx.Err()}
	}
	k.pay(t)
	if it && k.moment == "in flight" {
		k.kill()
		<-ctx.Done()
		return &llm.Failure{Class: llm.ClassTransient, Message: "cancelled", Cause: ctx.Err()}
	}
	err := ask(ctx)
	if it {
		k.kill()
	}
	return err
}

// plain returns an outcome without durations, which differ between runs.
func plain(o engine.Outcome) engine.Outcome {
	o.Took = 0
	o.Turns = slices.Clone(o.Turns)
	for i := range o.Turns {
		o.Turns[i].Took, o.Turns[i].CallerTook = 0, 0
	}
	return o
}

func TestResume(t *testing.T) {
	t.Parallel()
	s := played(judged("a", "be kind"), judged("b", "be kind"), reached("c", "1"), judged("d", "fail"))
	s.ScoreTone = true
	run := func(ctx context.Context, m llm.Model, j engine.Journal) (engine.Outcome, error) {
		e := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Parallel: 1})
		return e.Run(ctx, engine.Case{Run: "r", Scenario: s, Version: 1, Journal: j})
	}
	whole := &killer{Model: model(4)}
	want, err := run(t.Context(), whole, &engine.MemoryJournal{})
	if err != nil || want.Verdict != engine.Failed {
		t.Fatalf("the whole run: %+v, error %v", want, err)
	}
	if whole.calls < 13 {
		t.Fatalf("the run makes %d calls", whole.calls)
	}
	for _, moment := range []string{"before", "in flight", "answered"} {
		for at := 1; at <= whole.calls; at++ {
			journal := &engine.MemoryJournal{}
			ctx, cancel := context.WithCancel(t.Context())
			first := &killer{Model: model(4), at: at, moment: moment, kill: cancel}
			o, err := run(ctx, first, journal)
			cancel()
			if err != nil || o.Verdict != engine.Cancelled {
				t.Fatalf("%s %d: the killed run is %s, error %v", moment, at, o.Verdict, err)
			}
			second := &killer{Model: model(4)}
			got, err := run(t.Context(), second, journal)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := plain(got), plain(want); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s %d: the resumed run is\n%+v\nwant\n%+v", moment, at, a, b)
			}
			repeated := map[string]int{"in flight": 1}[moment]
			if total := first.paid + second.paid; total != whole.paid+repeated {
				t.Errorf("%s %d: %d calls were paid, want %d", moment, at, total, whole.paid+repeated)
			}
		}
	}
}

func TestResumeOfACompleteRunAsksNobody(t *testing.T) {
	t.Parallel()
	journal := &engine.MemoryJournal{}
	c := engine.Case{Run: "r", Scenario: played(judged("a", "x")), Journal: journal}
	first, err := newEngine(t, engine.Config{Runner: agent{}, Model: model(3), Judge: newJudge}).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	dead := &agentstest.Model{}
	again, err := newEngine(t, engine.Config{Runner: agent{}, Model: dead, Judge: newJudge}).Run(t.Context(), c)
	if err != nil || !reflect.DeepEqual(plain(again), plain(first)) {
		t.Errorf("the repeated run is %+v, error %v", again, err)
	}
	if n := len(dead.Requests()) + len(dead.Questions()); n > 0 {
		t.Errorf("it asks %d times", n)
	}
	if again.Usage.Sum() != (llm.Usage{Input: 70, Output: 7}) {
		t.Errorf("the usage is %+v", again.Usage)
	}
}

func TestTrialsAreDifferentRequests(t *testing.T) {
	t.Parallel()
	m := model(2)
	e := newEngine(t, engine.Config{Runner: agent{}, Model: m})
	if _, err := e.Run(t.Context(), engine.Case{Run: "r", Scenario: played(), Trial: 7}); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Requests() {
		if r.Trial != 7 {
			t.Errorf("a request has the trial %d", r.Trial)
		}
	}
}

// journal is a journal whose n-th Append fails. Append also refuses invalid keys.
type journal struct {
	engine.MemoryJournal

	at int
}

func (j *journal) Append(ctx context.Context, key string, answer []byte) error {
	if j.at--; j.at == 0 {
		return errors.New("the disk is full")
	}
	if len(key) > 80 || strings.Trim(key, "0123456789abcdef-") != "" {
		return errors.New("bad key " + key)
	}
	return j.MemoryJournal.Append(ctx, key, answer)
}

func TestBrokenJournal(t *testing.T) {
	t.Parallel()
	m := model(9)
	j := &journal{at: 2} // the caller's first line; callers retry failed calls
	o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m}).Run(t.Context(), engine.Case{Run: "r", Scenario: played(), Journal: j})
	if err == nil || len(m.Requests()) != 2 || len(o.Evidence.Turns) != 1 {
		t.Errorf("%d requests, turns %v, error %v", len(m.Requests()), o.Evidence.Turns, err)
	}
}

func TestFailuresInTheJournal(t *testing.T) {
	t.Parallel()
	for class, kept := range map[llm.Class]int{
		llm.ClassPermanent: 1, llm.ClassTooLong: 1, llm.ClassUnsupported: 1, llm.ClassInvalid: 1,
		llm.ClassTransient: 0, llm.ClassRateLimited: 0, llm.ClassQuota: 0,
	} {
		failing := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts("The beginning"), &llm.Failure{Class: class, Message: "no"}
		}}
		journal := &engine.MemoryJournal{}
		c := engine.Case{Run: "r", Scenario: scripted("Hello."), Journal: journal}
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: failing}).Run(t.Context(), c)
		if err != nil || o.Verdict != engine.Error || o.Evidence.End != "agent_error" || journal.Len() != kept {
			t.Errorf("%s: %s %s, %d answers kept, error %v", class, o.Verdict, o.Evidence.End, journal.Len(), err)
		}
		if o.Quota != (class == llm.ClassQuota) {
			t.Errorf("%s: quota is %v", class, o.Quota)
		}
		o, err = newEngine(t, engine.Config{Runner: agent{}, Model: model(1)}).Run(t.Context(), c)
		if want := map[int]engine.Verdict{0: engine.Passed, 1: engine.Error}[kept]; err != nil || o.Verdict != want {
			t.Errorf("%s: resumed it is %s, error %v", class, o.Verdict, err)
		}
	}
}

// TestStopped checks that a run that is canceled after its node has died stops at the end of its journal, and calls no model.
func TestStopped(t *testing.T) {
	t.Parallel()
	journal := &engine.MemoryJournal{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &killer{Model: model(4), at: 4, moment: "in flight", kill: cancel}
	run := func(ctx context.Context, stopped bool) engine.Outcome {
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge}).
			Run(ctx, engine.Case{Run: "r", Scenario: played(judged("a", "x")), Journal: journal, Stopped: stopped})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	want := run(ctx, false)
	got := run(t.Context(), true)
	if got.Verdict != engine.Cancelled || len(got.Evidence.Turns) != 3 || !reflect.DeepEqual(plain(got), plain(want)) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if m.calls != 4 {
		t.Errorf("%d calls were made", m.calls)
	}
	if got := run(t.Context(), false); got.Verdict != engine.Passed {
		t.Errorf("a run that is not stopped is %s: %s", got.Verdict, got.Error)
	}
}
