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
	Name     string // of the scenario at the run's creation
	Pathway  string // id; empty: Persona
	Persona  string
	Version  int    // number of the tested version
	Batch    string // id of the batch or the simulation set that the run belongs to; empty: none
	Trial    int    // counts the runs of one scenario in a simulation set, from 0
	Snapshot string // id of the tested Snapshot
	Webhook  string // receives the end of the run; empty: none. It may contain a token
	Scripted bool   // the run needs a language model and had none: analytics exclude it, see agenttest.AnalyticsQuery.Scripted
	// Experiment marks a run of a tornado session. It tests a hypothetical version, so it opens no issue and counts in no
	// analytics.
	Experiment bool

	Budget engine.Limit // of the run, or of its whole group

	State     State
	Node      string            // the node that executes it, while it is Running
	Attempt   int               // number of starts and resumptions since the journal's last answer; see MaxAttempts
	Cancel    bool              // request to end as Cancelled: see Store.CancelRun
	Outcome   *engine.Outcome   // nil until it has ended; lists omit all but Result
	Result    Result            // of a run that has ended
	Summary   analytics.Summary // likewise, for analytics; lists omit it
	CreatedAt time.Time
	StartedAt time.Time // zero: not yet
	EndedAt   time.Time // zero: not yet
	Revision  int64
}

// Result is the part of an outcome that lists and statistics read.
type Result struct {
	Score    *float64 // nil: none
	Turns    int
	Duration time.Duration
	Error    string   // reason for an Error, or for a cancellation before the start; empty: neither, or cancelled by a client
	Refused  bool     // Error because a model refuses the key or the request
	Failure  *Failure // nil: the run has not failed
	Checks   []Check  // the results of its assertions, in order
}

// IsZero reports whether the result is empty.
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

// Failure is a short form of a run's failure, by which equal failures can be counted: see Key.
type Failure struct {
	Assertion string // id of the failed required assertion with the greatest weight; empty: the score was too low
	Type      assert.Type
	Code      assert.Code
	Node      string // the node to which the failure is attributed; empty: none
	End       assert.EndReason
	Reason    string // reasoning of the result
}

// Key returns the same text for similar failures of a scenario's runs. It ignores reasons and ends of conversations, which differ
// too much between runs.
func (f Failure) Key() string { return fmt.Sprintf("%s/%s/%s", f.Assertion, f.Code, f.Node) }

// MaxAttempts is the maximum number of starts and resumptions of a run without a new answer in its journal. A run whose nodes die
// more often is an Error, because it may cause their death.
const MaxAttempts = 3
