package call

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// logStore stores logs in memory.
type logStore struct {
	Transcripts
	logs []pathway.Log
}

func (s *logStore) AppendLog(_ context.Context, _ callwright.OrgID, _ string, l pathway.Log) error {
	s.logs = append(s.logs, l)
	return nil
}

// TestWithdrawnAnswersAreLogged checks that the log of a turn counts the early answers that were withdrawn before it, also for a task, and
// that the answers to a caller who has hung up before the turn was certain are logged at the end.
func TestWithdrawnAnswersAreLogged(t *testing.T) {
	t.Parallel()
	withdrawn := func(n int) pathway.Withdrawn {
		return pathway.Withdrawn{Answers: n, Usage: llm.Usage{Input: 10 * n, Output: n}, ModelCalls: 2 * n}
	}
	for name, g := range map[string]*graph.Graph{"pathway": {}, "task": nil} {
		store := &logStore{}
		b := &recordWriter{
			store: store, clock: callwright.SystemClock{}, logger: slog.New(slog.DiscardHandler), variables: map[string]any{},
			observed: newObservations(nil), wake: make(chan struct{}, 1), done: make(chan struct{}),
		}
		go b.write(t.Context())
		b.turn(pathway.Log{Turn: 1}, g)
		for range 2 {
			b.turn(pathway.Log{Withdrawn: withdrawn(1)}, g)
		}
		b.turn(pathway.Log{Turn: 2, Said: "So."}, g)
		b.turn(pathway.Log{Turn: 3, ModelCalls: 5}, g)
		b.turn(pathway.Log{Withdrawn: withdrawn(1)}, g)
		b.close()
		b.close()
		want := []pathway.Log{{Turn: 1}, {Turn: 2, Said: "So.", Withdrawn: withdrawn(2)}, {Turn: 3}, {Turn: 4, Withdrawn: withdrawn(1)}}
		if g == nil {
			want = slices.DeleteFunc(want, func(l pathway.Log) bool { return l.Withdrawn.Answers == 0 })
		}
		if !slices.EqualFunc(store.logs, want, func(a, b pathway.Log) bool {
			return a.Turn == b.Turn && a.Said == b.Said && reflect.DeepEqual(a.Withdrawn, b.Withdrawn)
		}) {
			t.Errorf("%s: the logs are %+v, want %+v", name, store.logs, want)
		}
		if c, _ := b.summarized(Call{}); c.ModelCalls != (ModelCalls{All: 11, Withdrawn: 6}) {
			t.Errorf("%s: the model calls are %+v", name, c.ModelCalls)
		}
	}
}
