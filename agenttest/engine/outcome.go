package engine

import (
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Case is the test of a run, as of the run's creation. Run does not change it.
type Case struct {
	Run       string            // id; seeds are derived from it
	Scenario  scenario.Scenario // with Org, and with Pathway or Persona
	Version   int               // number of the tested version; 0: the draft
	Variables map[string]any    // override Scenario.RequestData, key by key
	Trial     int               // number of a run that must differ from others: part of every request to a model
	Journal   Journal           // of this run only; nil: the run cannot be resumed
	Budget    *Budget           // of the run, or shared with others; nil: only Config.Limit
	Stopped   bool              // the run is cancelled: it ends at the end of its journal
}

// Verdict is the verdict of a run about the agent.
type Verdict string

// The verdicts.
const (
	Passed    Verdict = "PASSED"
	Failed    Verdict = "FAILED"
	Error     Verdict = "ERROR" // something other than the agent was at fault
	Cancelled Verdict = "CANCELLED"
)

// Outcome is the result of a run.
type Outcome struct {
	Verdict  Verdict
	Error    string          // reason for the verdict Error; otherwise empty
	Quota    bool            // a model's account has no quota left: other runs will also fail
	Refused  bool            // the verdict is Error, and a model refuses the key or the request: other runs will probably also fail
	Evidence assert.Evidence // the conversation and the reason for its end
	Results  []assert.Result // in the order of the assertions; empty if they were not evaluated
	Score    *float64        // from 0 to 1; nil: no assertion has a score
	Tone     *assert.Tone    // nil: it was not scored
	Turns    []Turn          // of the agent, in order
	Blame    string          // id of the node to which the failure of the run is attributed; empty: none
	Usage    Usage
	Spend    Spend // usage that counts in budgets
	Models   Models
	ByRules  bool     // the caller repeated recorded words, and models were asked only for choices and values that their rules found
	Warnings []string // for people
	Took     time.Duration
}

// Turn describes a turn of the agent.
type Turn struct {
	Index      int    // index in Evidence.Turns; without words of the agent, of the next turn
	Node       string // node at which the agent waited then; empty: it has no nodes
	Notes      []Note
	CallerTook time.Duration // duration of the simulated caller's previous turn
	Took       time.Duration // duration of the agent's turn
	Usage      Usage         // of both
}

// Usage counts the tokens of a run. A call answered by the journal counts once, like any other.
type Usage struct{ Caller, Agent, Judge llm.Usage }

// Sum returns the tokens of all.
func (u Usage) Sum() llm.Usage { return u.Caller.Add(u.Agent).Add(u.Judge) }

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Caller.Add(v.Caller), u.Agent.Add(v.Agent), u.Judge.Add(v.Judge)}
}

// less returns the difference of u and v.
func (u Usage) less(v Usage) Usage {
	minus := func(a, b llm.Usage) llm.Usage {
		return llm.Usage{Input: a.Input - b.Input, Output: a.Output - b.Output}
	}
	return Usage{minus(u.Caller, v.Caller), minus(u.Agent, v.Agent), minus(u.Judge, v.Judge)}
}

// of returns the part of a role.
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

// Models names the models that have answered in a run. They may be equal; empty: none was asked.
type Models struct{ Caller, Agent, Judge string }

// of returns the part of a role.
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
