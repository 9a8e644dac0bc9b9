// Package tornado searches for a version of a pathway that passes its tests. It tests a version, has a model propose a change of
// a fork, tests the fork, and keeps it if it is better: more scenarios pass, none that passed before fails. It ends with a reason.
//
// What it may do is bounded by its ports: it reads versions and forks them, and has no way to promote one. A change that it has
// accepted waits for a person.
//
// Search is the search alone: it keeps nothing, and needs no store and no server. A Service stores sessions, each of which is a Search,
// and keeps a journal of what their ports have answered: another node goes on with the session of one that has died, asks no model
// again for what it was paid for, and ends it when its first node would have.
package tornado

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
)

// Versions are the versions of the pathway that is searched.
type Versions interface {
	// Document returns how a version is written. CodeNotFound: there is none.
	Document(ctx context.Context, number int) (graph.Document, error)
	// Fork stores the next version, a child of parent, and returns its number. It is called again with the same name after a
	// crash, and returns the same version then. A document that cannot be walked is callwright.FieldErrors.
	Fork(ctx context.Context, parent int, name string, d graph.Document) (int, error)
	// Production returns the number of the version in production; 0: none.
	Production(ctx context.Context) (int, error)
}

// Tests run scenarios.
type Tests interface {
	// Run runs each of the scenarios as often as trials says, and waits for the ends. It is called again with the same name after
	// a crash, and returns the same results then. A scenario that is not in the result has no verdict. An error ends the search,
	// unless it is that of ctx: CodeNotFound, CodeInvalidState and CodeBadRequest as StopPathway, others as StopInfrastructure.
	Run(ctx context.Context, name string, version int, scenarios []string, trials int) (map[string]Tally, error)
}

// Tally is what came of the runs of one scenario with one version.
type Tally struct {
	Passed, Failed, Errors int
	Refused                int     // of the errors, those because a model refuses the key or the request
	Score                  float64 // the mean of the runs that passed or failed
	Run                    string  // id of the last run that failed; empty: none
	Node                   string  // the node to which its failure is attributed
	Mode                   string  // which way of failing it is: equal for equal failures
	Reason                 string  // why it failed, in words
}

// plus returns both tallies together.
func (t Tally) plus(u Tally) Tally {
	out := u
	if u.Failed == 0 {
		out.Run, out.Node, out.Mode, out.Reason = t.Run, t.Node, t.Mode, t.Reason
	}
	n, m := t.Passed+t.Failed, u.Passed+u.Failed
	if n+m > 0 {
		out.Score = (t.Score*float64(n) + u.Score*float64(m)) / float64(n+m)
	}
	out.Passed, out.Failed, out.Errors = t.Passed+u.Passed, t.Failed+u.Failed, t.Errors+u.Errors
	out.Refused = t.Refused + u.Refused
	return out
}

// Analyst finds out why a run has failed.
type Analyst interface {
	// Analyze analyzes a run that has failed. The error of a model is a *llm.Failure; with one of llm.ClassInvalid the Fixer does
	// without.
	Analyze(ctx context.Context, run string) (analysis.Analysis, error)
}

// Fixer proposes changes.
type Fixer interface {
	// Fix proposes a plan; one without fixes: it has no idea. name tells repeated questions apart. The error of a model is a
	// *llm.Failure; one of llm.ClassInvalid counts as no idea.
	Fix(ctx context.Context, name string, b Brief) (Plan, error)
}

// Brief is what a Fixer knows.
type Brief struct {
	Document graph.Document
	Findings []Finding
	Rejected []Rejection // earlier plans, oldest first
	Limits   Limits
	Number   int // of the iteration; no two questions of a search have the same
}

// Finding is a scenario that fails.
type Finding struct {
	Scenario string
	Tally    Tally
	Analysis *analysis.Analysis // nil: nobody has analyzed it
}

// Rejection is a plan that was not accepted, and why.
type Rejection struct {
	Plan   Plan
	Reason string
}

// Scenario is a scenario of a session.
type Scenario struct {
	ID       string
	Required bool // a version that fails it must not be promoted
	HeldOut  bool // no Fixer sees it: it tells whether changes suit the other scenarios only
}

// SearchConfig holds what a Search needs.
type SearchConfig struct {
	// Required.
	Versions  Versions
	Tests     Tests
	Fixer     Fixer
	Session   string // id; part of every name
	Base      int    // number of the version to begin with
	Scenarios []Scenario

	// Optional.
	Analyst    Analyst     // nil: the Fixer knows what the assertions say
	Iterations int         // at most; 0: DefaultIterations
	Deadline   time.Time   // zero: none
	Confirm    int         // runs that a scenario must pass again before it counts as mended; 0: DefaultConfirm; below: none
	Patience   int         // iterations in a row without an acceptance; 0: DefaultPatience
	Limits     Limits      // of changes
	Spent      func() bool // reports whether the budget is used up; nil: there is none
	// Rest waits before scenarios are run again because most of them have no verdict, as when a model is down; n counts from 1.
	// After an error they are not run again. nil: they are run again once, at once, as scenarios without a verdict otherwise are.
	Rest      func(ctx context.Context, n int) error
	Cancelled func() bool      // reports whether the session is to end; nil: never
	Observe   func(Progress)   // called after each change; nil: nobody
	Logger    *slog.Logger     // is told the cause when a port has failed; nil: discards
	Clock     callwright.Clock // nil: callwright.SystemClock
}

