package stats_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/stats"
)

// tables contains values that testdata/tables.py computed with other methods.
type tables struct {
	Rates []struct {
		Passes      int                `json:"passes"`
		N           int                `json:"n"`
		Low         float64            `json:"low"`
		High        float64            `json:"high"`
		Significant bool               `json:"significant"`
		All         map[string]float64 `json:"all"`
		Any         map[string]float64 `json:"any"`
	} `json:"rates"`
	Scores []struct {
		Values []float64 `json:"values"`
		Mean   float64   `json:"mean"`
		Median float64   `json:"median"`
		Min    float64   `json:"min"`
		Max    float64   `json:"max"`
		StdDev *float64  `json:"stddev"`
	} `json:"scores"`
}

func readTables(t *testing.T) (all tables) {
	t.Helper()
	raw, err := os.ReadFile("testdata/tables.json")
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil || len(all.Rates) < 50 || len(all.Scores) < 5 {
		t.Fatalf("the tables cannot be read: %v", err)
	}
	return all
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestRates(t *testing.T) {
	t.Parallel()
	for _, want := range readTables(t).Rates {
		got := stats.Wilson(want.Passes, want.N)
		if !near(got.Low, want.Low) || !near(got.High, want.High) {
			t.Errorf("%d of %d: the interval is %v, want [%v %v]", want.Passes, want.N, *got, want.Low, want.High)
		}
		if got := stats.FlakySignificant(want.Passes, want.N); got != want.Significant {
			t.Errorf("%d of %d: significantly flaky is %t", want.Passes, want.N, got)
		}
		for k := range want.All {
			var n int
			if _, err := fmt.Sscan(k, &n); err != nil {
				t.Fatal(err)
			}
			all, ok := stats.AllPass(want.Passes, want.N, n)
			some, _ := stats.AnyPass(want.Passes, want.N, n)
			if !ok || !near(all, want.All[k]) || !near(some, want.Any[k]) {
				t.Errorf("%d of %d: all of %d pass with %v, any with %v, want %v and %v", want.Passes, want.N, n, all, some, want.All[k], want.Any[k])
			}
		}
	}
}

// TestKnownRates checks intervals and significances against known values.
func TestKnownRates(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{5: 0.57, 10: 0.72, 20: 0.84, 30: 0.89, 100: 0.96} {
		if got := stats.Wilson(n, n).Low; math.Round(got*100)/100 != want {
			t.Errorf("%d of %d: the lower bound is %v, want %v", n, n, got, want)
		}
	}
	for _, c := range []struct {
		failures, n int
		want        bool
	}{{1, 5, false}, {2, 5, true}, {1, 10, false}, {2, 10, true}, {2, 20, false}, {3, 20, true}} {
		if got := stats.FlakySignificant(c.n-c.failures, c.n); got != c.want {
			t.Errorf("%d failures of %d: significant is %t", c.failures, c.n, got)
		}
	}
	if p, _ := stats.AllPass(8, 10, 3); math.Round(p*1000) != 467 {
		t.Errorf("8 of 10: three pass with %v, want 0.467", p)
	}
	if _, ok := stats.AllPass(2, 2, 3); ok || stats.Wilson(0, 0) != nil {
		t.Error("too few runs have an estimate")
	}
}

func TestScores(t *testing.T) {
	t.Parallel()
	for _, want := range readTables(t).Scores {
		got := stats.ScoresOf(want.Values)
		if !near(*got.Mean, want.Mean) || !near(*got.Median, want.Median) || *got.Min != want.Min || *got.Max != want.Max {
			t.Errorf("%v: got %v %v %v %v", want.Values, *got.Mean, *got.Median, *got.Min, *got.Max)
		}
		if (got.StdDev == nil) != (want.StdDev == nil) || got.StdDev != nil && !near(*got.StdDev, *want.StdDev) {
			t.Errorf("%v: the deviation is %v", want.Values, got.StdDev)
		}
	}
	if got := stats.ScoresOf(nil); got != (stats.Scores{}) {
		t.Errorf("no scores have %+v", got)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	why := &stats.Failure{Assertion: "a", Reason: "no"}
	runs := []stats.Run{
		{ID: "r1", State: stats.Passed, Score: new(0.9)},
		{ID: "r2", State: stats.Failed, Score: new(0.2), Failure: why},
		{ID: "r3", State: stats.Error, Score: new(0.0)}, // the score of an error does not count
		{ID: "r4", State: stats.Failed, Score: new(0.2), Failure: why},
		{ID: "r5", State: stats.Cancelled},
		{ID: "r6", State: stats.Passed},
	}
	got := stats.Describe(runs, 10)
	if got.Total != 6 || got.Passed != 2 || got.Failed != 2 || got.Errors != 1 || *got.Rate != 0.5 || *got.FlakeRate != 1 {
		t.Errorf("got %+v", got)
	}
	if got.Coverage != 0.4 || !got.Insufficient || got.Confidence != stats.Low || !got.IsFlaky || got.Stability != stats.Flaky {
		t.Errorf("got %+v", got)
	}
	if got.Worst != "r2" || len(got.Modes) != 1 || got.Modes[0].Count != 2 || got.Modes[0].Share != 1 || len(got.PassAt) != 2 {
		t.Errorf("got %+v", got)
	}
	none := stats.Describe([]stats.Run{{State: stats.Error}, {State: stats.Cancelled}}, 2)
	if none.Rate != nil || none.Interval != nil || none.FlakeRate != nil || none.IsFlaky || none.Stability != stats.Unknown || !none.Insufficient {
		t.Errorf("runs of which none is scored gave %+v", none)
	}
	if whole := stats.Describe(runs[:2], 2); whole.Insufficient || whole.Coverage != 1 {
		t.Errorf("got %+v", whole)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	always := stats.Describe(slices.Repeat([]stats.Run{{State: stats.Passed}}, 3), 3)
	half := stats.Describe([]stats.Run{{State: stats.Passed}, {State: stats.Failed}, {State: stats.Error}}, 3)
	broken := stats.Describe([]stats.Run{{State: stats.Error}}, 1)
	got := stats.Summarize([]stats.Scenario{always, half, broken})
	if *got.Rate != 0.75 || got.Flaky != 1 || got.Reliable != 1 || got.Runs != 7 || got.Errors != 2 {
		t.Errorf("got %+v", got)
	}
	if got.Interval.Low != 0.5 || got.Interval.High != 1 {
		t.Errorf("the interval of two scenarios is %v", *got.Interval)
	}
	if none := stats.Summarize([]stats.Scenario{broken}); none.Rate != nil || none.Interval != nil {
		t.Errorf("got %+v", none)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	failure := func(id, assertion, reason string) stats.Run {
		return stats.Run{ID: id, State: stats.Failed, Failure: &stats.Failure{Assertion: assertion, Reason: reason}}
	}
	runs := []stats.Run{
		failure("r1", "a", `The agent never asked for the date of birth, it said "Goodbye" in turn 3.`),
		failure("r2", "a", `The agent never asked for the date of birth; it said "See you" in turn 12.`),
		failure("r3", "a", "The agent named a wrong price."),
		failure("r4", "b", "The agent named a wrong price."), // fails for another assertion
		failure("r5", "a", "The agent never asked for the date of birth it needed."),
		{ID: "r6", State: stats.Passed},
	}
	got := stats.Modes(runs)
	if len(got) != 3 || got[0].Count != 3 || got[0].Share != 0.6 || !slices.Equal(got[0].Runs, []string{"r1", "r2", "r5"}) {
		t.Fatalf("got %+v", got)
	}
	if got[0].Label != runs[0].Failure.Reason {
		t.Errorf("the label is %q", got[0].Label)
	}
	var alike []stats.Run // of which nothing but the order of the runs tells which comes first
	for assertion := range strings.SplitSeq("qwertyuiop", "") {
		alike = append(alike, failure("r", assertion, "No."))
	}
	for i, m := range stats.Modes(alike) {
		if m.Failure.Assertion != alike[i].Failure.Assertion {
			t.Errorf("mode %d is of assertion %q", i, m.Failure.Assertion)
		}
	}
	many := make([]stats.Run, 0, 3000)
	for i := range 3000 { // more reasons than Modes compares
		many = append(many, failure(fmt.Sprint(i), "a", fmt.Sprintf("%c%c%c one %[1]c%[2]c two %[3]c%[1]c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)))
	}
	total := 0
	for _, m := range stats.Modes(many) {
		total += m.Count
	}
	if first := stats.Modes(many)[0]; total < 2500 || first.Label != "other reasons" {
		t.Errorf("of 3000 failures with different reasons %d are counted, first %q", total, first.Label)
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) stats.Run {
			r := stats.Run{ID: rapid.StringN(1, 4, 4).Draw(t, "id"), State: stats.State(rapid.IntRange(0, 3).Draw(t, "state"))}
			if rapid.Bool().Draw(t, "scored") {
				r.Score = new(rapid.Float64Range(0, 1).Draw(t, "score"))
			}
			if r.State == stats.Failed {
				r.Failure = &stats.Failure{Code: rapid.StringN(0, 1, 1).Draw(t, "code"), Reason: rapid.String().Draw(t, "reason")}
			}
			return r
		}), 0, 60).Draw(t, "runs")
		s := stats.Describe(runs, len(runs))
		if !reflect.DeepEqual(s, stats.Describe(runs, len(runs))) {
			t.Fatal("the same runs give another result")
		}
		if s.Rate != nil && (*s.Rate < s.Interval.Low-1e-12 || *s.Rate > s.Interval.High+1e-12) {
			t.Fatalf("the rate %v is outside of %v", *s.Rate, *s.Interval)
		}
		if m := s.Scores; m.Mean != nil && (*m.Mean < *m.Min || *m.Mean > *m.Max || *m.Median < *m.Min || *m.Median > *m.Max) {
			t.Fatalf("the scores are %v", m)
		}
		for i, p := range s.PassAt {
			if p.All < 0 || p.Any > 1 || p.All > p.Any+1e-12 || i > 0 && (p.All > s.PassAt[i-1].All+1e-12 || p.Any < s.PassAt[i-1].Any-1e-12) {
				t.Fatalf("the estimates are %+v", s.PassAt)
			}
		}
		share := 0.0
		for _, m := range s.Modes {
			if share += m.Share; m.Count != len(m.Runs) {
				t.Fatalf("got %+v", m)
			}
		}
		if share > 1+1e-9 {
			t.Fatalf("the shares of the failures come to %v", share)
		}
	})
}

func ExampleDescribe() {
	var runs []stats.Run
	for i := range 10 {
		r := stats.Run{ID: fmt.Sprint("run ", i), State: stats.Passed}
		if i >= 8 {
			r.State, r.Failure = stats.Failed, &stats.Failure{Reason: "The agent never asked for the name."}
		}
		runs = append(runs, r)
	}
	s := stats.Describe(runs, 10)
	fmt.Printf("passed %.0f %%, between %.0f and %.0f %%\n", 100**s.Rate, 100*s.Interval.Low, 100*s.Interval.High)
	fmt.Println("confidence", s.Confidence, "and flaky", s.FlakySignificant)
	fmt.Printf("three in a row pass in %.0f %%\n", 100*s.PassAt[1].All)
	fmt.Println(s.Modes[0].Count, "times:", s.Modes[0].Label)
	// Output:
	// passed 80 %, between 49 and 94 %
	// confidence medium and flaky true
	// three in a row pass in 47 %
	// 2 times: The agent never asked for the name.
}

func BenchmarkDescribe(b *testing.B) {
	runs := make([]stats.Run, 10_000)
	for i := range runs {
		runs[i] = stats.Run{ID: fmt.Sprint(i), State: stats.State(i % 3), Score: new(float64(i%100) / 100)}
		if runs[i].State == stats.Failed {
			runs[i].Failure = &stats.Failure{
				Assertion: fmt.Sprint(i % 5), Reason: fmt.Sprintf("The agent did not say the %c%c%c in turn %d", 'a'+i%26, 'a'+i%17, 'a'+i%5, i%9),
			}
		}
	}
	for b.Loop() {
		stats.Describe(runs, len(runs))
	}
}
