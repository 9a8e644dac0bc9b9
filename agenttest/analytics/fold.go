package analytics

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/callwright/callwright/agenttest/stats"
)

// These constants limit the memory of a Fold. Runs beyond the limits still count in rates.
const (
	maxScenarios = 1000   // scenarios that the trend compares
	maxGroups    = 10_000 // pairs of scenario and version whose runs the reliability compares
	maxWays      = 4096   // cached paths; others are computed again
)

// These constants are the weights of the health's parts, and the half-life of a run's weight in days.
const (
	healthOfRate        = 0.6
	healthOfReliability = 0.4
	healthOfTrend       = 0.05
	halfLife            = 7
)

// Report describes the runs of a window in full: see EnhancedAnalytics.
type Report struct {
	Basic

	Health      *float64 // from 0 to 1; nil if no run was scored
	Reliability *float64 // probability that two runs of a scenario and a version agree; nil without two such runs
	Trend       Direction
	Days        []Day // days with scored runs, oldest first
	Heatmap     []NodeFailures
	Unplaced    int           // failed runs with a known path that blame no node of the Heatmap
	Weakest     *NodeFailures // nil if no node with at least five visits is blamed
	Flow        Flow
}

// Day is the pass rate of the scored runs that were created on a date.
type Day struct {
	Date   time.Time // midnight UTC of the date
	Rate   float64
	Scored int
}

// Fold processes runs, one at a time, for a Report.
type Fold struct {
	Counter

	zone      *time.Location
	today     int64 // in days since 1970, by the date in zone
	first     int64 // the first day whose runs are added
	days      []Rate
	scenarios map[string]*scenario
	groups    map[groupKey]*group
	ways      map[string]*way
	heat      heat
	flow      flow
}

// scenario is the state of a scenario in a Fold.
type scenario struct {
	weeks Weeks
	entry int32 // place in the flow
}

type groupKey struct {
	scenario string
	version  int
}

// group counts the scored runs of a scenario in a version.
type group struct {
	scenario *scenario
	runs     Rate
}

// way is the cached path of runs through nodes.
type way struct {
	visited []int32 // indexes of the nodes in the heatmap
	blamed  int32   // index of the blamed node; -1 means none
	steps   route
}

// NewFold returns a Fold for the given number of days before now. Days begin and end in the time zone of now.
func NewFold(now time.Time, days int) *Fold {
	f := &Fold{
		Counter: *NewCounter(now, days), zone: now.Location(), today: dayOf(now), scenarios: map[string]*scenario{}, groups: map[groupKey]*group{},
		ways: map[string]*way{}, heat: newHeat(), flow: newFlow(),
	}
	f.first = f.dayOf(f.From())
	f.days = make([]Rate, f.today-f.first+1)
	return f
}

// dayOf returns the number of days from 1970 to the date of t in its time zone.
func dayOf(t time.Time) int64 {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / int64(day/time.Second)
}

func (f *Fold) dayOf(t time.Time) int64 { return dayOf(t.In(f.zone)) }

// From returns the UTC time from which the Fold needs runs: the beginning of the window or, if earlier, of the two weeks before today,
// which the trend compares.
func (f *Fold) From() time.Time {
	y, m, d := time.Unix((f.today-14)*int64(day/time.Second), 0).UTC().Date()
	weeks := time.Date(y, m, d, 0, 0, 0, 0, f.zone)
	if f.from.Before(weeks) {
		return f.from.UTC()
	}
	return weeks.UTC()
}

// Add adds a run. A run before the window counts only in the trend, if it is recent enough. Runs must be added newest first, because after
// a limit is reached, later runs count only in some parts of the report.
func (f *Fold) Add(r Run) {
	at := min(f.dayOf(r.CreatedAt), f.today) // the clocks of nodes differ
	if at < f.first {
		return
	}
	score, text := r.Summary.parts()
	g := f.group(r)
	if scored(r.State) {
		g.scenario.weeks.add(f.today-at, r.State)
	}
	if !f.add(r, score) {
		return
	}
	if scored(r.State) {
		f.days[at-f.first].add(r.State)
		g.runs.add(r.State)
	}
	if text == "" {
		return
	}
	w := f.way(text)
	if scored(r.State) {
		f.heat.add(w, r.State == stats.Failed)
	}
	if g.scenario.entry < 0 {
		g.scenario.entry = f.flow.scenario(r.Scenario)
	}
	f.flow.add(g.scenario.entry, &w.steps, r.State)
}

