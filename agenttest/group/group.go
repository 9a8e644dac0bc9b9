package group

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// Batch is a group of runs: one of each of several scenarios, or, in a simulation set, many of each.
type Batch struct {
	ID          string
	Org         callwright.OrgID
	Kind        Kind
	Trigger     Trigger
	Pathway     string // id; empty: the scenarios are of several pathways, or of a persona
	Persona     string
	Version     int           // 0: the scenarios are of several pathways
	Hash        string        // of the version, for the gate
	Scenarios   []run.Subject // what is tested, in the order of the request
	Simulations int           // runs of each scenario; 1 in a batch
	Webhook     string        // is told the end; empty: nobody. It may hold a token
	Publish     bool          // publish the version when all runs have passed
	Over        int           // with Publish: number of the version in production when the batch was created, which it replaces; 0: none
	Budget      engine.Limit  // of all runs together
	Concurrency int           // runs at once, on all nodes; 0: as many as the organization may have

	State   run.State
	Created int // runs that exist; the others are created step by step
	Counts  Counts
	Usage   engine.Usage // of the runs that have ended
	Spend   engine.Spend // of the runs that have ended
	Cancel  bool         // runs that have not begun are to end as Cancelled, and, but for StoppedByBudget, those under way
	Reason  StopReason   // why Cancel is set
	Flakes  *Flakes      // where the variation of a simulation set comes from; nil: nobody wants to know
	// Statistics are those of a simulation set that has ended, and stay when runs of it are deleted. They may lack the last
	// scenarios for a while; nil: none are stored yet.
	Statistics *Statistics
	CreatedAt  time.Time
	EndedAt    time.Time // zero: not yet
	Revision   int64
}

// Flakes says where the variation of the scenarios of a simulation set comes from.
type Flakes struct {
	Sources []stats.Source // of the first scenarios, in the order of Batch.Scenarios: the others are still to be looked at
	Frozen  []stats.Frozen // runs of the next scenario that were judged again
}

// experiment reports whether the group is of a tornado session.
func (b Batch) experiment() bool { return b.Trigger == ByTornado }

// Open reports whether the group has runs that have not ended.
func (b Batch) Open() bool { return b.ID != "" && !b.State.Ended() }

// StopReason says why no more runs of a group begin.
type StopReason string

// The reasons.
const (
	StoppedByClient StopReason = "cancelled" // somebody has cancelled the group
	StoppedByQuota  StopReason = "quota"     // the account of a model is empty
	StoppedByBudget StopReason = "budget"    // the budget of the group is used up; runs that are under way go on
)

// StopMessage says why no more runs of the group begin, with the numbers of its budget; empty: nothing keeps them. Of a budget it
// counts what runs that have ended have used.
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

// limited reports whether a group has limits of its own.
func (b Batch) limited() bool { return b.Budget != (engine.Limit{}) || b.Concurrency > 0 }

// Total returns how many runs the batch has in all.
func (b Batch) Total() int { return len(b.Scenarios) * b.Simulations }

// Kind tells batches from simulation sets.
type Kind string

// The kinds.
const (
	OneEach     Kind = "batch"
	Simulations Kind = "simulation_set"
)

// Trigger says who began a batch.
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

// Ended returns how many runs have ended.
func (c Counts) Ended() int { return c.Passed + c.Failed + c.Error + c.Cancelled }

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{c.Passed + d.Passed, c.Failed + d.Failed, c.Error + d.Error, c.Cancelled + d.Cancelled}
}

// Sums add up the ended runs of a group.
type Sums struct {
	Counts Counts
	Usage  engine.Usage
	Spend  engine.Spend
}

// sumsOf returns what a run that has ended adds to its group.
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
// A group that was cancelled before all of its runs had ended is Cancelled, whatever came of the others. A batch has failed if
// any run has, else it is an Error if any run is; it has passed if all runs have. A simulation set, whose statistics say how
// often what happened, is an Error if any run is, has passed if any run has, and has failed if none has.
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
	MaxConcurrency = 32  // runs at once
)
