package engine_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// repeatable is a model that repeats its answers at no cost.
type repeatable struct{ llm.Model }

func (repeatable) Repeats() bool { return true }

// inPart runs a case in which the models of the tasks in m.free are repeatable.
func inPart(ctx context.Context, t *testing.T, m *killer, c engine.Case) engine.Outcome {
	t.Helper()
	as := func(task llm.Task) llm.Model {
		if m.free[task] {
			return engine.NewLimiter(repeatable{m}, engine.LimiterConfig{})
		}
		return engine.NewLimiter(m, engine.LimiterConfig{})
	}
	e := newEngine(t, engine.Config{
		Runner: agent{}, Model: as(""), CallerModel: as(llm.TaskCaller), JudgeModel: as(llm.TaskJudge), Judge: newJudge, Parallel: 1,
	})
	c.Run, c.Version = "r", 1
	c.Scenario = played(judged("a", "be kind"), reached("b", "1"), judged("c", "fail"))
	o, err := e.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// These constants are the numbers of model calls in a run of inPart, by role.
const (
	agentCalls  = 4
	callerCalls = 3
	judgeCalls  = 4
)

// TestResumeWithRepeatableModels interrupts a run, in which some models are repeatable, at each of its calls. It checks that the journal
// contains only answers of the other models, that the resumed run has the same outcome, and that no call of the other models is paid for
// twice.
func TestResumeWithRepeatableModels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		free map[llm.Task]bool
		kept int
	}{
		"all":    {map[llm.Task]bool{"": true, llm.TaskCaller: true, llm.TaskJudge: true}, 0},
		"agent":  {map[llm.Task]bool{"": true}, callerCalls + judgeCalls},
		"caller": {map[llm.Task]bool{llm.TaskCaller: true}, agentCalls + judgeCalls},
		"judge":  {map[llm.Task]bool{llm.TaskJudge: true}, agentCalls + callerCalls},
	} {
		whole, journal := &killer{Model: model(4), free: tt.free}, &engine.MemoryJournal{}
		want := inPart(t.Context(), t, whole, engine.Case{Journal: journal})
		if want.Verdict != engine.Failed || journal.Len() != tt.kept || whole.paid != tt.kept || whole.calls != agentCalls+callerCalls+judgeCalls {
			t.Fatalf("%s: %s after %d calls, %d paid, %d kept", name, want.Verdict, whole.calls, whole.paid, journal.Len())
		}
		for _, moment := range []string{"before", "in flight", "answered"} {
			for at := 1; at <= whole.calls; at++ {
				ctx, cancel := context.WithCancel(t.Context())
				journal := &engine.MemoryJournal{}
				first := &killer{Model: model(4), free: tt.free, at: at, moment: moment, kill: cancel}
				if o := inPart(ctx, t, first, engine.Case{Journal: journal}); o.Verdict != engine.Cancelled {
					t.Fatalf("%s, %s %d: the interrupted run is %s", name, moment, at, o.Verdict)
				}
				cancel()
				second := &killer{Model: model(4), free: tt.free}
				if got := inPart(t.Context(), t, second, engine.Case{Journal: journal}); !reflect.DeepEqual(plain(got), plain(want)) {
					t.Fatalf("%s, %s %d: the resumed run is\n%+v\nwant\n%+v", name, moment, at, got, want)
				}
				most := whole.paid
				if moment == "in flight" {
					most++ // the interrupted call may have been answered
				}
				if paid := first.paid + second.paid; paid < whole.paid || paid > most || journal.Len() != tt.kept {
					t.Errorf("%s, %s %d: %d calls are paid, %d are kept", name, moment, at, paid, journal.Len())
				}
			}
		}
	}
}

