package analytics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/stats"
)

// told is a run with the data that its summary encodes.
type told struct {
	run    analytics.Run
	visits []string
	blame  string
}

// drawRuns returns a generator of runs in the window, some without a summary or visits.
func drawRuns(nodes, most int) *rapid.Generator[[]told] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) told {
		var r told
		r.run = analytics.Run{
			Scenario: fmt.Sprint("s", rapid.IntRange(0, 4).Draw(t, "scenario")), Version: rapid.IntRange(1, 3).Draw(t, "version"),
			State: stats.State(rapid.IntRange(0, 3).Draw(t, "state")), CreatedAt: ago(float64(rapid.IntRange(0, 29).Draw(t, "age"))),
		}
		if rapid.IntRange(0, 9).Draw(t, "old") == 0 {
			return r
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, nodes-1), 0, 25).Draw(t, "visits") {
			r.visits = append(r.visits, fmt.Sprint("node ", n))
		}
		if len(r.visits) > 0 && r.run.State == stats.Failed && rapid.Bool().Draw(t, "placed") {
			r.blame = rapid.SampledFrom(r.visits).Draw(t, "blame")
		}
		r.run.Summary = analytics.NewSummary(nil, r.visits, r.blame)
		return r
	}), 0, most)
}

func report(all []told) analytics.Report {
	list := make([]analytics.Run, len(all))
	for i, r := range all {
		list[i] = r.run
	}
	return fold(30, list...)
}

// TestHeatmapAgrees compares the heatmap with counts that are computed node by node.
func TestHeatmapAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := drawRuns(8, 60).Draw(t, "runs")
		found := report(all)
		got, blamed, withPath := found.Heatmap, found.Unplaced, 0
		for n := range 8 {
			id := fmt.Sprint("node ", n)
			want := analytics.NodeFailures{Node: id, Name: id}
			for _, r := range all {
				if !slices.Contains(r.visits, id) || r.run.State != stats.Passed && r.run.State != stats.Failed {
					continue
				}
				want.Visits++
				if r.blame == id {
					want.Failed++
				}
			}
			i := slices.IndexFunc(got, func(n analytics.NodeFailures) bool { return n.Node == id })
			if i < 0 && want.Visits > 0 || i >= 0 && got[i] != want {
				t.Fatalf("want %+v in %+v", want, got)
			}
		}
		for _, n := range got {
			blamed += n.Failed
		}
		for _, r := range all {
			if r.run.State == stats.Failed && r.run.Summary != "" {
				withPath++
			}
		}
		if blamed != withPath {
			t.Fatalf("%d failed runs with a path blame %d nodes and none", withPath, blamed)
		}
	})
}

// TestFlowAgrees compares the flow with counts that are computed run by run.
func TestFlowAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := drawRuns(20, 60).Draw(t, "runs")
		want := map[string][4]int{}
		known := 0
		for _, r := range all {
			if r.run.Summary == "" {
				continue
			}
			known++
			at := "s:" + r.run.Scenario
			step := func(to string) {
				l := want[at+" > "+to]
				l[r.run.State]++
				want[at+" > "+to], at = l, to
			}
			var path []string
			for _, id := range r.visits {
				if !slices.Contains(path, id) {
					path = append(path, id)
				}
			}
			for i, id := range path[:min(len(path), analytics.MaxLayers)] {
				step(fmt.Sprintf("n%d:%s", i+1, id))
			}
			if len(path) > analytics.MaxLayers {
				step("x:nodes")
			}
			step([]string{"o:passed", "o:failed", "o:error", "o:cancelled"}[r.run.State])
		}
		got := report(all).Flow
		for _, l := range got.Links {
			w := want[l.Source+" > "+l.Target]
			if l.Passed != w[0] || l.Failed != w[1] || l.Unscored != w[2]+w[3] || l.Runs != w[0]+w[1]+w[2]+w[3] {
				t.Fatalf("the link %+v should have %v", l, w)
			}
		}
		if len(got.Links) != len(want) {
			t.Fatalf("there are %d links, want %d", len(got.Links), len(want))
		}
		checkFlow(t, got, known)
	})
}

