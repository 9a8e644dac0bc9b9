package agentstest

import (
	"context"
	"fmt"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Gate is a pathway.Gate whose test batches finish when a test calls Finish. The zero Gate requires no tests.
type Gate struct {
	mu       sync.Mutex
	required map[gated]bool
	batches  map[tested]pathway.Verdict
	begun    int
}

// gated identifies a pathway. tested identifies a version of a pathway.
type (
	gated struct {
		org     callwright.OrgID
		pathway string
	}
	tested struct {
		gated
		number int
		hash   string
	}
)

var _ pathway.Gate = (*Gate)(nil)

// Check returns the state of a version's test, or GateOpen if the pathway requires no tests. It begins the test if c.Start is set and the
// version requires a test that has not begun.
func (g *Gate) Check(_ context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := tested{gated{org, c.Pathway}, c.Number, c.Hash}
	verdict, known := g.batches[key]
	switch {
	case !g.required[key.gated]:
		return pathway.Verdict{State: pathway.GateOpen}, nil
	case known:
		return verdict, nil
	case !c.Start:
		return pathway.Verdict{State: pathway.GateClosed, Reason: "its test has not run"}, nil
	default:
		return g.set(key, pathway.GateRunning, "its test runs"), nil
	}
}

// Require makes the gate require a passed test of every version of a pathway.
func (g *Gate) Require(org callwright.OrgID, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.required == nil {
		g.required, g.batches = map[gated]bool{}, map[tested]pathway.Verdict{}
	}
	g.required[gated{org, id}] = true
}

// Finish finishes the test of a version, even if the test has not begun. Require must have been called for the pathway.
func (g *Gate) Finish(v pathway.Version, passed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := tested{gated{v.Org, v.Pathway}, v.Number, v.Hash}
	if passed {
		g.set(key, pathway.GateOpen, "")
	} else {
		g.set(key, pathway.GateClosed, "its test has failed")
	}
}

// Begun returns the number of tests that have begun.
func (g *Gate) Begun() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun
}

// set sets the state of a version's test. It first begins the test, if it has not begun.
func (g *Gate) set(key tested, state pathway.GateState, reason string) pathway.Verdict {
	v := g.batches[key]
	if v.Batch == "" {
		g.begun++
		v.Batch = fmt.Sprint("batch-", g.begun)
	}
	v.State, v.Reason = state, reason
	g.batches[key] = v
	return v
}
