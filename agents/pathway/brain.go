package pathway

import (
	"context"
	"errors"
	"iter"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// BrainConfig configures a Brain. Interpreter and Graph are required.
type BrainConfig struct {
	Interpreter *Interpreter `required:"always"`
	Graph       *graph.Graph `required:"always"`

	Agent    Agent
	State    State     // initial state: see Begin
	Observer func(Log) // receives the log of every turn and of every withdrawn turn, in the goroutine of Respond; may be nil
}

// Brain leads one conversation along a graph. Only one goroutine may use it.
type Brain struct {
	cfg   BrainConfig
	state State
	early dialogue.EarlyBudget
}

var _ conversation.EarlyBrain = (*Brain)(nil)

// NewBrain returns the brain of one conversation. The error names all missing required fields.
func NewBrain(c BrainConfig) (*Brain, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if err := c.Interpreter.check(); err != nil {
		return nil, err
	}
	return &Brain{cfg: c, state: c.State}, nil
}

// State returns the state of the conversation. It must not be called during a turn.
func (b *Brain) State() State { return b.state }

// AnswersEarly implements conversation.EarlyBrain: it reports whether the conversation goes on and dialogue.EarlyBudget allows an early
// answer. The model decides and speaks before the turn is certain.
func (b *Brain) AnswersEarly() bool { return !b.state.Over && b.early.Allows() }

// Respond answers a turn like Interpreter.Step. If the consumer stops, the conversation stays at the node whose words were interrupted. The
// end of ctx is not an error. If the model fails, the failure is the last element of the stream, after the apology.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		wanted := true
		c := b.cfg
		state, log, err := c.Interpreter.Step(ctx, c.Graph, c.Agent, b.state, t, func(s conversation.Step) bool {
			wanted = yield(s, nil)
			return wanted
		})
		b.state = state
		b.early.Count(log.Withdrawn.Answers > 0, log.Withdrawn.ModelCalls)
		if c.Observer != nil && (log.Turn > 0 || log.Withdrawn.Answers > 0) {
			c.Observer(log)
		}
		if err != nil && !errors.Is(err, conversation.ErrWithdrawn) && wanted && ctx.Err() == nil {
			yield(nil, err)
		}
	}
}
