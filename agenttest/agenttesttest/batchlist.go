package agenttesttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/callwrighttest"
)

func groupID(l agenttest.ListedBatch) string { return l.ID }

// listsBatch checks that a list contains all fields of a group except its parts, its webhook, its end and its statistics.
func listsBatch(t *testing.T, s subject) {
	full := FullBatch("b1")
	full.Scenarios = append(full.Scenarios, full.Scenarios[0])
	s.insert(t, full)
	want := agenttest.ListedBatch{Batch: full, Tested: 2}
	want.Scenarios, want.Webhook, want.Over, want.Flakes, want.Statistics = nil, "", 0, nil, nil
	for range 2 {
		got, err := s.FindBatches(t.Context(), "a", agenttest.BatchFilter{Kind: agenttest.OneEach, Limit: 10})
		wantSame(t, got, err, []agenttest.ListedBatch{want})
		callwrighttest.Spoil(&got)
	}
	full.Revision = 1
	s.wantBatch(t, full)
}

func filtersBatches(t *testing.T, s subject) {
	for i, change := range []func(*agenttest.Batch){
		func(b *agenttest.Batch) { b.State = agenttest.Passed },
		func(b *agenttest.Batch) { b.Kind, b.Simulations = agenttest.Simulations, 3 },
		func(b *agenttest.Batch) { b.Pathway, b.Persona, b.State = "", "x1", agenttest.Passed },
		func(b *agenttest.Batch) { b.Pathway, b.CreatedAt = "p2", later(9) },
		func(b *agenttest.Batch) { b.Org = "b" },
		func(b *agenttest.Batch) { b.Trigger = agenttest.ByTornado },
	} {
		b := aBatch(fmt.Sprint("b", i))
		change(&b)
		s.insert(t, b)
	}
	const each, sets = agenttest.OneEach, agenttest.Simulations
	for _, tt := range []struct {
		f    agenttest.BatchFilter
		want string
	}{
		{agenttest.BatchFilter{Kind: each}, "b3 b5 b2 b0"},
		{agenttest.BatchFilter{Kind: sets}, "b1"},
		{agenttest.BatchFilter{Kind: each, Pathway: "p1"}, "b5 b0"},
		{agenttest.BatchFilter{Kind: each, Persona: "x1"}, "b2"},
		{agenttest.BatchFilter{Kind: sets, Persona: "x1"}, ""},
		{agenttest.BatchFilter{Kind: each, State: agenttest.Passed}, "b2 b0"},
		{agenttest.BatchFilter{Kind: each, State: agenttest.Passed, Pathway: "p1"}, "b0"},
		{agenttest.BatchFilter{Kind: each, State: agenttest.Failed}, ""},
		{agenttest.BatchFilter{Kind: each, Trigger: agenttest.ByTornado}, "b5"},
		{agenttest.BatchFilter{Kind: sets, Trigger: agenttest.ByTornado}, ""},
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
	list, err := s.FindBatches(t.Context(), "a", agenttest.BatchFilter{Kind: each})
	wantIDs(t, "none asked for", list, err, groupID)
}
