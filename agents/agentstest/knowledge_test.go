package agentstest_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
)

func TestKnowledge(t *testing.T) {
	t.Parallel()
	agentstest.RunKnowledge(t, agentstest.KnowledgeHarness{
		New: func(_ *testing.T, org callwright.OrgID, base string, passages []string) pathway.Knowledge {
			k := &agentstest.Knowledge{}
			k.Add(org, base, passages...)
			return k
		},
	})
}
