package caller

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Caller is the simulated caller of one conversation. It is not safe for concurrent use. Its lines depend only on the moments and on the
// answers of its model.
type Caller interface {
	// Next returns the caller's next line. It returns a *llm.Failure if the model fails, or the error of ctx.
	Next(ctx context.Context, m Moment) (Line, error)
}

// Moment is the state of a conversation when the caller must speak.
type Moment struct {
	Messages []llm.Message // messages so far; the last one is the agent's, unless the agent has not spoken
	Node     string        // id of the node at which the agent waits; empty if the agent has no nodes
	Turn     int           // number of the caller's previous turns
}

// Line is the caller's action in a turn.
type Line struct {
	Text    string
	Digits  bool   // Text is sent as DTMF digits
	HangUp  bool   // the caller hangs up after Text
	Invalid string // why the line does not fit the persona; the run is then an error, not a failure of the agent
}

// MaxLine is the maximum length of a caller's line, in bytes.
const MaxLine = scenario.MaxMessage

// New returns the caller of a scenario for one conversation. In a scenario of kind Replay or Historical, the caller repeats its lines in
// the Messages. In a scenario of kind Agent, the caller says the Messages or, without Messages, is played by the model. The error states
// that the scenario needs a model, or that its kind is unknown.
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
		return nil, fmt.Errorf("caller: a scenario must be of the kind %s, %s or %s, not %q", scenario.Agent, scenario.Replay, scenario.Historical, s.Kind)
	}
}
