package prompted

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright/agents/llm"
)

// maxPassages is the maximum number of passages for one answer, from all knowledge bases together.
const maxPassages = 5

// passages returns passages that help to answer the caller's last words. It searches all knowledge bases concurrently, and orders the
// passages by rank: the best passage of each base, then the second best. A knowledge base that fails contributes none.
func (b *Brain) passages(ctx context.Context) []string {
	question := asked(b.talk.Messages)
	switch {
	case len(b.cfg.Bases) == 0 || question == "":
		return nil
	case b.cfg.Knowledge == nil:
		b.cfg.Logger.WarnContext(ctx, "the agent has knowledge bases, and none are connected")
		return nil
	}
	found := make([][]string, len(b.cfg.Bases))
	var wait sync.WaitGroup
	for i, base := range b.cfg.Bases {
		wait.Go(func() {
			var err error
			found[i], err = b.cfg.Knowledge.Find(ctx, b.cfg.Org, base, question, maxPassages)
			if err != nil {
				b.cfg.Logger.WarnContext(ctx, "knowledge base failed", "knowledge_base", base, "error", err)
			}
		})
	}
	wait.Wait()
	var best []string
	for rank := range maxPassages {
		for _, list := range found {
			if rank < len(list) && !slices.Contains(best, list[rank]) {
				best = append(best, list[rank])
			}
		}
	}
	return best[:min(len(best), maxPassages)]
}

// asked returns the caller's last words, or "" if the caller has not spoken.
func asked(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.RoleCaller {
			return m.Text
		}
	}
	return ""
}
