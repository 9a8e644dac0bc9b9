package engine

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Config configures an Engine.
type Config struct {
	Runner PathwayRunner `required:"always"`

	Model       llm.Model // the agent's; nil: a Runner that needs it fails
	CallerModel llm.Model // plays callers; nil: Model
	JudgeModel  llm.Model // nil: Model
	// Judge returns a judge that asks a model, which writes the journal of a run and counts its tokens; nil: judged assertions are
	// errors.
	Judge func(m llm.Model) assert.Judge
	// CheckCaller lets JudgeModel decide after a conversation whether a caller played by a model stayed in its persona.
	CheckCaller bool

	TurnTime time.Duration // of the agent, and of the caller; 0: DefaultTurnTime
	RunTime  time.Duration // of a run with its evaluation; starts again when a run is resumed; 0: DefaultRunTime
	Limit    Limit         // of each run, in addition to Case.Budget
	Pricer   Pricer        // nil: all prices are unknown
	Answer   int           // tokens reserved for a model's answer; 0: DefaultAnswer
	Parallel int           // concurrently judged assertions of a run; 0: DefaultParallel

	callwright.Runtime
}

// Defaults of a Config, and limits.
const (
	DefaultTurnTime = time.Minute
	DefaultRunTime  = 10 * time.Minute
	DefaultParallel = 4
	DefaultAnswer   = 1024

	MaxMessage  = scenario.MaxMessage // bytes of one side's words in a turn; an agent's longer turn is truncated
	MaxNotes    = 1000                // of a run; further ones are omitted
	MaxWebhooks = 1000                // of a run; further ones are omitted
	MaxVisits   = 10_000              // of a run; a longer way is a loop
)

// Engine runs tests. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	checks checks
}

// New returns an engine. The error names a required field that is missing.
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

// Prices reports whether the prices of all models are known. Scenarios may name further models.
func (e *Engine) Prices() bool {
	for _, m := range []llm.Model{e.cfg.Model, e.cfg.CallerModel, e.cfg.JudgeModel} {
		if _, known := e.cfg.Pricer.of(m.Name(), llm.Usage{Input: 1, Output: 1}); !known {
			return false
		}
	}
	return true
}

// Run holds the conversation of a case and evaluates it. It resumes a run whose journal has answers: the conversation is repeated
// from them, and continues at their end.
//
// Run returns soon after ctx ends, with the verdict Cancelled and the conversation so far, also for a run to be resumed later. With
// an error there is no outcome: CodeBadRequest for an incomplete case, or the error of the journal, after which the caller retries.
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

// check returns the error of an incomplete case.
func (c Case) check() error {
	switch s := c.Scenario; {
	case c.Run == "":
		return callwright.Invalid("run", "is required")
	case s.MaxTurns < 0 || s.MaxTurns > scenario.MaxTurns:
		return callwright.Invalid("max_turns", "must be at most 50")
	case len(s.Assertions) > assert.MaxAssertions:
		return callwright.Invalid("assertions", "must be at most 50")
	default:
		return nil
	}
}
