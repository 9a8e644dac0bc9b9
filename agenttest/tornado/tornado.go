// Package tornado searches for a version of a pathway that passes its tests. It tests a version, asks a model for a change, and tests a
// fork with this change. It accepts the fork if every scenario that passed before still passes, and either more scenarios pass or the mean
// score is higher. The search repeats this until it ends for one of the StopReasons.
//
// The ports limit the search: it may read and fork versions, but not promote them. A person decides on an accepted change.
//
// Search alone requires neither a store nor a server. A Service stores sessions. Each session runs a Search and records the answers of its
// ports in a journal. If a node dies, another node continues the session from the journal, does not ask paid questions again, and keeps the
// deadline.
package tornado

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
)

// Versions reads and forks versions of the searched pathway.
type Versions interface {
	// Document returns the document of a version. The error is CodeNotFound if the version is absent.
	Document(ctx context.Context, number int) (graph.Document, error)
	// Fork stores the next version with the given parent, and returns its number. If a call with the same name is repeated after a crash,
	// Fork returns the same version. An invalid document causes callwright.FieldErrors.
	Fork(ctx context.Context, parent int, name string, d graph.Document) (int, error)
	// Production returns the number of the version in production, or 0 if there is none.
	Production(ctx context.Context) (int, error)
}

// Tests runs the scenarios of a search.
type Tests interface {
	// Run runs each scenario trials times, and returns when all runs have ended. If a call with the same name is repeated after a crash,
	// Run returns the same results. A scenario that the result lacks has no verdict. An error other than ctx's ends the search: as
	// StopPathway after CodeNotFound, CodeInvalidState and CodeBadRequest, as StopModel after an *llm.Failure that is neither
	// llm.ClassTransient nor llm.ClassRateLimited, or else as StopInfrastructure.
	Run(ctx context.Context, name string, version int, scenarios []string, trials int) (map[string]Tally, error)
}

// Tally is the result of the runs of one scenario with one version.
type Tally struct {
	Passed, Failed, Errors int
	Refused                int     // errors because a model refused the API key or the request
	Score                  float64 // mean score of the runs that passed or failed
	Run                    string  // id of the last failed run; empty if none failed
	Node                   string  // id of the node to which that failure is attributed
	Mode                   string  // failure mode: equal for failures of the same type
	Reason                 string  // reason of that failure, human-readable
}

// plus returns the sum of t and the later tally u. The details of the failure are from u if a run of u failed, or else from t.
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
	// Analyze analyzes a failed run. If the model fails, the error is a *llm.Failure. After llm.ClassInvalid the search continues without
	// the analysis.
	Analyze(ctx context.Context, run string) (analysis.Analysis, error)
}

// Fixer proposes changes of a pathway that may repair failing scenarios.
type Fixer interface {
	// Fix proposes a plan, or a Plan without fixes if it finds no change. name distinguishes repeated questions. If the model fails, the
	// error is a *llm.Failure. The search treats llm.ClassInvalid like a plan without fixes.
	Fix(ctx context.Context, name string, b Brief) (Plan, error)
}

// Brief is the input of a Fixer: the best version, its failures, and the rejected plans.
type Brief struct {
	Document graph.Document
	Findings []Finding
	Rejected []Rejection // earlier plans, oldest first
	Limits   Limits
	Number   int // number of the iteration; unique within a search
}

// Finding describes a failing scenario.
type Finding struct {
	Scenario string
	Tally    Tally
	Analysis *analysis.Analysis // nil if the run was not analyzed
}

// Rejection is a rejected plan with the reason that the Fixer reads.
type Rejection struct {
	Plan   Plan
	Reason string
}

// Scenario describes the role of a test scenario in a session.
type Scenario struct {
	ID       string
	Required bool // a version that fails the scenario must not be promoted
	HeldOut  bool // hidden from Fixers, so that its result shows overfitting to other scenarios
}

// SearchConfig lists the ports and limits of a Search.
type SearchConfig struct {
	Versions  Versions   `required:"always"`
	Tests     Tests      `required:"always"`
	Fixer     Fixer      `required:"always"`
	Session   string     // id of the session; part of every name of a call
	Base      int        `required:"always"` // number of the base version
	Scenarios []Scenario `required:"always"` // at most MaxScenarios

	Analyst    Analyst     // if nil, the Fixer reads only the results of the assertions
	Iterations int         // maximum number; 0 means DefaultIterations
	Deadline   time.Time   // the zero time means no deadline
	Confirm    int         // further runs that a repaired scenario must pass; 0 means DefaultConfirm, negative means none
	Patience   int         // maximum number of consecutive iterations without an acceptance; 0 means DefaultPatience
	Limits     Limits      // restrict the changes of plans
	Spent      func() bool // reports whether the budget is used up; nil means no budget
	// Rest waits before scenarios are run again because most of them have no verdict, for example because a model is down. n counts the
	// reruns from 1. If Rest returns an error, the scenarios are not run again. If Rest is nil, they are run again once, without a wait.
	Rest      func(ctx context.Context, n int) error
	Cancelled func() bool    // reports whether the session is canceled; nil means never
	Observe   func(Progress) // called after each change of the progress; may be nil

	callwright.Runtime
}

