package agenttesttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// cancelsRun checks that CancelRun marks a running run, that a later update by a node preserves the mark, and that waiting, ended and
// absent runs are refused.
func cancelsRun(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"), aRun("r2"), ended("r3", 9))
	for range 2 {
		do(t, s.CancelRun(t.Context(), "a", "r1"))
	}
	want := running("r1", "n")
	want.Cancel = true
	s.wantRun(t, want)
	wantErr(t, callwright.ErrConflict, map[string]error{
		"waiting": s.CancelRun(t.Context(), "a", "r2"), "ended": s.CancelRun(t.Context(), "a", "r3"),
	})
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"absent": s.CancelRun(t.Context(), "a", "r4"), "another organization's": s.CancelRun(t.Context(), "b", "r1"),
	})
	s.wantRun(t, aRun("r2"))
	s.wantRun(t, ended("r3", 9))
	do(t, s.update(t, running("r1", "m"))) // an update by a node that has not read the cancellation
	want = running("r1", "m")
	want.Cancel, want.Revision = true, 2
	s.wantRun(t, want)
}

// looksBeyondGroups checks that Filter.NotBatches excludes the runs of the listed groups from lists, further pages and counts.
func looksBeyondGroups(t *testing.T, s subject) {
	for i, batch := range []string{"b1", "b1", "b2", "", "b1", "b3", "b2"} {
		r := in(aRun(fmt.Sprint("r", i)), batch, i)
		r.CreatedAt = later(i)
		s.insert(t, r)
	}
	s.insert(t, in(running("r7", "n"), "b3", 7))
	for without, want := range map[string]string{"": "r0 r1 r2 r3 r4 r5 r6", "b1": "r2 r3 r5 r6", "b1 b2": "r3 r5", "b1 b2 b3 b4": "r3"} {
		f := run.Filter{
			States: []run.State{run.Pending}, NotBatches: strings.Fields(without), Oldest: true, Limit: 10,
		}
		list, err := s.FindRuns(t.Context(), "a", f)
		wantIDs(t, "without "+without, list, err, runID, strings.Fields(want)...)
		n, err := s.CountRuns(t.Context(), "a", f)
		if err != nil || n != len(list) {
			t.Errorf("without %s: counted %d, %v", without, n, err)
		}
		if len(list) > 1 {
			f.After, f.Limit = callwright.Keyset{At: list[0].CreatedAt, ID: list[0].ID}, 1
			next, err := s.FindRuns(t.Context(), "a", f)
			wantIDs(t, "the next without "+without, next, err, runID, list[1].ID)
		}
	}
}

func tellsCancelled(t *testing.T, s subject) {
	cancelled, going, spent := aBatch("b1"), aBatch("b2"), aBatch("b3")
	cancelled.Cancel, cancelled.Reason = true, group.StoppedByQuota
	spent.Cancel, spent.Reason = true, group.StoppedByBudget
	itself, waiting, elsewhere, over := running("r1", "n"), aRun("r2"), running("r3", "m"), ended("r4", 9)
	for _, r := range []*run.Run{&itself, &waiting, &elsewhere, &over} {
		r.Cancel = true
	}
	itselfToo := in(running("r11", "n"), "b3", 1)
	itselfToo.Cancel = true
	s.insert(t, cancelled, going, spent, in(running("r10", "n"), "b3", 0), itselfToo, itself, waiting, elsewhere, over, running("r5", "n"),
		in(running("r6", "n"), "b1", 0), in(running("r7", "n"), "b2", 0), in(aRun("r8"), "b1", 1), in(running("r9", "m"), "b1", 2))
	ids, err := s.Cancelled(t.Context(), "n")
	slices.Sort(ids)
	if err != nil || fmt.Sprint(ids) != "[r1 r11 r6]" {
		t.Errorf("got %v, %v", ids, err)
	}
	if ids, err = s.Cancelled(t.Context(), "another"); err != nil || len(ids) != 0 {
		t.Errorf("another node has %v, %v", ids, err)
	}
}
