// Package tornado searches for a version of a pathway that passes its tests. It tests a version, asks a model for a change, tests a
// fork with it, and accepts the fork if it is better: more scenarios pass, and no passing one fails. It ends with a reason.
//
// Its ports bound its rights: it reads and forks versions, and cannot promote one. An accepted change waits for a person.
//
// Search is the search alone, without a store and a server. A Service stores sessions, each a Search, with a journal of the answers
// of their ports. So another node continues the session of a dead node, pays for no answer twice, and keeps the deadline.
package tornado

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
)

// Versions are the versions of the searched pathway.
type Versions interface {
	// Document returns the document of a version. CodeNotFound: it is absent.
	Document(ctx context.Context, number int) (graph.Document, error)
	// Fork stores the next version, a child of parent, and returns its number. After a crash it is called again with the same name,
	// and returns the same version. An invalid document causes callwright.FieldErrors.
	Fork(ctx context.Context, parent int, name string, d graph.Document) (int, error)
	// Production returns the number of the version in production; 0: none.
	Production(ctx context.Context) (int, error)
}

// Tests run scenarios.
type Tests interface {
	// Run runs each of the scenarios trials times, and waits for the ends. After a crash it is called again with the same name, and
	// returns the same results. A scenario that is missing in the result has no verdict. An error other than ctx's ends the search:
	// CodeNotFound, CodeInvalidState and CodeBadRequest as StopPathway, others as StopInfrastructure.
	Run(ctx context.Context, name string, version int, scenarios []string, trials int) (map[string]Tally, error)
}

// Tally is the result of the runs of one scenario with one version.
type Tally struct {
	Passed, Failed, Errors int
	Refused                int     // errors because a model refuses the key or the request
	Score                  float64 // the mean of the runs that passed or failed
	Run                    string  // id of the last run that failed; empty: none
	Node                   string  // the node to which its failure is attributed
	Mode                   string  // mode of the failure: equal for equal failures
	Reason                 string  // of the failure, human-readable
}

// plus returns the sum of both tallies.
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

// Analyst finds the cause of a failed run.
type Analyst interface {
	// Analyze analyzes a run that has failed. The error of a model is a *llm.Failure; after llm.ClassInvalid the Fixer works
	// without the analysis.
	Analyze(ctx context.Context, run string) (analysis.Analysis, error)
}

// Fixer proposes changes.
type Fixer interface {
	// Fix proposes a plan, without fixes if it has no idea. name distinguishes repeated questions. The error of a model is a
	// *llm.Failure; llm.ClassInvalid counts as no idea.
	Fix(ctx context.Context, name string, b Brief) (Plan, error)
}

// Brief is the input of a Fixer.
type Brief struct {
	Document graph.Document
	Findings []Finding
	Rejected []Rejection // earlier plans, oldest first
	Limits   Limits
	Number   int // of the iteration; unique within a search
}

// Finding is a scenario that fails.
type Finding struct {
	Scenario string
	Tally    Tally
	Analysis *analysis.Analysis // nil: not analyzed
}

// Rejection is a rejected plan with the reason.
type Rejection struct {
	Plan   Plan
	Reason string
}

// Scenario is a scenario of a session.
type Scenario struct {
	ID       string
	Required bool // a version that fails it must not be promoted
	HeldOut  bool // hidden from Fixers, so that it shows overfitting to the other scenarios
}