// These constants are the defaults and limits of a SearchConfig.
const (
	DefaultIterations = 5
	MaxIterations     = 20
	DefaultConfirm    = 2
	DefaultPatience   = 2
	MaxScenarios      = 50
	maxFixes          = 3 // fixes in a plan
	maxFindings       = 5 // findings in a Brief
)

// check sets the defaults. It returns an error that lists the missing required fields, or describes the first invalid field.
func (c *SearchConfig) check() error {
	if err := callwright.PrepareConfig(c); err != nil {
		return err
	}
	switch {
	case c.Base < 1:
		return errors.New("tornado: SearchConfig.Base must be positive")
	case len(c.Scenarios) > MaxScenarios:
		return errors.New("tornado: SearchConfig.Scenarios must have at most 50 scenarios")
	case c.Iterations < 0 || c.Iterations > MaxIterations:
		return errors.New("tornado: SearchConfig.Iterations must be from 0 to 20")
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

// Progress is the state of a search and the history of its iterations.
type Progress struct {
	State      State
	Stop       StopReason // reason of the end; empty while the search runs
	Detail     string     // details of Stop, human-readable
	Phase      Phase
	Base       int
	Best       int // number of the best version
	BaseMoved  bool
	Iterations []Iteration // the first is the baseline
	Passed     []string    // ids of the scenarios that pass with Best
	Failed     []string
	Unfixable  []string // ids of the scenarios that no change of the pathway can repair
}

// Iteration is one attempt to improve the pathway, or the test of the base version.
type Iteration struct {
	Number    int // 0 for the baseline
	Version   int // number of the tested version; 0 if none was forked
	Plan      *Plan
	Changes   *graph.Changes // difference between the best version and the fork; nil without a valid plan
	Trials    []string       // names of the calls of Tests
	Passed    []string       // ids of the tested scenarios that pass
	Failed    []string       // ids of the tested scenarios that fail
	Errors    []string       // ids of the tested scenarios without a verdict
	Unfixable []string       // ids of scenarios that this iteration found unfixable
	Outcome   Outcome
	Reason    string // reason of the outcome, human-readable
	Started   time.Time
	Completed time.Time // zero while in progress
}

// State is Running or the end state of a session.
type State string

// These constants are the states of a session. All except Running are final.
const (
	Running          State = "RUNNING"
	AllPassed        State = "COMPLETED_ALL_PASSED"
	CompletedPartial State = "COMPLETED_PARTIAL"
	Stuck            State = "STUCK"
	TimedOut         State = "TIMEOUT"
	Cancelled        State = "CANCELLED"
	Failed           State = "ERROR"
)

// StopReason is the reason for which a session ended.
type StopReason string

// These constants are the reasons for the end of a session.
const (
	StopCancelled      StopReason = "cancelled"
	StopBaseline       StopReason = "baseline_passed" // all scenarios passed with the base version
	StopAllPassed      StopReason = "all_passed"
	StopInfrastructure StopReason = "infrastructure" // runs were in error, a store failed, or a port panicked
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

// These constants are the phases of a session.
const (
	Baseline  Phase = "baseline"
	Analyzing Phase = "analyzing"
	Planning  Phase = "planning"
	Forking   Phase = "forking"
	Screening Phase = "screening" // runs the failing scenarios
	Verifying Phase = "verifying" // runs the passing scenarios, and then runs changed ones again
	Deciding  Phase = "deciding"
)

// Outcome is the result of an iteration.
type Outcome string

// These constants are the outcomes of an iteration.
const (
	IsBaseline   Outcome = "baseline"
	Accepted     Outcome = "accepted"
	Rejected     Outcome = "rejected"
	Inconclusive Outcome = "inconclusive" // scenarios have no verdict, because their runs were in error
	NoPlan       Outcome = "no_plan"      // no new plan was proposed
	Refused      Outcome = "refused"      // the plan exceeds the limits or makes the pathway invalid
	Unfinished   Outcome = "unfinished"   // the session ended during the iteration
)
