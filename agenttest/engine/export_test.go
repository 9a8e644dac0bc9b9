package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"testing"

	"github.com/callwright/callwright/agents/llm"
)

// ReplyDigest returns the digest of a request.
func ReplyDigest(r llm.ReplyRequest) [32]byte {
	var f form
	f.reply(&r)
	return sha256.Sum256(f)
}

// QuestionDigest returns the digest of a question.
func QuestionDigest(q llm.Question) [32]byte {
	var f form
	f.question(&q)
	return sha256.Sum256(f)
}

// Reserve reports whether tokens can be reserved without waiting.
func (b *Budget) Reserve(tokens int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return b.reserve(ctx, Spend{Tokens: tokens}) == nil
}

// Await reserves something as a call does.
func (b *Budget) Await(ctx context.Context, s Spend) error { return b.reserve(ctx, s) }

// Return replaces a reservation by the used amount.
func (b *Budget) Return(reserved, used Spend) { b.account(reserved, used) }

// ErrBudget is the error of a call that does not fit.
var ErrBudget = errBudget

// Loops reports for each exchange of words whether it closes a loop.
func Loops(exchanges [][2]string) []bool {
	var l loops
	out := make([]bool, 0, len(exchanges))
	for _, e := range exchanges {
		out = append(out, l.add(e[0], e[1], ""))
	}
	return out
}

// Recorded returns a live reply, and the same reply read from a journal.
func Recorded(reply iter.Seq2[llm.ReplyPart, error]) (live, read []llm.ReplyPart, err error) {
	e, err := collect(reply)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, nil, err
	}
	var again entry
	if err := json.Unmarshal(raw, &again); err != nil {
		return nil, nil, err
	}
	for _, p := range e.Parts {
		live = append(live, p.part())
	}
	for _, p := range again.Parts {
		read = append(read, p.part())
	}
	return live, read, nil
}

// Inside returns a model as a run gives it to an agent, with a new journal.
func Inside(t *testing.T, m llm.Model) llm.Model {
	t.Helper()
	r := &recorder{journal: &MemoryJournal{}, budget: NewBudget(Limit{}, nil)}
	if err := r.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return recorded{model: m, by: byAgent, repeats: llm.Repeats(m), in: r}
}
