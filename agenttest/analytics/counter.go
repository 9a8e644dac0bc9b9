package analytics

import (
	"time"

	"github.com/callwright/callwright/agenttest/stats"
)

// These constants are the default and the maximum number of days in the window of a report.
const (
	DefaultDays = 30
	MaxDays     = 365
)

// MaxRecent is the maximum number of runs that Basic.Recent lists.
const MaxRecent = 1000

const day = 24 * time.Hour

// Basic contains counts and rates of the ended runs of a window.
type Basic struct {
	Total, Passed, Failed, Errors, Cancelled int // Total counts all ended runs

	PassRate    *float64 // share of passed runs among scored ones; nil if none was scored
	FailureRate *float64 // share of failed runs among scored ones; nil if none was scored
	Score       *float64 // mean of the scores of scored runs; nil if none has a score
	Coverage    *float64 // share of scored runs among ended ones; nil if none has ended
	Recent      []Run    // the newest runs, at most MaxRecent
}

// Counter counts runs, one at a time, for a Basic.
type Counter struct {
	from   time.Time
	states [4]int // number of runs, by stats.State
	scores int
	sum    float64
	recent []Run
}

// NewCounter returns a Counter for the given number of days before now.
func NewCounter(now time.Time, days int) *Counter {
	return &Counter{from: now.Add(-time.Duration(days) * day)}
}

// From returns the time of creation from which runs count.
func (c *Counter) From() time.Time { return c.from }

// Add counts a run, unless it was created before the window. Runs must be added newest first.
func (c *Counter) Add(r Run) {
	score, _ := r.Summary.parts()
	c.add(r, score)
}

// add counts a run with its score, and reports whether the run is in the window.
func (c *Counter) add(r Run, score *float64) bool {
	if r.CreatedAt.Before(c.from) {
		return false
	}
	c.states[r.State]++
	if score != nil && scored(r.State) {
		c.scores++
		c.sum += *score
	}
	if len(c.recent) < MaxRecent {
		c.recent = append(c.recent, r)
	}
	return true
}

// scored reports whether a run with this state counts in rates.
func scored(s stats.State) bool { return s == stats.Passed || s == stats.Failed }

// Basic returns the counts and rates of the runs added so far.
func (c *Counter) Basic() Basic {
	b := Basic{
		Passed: c.states[stats.Passed], Failed: c.states[stats.Failed], Errors: c.states[stats.Error],
		Cancelled: c.states[stats.Cancelled], Recent: c.recent,
	}
	n := b.Passed + b.Failed
	b.Total = n + b.Errors + b.Cancelled
	b.PassRate, b.FailureRate, b.Coverage = ratio(b.Passed, n), ratio(b.Failed, n), ratio(n, b.Total)
	if c.scores > 0 {
		mean := min(1, c.sum/float64(c.scores))
		b.Score = &mean
	}
	return b
}

// ratio returns part / whole, or nil if whole is 0.
func ratio(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}
