package agentstest

import (
	"context"
	"fmt"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Gate is a pathway.Gate whose tests a test ends. One test is required of every version: it is begun by Check, and passes
// or fails with End. The zero Gate is ready.
type Gate struct {
	mu      sync.Mutex
	batches map[pathway.Candidate]pathway.Verdict // by what they test, with Start not set
	begun   int
}

var _ pathway.Gate = (*Gate)(nil)

// Check says how far the test of a version has come.
func (g *Gate) Check(_ context.Context, _ callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	start := c.Start
	c.Start = false
	v, known := g.batches[c]
	switch {
	case known:
		return v, nil
	case !start:
		return pathway.Verdict{State: pathway.GateClosed, Reason: "its test has not run"}, nil
	}
	g.begun++
	v = pathway.Verdict{State: pathway.GateRunning, Batch: fmt.Sprint("batch-", g.begun)}
	g.set(c, v)
	return v, nil
}

// End ends the test of a version, begun or not.
func (g *Gate) End(v pathway.Version, passed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := pathway.Candidate{Pathway: v.Pathway, Number: v.Number, Hash: v.Hash}
	verdict := g.batches[c]
	verdict.State, verdict.Reason = pathway.GateClosed, "its test has failed"
	if passed {
		verdict.State, verdict.Reason = pathway.GateOpen, ""
	}
	if verdict.Batch == "" {
		g.begun++
		verdict.Batch = fmt.Sprint("batch-", g.begun)
	}
	g.set(c, verdict)
}

// Begun is how many tests were begun.
func (g *Gate) Begun() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun
}

func (g *Gate) set(c pathway.Candidate, v pathway.Verdict) {
	if g.batches == nil {
		g.batches = map[pathway.Candidate]pathway.Verdict{}
	}
	g.batches[c] = v
}
