package pathway

import (
	"context"
	"iter"

	"github.com/callwright/callwright/agents/conversation"
)

// BrainConfig is a conversation that a graph leads. Runtime and Graph are required.
type BrainConfig struct {
	Runtime  *Runtime
	Graph    *Graph
	Agent    Agent
	State    State     // where it begins: see Begin
	Observer func(Log) // is told of every turn, in the goroutine that took it; nil: nobody is
}

// Brain leads one conversation along a graph.
type Brain struct {
	cfg   BrainConfig
	state State
}

var _ conversation.Brain = (*Brain)(nil)

// NewBrain makes the brain of one conversation.
func NewBrain(c BrainConfig) *Brain { return &Brain{cfg: c, state: c.State} }

// State is where the conversation is, between two turns.
func (b *Brain) State() State { return b.state }

// Respond takes a turn: see Runtime.Step. A consumer that stops leaves the conversation where its words were broken into.
// The end of ctx is no error; a model's failure is the stream's last element, and comes after the apology.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		wanted := true
		c := b.cfg
		state, log, err := c.Runtime.Step(ctx, c.Graph, c.Agent, b.state, t, func(s conversation.Step) bool {
			wanted = yield(s, nil)
			return wanted
		})
		b.state = state
		if c.Observer != nil && log.Turn > 0 {
			c.Observer(log)
		}
		if err != nil && wanted && ctx.Err() == nil {
			yield(nil, err)
		}
	}
}