// checkFlow checks invariants of a flow, such as equal inflow and outflow of the entries between scenarios and outcomes.
func checkFlow(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, f analytics.Flow, runs int,
) {
	t.Helper()
	in, out, outcomes, next := map[string]int{}, map[string]int{}, 0, map[string][]string{}
	for _, l := range f.Links {
		if l.Runs < 1 || l.Runs != l.Passed+l.Failed+l.Unscored {
			t.Fatalf("a link is %+v", l)
		}
		in[l.Target], out[l.Source] = in[l.Target]+l.Runs, out[l.Source]+l.Runs
		next[l.Source] = append(next[l.Source], l.Target)
	}
	ids := map[string]bool{}
	for _, e := range f.Entries {
		if ids[e.ID] {
			t.Fatalf("%s is there twice", e.ID)
		}
		ids[e.ID] = true
		switch e.Category {
		case analytics.IsScenario:
			if in[e.ID] != 0 {
				t.Fatalf("%d runs lead to %s", in[e.ID], e.ID)
			}
		case analytics.IsOutcome:
			outcomes += in[e.ID]
			if out[e.ID] != 0 {
				t.Fatalf("%d runs go on from %s", out[e.ID], e.ID)
			}
		default:
			if in[e.ID] != out[e.ID] || in[e.ID] == 0 {
				t.Fatalf("%d runs come to %s and %d leave it", in[e.ID], e.ID, out[e.ID])
			}
		}
		if e.Category == analytics.IsEnd && slices.ContainsFunc(next[e.ID], func(to string) bool { return !strings.HasPrefix(to, "o:") }) {
			t.Fatalf("from the end %s runs go on to %v", e.ID, next[e.ID])
		}
	}
	if outcomes != runs {
		t.Fatalf("%d runs have %d outcomes", runs, outcomes)
	}
	visiting, done := map[string]bool{}, map[string]bool{}
	var walk func(id string)
	walk = func(id string) {
		if visiting[id] || !ids[id] {
			t.Fatalf("%s is in a cycle, or no entry", id)
		}
		if done[id] {
			return
		}
		visiting[id] = true
		for _, to := range next[id] {
			walk(to)
		}
		visiting[id], done[id] = false, true
	}
	for id := range ids {
		walk(id)
	}
}

// TestFoldIsBounded checks the report of a Fold to which more scenarios, nodes, links and paths are added than it distinguishes.
func TestFoldIsBounded(t *testing.T) {
	t.Parallel()
	const count = 30_000
	all := make([]analytics.Run, count)
	failed := 0
	for i := range all {
		visits := make([]string, 5)
		for k := range visits {
			visits[k] = fmt.Sprintf("node %d", (i*7919+k*(i%977)*31)%4001)
		}
		all[i] = analytics.Run{
			Scenario: fmt.Sprint("s", i%1501), Version: i % 17, State: stats.State(i % 4), CreatedAt: ago(float64(i) / count * 29),
			Summary: analytics.NewSummary(nil, visits, visits[i%5]),
		}
		if all[i].State == stats.Failed {
			failed++
		}
	}
	r := fold(30, all...)
	checkFlow(t, r.Flow, count)
	if len(r.Flow.Entries) > 5000 || len(r.Flow.Links) > 20_000 || len(r.Heatmap) > 2000 || r.Total != count {
		t.Errorf("%d entries, %d links, %d nodes, %d runs", len(r.Flow.Entries), len(r.Flow.Links), len(r.Heatmap), r.Total)
	}
	names, blamed := map[string]bool{}, 0
	for _, e := range r.Flow.Entries {
		names[e.Name] = true
	}
	for _, n := range r.Heatmap {
		if blamed += n.Failed; n.Failed > n.Visits {
			t.Errorf("%+v fails more often than it is visited", n)
		}
	}
	if !names["Other nodes"] || !names["Other scenarios"] || blamed != failed {
		t.Errorf("what is beyond the limits is missing: %t, %t, %d of %d failures", names["Other nodes"], names["Other scenarios"], blamed, failed)
	}
}

// TestSummaryKeepsWhatItIsGiven checks that a Summary with arbitrary texts as ids preserves the score, is short, and yields a valid flow.
// Malformed summaries must have no score.
func TestSummaryKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		visits := rapid.SliceOfN(rapid.String(), 0, 300).Draw(t, "visits")
		blame := ""
		if len(visits) > 0 {
			blame = rapid.SampledFrom(visits).Draw(t, "blame")
		}
		score := rapid.Float64Range(0, 1).Draw(t, "score")
		s := analytics.NewSummary(&score, visits, blame)
		if got := s.Score(); got == nil || *got != score || len(s) > 2000 || strings.ContainsRune(string(s), 0) {
			t.Fatalf("the summary of %d bytes has the score %v, want %v", len(s), got, score)
		}
		checkFlow(t, fold(1, analytics.Run{State: stats.Failed, CreatedAt: now, Summary: s}).Flow, 1)
	})
	for _, odd := range []analytics.Summary{"", "2 0.5 - a", "1", "1 x", "1 NaN 9 a", "1 2 -1 a\x1fb", "x"} {
		if score := odd.Score(); score != nil {
			t.Errorf("%q has the score %v", odd, *score)
		}
		fold(1, analytics.Run{State: stats.Failed, CreatedAt: now, Summary: odd})
	}
	if s := analytics.NewSummary(nil, []string{"a"}, "b"); s.Score() != nil {
		t.Errorf("no score is %v", *s.Score())
	}
}

// BenchmarkFold adds 100,000 runs with 200 distinct paths.
func BenchmarkFold(b *testing.B) {
	all := make([]analytics.Run, 100_000)
	for i := range all {
		visits := make([]string, 4+i%8)
		for k := range visits {
			visits[k] = fmt.Sprintf("01932c20-1c32-7a21-8b63-%012d", k*3+(i%200>>k)%3)
		}
		all[i] = analytics.Run{
			Scenario: fmt.Sprint("s", i%50), Version: i % 4, State: stats.State(i % 11 / 10), CreatedAt: ago(float64(i) / 274),
			Summary: analytics.NewSummary(nil, visits, visits[0]),
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		fold(365, all...)
	}
}
