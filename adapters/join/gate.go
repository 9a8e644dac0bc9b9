package join

import (
	"context"
	"sync/atomic"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Gate is a pathway.Gate that passes requests to another gate, which Open sets later. It resolves a circular dependency: pathways ask tests
// whether a version may be promoted to production, while tests load versions from the pathways. A program creates the Gate first, then the
// pathways with the Gate, then the tests with the pathways, and finally calls Open with the tests. The zero Gate is ready to use.
type Gate struct{ decides atomic.Pointer[pathway.Gate] }

var _ pathway.Gate = (*Gate)(nil)

// Open sets the gate that makes the decisions from now on.
func (g *Gate) Open(decides pathway.Gate) { g.decides.Store(&decides) }

// Check passes the request to the gate set by Open. Before Open it returns CodeUnavailable, so that no version is promoted.
func (g *Gate) Check(ctx context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	decides := g.decides.Load()
	if decides == nil {
		return pathway.Verdict{}, callwright.Errorf(callwright.CodeUnavailable,
			"the tests that decide about promotions have not started: try again")
	}
	return (*decides).Check(ctx, org, c)
}
