package engine

import (
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Case describes the test that a run executes, in the state at the run's creation. Engine.Run does not change it.
type Case struct {
	Run       string            // id of the run; seeds are derived from it
	Scenario  scenario.Scenario // with Org, and with Pathway or Persona
	Version   int               // number of the tested version; 0 means the draft
	Variables map[string]any    // replace values of Scenario.RequestData, key by key
	Trial     int               // distinguishes runs of the same scenario; part of every model request
	Journal   Journal           // of this run only; if nil, the run cannot be resumed
	Budget    *Budget           // of the run, possibly shared with others; nil means only Config.Limit
	Stopped   bool              // the run was canceled: it stops at the end of its journal
}

// Verdict is the verdict of a run on the agent.
type Verdict string

// The Verdict of a run.
const (
	Passed    Verdict = "PASSED"
	Failed    Verdict = "FAILED"
	Error     Verdict = "ERROR" // the run failed for a reason other than the agent
	Cancelled Verdict = "CANCELLED"
)

// Outcome is the result of Engine.Run.
type Outcome struct {
	Verdict  Verdict
	Error    string          // human-readable reason for the verdict Error; else empty
	Quota    bool            // the quota of a model's account is exhausted: other runs will also fail
	Refused  bool            // the verdict is Error, and a model refused the key or the request: other runs probably also fail
	Evidence assert.Evidence // the conversation and the reason for its end
	Results  []assert.Result // in the order of the assertions; empty if they were not evaluated
	Score    *float64        // from 0 to 1; nil if no assertion has a score
	Tone     *assert.Tone    // nil if the tone was not rated
	Turns    []Turn          // turns of the agent, in order
	Blame    string          // id of the node to which the failure is attributed; empty if there is none
	Usage    Usage
	Spend    Spend // usage that counts toward budgets
	Models   Models
	Uses     []Use    // models that answered, by role; calls that the journal answers count, too
	ByRules  bool     // the caller replayed recorded words, and no request of the run needed a language model
	Warnings []string // human-readable
	Took     time.Duration
}

// Turn describes a turn of the agent.
type Turn struct {
	Index      int    // index in Evidence.Turns; if the agent said nothing, the index of the next turn
	Node       string // node at which the agent waited after the turn; empty if it has no nodes
	Notes      []Note
	CallerTook time.Duration // duration of the simulated caller's previous turn
	Took       time.Duration // duration of the agent's turn
	Usage      Usage         // usage of both turns
	Uses       []Use         // models that answered in both turns, by role; without Cost
}

// Use counts the calls of one model in one role.
type Use struct {
	Role string // "caller", "agent" or "judge"
	llm.Use

	Cost *Money `json:",omitempty"` // cost of Usage; nil if the price of the model is unknown
}

// Usage counts the tokens of a run's model calls by role. A call that the journal answers counts once, like any other.
type Usage struct{ Caller, Agent, Judge llm.Usage }

// Sum returns the tokens of all roles.
func (u Usage) Sum() llm.Usage { return u.Caller.Add(u.Agent).Add(u.Judge) }

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Caller.Add(v.Caller), u.Agent.Add(v.Agent), u.Judge.Add(v.Judge)}
}

// less returns u minus v.
func (u Usage) less(v Usage) Usage {
	return Usage{u.Caller.Sub(v.Caller), u.Agent.Sub(v.Agent), u.Judge.Sub(v.Judge)}
}

// of returns a pointer to the usage of a role.
func (u *Usage) of(r role) *llm.Usage {
	switch r {
	case byCaller:
		return &u.Caller
	case byJudge:
		return &u.Judge
	default:
		return &u.Agent
	}
}

// Models contains the names of the models that answered in a run, by role. Names may be equal. A name is empty if no model was called in
// this role.
type Models struct{ Caller, Agent, Judge string }

// of returns a pointer to the model name of a role.
func (m *Models) of(r role) *string {
	switch r {
	case byCaller:
		return &m.Caller
	case byJudge:
		return &m.Judge
	default:
		return &m.Agent
	}
}
