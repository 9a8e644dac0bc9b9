package agenttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// lines is the number of lines that the caller says in a spoken scenario. Each costs price tokens.
const (
	lines = 3
	price = 110
)

// spoken changes a scenario so that a model plays the caller and nothing is asserted.
func spoken(sc *scenario.Scenario) {
	sc.Messages, sc.CallerPrompt, sc.Assertions = nil, "You pay.", nil
}

// speaks configures the lab so that a model plays the caller of spoken scenarios. Each of its answers takes a second.
func (l *lab) speaks(change ...func(*engine.Config)) {
	l.t.Helper()
	l.agent.Answer = func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
		return engine.AgentTurn{Text: strings.Repeat("Go on. ", turn+1), Ended: turn == lines}, nil
	}
	l.model.Usage = llm.Usage{Input: price - 10, Output: 10}
	l.model.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		select {
		case <-ctx.Done():
			return nil, &llm.Failure{Class: llm.ClassTransient, Message: "cancelled", Cause: ctx.Err()}
		case <-time.After(time.Second):
			return agentstest.Texts(strings.Repeat("I pay. ", len(r.Messages))), nil
		}
	}
	c := engine.Config{Runner: l.agent, Model: l.model, Answer: 20}
	for _, f := range change {
		f(&c)
	}
	held, err := engine.New(c)
	if err != nil {
		l.t.Fatal(err)
	}
	l.cfg.Engine = held
	l.Service = l.another()
}

// simulate starts a simulation set.
func (l *lab) simulate(r group.SetRequest) group.Batch {
	l.t.Helper()
	b, err := l.StartSet(l.t.Context(), org, r)
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

// group returns a group and its runs, and checks that the group's sums match the runs.
func (l *lab) group(id string) (group.Batch, []run.Run) {
	l.t.Helper()
	b, err := l.cfg.Store.Batch(l.t.Context(), org, id)
	if err != nil {
		l.t.Fatal(err)
	}
	runs, err := l.cfg.Store.FindRuns(l.t.Context(), org, run.Filter{Batch: id, Limit: 1000})
	if err != nil {
		l.t.Fatal(err)
	}
	var usage engine.Usage
	var spend engine.Spend
	for i := range runs {
		if runs[i] = l.get(runs[i].ID); runs[i].Outcome != nil {
			usage, spend = usage.Plus(runs[i].Outcome.Usage), spend.Plus(runs[i].Outcome.Spend)
		}
	}
	if b.Usage != usage || b.Spend != spend {
		l.t.Errorf("the group has used %+v and %+v, its runs %+v and %+v", b.Usage, b.Spend, usage, spend)
	}
	return b, runs
}

func TestBudgetOfRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks()
		l.run(l.Service)
		for budget, want := range map[int]run.State{lines * price: run.Error, 10 * price: run.Passed, 0: run.Passed} {
			r := l.start(l.scenario(spoken), run.Request{Budget: engine.Limit{Tokens: budget}})
			for range 3 {
				settled()
			}
			got := l.get(r.ID)
			if got.State != want || got.Budget.Tokens != budget || budget > 0 && got.Outcome.Spend.Tokens > budget {
				t.Errorf("with %d tokens: %s, %+v of %+v", budget, got.State, got.Outcome.Spend, got.Budget)
			}
			if want == run.Error && (got.Outcome.Evidence.End != assert.EndBudget || !strings.Contains(got.Result.Error, "budget") ||
				got.Result.Turns == 0) {
				t.Errorf("%s: %s after %d turns", got.Outcome.Evidence.End, got.Result.Error, got.Result.Turns)
			}
			if numbers := fmt.Sprintf("(%d of %d tokens): the next", got.Outcome.Spend.Tokens, budget); want == run.Error &&
				!strings.Contains(got.Result.Error, numbers) {
				t.Errorf("%q lacks %q", got.Result.Error, numbers)
			}
		}
	})
}

