package tornado

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// Session is a search that is stored, and goes on at another node if its own dies.
type Session struct {
	ID      string
	Org     callwright.OrgID
	Pathway string // id
	Persona string // id, to find the session by; empty: none

	// What was asked for; see SearchConfig.
	Scenarios []Scenario
	Most      int // iterations at most
	Confirm   int
	Patience  int
	Limits    Limits
	Budget    engine.Limit // of runs and models together: see Trial.Budget
	Timeout   time.Duration
	Deadline  time.Time // CreatedAt and Timeout; it stays where it is when a node dies

	Progress

	Usage     Usage
	Node      string // that holds the session; empty: none has taken it yet
	Cancel    bool   // it is to end as Cancelled
	CreatedAt time.Time
	EndedAt   time.Time // zero: not yet
	Revision  int64
}

// Usage is what a session has used so far.
type Usage struct {
	Runs    engine.Usage // tokens of the runs
	Analyst llm.Usage
	Fixer   llm.Usage
	Spend   engine.Spend // of all
}

// Ended reports whether a state is final.
func (s State) Ended() bool { return s != Running }

// States returns all states.
func States() []State {
	return []State{Running, AllPassed, CompletedPartial, Stuck, TimedOut, Cancelled, Failed}
}

// Step is an entry of a session's journal: what a call of a port has returned. The search makes the same calls again after a
// crash, and gets the same answers as far as the journal goes.
type Step struct {
	Name   string    // of the call
	At     time.Time // when it returned
	Answer []byte    // JSON
}

// MaxStep is how many bytes the answer of a Step has at most.
const MaxStep = 4 << 20
