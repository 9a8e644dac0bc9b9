package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// TestBudget compares budgets with a simple model: no reservation may exceed the limit of any ancestor, and each reservation must be
// accounted in all of them.
func TestBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limits := [2]int{rapid.IntRange(1, 100).Draw(rt, "all"), rapid.IntRange(1, 100).Draw(rt, "one")}
		all := engine.NewBudget(engine.Limit{Tokens: limits[0]}, nil)
		one := engine.NewBudget(engine.Limit{Tokens: limits[1]}, all)
		var used [2]int
		var open []int
		reserved := 0
		for range rapid.IntRange(0, 20).Draw(rt, "steps") {
			if len(open) > 0 && rapid.Bool().Draw(rt, "settle") {
				spent := rapid.IntRange(0, 30).Draw(rt, "spent")
				one.Return(engine.Spend{Tokens: open[0]}, engine.Spend{Tokens: spent})
				reserved -= open[0]
				open = open[1:]
				used[0], used[1] = used[0]+spent, used[1]+spent
				continue
			}
			n := rapid.IntRange(0, 40).Draw(rt, "tokens")
			want := used[0]+reserved+n <= limits[0] && used[1]+reserved+n <= limits[1]
			if got := one.Reserve(n); got != want {
				rt.Fatalf("reserve %d is %v with %d reserved and %v used of %v", n, got, reserved, used, limits)
			} else if got {
				open, reserved = append(open, n), reserved+n
			}
		}
		if all.Used().Tokens != used[0] || one.Used().Tokens != used[1] {
			rt.Fatalf("used %+v and %+v, want %v", all.Used(), one.Used(), used)
		}
	})
}

func TestBudgetSideBySide(t *testing.T) {
	t.Parallel()
	all := engine.NewBudget(engine.Limit{Tokens: 100}, nil)
	var wait sync.WaitGroup
	var granted atomic.Int64
	for range 10 {
		one := engine.NewBudget(engine.Limit{Tokens: 50}, all)
		wait.Go(func() {
			for range 50 {
				if one.Await(t.Context(), engine.Spend{Tokens: 1}) == nil {
					granted.Add(1)
					one.Return(engine.Spend{Tokens: 1}, engine.Spend{Tokens: 1})
				}
			}
		})
	}
	wait.Wait()
	if all.Used().Tokens != 100 || granted.Load() != 100 {
		t.Errorf("%+v is used, %d granted", all.Used(), granted.Load())
	}
}

// TestBudgetWaits checks that a call that does not fit because of other reservations waits for their actual usage.
func TestBudgetWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := engine.NewBudget(engine.Limit{Tokens: 100, Cost: 50}, nil)
		large := engine.Spend{Tokens: 60, Cost: 40}
		for _, tt := range []struct {
			used engine.Spend
			want error
		}{
			{engine.Spend{Tokens: 10, Cost: 5}, nil}, {engine.Spend{Tokens: 5, Cost: 5}, nil}, {engine.Spend{Tokens: 5, Cost: 10}, engine.ErrBudget},
		} {
			if err := b.Await(t.Context(), large); err != nil {
				t.Fatal(err)
			}
			got := make(chan error)
			go func() { got <- b.Await(t.Context(), large) }()
			synctest.Wait()
			select {
			case err := <-got:
				t.Errorf("the second call was answered with %v before the first had ended", err)
			default:
			}
			b.Return(large, tt.used)
			if err := <-got; !errors.Is(err, tt.want) {
				t.Errorf("after %+v: got %v, want %v", tt.used, err, tt.want)
			} else if err == nil {
				b.Return(large, engine.Spend{})
			}
		}
		if !b.Refused() {
			t.Error("nothing was refused")
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Await(limited, engine.Spend{Tokens: 80}); err != nil {
			t.Fatal(err)
		}
		if err := b.Await(limited, engine.Spend{Tokens: 80}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call whose time is over got %v", err)
		}
	})
}

// TestBudgetIsShared checks that the spending of other processes counts, and that spending moved to the shared sum counts once.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	b := engine.NewBudget(engine.Limit{Tokens: 100}, nil)
	b.Account(engine.Spend{Tokens: 30}, engine.Spend{})
	if !b.Reserve(70) || b.Reserve(1) {
		t.Error("30 of 100 leave another rest than 70")
	}
	b.Return(engine.Spend{Tokens: 70}, engine.Spend{Tokens: 20})
	b.Account(engine.Spend{Tokens: 55}, engine.Spend{Tokens: 20}) // another process has spent 5
	if b.Used() != (engine.Spend{}) || !b.Reserve(45) || b.Reserve(1) {
		t.Errorf("55 of 100 leave another rest than 45; %+v is used here", b.Used())
	}
}

// dear returns a Pricer that prices each token of the known models at 1.
func dear(known ...string) engine.Pricer {
	return func(model string, u llm.Usage) (engine.Money, bool) {
		return engine.Money(u.Input+u.Output) * 1e9, slices.Contains(known, model)
	}
}