// TestBudgetOfGroup checks that the runs of a group share its budget. On one node they do not exceed it. When the budget does not suffice
// for the next model call, the waiting runs are canceled, and none fails.
func TestBudgetOfGroup(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.speaks()
			for range nodes - 1 {
				l.run(l.another())
			}
			l.run(l.Service)
			const budget = 11 * lines * price
			b := l.simulate(group.SetRequest{
				Scenarios: []string{l.scenario(spoken).ID}, Simulations: 40, Budget: engine.Limit{Tokens: budget},
			})
			for range 10 {
				settled()
			}
			got, runs := l.group(b.ID)
			if got.State != run.Cancelled || got.Reason != group.StoppedByBudget || got.Counts.Failed > 0 ||
				got.Counts.Passed < run.DefaultPerOrg || got.Counts.Error == 0 || got.Counts.Ended() != 40 {
				t.Errorf("%d nodes: got %+v", nodes, got)
			}
			if most := nodes * budget; got.Spend.Tokens > most || got.Spend.Tokens < budget-lines*price || len(l.model.Requests())*price != got.Spend.Tokens {
				t.Errorf("%d nodes: %d of %d tokens are spent, in %d calls", nodes, got.Spend.Tokens, budget, len(l.model.Requests()))
			}
			for _, r := range runs {
				switch {
				case r.State == run.Cancelled && (r.Outcome != nil || !strings.Contains(r.Result.Error, "budget")),
					r.State == run.Error && r.Outcome.Evidence.End != assert.EndBudget:
					t.Errorf("a run is %s: %q", r.State, r.Result.Error)
				}
			}
		})
	}
}

// TestBudgetIsCheckedWhenRunsBegin checks that no further run begins after the budget is overdrawn. The first run overdraws it, because its
// model calls use more tokens than were reserved.
func TestBudgetIsCheckedWhenRunsBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks()
		l.model.Usage = llm.Usage{Input: 4000, Output: 1000}
		l.run(l.Service)
		b := l.simulate(group.SetRequest{
			Scenarios: []string{l.scenario(spoken).ID}, Simulations: 5, Budget: engine.Limit{Tokens: 10_000 + 2000}, Concurrency: 1,
		})
		for range 5 {
			settled()
		}
		got, _ := l.group(b.ID)
		if got.Counts != (group.Counts{Passed: 1, Cancelled: 4}) || got.State != run.Cancelled || got.Reason != group.StoppedByBudget {
			t.Errorf("got %+v", got)
		}
	})
}

// TestBudgetOfCost checks that a cost budget limits a group whose engine knows prices.
func TestBudgetOfCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks(func(c *engine.Config) {
			c.Pricer = func(_ string, u llm.Usage) (engine.Money, bool) {
				return engine.Money(u.Input+u.Output) * 1_000_000, true
			}
		})
		l.run(l.Service)
		b := l.simulate(group.SetRequest{
			Scenarios: []string{l.scenario(spoken).ID}, Simulations: 10, Budget: engine.Limit{Cost: 1_000_000_000}, Concurrency: 2,
		})
		for range 10 {
			settled()
		}
		got, _ := l.group(b.ID)
		cost, known := got.Spend.Price()
		if got.Reason != group.StoppedByBudget || got.Counts.Passed != 2 || !known || cost > 1_000_000_000 || cost < 2*lines*price*1_000_000 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestBudgetsAreChecked checks that invalid budgets and invalid concurrency limits are refused.
