package agentstest_test

import (
	"context"
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

// titled is a Knowledge that prefixes each passage with the title of its document.
type titled struct{ agentstest.Knowledge }

func (k *titled) Find(ctx context.Context, org callwright.OrgID, base, question string, limit int) ([]string, error) {
	found, err := k.Knowledge.Find(ctx, org, base, question, limit)
	for i := range found {
		found[i] = "House rules\n\n" + found[i]
	}
	return found, err
}

func TestKnowledgeWithTitles(t *testing.T) {
	t.Parallel()
	agentstest.RunKnowledge(t, agentstest.KnowledgeHarness{
		New: func(_ *testing.T, org callwright.OrgID, base string, passages []string) pathway.Knowledge {
			k := &titled{}
			k.Add(org, base, passages...)
			return k
		},
	})
}
