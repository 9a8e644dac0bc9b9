package tornado

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// Session is a stored search. Another node continues it if its node dies.
type Session struct {
	ID      string
	Org     callwright.OrgID
	Pathway string // id
	Persona string // id, by which filters find the session; empty: none

	// The request; see SearchConfig.
	Scenarios []Scenario
	Most      int // maximum number of iterations
	Confirm   int
	Patience  int
	Limits    Limits
	Budget    engine.Limit // of runs and models together: see Trial.Budget
	Timeout   time.Duration
	Deadline  time.Time // CreatedAt and Timeout; the death of a node does not move it

	Progress

	Usage     Usage
	Node      string // that holds the session; empty: not claimed yet
	Cancel    bool   // request to end as Cancelled
	CreatedAt time.Time
	EndedAt   time.Time // zero: not yet
	Revision  int64
}

// Usage is the usage of a session so far.
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

// Step is an entry of a session's journal: the result of a call of a port. After a crash the search repeats its calls, and gets the
// stored results while the journal lasts.
type Step struct {
	Name   string    // of the call
	At     time.Time // time of the return
	Answer []byte    // JSON
}

// MaxStep is the maximum size of a Step's answer in bytes.
const MaxStep = 4 << 20
