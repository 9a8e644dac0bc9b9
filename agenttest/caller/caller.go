package caller

import (
	"context"

	"github.com/callwright/callwright/agents/llm"
)

// Caller is the simulated caller of one conversation. One goroutine uses it. It does the same when it is given the same
// moments and its model the same answers.
type Caller interface {
	// Next returns what the caller says next. The error is a *llm.Failure if the model has failed, or the error of ctx.
	Next(ctx context.Context, m Moment) (Line, error)
}

// Moment is the state of a conversation when it is the caller's turn.
type Moment struct {
	Messages []llm.Message // what was said; the last message is the agent's
	Node     string        // id of the node where the agent waits; empty: it has no nodes
	Turn     int           // turns that the caller has taken
}

// Line is what the caller does.
type Line struct {
	Text    string
	Digits  bool   // the caller presses Text on the keys of the telephone
	HangUp  bool   // the caller ends the conversation, after Text
	Invalid string // why the line is none that the persona would say: the run is an error and no failure of the agent
	Usage   llm.Usage
}
