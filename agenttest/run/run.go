package run

import (
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// Run is one execution of a scenario.
type Run struct {
	ID       string
	Org      callwright.OrgID
	Scenario string // id; the scenario may be deleted or changed meanwhile: see Snapshot
	Name     string // of the scenario when the run was created
	Pathway  string // id; empty: Persona
	Persona  string
	Version  int    // number of the tested version
	Batch    string // id of the batch or the simulation set that the run belongs to; empty: none
	Trial    int    // counts the runs of one scenario in a simulation set, from 0
	Snapshot string // id of the Snapshot that says what is tested
	Webhook  string // is told the end of the run; empty: nobody. It may hold a token
	Scripted bool   // no language model took part, and it takes one: analytics leave the run out, see agenttest.AnalyticsQuery.Scripted
	// Experiment: it is of a tornado session. It says what might be, so it opens no issue and counts in no analytics.
	Experiment bool

	Budget engine.Limit // of the run, or, of one that belongs to a group, of the whole group

	State     State
	Node      string            // the process that runs it, while it is Running
	Attempt   int               // how often a node has begun or resumed it since its journal got an answer; see MaxAttempts
	Cancel    bool              // it is to end as Cancelled: see Store.CancelRun
	Outcome   *engine.Outcome   // nil until it has ended; lists leave out all but Result
	Result    Result            // of a run that has ended
	Summary   analytics.Summary // likewise, for analytics; lists leave it out
	CreatedAt time.Time
	StartedAt time.Time // zero: not yet
	EndedAt   time.Time // zero: not yet
	Revision  int64
}

// Result is the part of an outcome that lists and statistics read.
type Result struct {
	Score    *float64 // nil: there is none
	Turns    int
	Duration time.Duration
	Error    string   // why the run is an Error, or was cancelled before it began; empty: it was not, or a client has done it
	Refused  bool     // it is an Error because a model refuses the key or the request
	Failure  *Failure // nil: the run has not failed
	Checks   []Check  // the results of its assertions, in their order
}

// IsZero reports whether there is no result.
func (r Result) IsZero() bool {
	return r.Score == nil && r.Turns == 0 && r.Duration == 0 && r.Error == "" && r.Failure == nil && len(r.Checks) == 0
}

// Check is a short result of an assertion: see assert.Result. Its Reasoning has at most 500 bytes.
type Check struct {
	Assertion string
	Type      assert.Type
	Name      string
	Required  bool
	Weight    float64
	Outcome   assert.Outcome
	Score     *float64
	Code      assert.Code
	Reasoning string
	Agreement *float64
}

// Failure says in short why a run has failed, so that equal failures can be counted: see Key.
type Failure struct {
	Assertion string // id of the required assertion that weighs most among those that failed; empty: the score was too low
	Type      assert.Type
	Code      assert.Code
	Node      string // the node to which the failure is attributed; empty: none
	End       assert.EndReason
	Reason    string // in the words of the result
}

// Key returns the same text for runs of a scenario that fail alike. Reasons and ends of conversations differ too much from one run to
// the next to recognize a failure by them.
func (f Failure) Key() string { return fmt.Sprintf("%s/%s/%s", f.Assertion, f.Code, f.Node) }

// MaxAttempts is how often a run is begun or resumed without an answer of a model that its journal keeps. A run whose nodes die more
// often is an Error: it may be what ends them.
const MaxAttempts = 3
