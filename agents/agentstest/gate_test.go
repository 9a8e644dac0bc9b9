package agentstest_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
)

func TestGate(t *testing.T) {
	t.Parallel()
	agentstest.RunGate(t, func(*testing.T) agentstest.GateHarness {
		g := &agentstest.Gate{}
		return agentstest.GateHarness{
			Gate:    g,
			Require: func(_ *testing.T, org callwright.OrgID, id string) { g.Require(org, id) },
			Finish:  func(_ *testing.T, v pathway.Version, passed bool) { g.Finish(v, passed) },
		}
	})
}
