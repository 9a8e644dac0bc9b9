package run

import (
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// Run is one execution of a scenario, in any state.
type Run struct {
	ID       string
	Org      callwright.OrgID
	Scenario string // id; the scenario may have been changed or deleted since: see Snapshot
	Name     string // name of the scenario at the run's creation
	Pathway  string // id; empty if Persona is set
	Persona  string
	Version  int    // number of the tested version
	Batch    string // id of the run's batch or simulation set; empty if it belongs to none
	Trial    int    // counts the runs of one scenario in a simulation set, from 0
	Snapshot string // id of the tested Snapshot
	Webhook  string // URL that is notified of the end of the run, possibly with a token; empty means none
	Scripted bool   // the run had no language model, but needs one: analytics exclude it, see agenttest.AnalyticsQuery.Scripted
	// Experiment marks a run of a tornado session. Because the run tests a hypothetical version, it opens no issue and does not count in
	// analytics.
	Experiment bool

	Budget engine.Limit // limit of the run or of its whole group

	State     State
	Node      string            // name of the node that executes the run while it is Running
	Attempt   int               // number of starts and resumptions without interruptions; the first answer after a resumption resets it to 1; see MaxAttempts
	Cancel    bool              // the run was requested to end as Cancelled: see Store.CancelRun
	Outcome   *engine.Outcome   // nil until the run has ended; in lists, only Results is set
	Result    Result            // set when the run has ended
	Summary   analytics.Summary // set when the run has ended, for analytics; lists omit it
	CreatedAt time.Time
	StartedAt time.Time // zero if the run has not started
	EndedAt   time.Time // zero if the run has not ended
	Revision  int64
}

// Result is the part of an outcome that lists and statistics contain.
type Result struct {
	Score    *float64 // nil if the run has no score
	Turns    int
	Duration time.Duration
	Error    string   // reason of an Error, or of a cancellation before the start other than by a client; else empty
	Refused  bool     // the run is an Error because a model refused the key or the request
	Failure  *Failure // nil if the run did not fail
	Checks   []Check  // short results of the assertions, in order
}

// IsZero reports whether the result contains no data. It ignores Refused.
func (r Result) IsZero() bool {
	return r.Score == nil && r.Turns == 0 && r.Duration == 0 && r.Error == "" && r.Failure == nil && len(r.Checks) == 0
}

// Check is the short form of an assert.Result. Its Reasoning has at most 500 bytes.
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

// Failure is the short form of a run's failure. Key identifies equal failures.
type Failure struct {
	Assertion string // id of the failed required assertion with the greatest weight; empty if the score was too low
	Type      assert.Type
	Code      assert.Code
	Node      string // id of the node to which the failure is attributed; empty if there is none
	End       assert.EndReason
	Reason    string // reasoning of the assertion's result, or that the score was too low
}

// Key returns a text that is equal for similar failures of a scenario's runs. It ignores reasons and why conversations ended, because these
// differ too much between runs.
func (f Failure) Key() string { return fmt.Sprintf("%s/%s/%s", f.Assertion, f.Code, f.Node) }

// MaxAttempts is the maximum number of starts and resumptions of a run without a new answer in its journal. A run whose nodes die more
// often is an Error, because the run itself may cause their death.
const MaxAttempts = 3
