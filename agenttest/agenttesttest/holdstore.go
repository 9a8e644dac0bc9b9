package agenttesttest

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// holdsScenario checks that DeleteScenario waits while a transaction holds the scenario, and that it then also deletes the run that the
// transaction added. Afterwards, HoldScenario must return CodeNotFound.
func holdsScenario(t *testing.T, s subject) {
	s.insert(t, aScenario("s1"), aScenario("s2"))
	deleted := make(chan error, 1)
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		if err := s.HoldScenario(ctx, "a", "s1"); err != nil {
			return err
		}
		go func() { deleted <- s.DeleteScenario(t.Context(), "a", "s1") }()
		select {
		case err := <-deleted:
			t.Error("a scenario was deleted while it was held")
			deleted <- err
		case <-time.After(holdTime): // without the lock, a store would delete the scenario much sooner
		}
		return s.InsertRuns(ctx, []run.Run{aRun("r1")})
	})
	do(t, err, <-deleted)
	s.wantGone(t, "r1")
	hold := func(org callwright.OrgID, id string) error {
		return s.atomic.Do(t.Context(), func(ctx context.Context) error { return s.HoldScenario(ctx, org, id) })
	}
	wantErr(t, callwright.ErrNotFound, map[string]error{"deleted": hold("a", "s1"), "another organization's": hold("b", "s2")})
	do(t, hold("a", "s2"))
}

// holdTime is how long a test waits to see that a deletion does not finish while another transaction holds the scenario or the snapshot.
const holdTime = 200 * time.Millisecond

// deletesEmptyGroups checks that groups are deleted with their last run, and that groups that have not ended or still contain runs remain.
func deletesEmptyGroups(t *testing.T, s subject) {
	over := func(id string) group.Batch {
		b := aBatch(id)
		b.State, b.EndedAt = run.Passed, later(9)
		return b
	}
	foreign := in(ended("r6", 9), "all", 1) // runs of other organizations do not belong to the group
	foreign.Org = "b"
	other := in(ended("r7", 9), "one", 0)
	other.Scenario = "s2"
	sc := aScenario("s2")
	s.insert(t, over("all"), over("some"), over("one"), aBatch("open"), sc, in(ended("r1", 1), "all", 0), in(ended("r2", 1), "some", 0),
		in(ended("r3", 9), "some", 1), in(ended("r4", 1), "open", 0), ended("r5", 1), foreign, other)
	if n, err := s.DeleteRuns(t.Context(), later(3), 10); err != nil || n != 4 {
		t.Errorf("removed %d, %v", n, err)
	}
	do(t, s.DeleteScenario(t.Context(), "a", "s2"))
	for id, want := range map[string]callwright.Code{"all": callwright.CodeNotFound, "some": "", "one": callwright.CodeNotFound, "open": ""} {
		_, err := s.Batch(t.Context(), "a", id)
		if got := callwright.CodeOf(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("the group %q: %v, want %q", id, err, want)
		}
	}
}
