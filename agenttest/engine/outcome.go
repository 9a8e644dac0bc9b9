package engine

import (
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Case is what a run tests, as it was when the run was created. Run does not change it.
type Case struct {
	Run       string            // id; seeds are derived from it
	Scenario  scenario.Scenario // with Org, and with Pathway or Persona
	Version   int               // number of the tested version; 0: the draft
	Variables map[string]any    // override Scenario.RequestData, each key by itself
	Trial     int               // counts runs that are to differ: part of every request to a model
	Journal   Journal           // of this run alone; nil: the run cannot be resumed
	Budget    *Budget           // of the run, or shared with others; nil: none but Config.Limit
	Stopped   bool              // the run is cancelled: it goes as far as its journal, and no further
}

// Verdict is what a run says about the agent.
type Verdict string

// The verdicts.
const (
	Passed    Verdict = "PASSED"
	Failed    Verdict = "FAILED"
	Error     Verdict = "ERROR" // something other than the agent was at fault
	Cancelled Verdict = "CANCELLED"
)

// Outcome is what came of a run.
type Outcome struct {
	Verdict  Verdict
	Error    string          // why the verdict is Error; empty: it is another
	Quota    bool            // a model's account has no quota left: other runs will fail alike
	Refused  bool            // the verdict is Error, and a model refuses the key or the request: other runs will likely fail alike
	Evidence assert.Evidence // what was said and done, and why the conversation ended
	Results  []assert.Result // in the order of the assertions; none if they were not evaluated
	Score    *float64        // from 0 to 1; nil: no assertion has a score
	Tone     *assert.Tone    // nil: it was not scored
	Turns    []Turn          // of the agent, in order
	Blame    string          // id of the node to which the failure of the run is attributed; empty: none
	Usage    Usage
	Spend    Spend // what counts in budgets
	Models   Models
	ByRules  bool     // the caller repeated recorded words, and no model was asked for more than the choices and values that its rules found
	Warnings []string // for people
	Took     time.Duration
}

// Turn says how the agent came to what it said in a turn.
type Turn struct {
	Index      int    // in Evidence.Turns; if the agent said nothing, of the turn that comes next
	Node       string // where the agent waited then; empty: it has no nodes
	Notes      []Note
	CallerTook time.Duration // how long the simulated caller took for the turn before
	Took       time.Duration // how long the agent took
	Usage      Usage         // of both
}

// Usage counts the tokens of a run. A call that the journal has answered counts like any other, and once.
type Usage struct{ Caller, Agent, Judge llm.Usage }

// Sum returns the tokens of all.
func (u Usage) Sum() llm.Usage { return u.Caller.Add(u.Agent).Add(u.Judge) }

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Caller.Add(v.Caller), u.Agent.Add(v.Agent), u.Judge.Add(v.Judge)}
}

// less returns what u has more than v.
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

// Models names the models that have answered in a run. They may be the same; empty: none was asked.
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
