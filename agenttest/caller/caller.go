package caller

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Caller is the simulated caller of one conversation. One goroutine uses it. It does the same when it is given the same
// moments and its model the same answers.
type Caller interface {
	// Next returns what the caller says next. The error is a *llm.Failure if the model has failed, or the error of ctx.
	Next(ctx context.Context, m Moment) (Line, error)
}

// Moment is the state of a conversation when it is the caller's turn.
type Moment struct {
	Messages []llm.Message // what was said; the last message is the agent's, unless the agent has said nothing
	Node     string        // id of the node where the agent waits; empty: it has no nodes
	Turn     int           // turns that the caller has taken
}

// Line is what the caller does.
type Line struct {
	Text    string
	Digits  bool   // the caller presses Text on the keys of the telephone
	HangUp  bool   // the caller ends the conversation, after Text
	Invalid string // why the line is none that the persona would say: the run is an error and no failure of the agent
}

// MaxLine is how many bytes a line of a caller has at most.
const MaxLine = scenario.MaxMessage

// New returns the caller of a scenario, for one conversation. The caller of a scenario of kind Agent with Messages is scripted;
// without, the model plays it. The error says what the scenario lacks.
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
