package agentstest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Knowledge is a pathway.Knowledge in memory. It finds passages that share a word of at least four letters with the question, and ranks
// passages with more such words higher. The zero Knowledge contains no knowledge bases.
type Knowledge struct {
	mu    sync.Mutex
	bases map[knowledgeBase][]string
}

type knowledgeBase struct {
	org  callwright.OrgID
	base string
}

var _ pathway.Knowledge = (*Knowledge)(nil)

// Add adds a knowledge base, or replaces the organization's knowledge base of the same name.
func (k *Knowledge) Add(org callwright.OrgID, base string, passages ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bases == nil {
		k.bases = map[knowledgeBase][]string{}
	}
	k.bases[knowledgeBase{org, base}] = slices.Clone(passages)
}

// Find returns up to limit passages that share words with the question, the best first. It returns CodeNotFound for an unknown knowledge
// base.
func (k *Knowledge) Find(ctx context.Context, org callwright.OrgID, base, question string, limit int) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	passages, known := k.bases[knowledgeBase{org, base}]
	k.mu.Unlock()
	if !known {
		return nil, callwright.NotFound("knowledge base")
	}
	shared := func(passage string) (n int) {
		in := strings.Fields(words(passage))
		for w := range strings.FieldsSeq(words(question)) {
			if len(w) > 3 && slices.Contains(in, w) {
				n++
			}
		}
		return n
	}
	found := slices.DeleteFunc(slices.Clone(passages), func(p string) bool { return shared(p) == 0 })
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(shared(b), shared(a)) })
	return found[:min(max(limit, 0), len(found))], nil
}
