package join

import (
	"context"
	"sync/atomic"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Gate is a pathway.Gate whose decisions another one makes. It exists because of a circle: pathways ask tests whether a
// version may go to production, and tests are made with the pathways whose versions they load. A program makes a Gate, gives
// it to the pathways, makes the tests with these, and calls Open with the tests. The zero Gate is ready to use.
type Gate struct{ decides atomic.Pointer[pathway.Gate] }

var _ pathway.Gate = (*Gate)(nil)

// Open sets the gate that decides from now on.
func (g *Gate) Open(decides pathway.Gate) { g.decides.Store(&decides) }

// Check asks the gate. Before Open it returns CodeUnavailable, so that nothing goes to production.
func (g *Gate) Check(ctx context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	decides := g.decides.Load()
	if decides == nil {
		return pathway.Verdict{}, callwright.Errorf(callwright.CodeUnavailable,
			"the tests that decide about promotions have not started: try again")
	}
	return (*decides).Check(ctx, org, c)
}