func TestBudgetsAreChecked(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ids := []string{l.scenario().ID}
	for _, tt := range []struct {
		field       string
		budget      engine.Limit
		concurrency int
	}{
		{"budget.tokens", engine.Limit{Tokens: -1}, 0},
		{"budget.tokens", engine.Limit{Tokens: run.MaxTokens + 1}, 0},
		{"budget.cost", engine.Limit{Cost: -1}, 0},
		{"budget.cost", engine.Limit{Cost: 1}, 0}, // the engine knows no prices
		{"concurrency", engine.Limit{}, -1},
		{"concurrency", engine.Limit{}, group.MaxConcurrency + 1},
	} {
		_, _, batchErr := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Budget: tt.budget, Concurrency: tt.concurrency})
		_, setErr := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: 2, Budget: tt.budget, Concurrency: tt.concurrency})
		errs := []error{batchErr, setErr}
		if tt.field != "concurrency" {
			_, err := l.StartRun(t.Context(), org, ids[0], run.Request{Budget: tt.budget})
			errs = append(errs, err)
		}
		for _, err := range errs {
			if callwright.CodeOf(err) != callwright.CodeBadRequest || !strings.HasPrefix(err.Error(), tt.field+":") {
				t.Errorf("%+v, concurrency %d: %v", tt.budget, tt.concurrency, err)
			}
		}
	}
	if _, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{
		Scenarios: ids, Budget: engine.Limit{Tokens: run.MaxTokens}, Concurrency: group.MaxConcurrency,
	}); err != nil {
		t.Error(err)
	}
}

// TestInterruptedRunsAreCountedOnce checks that the group counts the spending of an interrupted run once, although another node resumes the
// run.
func TestInterruptedRunsAreCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks()
		second := l.another()
		stop := l.run(l.Service)
		const budget = 5 * lines * price // includes room for reservations
		b := l.simulate(group.SetRequest{Scenarios: []string{l.scenario(spoken).ID}, Simulations: 4, Budget: engine.Limit{Tokens: budget}})
		time.Sleep(1500 * time.Millisecond)
		stop()
		if got, _ := l.group(b.ID); got.Spend != (engine.Spend{}) {
			t.Errorf("before a run has ended %+v is spent", got.Spend)
		}
		l.run(second)
		time.Sleep(time.Minute)
		synctest.Wait()
		got, _ := l.group(b.ID)
		// In each run, one interrupted call was never answered.
		if got.State != run.Passed || got.Spend.Tokens != 4*lines*price || len(l.model.Requests()) != 4*(lines+1) {
			t.Errorf("got %+v after %d calls", got, len(l.model.Requests()))
		}
	})
}

// TestPanicIsCounted checks that a run's spending counts even if its agent panics.
func TestPanicIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks()
		l.agent.Answer = func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
			if turn == 2 {
				panic("broken")
			}
			return engine.AgentTurn{Text: strings.Repeat("Go on. ", turn+1)}, nil
		}
		l.run(l.Service)
		b := l.simulate(group.SetRequest{Scenarios: []string{l.scenario(spoken).ID}, Simulations: 1, Budget: engine.Limit{Tokens: 5000}})
		for range 3 {
			settled()
		}
		got, err := l.cfg.Store.Batch(t.Context(), org, b.ID)
		if err != nil || got.State != run.Error || got.Spend.Tokens != 2*price {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// TestConcurrencyOfGroup checks that a group does not exceed its maximum of concurrent runs across all nodes, and that other groups use the
// remaining slots.
func TestConcurrencyOfGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		narrow, wide := l.scenario(), l.scenario()
		var most [2]int
		l.agent.Answer = func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
			time.Sleep(time.Second)
			return engine.AgentTurn{Text: "Goodbye.", Ended: turn > 0}, nil
		}
		second := l.another()
		l.run(l.Service)
		l.run(second)
		a := l.simulate(group.SetRequest{Scenarios: []string{narrow.ID}, Simulations: 100, Concurrency: 3})
		settled()
		b := l.simulate(group.SetRequest{Scenarios: []string{wide.ID}, Simulations: 60})
		for range 400 {
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			for i, id := range []string{a.ID, b.ID} {
				n, err := l.cfg.Store.CountRuns(t.Context(), org, run.Filter{Batch: id, States: []run.State{run.Running}})
				if err != nil {
					t.Fatal(err)
				}
				most[i] = max(most[i], n)
			}
		}
		if most != [2]int{3, run.DefaultPerOrg - 3} {
			t.Errorf("of the groups %v runs went on at once", most)
		}
		for _, id := range []string{a.ID, b.ID} {
			if got, _ := l.group(id); got.State != run.Failed {
				t.Errorf("got %+v", got)
			}
		}
	})
}