// TestPrice checks that the cost of a run is the sum of all calls, and unknown if the price of a call is unknown.
func TestPrice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pricer engine.Pricer
		usage  llm.Usage
		want   engine.Spend
		known  bool
	}{
		"known":           {dear("fake"), llm.Usage{Input: 10, Output: 1}, engine.Spend{Tokens: 99, Cost: 99e9, Priced: 9}, true},
		"nobody asked":    {nil, llm.Usage{Input: 10, Output: 1}, engine.Spend{Tokens: 99, Unpriced: 9}, false},
		"another model's": {dear("other"), llm.Usage{Input: 10, Output: 1}, engine.Spend{Tokens: 99, Unpriced: 9}, false},
	} {
		m := model(4)
		m.Usage = tt.usage
		e := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Pricer: tt.pricer})
		o, err := e.Run(t.Context(), engine.Case{Run: "r", Scenario: played(judged("a", "x"))})
		_, known := o.Spend.Price()
		if err != nil || o.Verdict != engine.Passed || o.Spend != tt.want || known != tt.known || e.Prices() != tt.known || len(o.Warnings) > 0 {
			t.Errorf("%s: %s, spent %+v, known %v, prices %v, warnings %v, error %v", name, o.Verdict, o.Spend, known, e.Prices(), o.Warnings, err)
		}
	}
	m := model(4) // a model that reports no tokens
	m.Usage = llm.Usage{}
	o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Pricer: dear("fake")}).
		Run(t.Context(), engine.Case{Run: "r", Scenario: played()})
	if _, known := o.Spend.Price(); err != nil || known || o.Spend.Tokens == 0 || o.Spend.Cost == 0 || o.Spend.Unpriced != 7 {
		t.Errorf("without counted tokens: spent %+v, known %v, error %v", o.Spend, known, err)
	}
}

// TestBudgetOfCost checks that known costs are limited, and that the run warns about unknown costs.
func TestBudgetOfCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pricer   engine.Pricer
		verdict  engine.Verdict
		warnings int
	}{{dear("fake"), engine.Error, 0}, {nil, engine.Passed, 1}, {dear("other"), engine.Passed, 1}} {
		m := model(4)
		shared := engine.NewBudget(engine.Limit{Cost: 1200e9}, nil)
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Pricer: tt.pricer}).Run(t.Context(), engine.Case{
			Run: "r", Scenario: played(judged("a", "x")), Budget: engine.NewBudget(engine.Limit{}, shared),
		})
		if err != nil || o.Verdict != tt.verdict || len(o.Warnings) != tt.warnings || shared.Refused() != (tt.verdict == engine.Error) {
			t.Errorf("%s, warnings %v, error %v", o.Verdict, o.Warnings, err)
		}
	}
}

// TestBudgetEndsInTheEvaluation checks that a run is an error if the budget does not suffice for the judge, regardless of the other
// assertions.
func TestBudgetEndsInTheEvaluation(t *testing.T) {
	t.Parallel()
	for _, optional := range []bool{false, true} {
		m := model(2)
		m.Usage = llm.Usage{Input: 300, Output: 20}
		judged := judged("a", "x")
		judged.Required = !optional
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Answer: 100, Limit: engine.Limit{Tokens: 3*320 + 50}}).
			Run(t.Context(), engine.Case{Run: "r", Scenario: played(reached("b", "9"), judged)})
		if err != nil || o.Verdict != engine.Error || o.Evidence.End != assert.EndBudget || o.Score != nil || o.Blame != "" ||
			len(o.Results) != 2 || o.Results[0].Outcome != assert.Failed || o.Error == "" {
			t.Errorf("optional %v: %s %s %q %v, error %v", optional, o.Verdict, o.Evidence.End, o.Error, o.Results, err)
		}
	}
}

// TestShortage checks that the error states the limit, the usage and the requested amount.
func TestShortage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit      engine.Limit
		used, next engine.Spend
		want       string
	}{
		{
			engine.Limit{Tokens: 1000}, engine.Spend{Tokens: 870, Cost: 3}, engine.Spend{Tokens: 412},
			"(870 of 1000 tokens): the next call of a model may use 412 tokens; start again with a larger budget",
		},
		{
			engine.Limit{Cost: 500_000_000}, engine.Spend{Cost: 482_000_000}, engine.Spend{Tokens: 9, Cost: 31_500_000},
			"(cost 0.482 of 0.5): the next call of a model may cost 0.0315; start again with a larger budget",
		},
		{
			engine.Limit{Tokens: 1000, Cost: 500_000_000}, engine.Spend{Tokens: 10, Cost: 482_000_000}, engine.Spend{Tokens: 9, Cost: 31_500_000},
			"(cost 0.482 of 0.5): the next call of a model may cost 0.0315; start again with a larger budget",
		},
	} {
		b := engine.NewBudget(tt.limit, nil)
		b.Account(tt.used, engine.Spend{})
		if err := b.Await(t.Context(), tt.next); err == nil || !errors.Is(err, engine.ErrBudget) || err.Error() != "the budget is used up "+tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// TestShortageOfManyRuns checks that the error distinguishes the usage of all runs together from the run's own usage.
func TestShortageOfManyRuns(t *testing.T) {
	t.Parallel()
	for others, want := range map[int]string{0: " tokens): the", 5000: " tokens, by all runs together): the"} {
		shared := engine.NewBudget(engine.Limit{Tokens: others + 700}, nil)
		shared.Account(engine.Spend{Tokens: others}, engine.Spend{})
		m := model(40)
		m.Usage = llm.Usage{Input: 300, Output: 20}
		o, err := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Answer: 100}).Run(t.Context(), engine.Case{
			Run: "r", Scenario: played(judged("a", "x")), Budget: engine.NewBudget(engine.Limit{}, shared),
		})
		if err != nil || o.Evidence.End != assert.EndBudget || !strings.Contains(o.Error, fmt.Sprint(" of ", others+700, want)) {
			t.Errorf("%d: %q, %v", others, o.Error, err)
		}
	}
}
