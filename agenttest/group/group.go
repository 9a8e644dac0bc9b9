package group

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// Batch is a group of runs: one run of each of several scenarios, or, in a simulation set, many of each.
type Batch struct {
	ID          string
	Org         callwright.OrgID
	Kind        Kind
	Trigger     Trigger
	Pathway     string // id; empty: the scenarios are of several pathways, or of a persona
	Persona     string
	Version     int           // 0: the scenarios are of several pathways
	Hash        string        // of the version, for the gate
	Scenarios   []run.Subject // the tested scenarios, in the order of the request
	Simulations int           // runs of each scenario; 1 in a batch
	Webhook     string        // receives the end; empty: none. It may contain a token
	Publish     bool          // publish the version when all runs have passed
	Over        int           // with Publish: number of the version in production when the batch was created, which it replaces; 0: none
	Budget      engine.Limit  // of all runs together
	Concurrency int           // concurrent runs, on all nodes; 0: the organization's limit

	State   run.State
	Created int // runs that exist; the others are created step by step
	Counts  Counts
	Usage   engine.Usage // of the runs that have ended
	Spend   engine.Spend // of the runs that have ended
	Cancel  bool         // runs that have not begun end as Cancelled, and, except for StoppedByBudget, running ones
	Reason  StopReason   // why Cancel is set
	Flakes  *Flakes      // the source of the variation of a simulation set; nil: not requested
	// Statistics holds the statistics of an ended simulation set. They stay when its runs are deleted. They may lack the last
	// scenarios for a while; nil: not stored yet.
	Statistics *Statistics
	CreatedAt  time.Time
	EndedAt    time.Time // zero: not yet
	Revision   int64
}

// Flakes holds the sources of the variation of a simulation set's scenarios.
type Flakes struct {
	Sources []stats.Source // of the first scenarios, in the order of Batch.Scenarios: the others are not examined yet
	Frozen  []stats.Frozen // runs of the next scenario that were judged again
}

// experiment reports whether the group belongs to a tornado session.
func (b Batch) experiment() bool { return b.Trigger == ByTornado }

// Open reports whether the group has runs that have not ended.
func (b Batch) Open() bool { return b.ID != "" && !b.State.Ended() }

// StopReason is the reason for which no more runs of a group begin.
type StopReason string

// The reasons.
const (
	StoppedByClient StopReason = "cancelled" // a client has cancelled the group
	StoppedByQuota  StopReason = "quota"     // the account of a model is empty
	StoppedByBudget StopReason = "budget"    // the budget of the group is used up; running runs continue
)

// StopMessage returns the reason for which no more runs of the group begin, with the numbers of its budget; empty: none. It counts
// the spending of ended runs.
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

// limited reports whether a group has a budget or a concurrency.
func (b Batch) limited() bool { return b.Budget != (engine.Limit{}) || b.Concurrency > 0 }

// Total returns the number of all runs of the batch.
func (b Batch) Total() int { return len(b.Scenarios) * b.Simulations }

// Kind distinguishes batches from simulation sets.
type Kind string

// The kinds.
const (
	OneEach     Kind = "batch"
	Simulations Kind = "simulation_set"
)

// Trigger is the origin of a batch.
type Trigger string

// The triggers.
const (
	ByAPI        Trigger = "api"
	ByDashboard  Trigger = "dashboard"
	ByCI         Trigger = "ci"
	ByPromotion  Trigger = "promotion"
	BySimulation Trigger = "simulation"
	ByTornado    Trigger = "tornado"
)

// Counts counts the runs of a batch that have ended.
type Counts struct{ Passed, Failed, Error, Cancelled int }

// Ended returns the number of ended runs.
func (c Counts) Ended() int { return c.Passed + c.Failed + c.Error + c.Cancelled }

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{c.Passed + d.Passed, c.Failed + d.Failed, c.Error + d.Error, c.Cancelled + d.Cancelled}
}

// Sums holds the sums over the ended runs of a group.
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

// add counts a run that has ended in a state.
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
// A group that was cancelled before all of its runs had ended is Cancelled, regardless of the other runs. A batch has failed if any
// run has, else it is an Error if any run is; it has passed if all runs have. A simulation set is an Error if any run is, has
// passed if any run has, and has failed if none has; its statistics contain the frequencies.
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

// The limits of groups.
const (
	MaxScenarios   = 100 // in a batch
	MaxSimulations = 200 // of a scenario in a simulation set
	MaxConcurrency = 32  // concurrent runs
)
