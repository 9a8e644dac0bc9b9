package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/judge"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/stats"
)

// court is a lab whose judge is a model.
type court struct {
	*lab

	mu    sync.Mutex
	asked map[string]int // number of questions, by trial and attempt

	answered atomic.Int64 // tokens of the model's answers
	budget   engine.Limit // budget of simulated sets
}

// newCourt returns a court whose judge passes a conversation if passes returns true.
func newCourt(t *testing.T, passes func(q llm.Question) (bool, error)) *court {
	t.Helper()
	c := &court{lab: newLab(t), asked: map[string]int{}}
	m := &agentstest.Model{Usage: llm.Usage{Input: 900, Output: 100}, Answers: func(_ context.Context, q llm.Question) (string, error) {
		c.mu.Lock()
		c.asked[fmt.Sprint(q.Trial, " ", q.Attempt)]++
		c.mu.Unlock()
		pass, err := passes(q)
		if err == nil {
			c.answered.Add(1000)
		}
		if !pass {
			return `{"evidence":[],"reasoning":"It does not.","verdict":"fail","failure_code":"wrong_end"}`, err
		}
		return `{"evidence":[],"reasoning":"It does.","verdict":"pass","failure_code":null}`, err
	}}
	held, err := engine.New(engine.Config{
		Runner: c.agent, Model: m, Judge: func(m llm.Model) assert.Judge { return judge.New(m, judge.Config{Samples: 1}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	c.cfg.Engine = held
	c.Service = c.another()
	return c
}

// judged adds a judged assertion to a scenario.
func judged(sc *scenario.Scenario) {
	sc.Assertions = append(sc.Assertions, assert.Assertion{
		Type: assert.LLMJudge, Config: json.RawMessage(`{"prompt":"Was it paid?"}`), Required: true, Weight: 1,
	})
}

// varying makes the agent use other words in every second session or, if fails is set, return an error there.
func (c *court) varying(fails bool) {
	var sessions atomic.Int64
	c.agent.Answer = func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
		if turn == 0 {
			return c.agent.Turns[0], nil
		}
		out := c.agent.Turns[1]
		if sessions.Add(1)%2 == 0 {
			if fails {
				return engine.AgentTurn{}, errors.New("broken")
			}
			out.Text = "I cannot help. Goodbye."
		}
		return out, nil
	}
}

// simulate executes a set of one scenario, and returns its statistics and the number of questions to the judge.
func (c *court) simulate(attribute bool, change ...func(*scenario.Scenario)) (stats.Scenario, int) {
	c.t.Helper()
	sc := c.scenario(append([]func(*scenario.Scenario){judged}, change...)...)
	b, err := c.StartSet(c.t.Context(), org, group.SetRequest{
		Scenarios: []string{sc.ID}, Simulations: simulated, Attribute: attribute, Budget: c.budget,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.run(c.Service)
	for range 10 {
		settled()
	}
	got, st, err := c.GetSet(c.t.Context(), org, b.ID)
	if err != nil || !got.State.Ended() || got.Statistics == nil {
		c.t.Fatalf("the set is %+v, %v", got, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := 0
	for _, n := range c.asked {
		calls += n
	}
	if want, used := int(c.answered.Load()), got.Usage.Judge; got.Spend.Tokens != want || used.Input+used.Output != want {
		c.t.Errorf("got %+v and %+v, want %d tokens", got.Spend, got.Usage, want)
	}
	return st.Scenarios[0], calls
}

// simulated is the number of runs in a court's set. Half of them fail.
const simulated = 10

// paid passes conversations whose last message confirms a payment.
func paid(q llm.Question) (bool, error) {
	return strings.Contains(q.Messages[len(q.Messages)-1].Text, "Paid"), nil
}

// TestFlakesOfAgent checks that the agent or the caller is the source of flakes if the judge repeats its verdict on every frozen
// conversation.
func TestFlakesOfAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, paid)
		c.varying(false)
		got, calls := c.simulate(true)
		if got.FlakeSource != stats.FromAgentOrCaller || got.Passed != simulated/2 || got.Failed != simulated/2 {
			t.Errorf("got %+v", got)
		}
		if want := simulated * (1 + stats.JudgedAgain); calls != want {
			t.Errorf("the judge was asked %d times, want %d", calls, want)
		}
	})
}

// TestFlakesWithinTheBudget checks that a set repeats judgments only within its budget, and keeps the original verdicts.
func TestFlakesWithinTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, paid)
		c.varying(false)
		c.budget = engine.Limit{Tokens: simulated*1000 + 5000} // about 2,000 tokens are reserved for a call
		got, calls := c.simulate(true)
		if got.Passed != simulated/2 || got.Failed != simulated/2 || calls <= simulated || calls > simulated+5 {
			t.Errorf("got %+v after %d calls", got, calls)
		}
	})
}