// Defaults and limits of a SearchConfig.
const (
	DefaultIterations = 5
	MaxIterations     = 20
	DefaultConfirm    = 2
	DefaultPatience   = 2
	MaxScenarios      = 50
	maxFixes          = 3 // in a plan
	maxFindings       = 5 // that a Fixer reads
)

// check names the first required field that is missing.
func (c *SearchConfig) check() error {
	switch {
	case c.Versions == nil:
		return errors.New("tornado: SearchConfig.Versions is required")
	case c.Tests == nil:
		return errors.New("tornado: SearchConfig.Tests is required")
	case c.Fixer == nil:
		return errors.New("tornado: SearchConfig.Fixer is required")
	case c.Base < 1:
		return errors.New("tornado: SearchConfig.Base is required")
	case len(c.Scenarios) == 0 || len(c.Scenarios) > MaxScenarios:
		return errors.New("tornado: SearchConfig.Scenarios must have 1 to 50")
	case c.Iterations < 0 || c.Iterations > MaxIterations:
		return errors.New("tornado: SearchConfig.Iterations must be at most 20")
	}
	if c.Iterations == 0 {
		c.Iterations = DefaultIterations
	}
	if c.Confirm == 0 {
		c.Confirm = DefaultConfirm
	}
	if c.Patience <= 0 {
		c.Patience = DefaultPatience
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Limits = c.Limits.filled()
	return nil
}

// Progress says how far a search has come.
type Progress struct {
	State      State
	Stop       StopReason // why it has ended; empty: it has not
	Detail     string     // more about Stop, for people
	Phase      Phase
	Base       int
	Best       int // number of the best version so far
	BaseMoved  bool
	Iterations []Iteration // the first one is the baseline
	Passed     []string    // ids of the scenarios that pass with Best
	Failed     []string
	Unfixable  []string // ids of scenarios that no change of the pathway will mend
}

// Iteration is one attempt.
type Iteration struct {
	Number    int // 0: the baseline
	Version   int // that was tested; 0: none
	Plan      *Plan
	Changes   *graph.Changes // of the plan to the best version; nil: none were made
	Trials    []string       // names of the pieces of work for which Tests were asked
	Passed    []string       // ids of the scenarios that were tested and pass
	Failed    []string       // likewise
	Errors    []string       // of those that were run and have no verdict
	Unfixable []string       // of those that were found to be so here
	Outcome   Outcome
	Reason    string // of the outcome, for people
	Started   time.Time
	Completed time.Time // zero: it goes on
}

// State is the state of a session.
type State string

// The states.
const (
	Running          State = "RUNNING"
	AllPassed        State = "COMPLETED_ALL_PASSED"
	CompletedPartial State = "COMPLETED_PARTIAL"
	Stuck            State = "STUCK"
	TimedOut         State = "TIMEOUT"
	Cancelled        State = "CANCELLED"
	Failed           State = "ERROR"
)

// StopReason says why a session has ended.
type StopReason string

// The reasons.
const (
	StopCancelled      StopReason = "cancelled"
	StopBaseline       StopReason = "baseline_passed" // there was nothing to mend
	StopAllPassed      StopReason = "all_passed"
	StopInfrastructure StopReason = "infrastructure" // runs are in error, or a store failed
	StopModel          StopReason = "permanent_llm_error"
	StopPathway        StopReason = "invalid_pathway"
	StopDeadline       StopReason = "deadline"
	StopNoProgress     StopReason = "no_progress"
	StopUnfixable      StopReason = "all_unfixable"
	StopNoPlan         StopReason = "no_new_plan"
	StopOscillation    StopReason = "oscillation"
	StopIterations     StopReason = "max_iterations"
	StopBudget         StopReason = "budget"
)

// Phase is what a session is doing.
type Phase string

// The phases.
const (
	Baseline  Phase = "baseline"
	Analyzing Phase = "analyzing"
	Planning  Phase = "planning"
	Forking   Phase = "forking"
	Screening Phase = "screening" // the scenarios that failed
	Verifying Phase = "verifying" // the others, and again those that changed
	Deciding  Phase = "deciding"
)

// Outcome is what came of an iteration.
type Outcome string

// The outcomes.
const (
	IsBaseline   Outcome = "baseline"
	Accepted     Outcome = "accepted"
	Rejected     Outcome = "rejected"
	Inconclusive Outcome = "inconclusive" // runs were in error
	NoPlan       Outcome = "no_plan"      // nothing new was proposed
	Refused      Outcome = "refused"      // the plan breaks the limits, or makes no pathway
	Unfinished   Outcome = "unfinished"   // the session has ended meanwhile
)
