package analytics_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/stats"
)

// now is a Monday, three hours after midnight in UTC.
var now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// plain names scenarios and nodes by their ids.
var plain = analytics.Names{
	Scenario: func(id string) string { return id }, Node: func(id string) (name, kind string) { return id, "Default" },
}

func ago(days float64) time.Time { return now.Add(-time.Duration(days * 24 * float64(time.Hour))) }

// fold returns the report of a Fold to which the runs are added. The runs must be newest first.
func fold(days int, runs ...analytics.Run) analytics.Report {
	f := analytics.NewFold(now, days)
	for _, r := range runs {
		f.Add(r)
	}
	return f.Report(plain)
}

// runs returns passed runs of a scenario, followed by failed ones, all created some days ago.
func runs(scenario string, daysAgo float64, passed, failed int) (all []analytics.Run) {
	for i := range passed + failed {
		r := analytics.Run{Scenario: scenario, Version: 1, CreatedAt: ago(daysAgo)}
		if i >= passed {
			r.State = stats.Failed
		}
		all = append(all, r)
	}
	return all
}

func near(a *float64, b float64) bool { return a != nil && math.Abs(*a-b) < 1e-6 }

// TestNoRuns checks that a report of no runs contains zeros and nils.
func TestNoRuns(t *testing.T) {
	t.Parallel()
	r := fold(30)
	if r.Total != 0 || r.PassRate != nil || r.FailureRate != nil || r.Score != nil || r.Coverage != nil || r.Health != nil ||
		r.Reliability != nil || r.Weakest != nil || r.Trend != analytics.Stable || len(r.Days)+len(r.Heatmap)+len(r.Flow.Entries)+len(r.Flow.Links) != 0 {
		t.Errorf("nothing is described as %+v", r)
	}
}

// TestOnlyUnscoredRuns checks that the coverage is 0, and the rates are nil, if no run was scored.
func TestOnlyUnscoredRuns(t *testing.T) {
	t.Parallel()
	score := 0.5
	summary := analytics.NewSummary(&score, []string{"a", "b"}, "")
	r := fold(30, analytics.Run{ID: "1", Scenario: "s", State: stats.Error, CreatedAt: ago(1), Summary: summary},
		analytics.Run{ID: "2", Scenario: "s", State: stats.Cancelled, CreatedAt: ago(2), Summary: summary})
	if r.Total != 2 || r.Errors != 1 || r.Cancelled != 1 || r.PassRate != nil || r.FailureRate != nil || r.Score != nil || r.Health != nil ||
		!near(r.Coverage, 0) || len(r.Days) != 0 || len(r.Heatmap) != 0 || len(r.Recent) != 2 {
		t.Errorf("got %+v", r)
	}
	if n := len(r.Flow.Links); n != 4 || r.Flow.Links[0].Unscored != 2 || r.Flow.Links[0].Runs != 2 { // between s, a, b and two outcomes
		t.Errorf("got %+v", r.Flow)
	}
}

// TestRates checks that errors, canceled runs and runs before the window do not count in rates and scores.
func TestRates(t *testing.T) {
	t.Parallel()
	half, full, nothing := 0.5, 1.0, 0.0
	r := fold(30,
		analytics.Run{ID: "future", State: stats.Passed, CreatedAt: now.Add(time.Hour * 24), Summary: analytics.NewSummary(&full, nil, "")},
		analytics.Run{ID: "passed", State: stats.Passed, CreatedAt: ago(1), Summary: analytics.NewSummary(&half, nil, "")},
		analytics.Run{ID: "error", State: stats.Error, CreatedAt: ago(2), Summary: analytics.NewSummary(&nothing, nil, "")},
		analytics.Run{ID: "cancelled", State: stats.Cancelled, CreatedAt: ago(3), Summary: analytics.NewSummary(&nothing, nil, "")},
		analytics.Run{ID: "old", State: stats.Passed, CreatedAt: ago(4)},
		analytics.Run{ID: "edge", State: stats.Failed, CreatedAt: ago(30)},
		analytics.Run{ID: "before", State: stats.Failed, CreatedAt: ago(30).Add(-time.Microsecond)})
	if r.Total != 6 || r.Passed != 3 || r.Failed != 1 || r.Errors != 1 || r.Cancelled != 1 || !near(r.PassRate, 0.75) ||
		!near(r.FailureRate, 0.25) || !near(r.Coverage, 4.0/6) || !near(r.Score, 0.75) || len(r.Recent) != 6 || r.Recent[0].ID != "future" {
		t.Errorf("got %+v", r.Basic)
	}
	if n := len(r.Days); n != 4 || r.Days[0].Date != time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC) || r.Days[0].Rate != 0 || r.Days[n-1].Scored != 1 {
		t.Errorf("the days are %+v", r.Days)
	}
}

