package caller

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Caller is the simulated caller of one conversation. Only one goroutine may use it. Its lines are the same for the same moments
// and the same answers of its model.
type Caller interface {
	// Next returns the caller's next line. The error is a *llm.Failure if the model has failed, or the error of ctx.
	Next(ctx context.Context, m Moment) (Line, error)
}

// Moment is the state of a conversation when it is the caller's turn.
type Moment struct {
	Messages []llm.Message // messages so far; the last one is the agent's, unless the agent has said nothing
	Node     string        // id of the node at which the agent waits; empty: it has no nodes
	Turn     int           // turns that the caller has taken
}

// Line is a caller's action.
type Line struct {
	Text    string
	Digits  bool   // the caller sends Text as DTMF digits
	HangUp  bool   // the caller ends the conversation, after Text
	Invalid string // reason for which the line does not fit the persona: the run is an error, not a failure of the agent
}

// MaxLine is the maximum length of a caller's line, in bytes.
const MaxLine = scenario.MaxMessage

// New returns the caller of a scenario, for one conversation. The caller of a scenario of kind Agent with Messages is scripted;
// without, the model plays it. The error names a missing part of the scenario.
func New(s scenario.Scenario, model llm.Model) (Caller, error) {
	switch s.Kind {
	case scenario.Replay, scenario.Historical:
		return NewReplay(s.Messages), nil
	case scenario.Agent, "":
		switch {
		case len(s.Messages) > 0:
			return NewScripted(s.Messages), nil
		case model == nil:
			return nil, errors.New("caller: a scenario without messages needs a model to play the caller")
		default:
			return NewModel(s, model), nil
		}
	default:
		return nil, fmt.Errorf("caller: %q is no kind of scenario", s.Kind)
	}
}
