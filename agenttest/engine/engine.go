package engine

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Config configures an Engine. Fields without a required tag may be zero.
type Config struct {
	Runner PathwayRunner `required:"always"`

	Model       llm.Model // the agent's model; if nil, a Runner that needs it fails
	CallerModel llm.Model // plays callers; nil means Model
	JudgeModel  llm.Model // judges; nil means Model
	// Judge returns a judge that uses the model m. Calls of m are recorded in the run's journal and count in its budget. If Judge is nil,
	// judged assertions are errors.
	Judge func(m llm.Model) assert.Judge
	// CheckCaller makes JudgeModel decide, after a conversation, whether a caller played by a model kept to its persona.
	CheckCaller bool

	TurnTime time.Duration // time limit of each turn of the agent or the caller; 0 means DefaultTurnTime
	RunTime  time.Duration // time limit of a run with its evaluation, from its last start; 0 means DefaultRunTime
	Limit    Limit         // limit of each run, in addition to Case.Budget
	Pricer   Pricer        // nil means that all prices are unknown
	Answer   int           // tokens to reserve for a model's answer; 0 means DefaultAnswer
	Parallel int           // maximum of concurrently judged assertions in a run; 0 means DefaultParallel

	callwright.Runtime
}

// These constants are the defaults of a Config and the limits of a run.
const (
	DefaultTurnTime = time.Minute
	DefaultRunTime  = 10 * time.Minute
	DefaultParallel = 4
	DefaultAnswer   = 1024

	MaxMessage  = scenario.MaxMessage // bytes of one side's words in a turn; an agent's longer turn is truncated
	MaxNotes    = 1000                // in a run; further ones are omitted
	MaxWebhooks = 1000                // in a run; further ones are omitted
	MaxVisits   = 10_000              // in a run; more visits count as a loop
)

// Engine runs tests. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	checks checks
}

// New returns an engine. The error names the missing required field.
func New(c Config) (*Engine, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Model == nil {
		c.Model = noModel{}
	}
	if c.CallerModel == nil {
		c.CallerModel = c.Model
	}
	if c.JudgeModel == nil {
		c.JudgeModel = c.Model
	}
	if c.TurnTime <= 0 {
		c.TurnTime = DefaultTurnTime
	}
	if c.RunTime <= 0 {
		c.RunTime = DefaultRunTime
	}
	if c.Parallel <= 0 {
		c.Parallel = DefaultParallel
	}
	if c.Answer <= 0 {
		c.Answer = DefaultAnswer
	}
	return &Engine{cfg: c}, nil
}

// Prices reports whether the prices of the configured models are known. Scenarios may name further models.
func (e *Engine) Prices() bool {
	for _, m := range []llm.Model{e.cfg.Model, e.cfg.CallerModel, e.cfg.JudgeModel} {
		if _, known := e.cfg.Pricer.of(m.Name(), llm.Usage{Input: 1, Output: 1}); !known {
			return false
		}
	}
	return true
}

// Run holds the conversation of a case and evaluates it. If the journal contains answers, Run resumes the run: it repeats the conversation
// from these answers, and continues after the last one.
//
// When ctx is done, Run returns soon, with the verdict Cancelled and the conversation so far. Such a run may still be resumed. If Run
// returns an error, the run has no result, and only the Spend of the Outcome is meaningful. The error is CodeBadRequest for an incomplete
// or invalid case, or the error of the journal. After an error of the journal, the caller may retry.
func (e *Engine) Run(ctx context.Context, c Case) (Outcome, error) {
	if err := c.check(); err != nil {
		return Outcome{}, err
	}
	began := e.cfg.Clock.Now()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r, err := e.newRun(ctx, c, stop)
	switch {
	case err != nil && ctx.Err() != nil:
		return Outcome{Verdict: Cancelled, Evidence: assert.Evidence{End: assert.EndCancelled}}, nil
	case err != nil:
		return Outcome{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, e.cfg.RunTime, errRunTime)
	defer cancel()
	r.converse(limited)
	if Decides(r.out.Evidence.End) {
		r.evaluate(limited)
	}
	r.finish(ctx)
	r.out.Took = e.cfg.Clock.Now().Sub(began)
	return r.out, r.models.failures().journal
}

// check returns an error if the case is incomplete or exceeds a limit.
func (c Case) check() error {
	switch s := c.Scenario; {
	case c.Run == "":
		return callwright.Invalid("run", "is required")
	case s.MaxTurns < 0 || s.MaxTurns > scenario.MaxTurns:
		return callwright.Invalid("max_turns", "must be from 0 to %d", scenario.MaxTurns)
	case len(s.Assertions) > assert.MaxAssertions:
		return callwright.Invalid("assertions", "must have at most %d items", assert.MaxAssertions)
	default:
		return nil
	}
}