// TestRecentRunsAreBounded checks that a report lists at most MaxRecent runs and counts all.
func TestRecentRunsAreBounded(t *testing.T) {
	t.Parallel()
	r := fold(30, runs("s", 1, analytics.MaxRecent+5, 0)...)
	if len(r.Recent) != analytics.MaxRecent || r.Total != analytics.MaxRecent+5 {
		t.Errorf("lists %d of %d", len(r.Recent), r.Total)
	}
}

func TestReliability(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		runs []analytics.Run
		want float64
	}{
		"always passes":      {runs("s", 1, 5, 0), 1},
		"always fails":       {runs("s", 1, 0, 5), 1},
		"three of five":      {runs("s", 1, 3, 2), 0.4},
		"nine of ten":        {runs("s", 1, 9, 1), 0.8},
		"mean of scenarios":  {append(runs("s", 1, 5, 0), runs("t", 1, 3, 2)...), 0.7},
		"single runs say no": {append(runs("s", 1, 3, 2), runs("t", 1, 1, 0)...), 0.4},
	} {
		if r := fold(30, tt.runs...); !near(r.Reliability, tt.want) {
			t.Errorf("%s: %v, want %v", name, r.Reliability, tt.want)
		}
	}
	changed := append(runs("s", 1, 2, 0), runs("s", 2, 0, 2)...)
	changed[2].Version, changed[3].Version = 2, 2
	if r := fold(30, changed...); !near(r.Reliability, 1) {
		t.Errorf("a version that fails and one that passes agree by %v", r.Reliability)
	}
	if r := fold(30, runs("s", 1, 1, 0)...); r.Reliability != nil || !near(r.Health, 1) {
		t.Errorf("a single run has %v, %v", r.Reliability, r.Health)
	}
}

// TestHealth checks that runs from a week ago count half as much as runs of today, and that reliability and trend contribute to the health.
func TestHealth(t *testing.T) {
	t.Parallel()
	recent, old := runs("s", 0, 4, 0), runs("t", 7, 0, 4)
	if r := fold(30, append(recent, old...)...); !near(r.Health, 0.6*2/3+0.4) {
		t.Errorf("the health is %v", *r.Health)
	}
	up := append(runs("s", 3, 20, 0), runs("s", 10, 10, 10)...)
	r := fold(30, up...)
	if *r.Health <= 0.6*0.5 || r.Trend != analytics.Improving {
		t.Errorf("the health is %v, the trend %s", *r.Health, r.Trend)
	}
	weight := func(days float64) float64 { return math.Exp2(-days / 7) }
	rate := (weight(3)*20 + weight(10)*10) / (weight(3)*20 + weight(10)*20)
	if want := 0.6*rate + 0.4**r.Reliability + 0.05; !near(r.Health, min(1, want)) {
		t.Errorf("the health is %v, want %v", *r.Health, want)
	}
}

