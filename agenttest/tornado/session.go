package tornado

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// Session is a stored search for an organization. If its node dies, another node continues it.
type Session struct {
	ID      string
	Org     callwright.OrgID
	Pathway string // id of the searched pathway
	Persona string // id by which filters find the session; may be empty

	// The following fields contain the request; see SearchConfig.
	Scenarios []Scenario
	Most      int // maximum number of iterations
	Confirm   int
	Patience  int
	Limits    Limits
	Budget    engine.Limit // limit of runs and models together: see Trial.Budget
	Timeout   time.Duration
	Deadline  time.Time // CreatedAt plus Timeout; the death of a node does not move it

	Progress

	Usage     Usage
	Node      string // node that holds the session; empty if none does
	Cancel    bool   // the session must end as Cancelled
	CreatedAt time.Time
	EndedAt   time.Time // zero while the session runs
	Revision  int64
}

// Usage adds up what a session has used so far.
type Usage struct {
	Runs    engine.Usage // tokens of the runs
	Analyst llm.Usage
	Fixer   llm.Usage
	Spend   engine.Spend // runs and models together
}

// Ended reports whether the state is final. All states except Running are.
func (s State) Ended() bool { return s != Running }

// States returns all states, beginning with Running.
func States() []State {
	return []State{Running, AllPassed, CompletedPartial, Stuck, TimedOut, Cancelled, Failed}
}

// Step is an entry of a session's journal: the result of one call of a port. After a crash the search repeats its calls, and the journal
// returns the stored results until all steps are used.
type Step struct {
	Name   string    // name of the call
	At     time.Time // time at which the call returned
	Answer []byte    // result of the call as JSON
}

// MaxStep is the maximum size of a Step's answer in bytes.
const MaxStep = 4 << 20
