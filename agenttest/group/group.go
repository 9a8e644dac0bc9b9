package group

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// Batch is a group of runs: a batch with one run of each of several scenarios, or a simulation set with several runs of each.
type Batch struct {
	ID          string
	Org         callwright.OrgID
	Kind        Kind
	Trigger     Trigger
	Pathway     string // id; empty if the scenarios test several pathways or a persona
	Persona     string
	Version     int           // 0 if the scenarios test several pathways or personas
	Hash        string        // hash of the version, for the gate
	Scenarios   []run.Subject // the tested scenarios, in the order of the request
	Simulations int           // number of runs of each scenario; 1 in a batch
	Webhook     string        // URL that is notified of the end, possibly with a token; empty means none
	Publish     bool          // publish the version when all runs have passed
	Over        int           // with Publish: the version in production at the batch's creation, which is to be replaced; 0 means none
	Budget      engine.Limit  // limit of all runs together
	Concurrency int           // maximum of concurrent runs on all nodes; 0 means the organization's limit

	State   run.State
	Created int // number of runs that exist; the others are created in steps
	Counts  Counts
	Usage   engine.Usage // usage of the ended runs
	Spend   engine.Spend // spending of the ended runs
	Cancel  bool         // waiting runs are canceled and, except for StoppedByBudget, running ones too
	Reason  StopReason   // why Cancel is set
	Flakes  *Flakes      // sources of the variation in a simulation set; nil if not requested
	// Statistics contains the statistics of an ended simulation set, which remain when the set's runs are deleted. Until the statistics of
	// all scenarios are stored, those of the last scenarios may be missing, or Statistics may be nil.
	Statistics *Statistics
	CreatedAt  time.Time
	EndedAt    time.Time // zero if the group has not ended
	Revision   int64
}

// Flakes contains the sources of the variation in a simulation set, by scenario.
type Flakes struct {
	Sources []stats.Source // sources of the examined scenarios, which are the first of Batch.Scenarios
	Frozen  []stats.Frozen // those runs of the next scenario that were judged again
}

// experiment reports whether the group belongs to a tornado session.
func (b Batch) experiment() bool { return b.Trigger == ByTornado }

// Open reports whether the group exists and has not ended.
func (b Batch) Open() bool { return b.ID != "" && !b.State.Ended() }

// StopReason is the reason why no more runs of a group start.
type StopReason string

// The StopReason of a Batch.
const (
	StoppedByClient StopReason = "cancelled" // a client canceled the group
	StoppedByQuota  StopReason = "quota"     // the quota of a model's account is exhausted
	StoppedByBudget StopReason = "budget"    // the group's budget is exhausted; running runs continue
)

// StopMessage returns the human-readable reason why no more runs of the group start, or "" if they may start. For a budget, it states the
// spending of the ended runs.
func (b Batch) StopMessage() string {
	switch b.Reason {
	case StoppedByClient:
		return "cancelled by a request"
	case StoppedByQuota:
		return "the account of the model has no quota left: add to it, and start again"
	case StoppedByBudget:
		return b.Budget.UsedUp(b.Spend, "by the runs that have ended") + ": start again with a larger budget"
	default:
		return ""
	}
}

// limited reports whether a group has a budget or a limit of concurrent runs.
func (b Batch) limited() bool { return b.Budget != (engine.Limit{}) || b.Concurrency > 0 }

// Total returns the number of all runs of the group, including runs that are not created yet.
func (b Batch) Total() int { return len(b.Scenarios) * b.Simulations }

// Kind distinguishes batches from simulation sets.
type Kind string

// The Kind of a Batch.
const (
	OneEach     Kind = "batch"
	Simulations Kind = "simulation_set"
)

// Trigger is the origin of a group.
type Trigger string

// The Trigger of a Batch.
const (
	ByAPI        Trigger = "api"
	ByDashboard  Trigger = "dashboard"
	ByCI         Trigger = "ci"
	ByPromotion  Trigger = "promotion"
	BySimulation Trigger = "simulation"
	ByTornado    Trigger = "tornado"
)

// Counts counts the ended runs of a group by state.
type Counts struct{ Passed, Failed, Error, Cancelled int }

// Ended returns the number of ended runs.
func (c Counts) Ended() int { return c.Passed + c.Failed + c.Error + c.Cancelled }

// Plus returns the sum of c and d.
func (c Counts) Plus(d Counts) Counts {
	return Counts{c.Passed + d.Passed, c.Failed + d.Failed, c.Error + d.Error, c.Cancelled + d.Cancelled}
}

// Sums contains the sums of counts and usage over the ended runs of a group.
type Sums struct {
	Counts Counts
	Usage  engine.Usage
	Spend  engine.Spend
}

// sumsOf returns the contribution of an ended run to its group.
func sumsOf(r run.Run) (s Sums) {
	s.Counts.add(r.State)
	if r.Outcome != nil {
		s.Usage, s.Spend = r.Outcome.Usage, r.Outcome.Spend
	}
	return s
}

// add counts a run that ended in the state s.
func (c *Counts) add(s run.State) {
	switch s {
	case run.Passed:
		c.Passed++
	case run.Failed:
		c.Failed++
	case run.Error:
		c.Error++
	case run.Cancelled:
		c.Cancelled++
	case run.Pending, run.Running:
	}
}

// state returns the state of a group whose runs have all ended.
//
// A group is Cancelled if one of its runs was canceled, or if runs were never created, regardless of the other runs. A batch is Failed if a
// run failed, else Error if a run is an error, else Passed. A simulation set is Error if a run is an error, else Passed if a run passed,
// else Failed; its statistics contain the frequencies.
func (b Batch) state() run.State {
	c := b.Counts
	switch {
	case c.Cancelled > 0, c.Ended() < b.Total():
		return run.Cancelled
	case b.Kind == Simulations && c.Error > 0:
		return run.Error
	case b.Kind == Simulations && c.Passed > 0:
		return run.Passed
	case c.Failed > 0:
		return run.Failed
	case c.Error > 0:
		return run.Error
	default:
		return run.Passed
	}
}

// These constants limit groups.
const (
	MaxScenarios   = 100 // scenarios in a group
	MaxSimulations = 200 // runs of each scenario in a simulation set
	MaxConcurrency = 32  // concurrent runs
)
