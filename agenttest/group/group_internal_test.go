package group

import (
	"testing"

	"github.com/callwright/callwright/agenttest/run"
)

// TestVerdictOfGroups checks the state of groups for combinations of ended runs.
func TestVerdictOfGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		counts     Counts
		missing    int // runs that did not exist when the group was canceled
		batch, set run.State
	}{
		{Counts{Passed: 2}, 0, run.Passed, run.Passed},
		{Counts{Passed: 1, Failed: 1}, 0, run.Failed, run.Passed},
		{Counts{Failed: 2}, 0, run.Failed, run.Failed},
		{Counts{Passed: 1, Error: 1}, 0, run.Error, run.Error},
		{Counts{Failed: 1, Error: 1}, 0, run.Failed, run.Error},
		{Counts{Passed: 1, Failed: 1, Error: 1, Cancelled: 1}, 0, run.Cancelled, run.Cancelled},
		{Counts{Passed: 2}, 1, run.Cancelled, run.Cancelled},
		{Counts{}, 2, run.Cancelled, run.Cancelled},
	} {
		for kind, want := range map[Kind]run.State{OneEach: c.batch, Simulations: c.set} {
			n := c.counts.Ended() + c.missing
			b := Batch{Kind: kind, Counts: c.counts, Scenarios: make([]run.Subject, 1), Simulations: n}
			if got := b.state(); got != want {
				t.Errorf("a %s of %d runs with %+v is %s, want %s", kind, n, c.counts, got, want)
			}
		}
	}
}
