package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"testing"

	"github.com/callwright/callwright/agents/llm"
)

// ReplyDigest returns the hash of a reply request's form.
func ReplyDigest(r llm.ReplyRequest) [32]byte {
	var f form
	f.reply(&r)
	return sha256.Sum256(f)
}

// QuestionDigest returns the hash of a question's form.
func QuestionDigest(q llm.Question) [32]byte {
	var f form
	f.question(&q)
	return sha256.Sum256(f)
}

// Reserve reserves tokens if that is possible without waiting, and reports whether it did.
func (b *Budget) Reserve(tokens int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return b.reserve(ctx, Spend{Tokens: tokens}) == nil
}

// Await reserves s, and waits as a call does.
func (b *Budget) Await(ctx context.Context, s Spend) error { return b.reserve(ctx, s) }

// Return replaces a reservation by the actual usage.
func (b *Budget) Return(reserved, used Spend) { b.account(reserved, used) }

// ErrBudget matches the error of a call that does not fit into a budget.
var ErrBudget = errBudget

// Loops reports for each exchange of words whether the conversation loops with it.
func Loops(exchanges [][2]string) []bool {
	var l loops
	out := make([]bool, 0, len(exchanges))
	for _, e := range exchanges {
		out = append(out, l.add(e[0], e[1], ""))
	}
	return out
}

// Recorded returns the parts of a reply as the run receives them live, and as they are read from a journal.
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

// Inside returns a model as a run passes it to its agent, with a new journal.
func Inside(t *testing.T, m llm.Model) llm.Model {
	t.Helper()
	r := &recorder{journal: &MemoryJournal{}, budget: NewBudget(Limit{}, nil)}
	if err := r.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return recorded{model: m, by: byAgent, repeats: llm.Repeats(m), in: r}
}