// SearchConfig configures a Search.
type SearchConfig struct {
	Versions  Versions   `required:"always"`
	Tests     Tests      `required:"always"`
	Fixer     Fixer      `required:"always"`
	Session   string     // id; part of every name
	Base      int        `required:"always"` // number of the base version
	Scenarios []Scenario `required:"always"` // at most MaxScenarios

	Analyst    Analyst     // nil: the Fixer reads only the results of the assertions
	Iterations int         // maximum number; 0: DefaultIterations
	Deadline   time.Time   // zero: none
	Confirm    int         // further runs that a mended scenario must pass; 0: DefaultConfirm; negative: none
	Patience   int         // iterations in a row without an acceptance; 0: DefaultPatience
	Limits     Limits      // of changes
	Spent      func() bool // reports whether the budget is used up; nil: no budget
	// Rest waits before scenarios are run again because most have no verdict, for example because a model is down; n counts from 1.
	// After an error they are not run again. nil: they are run again once, immediately, like a minority without a verdict.
	Rest      func(ctx context.Context, n int) error
	Cancelled func() bool    // reports whether the session has to end; nil: never
	Observe   func(Progress) // called after each change; nil: not called

	callwright.Runtime
}

// Defaults and limits of a SearchConfig.
const (
	DefaultIterations = 5
	MaxIterations     = 20
	DefaultConfirm    = 2
	DefaultPatience   = 2
	MaxScenarios      = 50
	maxFixes          = 3 // in a plan
	maxFindings       = 5 // given to a Fixer
)

// check returns an error that names the missing required fields or the first invalid one, and sets the defaults.
func (c *SearchConfig) check() error {
	if err := callwright.PrepareConfig(c); err != nil {
		return err
	}
	switch {
	case c.Base < 1:
		return errors.New("tornado: SearchConfig.Base must be positive")
	case len(c.Scenarios) > MaxScenarios:
		return errors.New("tornado: SearchConfig.Scenarios must have at most 50")
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
	c.Limits = c.Limits.filled()
	return nil
}

// Progress is the progress of a search.
type Progress struct {
	State      State
	Stop       StopReason // reason of the end; empty: not ended
	Detail     string     // details of Stop, human-readable
	Phase      Phase
	Base       int
	Best       int // number of the best version
	BaseMoved  bool
	Iterations []Iteration // the first is the baseline
	Passed     []string    // ids of the scenarios that pass with Best
	Failed     []string
	Unfixable  []string // ids of scenarios that no change of the pathway can mend
}

// Iteration is one attempt.
type Iteration struct {
	Number    int // 0: the baseline
	Version   int // the tested one; 0: none
	Plan      *Plan
	Changes   *graph.Changes // by the plan to the best version; nil: none
	Trials    []string       // names of the calls of Tests
	Passed    []string       // ids of the tested scenarios that pass
	Failed    []string       // likewise
	Errors    []string       // ids of scenarios that were run and have no verdict
	Unfixable []string       // ids of scenarios that this iteration found unfixable
	Outcome   Outcome
	Reason    string // of the outcome, human-readable
	Started   time.Time
	Completed time.Time // zero: in progress
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

// StopReason is the reason of a session's end.
type StopReason string

// The reasons.
const (
	StopCancelled      StopReason = "cancelled"
	StopBaseline       StopReason = "baseline_passed" // all scenarios passed at the start
	StopAllPassed      StopReason = "all_passed"
	StopInfrastructure StopReason = "infrastructure" // runs were in error, or a store failed
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

// Phase is the current activity of a session.
type Phase string

// The phases.
const (
	Baseline  Phase = "baseline"
	Analyzing Phase = "analyzing"
	Planning  Phase = "planning"
	Forking   Phase = "forking"
	Screening Phase = "screening" // runs the failing scenarios
	Verifying Phase = "verifying" // runs the others, and the changed ones again
	Deciding  Phase = "deciding"
)

// Outcome is the result of an iteration.
type Outcome string

// The outcomes.
const (
	IsBaseline   Outcome = "baseline"
	Accepted     Outcome = "accepted"
	Rejected     Outcome = "rejected"
	Inconclusive Outcome = "inconclusive" // runs were in error
	NoPlan       Outcome = "no_plan"      // no new plan was proposed
	Refused      Outcome = "refused"      // the plan breaks the limits, or makes an invalid pathway
	Unfinished   Outcome = "unfinished"   // the session ended during the iteration
)