// TestStoppedWithRepeatableModels checks that a run that is canceled after its node has died stops at the end of its journal. Repeatable
// models supply the answers that the journal does not contain.
func TestStoppedWithRepeatableModels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		free  map[llm.Task]bool
		at    int // the call at which the run is interrupted
		turns int // number of turns in the outcome
	}{
		"all":         {map[llm.Task]bool{"": true, llm.TaskCaller: true, llm.TaskJudge: true}, 5, 0},
		"the agent":   {map[llm.Task]bool{"": true}, 5, 4},             // the caller has answered twice
		"the caller":  {map[llm.Task]bool{llm.TaskCaller: true}, 4, 3}, // the agent has answered twice
		"not started": {map[llm.Task]bool{"": true}, 1, 0},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		journal := &engine.MemoryJournal{}
		inPart(ctx, t, &killer{Model: model(4), free: tt.free, at: tt.at, moment: "before", kill: cancel}, engine.Case{Journal: journal})
		cancel()
		second := &killer{Model: model(4), free: tt.free}
		o := inPart(t.Context(), t, second, engine.Case{Journal: journal, Stopped: true})
		if o.Verdict != engine.Cancelled || len(o.Evidence.Turns) != tt.turns || second.paid != 0 {
			t.Errorf("%s: %s with %d turns, %d calls are paid", name, o.Verdict, len(o.Evidence.Turns), second.paid)
		}
	}
}

// TestJournalOfARepeatableModel checks that a run still uses answers that were stored before its models became llm.Repeatable.
func TestJournalOfARepeatableModel(t *testing.T) {
	t.Parallel()
	journal := &engine.MemoryJournal{}
	want := inPart(t.Context(), t, &killer{Model: model(4)}, engine.Case{Journal: journal})
	m := &killer{Model: model(4), free: map[llm.Task]bool{"": true, llm.TaskCaller: true, llm.TaskJudge: true}}
	got := inPart(t.Context(), t, m, engine.Case{Journal: journal, Stopped: true})
	if m.calls != 0 || !reflect.DeepEqual(plain(got), plain(want)) {
		t.Errorf("after %d calls it is %+v, want %+v", m.calls, got, want)
	}
}

// TestModelsSayWhetherTheyRepeat checks that a Limiter and the model inside a run report llm.Repeats of the wrapped model.
func TestModelsSayWhetherTheyRepeat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		model llm.Model
		want  bool
	}{{&agentstest.Model{}, false}, {repeatable{&agentstest.Model{}}, true}} {
		limited := engine.NewLimiter(tt.model, engine.LimiterConfig{})
		if llm.Repeats(tt.model) != tt.want || llm.Repeats(limited) != tt.want || llm.Repeats(engine.Inside(t, limited)) != tt.want {
			t.Errorf("%T: %v, limited %v, inside a run %v", tt.model, llm.Repeats(tt.model), llm.Repeats(limited), llm.Repeats(engine.Inside(t, limited)))
		}
	}
}

// TestJudgeAgainWithRepeatableModel interrupts, at each of its calls, a judge whose model is repeatable. It checks that no answer is
// stored, and that a new judgment has the same verdict and the same tokens.
func TestJudgeAgainWithRepeatableModel(t *testing.T) {
	t.Parallel()
	free := map[llm.Task]bool{llm.TaskJudge: true}
	c, o := sameAgain(t, newEngine(t, engine.Config{Runner: agent{}, Model: model(2), Judge: newJudge}),
		engine.Case{Run: "r", Version: 1, Scenario: played(judged("a", "be kind"), judged("b", "fail"))})
	const calls = 4
	for at := 1; at <= calls; at++ {
		journal := &engine.MemoryJournal{}
		c.Journal, c.Trial = journal, 1
		judge := func(ctx context.Context, m *killer) (engine.Judgement, error) {
			return newEngine(t, engine.Config{Runner: agent{}, Model: repeatable{m}, Judge: newJudge, Parallel: 1}).JudgeAgain(ctx, c, o)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if got, err := judge(ctx, &killer{Model: model(2), free: free, at: at, moment: "in flight", kill: cancel}); err != nil || got.Verdict != engine.Cancelled {
			t.Fatalf("call %d: it gives %+v, %v", at, got, err)
		}
		cancel()
		second := &killer{Model: model(2), free: free}
		if got, err := judge(t.Context(), second); err != nil || got.Verdict != o.Verdict || got.Spend.Tokens != calls*11 {
			t.Errorf("call %d: it gives %+v, %v", at, got, err)
		}
		if journal.Len() != 0 || second.calls != calls {
			t.Errorf("call %d: %d answers are kept, and %d calls were made again", at, journal.Len(), second.calls)
		}
	}
}