// TestTrend checks the direction that the definition of the trend assigns to pairs of weeks.
func TestTrend(t *testing.T) {
	t.Parallel()
	week := func(passed, scored int) analytics.Rate { return analytics.Rate{Passed: passed, Scored: scored} }
	for name, tt := range map[string]struct {
		weeks []analytics.Weeks
		want  analytics.Direction
	}{
		"80 to 90 of 100":      {[]analytics.Weeks{{Before: week(80, 100), Last: week(90, 100)}}, analytics.Improving},
		"90 to 80 of 100":      {[]analytics.Weeks{{Before: week(90, 100), Last: week(80, 100)}}, analytics.Declining},
		"40 to 45 of 50":       {[]analytics.Weeks{{Before: week(40, 50), Last: week(45, 50)}}, analytics.Stable},
		"small but sure":       {[]analytics.Weeks{{Before: week(9000, 10_000), Last: week(9400, 10_000)}}, analytics.Stable},
		"too few":              {[]analytics.Weeks{{Before: week(0, 9), Last: week(100, 100)}}, analytics.Stable},
		"nothing":              {nil, analytics.Stable},
		"one run each":         {[]analytics.Weeks{{Before: week(1, 1), Last: week(0, 1)}}, analytics.Stable},
		"all pass":             {[]analytics.Weeks{{Before: week(100, 100), Last: week(100, 100)}}, analytics.Stable},
		"only a new scenario":  {[]analytics.Weeks{{Before: week(90, 100), Last: week(90, 100)}, {Last: week(0, 500)}}, analytics.Stable},
		"only an old scenario": {[]analytics.Weeks{{Before: week(90, 100), Last: week(90, 100)}, {Before: week(0, 500)}}, analytics.Stable},
		// Simpson's paradox: each scenario passes as often as before or more often, but the hard scenario is run more often.
		"a change of mix": {[]analytics.Weeks{
			{Before: week(180, 200), Last: week(45, 50)}, {Before: week(15, 50), Last: week(60, 200)},
		}, analytics.Stable},
		"better in a harder mix": {[]analytics.Weeks{
			{Before: week(160, 200), Last: week(48, 50)}, {Before: week(10, 50), Last: week(80, 200)},
		}, analytics.Improving},
	} {
		if got := analytics.TrendOf(tt.weeks); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestTrendLooksAtWholeDays checks that the trend excludes today and covers two weeks, even if the window is shorter.
func TestTrendLooksAtWholeDays(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	at := func(when time.Time, passed, failed int) []analytics.Run {
		list := runs("s", 0, passed, failed)
		for i := range list {
			list[i].CreatedAt = when
		}
		return list
	}
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		last, before time.Time
		want         analytics.Direction
	}{
		"first and last moments": {midnight.Add(-1), midnight.Add(-14 * day), analytics.Improving},
		"the border":             {midnight.Add(-7 * day), midnight.Add(-7*day - 1), analytics.Improving},
		"today":                  {midnight, midnight.Add(-8 * day), analytics.Stable},
		"too long ago":           {midnight.Add(-day), midnight.Add(-14*day - 1), analytics.Stable},
	} {
		for _, days := range []int{1, 14, 365} {
			if r := fold(days, append(at(tt.last, 30, 0), at(tt.before, 10, 20)...)...); r.Trend != tt.want {
				t.Errorf("%s in %d days: %s, want %s", name, days, r.Trend, tt.want)
			}
		}
	}
	if f := analytics.NewFold(now, 1); !f.From().Equal(midnight.Add(-14 * day)) {
		t.Errorf("a day is read from %s", f.From())
	}
	if f := analytics.NewFold(now, 30); !f.From().Equal(ago(30)) {
		t.Errorf("30 days are read from %s", f.From())
	}
}

// TestDaysOfAZone checks that runs count on the dates of a time zone, around a change to daylight saving time: 2026-03-29 lasts 23 hours in
// Berlin.
func TestDaysOfAZone(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for zone, want := range map[*time.Location]string{
		berlin:   "2026-03-28 1, 2026-03-29 2, 2026-03-30 1",
		time.UTC: "2026-03-28 2, 2026-03-29 2",
	} {
		f := analytics.NewFold(now.In(zone), 7)
		for _, at := range []string{"2026-03-29T22:00:00Z", "2026-03-29T21:59:59Z", "2026-03-28T23:00:00Z", "2026-03-28T22:59:59Z"} {
			created, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			f.Add(analytics.Run{Scenario: "s", Version: 1, CreatedAt: created})
		}
		var days []string
		for _, d := range f.Report(plain).Days {
			days = append(days, fmt.Sprint(d.Date.Format(time.DateOnly), " ", d.Scored))
		}
		if got := strings.Join(days, ", "); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
		if from, want := f.From(), time.Date(2026, 3, 17, 0, 0, 0, 0, zone); !from.Equal(want) {
			t.Errorf("%s: read from %s, want %s", zone, from, want)
		}
	}
}

// TestWeakestLink checks that the weakest node is the one whose failure rate has the highest lower bound.
func TestWeakestLink(t *testing.T) {
	t.Parallel()
	visit := func(node string, passed, failed int) []analytics.Run {
		list := runs("s", 1, passed, failed)
		for i := range list {
			list[i].Summary = analytics.NewSummary(nil, []string{node}, node)
		}
		return list
	}
	r := fold(30, append(append(visit("often", 24, 14), visit("once", 0, 1)...), visit("four", 0, 4)...)...)
	if r.Weakest == nil || r.Weakest.Node != "often" || math.Abs(r.Weakest.Rate()-14.0/38) > 1e-9 {
		t.Errorf("the weakest is %+v", r.Weakest)
	}
	if r.Heatmap[0].Node != "often" || r.Heatmap[1].Node != "four" || r.Heatmap[2].Node != "once" {
		t.Errorf("the heatmap is %+v", r.Heatmap)
	}
	if r := fold(30, visit("good", 50, 0)...); r.Weakest != nil || len(r.Heatmap) != 1 {
		t.Errorf("without a failure the weakest is %+v of %+v", r.Weakest, r.Heatmap)
	}
	if r := fold(30, visit("rare", 0, 4)...); r.Weakest != nil {
		t.Errorf("of four visits the weakest is %+v", r.Weakest)
	}
}