// group returns the group of a run, and adds it if necessary. A group beyond the limit is returned, but not stored.
func (f *Fold) group(r Run) *group {
	key := groupKey{r.Scenario, r.Version}
	g := f.groups[key]
	if g != nil {
		return g
	}
	sc := f.scenarios[r.Scenario]
	if sc == nil {
		sc = &scenario{entry: -1}
		if len(f.scenarios) < maxScenarios {
			f.scenarios[r.Scenario] = sc
		} else {
			sc.entry = otherScenarioPlace
		}
	}
	g = &group{scenario: sc}
	if len(f.groups) < maxGroups {
		f.groups[key] = g
	}
	return g
}

// way returns the way of a summary's path, from the cache if possible.
func (f *Fold) way(text string) *way {
	w := f.ways[text]
	if w != nil {
		return w
	}
	path, blamed := nodes(text)
	w = &way{steps: f.flow.route(path)}
	w.visited, w.blamed = f.heat.resolve(path, blamed)
	if len(f.ways) < maxWays {
		f.ways[text] = w
	}
	return w
}

// Report returns the report on all runs added so far. names resolves ids to names.
func (f *Fold) Report(names Names) Report {
	r := Report{Basic: f.Basic(), Reliability: f.reliability(), Trend: f.trend(), Days: f.daily()}
	r.Heatmap, r.Weakest = f.heat.report(names)
	r.Unplaced = f.heat.unplaced
	r.Flow = f.flow.report(names)
	r.Health = f.health(r)
	return r
}

// Names resolves ids to names. Both functions must be set.
type Names struct {
	Scenario func(id string) string
	Node     func(id string) (name, kind string)
}

// reliability returns the probability that two runs of a group agree, as the mean over all groups with at least two scored runs. It returns
// nil without such a group.
func (f *Fold) reliability() *float64 {
	sum, n := 0.0, 0
	for _, g := range f.groups {
		if passed, all := float64(g.runs.Passed), float64(g.runs.Scored); all >= 2 {
			failed := all - passed
			sum += (passed*(passed-1) + failed*(failed-1)) / (all * (all - 1))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	mean := math.Round(sum/float64(n)*1e9) / 1e9 // rounded, because the order of map iteration must not affect the result
	return &mean
}

// trend returns the direction of the last two weeks.
func (f *Fold) trend() Direction {
	all := make([]Weeks, 0, len(f.scenarios))
	for _, id := range slices.Sorted(maps.Keys(f.scenarios)) {
		all = append(all, f.scenarios[id].weeks)
	}
	return TrendOf(all)
}

// daily returns the days with scored runs, oldest first.
func (f *Fold) daily() []Day {
	days := []Day{}
	for i, w := range f.days {
		if w.Scored > 0 {
			date := time.Unix((f.first+int64(i))*int64(day/time.Second), 0).UTC()
			days = append(days, Day{date, float64(w.Passed) / float64(w.Scored), w.Scored})
		}
	}
	return days
}

// health returns the recent pass rate combined with reliability and trend. The weight of a run halves with each week of its age. Without a
// reliability, health returns the rate alone; without scored runs, it returns nil.
func (f *Fold) health(r Report) *float64 {
	var passed, all float64
	for i, w := range f.days {
		weight := math.Exp2(-float64(f.today-f.first-int64(i)) / halfLife)
		passed, all = passed+weight*float64(w.Passed), all+weight*float64(w.Scored)
	}
	if all == 0 {
		return nil
	}
	h := passed / all
	if r.Reliability != nil {
		h = healthOfRate*h + healthOfReliability**r.Reliability
		switch r.Trend {
		case Improving:
			h += healthOfTrend
		case Declining:
			h -= healthOfTrend
		case Stable:
		}
	}
	h = max(0, min(1, h))
	return &h
}
