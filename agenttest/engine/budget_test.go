package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/engine"
)

// TestBudget checks a budget against a model of it: nothing is reserved beyond the limit of any budget above, and every
// reservation is settled in all.
func TestBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limits := [2]int{rapid.IntRange(0, 100).Draw(rt, "all"), rapid.IntRange(0, 100).Draw(rt, "one")}
		all := engine.NewBudget(limits[0], nil)
		one := engine.NewBudget(limits[1], all)
		var used [2]int
		var open []int
		reserved := 0
		for range rapid.IntRange(0, 20).Draw(rt, "steps") {
			if len(open) > 0 && rapid.Bool().Draw(rt, "settle") {
				spent := rapid.IntRange(0, 30).Draw(rt, "spent")
				one.Settle(open[0], spent)
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
		if all.Used() != used[0] || one.Used() != used[1] {
			rt.Fatalf("used %d and %d, want %v", all.Used(), one.Used(), used)
		}
	})
}

func TestBudgetSideBySide(t *testing.T) {
	t.Parallel()
	all := engine.NewBudget(100, nil)
	var wait sync.WaitGroup
	var granted atomic.Int64
	for range 10 {
		one := engine.NewBudget(50, all)
		wait.Go(func() {
			for range 50 {
				if one.Reserve(1) {
					granted.Add(1)
					one.Settle(1, 1)
				}
			}
		})
	}
	wait.Wait()
	if all.Used() != 100 || granted.Load() != 100 {
		t.Errorf("%d are used, %d granted", all.Used(), granted.Load())
	}
}