// TestFlakesOfJudge checks that the judge is the source of flakes if its verdicts differ on one conversation or on equal conversations.
func TestFlakesOfJudge(t *testing.T) {
	t.Parallel()
	for name, passes := range map[string]func(q llm.Question) (bool, error){
		"of one conversation":    func(q llm.Question) (bool, error) { return (q.Trial/group.MaxSimulations+q.Trial)%2 == 0, nil },
		"of equal conversations": func(q llm.Question) (bool, error) { return q.Trial%2 == 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCourt(t, passes)
				got, calls := c.simulate(true, required)
				if got.FlakeSource != stats.FromJudge || !got.IsFlaky {
					t.Errorf("got %+v", got)
				}
				if most := simulated + 2*stats.JudgedAgain; calls > most {
					t.Errorf("the judge was asked %d times: %d are enough to know", calls, most)
				}
			})
		})
	}
}

// TestFlakesOfInfrastructure checks that errors are the source of flakes if all other runs agree, and that the judge is then not asked
// again.
func TestFlakesOfInfrastructure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, paid)
		c.varying(true)
		got, calls := c.simulate(true)
		if got.FlakeSource != stats.FromErrors || got.Errors != simulated/2 || got.Passed != simulated/2 || calls != simulated/2 {
			t.Errorf("got %+v; the judge was asked %d times", got, calls)
		}
	})
}

// TestFlakesOfNobody checks that judgments are repeated only if the set requests it, and that no source is named if the judge does not
// answer.
func TestFlakesOfNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, paid)
		c.varying(false)
		if got, calls := c.simulate(false); got.FlakeSource != stats.NoSource || !got.IsFlaky || calls != simulated {
			t.Errorf("without the option: %+v; the judge was asked %d times", got, calls)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, func(q llm.Question) (bool, error) {
			if q.Trial >= group.MaxSimulations {
				return false, &llm.Failure{Class: llm.ClassPermanent, Message: "gone"}
			}
			return paid(q)
		})
		c.varying(false)
		if got, _ := c.simulate(true); got.FlakeSource != stats.NoSource || !got.IsFlaky {
			t.Errorf("without answers: %+v", got)
		}
	})
}

// forgetful is a store that fails to store the first updates of groups with repeated judgments, as if the process had died before each
// update.
type forgetful struct {
	agenttest.Store

	lost atomic.Int64 // number of updates that will still be lost
}

func (s *forgetful) UpdateBatch(ctx context.Context, b group.Batch) error {
	if b.Flakes != nil && len(b.Flakes.Frozen) > 0 && s.lost.Add(-1) >= 0 {
		return callwright.ErrUnavailable
	}
	return s.Store.UpdateBatch(ctx, b)
}

// TestJudgedAgainOnce checks that a repeated step does not ask the judge a question again that it has already answered.
func TestJudgedAgainOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, paid)
		c.varying(false)
		store := &forgetful{Store: c.cfg.Store}
		store.lost.Store(3)
		c.cfg.Store = store
		c.Service = c.another()
		got, calls := c.simulate(true)
		if got.FlakeSource != stats.FromAgentOrCaller || store.lost.Load() >= 0 {
			t.Errorf("got %+v; %d updates were not lost", got, store.lost.Load())
		}
		if want := simulated * (1 + stats.JudgedAgain); calls != want {
			t.Errorf("the judge was asked %d times, want %d", calls, want)
		}
		runs, _, err := c.ListRuns(t.Context(), org, run.Filter{})
		for _, r := range runs {
			if answers, err := c.cfg.Store.Answers(t.Context(), org, r.ID); err != nil || len(answers) != 0 {
				t.Errorf("the run %s keeps %d answers, %v", r.ID, len(answers), err)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestCancelWhileJudgedAgain checks that canceling a set while judgments are repeated does not change its final state and statistics, and
// that no source of flakes is named.
func TestCancelWhileJudgedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(t, func(q llm.Question) (bool, error) {
			if q.Trial >= group.MaxSimulations {
				time.Sleep(time.Minute)
			}
			return paid(q)
		})
		c.varying(false)
		sc := c.scenario(judged)
		b, err := c.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{sc.ID}, Simulations: simulated, Attribute: true})
		if err != nil {
			t.Fatal(err)
		}
		c.run(c.Service)
		settled()
		if got, _, err := c.GetSet(t.Context(), org, b.ID); err != nil || got.State != run.Running || got.Counts.Ended() != simulated {
			t.Fatalf("before: %+v, %v", got, err)
		}
		if err := c.CancelSet(t.Context(), org, b.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		got, st, err := c.GetSet(t.Context(), org, b.ID)
		if err != nil || got.State != run.Passed || st.Scenarios[0].FlakeSource != stats.NoSource || st.Scenarios[0].Failed != simulated/2 {
			t.Errorf("after: %+v, %+v, %v", got, st, err)
		}
	})
}
