package agenttesttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/callwrighttest"
)

func groupID(l group.Listed) string { return l.ID }

// listsBatch checks that a list contains all fields of a group except Scenarios, Webhook, Over, Flakes and Statistics.
func listsBatch(t *testing.T, s subject) {
	full := FullBatch("b1")
	full.Scenarios = append(full.Scenarios, full.Scenarios[0])
	s.insert(t, full)
	want := group.Listed{Batch: full, Tested: 2}
	want.Scenarios, want.Webhook, want.Over, want.Flakes, want.Statistics = nil, "", 0, nil, nil
	for range 2 {
		got, err := s.FindBatches(t.Context(), "a", group.Filter{Kind: group.OneEach, Limit: 10})
		wantSame(t, got, err, []group.Listed{want})
		callwrighttest.Spoil(&got)
	}
	full.Revision = 1
	s.wantBatch(t, full)
}

func filtersBatches(t *testing.T, s subject) {
	for i, change := range []func(*group.Batch){
		func(b *group.Batch) { b.State = run.Passed },
		func(b *group.Batch) { b.Kind, b.Simulations = group.Simulations, 3 },
		func(b *group.Batch) { b.Pathway, b.Persona, b.State = "", "x1", run.Passed },
		func(b *group.Batch) { b.Pathway, b.CreatedAt = "p2", later(9) },
		func(b *group.Batch) { b.Org = "b" },
		func(b *group.Batch) { b.Trigger = group.ByTornado },
	} {
		b := aBatch(fmt.Sprint("b", i))
		change(&b)
		s.insert(t, b)
	}
	const each, sets = group.OneEach, group.Simulations
	for _, tt := range []struct {
		f    group.Filter
		want string
	}{
		{group.Filter{Kind: each}, "b3 b5 b2 b0"},
		{group.Filter{Kind: sets}, "b1"},
		{group.Filter{Kind: each, Pathway: "p1"}, "b5 b0"},
		{group.Filter{Kind: each, Persona: "x1"}, "b2"},
		{group.Filter{Kind: sets, Persona: "x1"}, ""},
		{group.Filter{Kind: each, State: run.Passed}, "b2 b0"},
		{group.Filter{Kind: each, State: run.Passed, Pathway: "p1"}, "b0"},
		{group.Filter{Kind: each, State: run.Failed}, ""},
		{group.Filter{Kind: each, Trigger: group.ByTornado}, "b5"},
		{group.Filter{Kind: sets, Trigger: group.ByTornado}, ""},
	} {
		want := strings.Fields(tt.want)
		if n, err := s.CountBatches(t.Context(), "a", tt.f); err != nil || n != len(want) {
			t.Errorf("%+v: counted %d, %v; want %d", tt.f, n, err, len(want))
		}
		for offset := range len(want) + 2 {
			page := tt.f
			page.Offset, page.Limit = offset, 2
			list, err := s.FindBatches(t.Context(), "a", page)
			from := min(offset, len(want))
			wantIDs(t, fmt.Sprintf("%+v", page), list, err, groupID, want[from:min(from+2, len(want))]...)
		}
	}
	list, err := s.FindBatches(t.Context(), "a", group.Filter{Kind: each})
	wantIDs(t, "none asked for", list, err, groupID)
}
