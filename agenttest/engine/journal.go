package engine

import (
	"bytes"
	"context"
	"sync"

	"github.com/callwright/callwright"
)

// Journal stores the models' answers of one run, so that the run can be resumed after a crash. Only one process may use it at any time.
// Answers of an llm.Repeatable model are not stored: the engine calls the model again. agenttesttest.RunJournal tests implementations.
//
// Keys are texts of at most 80 letters, digits and hyphens. An answer has at most MaxAnswer bytes, in a format of the engine. It contains
// the models' words.
type Journal interface {
	// Answers returns all answers by key, byte for byte. The engine calls it once, when it starts or resumes a run. The journal of a new
	// run is empty.
	Answers(ctx context.Context) (map[string][]byte, error)
	// Append adds an answer, which is stored when Append returns. The engine never reuses a key. The journal must keep no reference to
	// answer. Append returns CodeConflict if an answer with this key exists, which then remains, or if another process has claimed the run.
	// It must be safe for concurrent use.
	Append(ctx context.Context, key string, answer []byte) error
}

// MaxAnswer is the maximum size of an answer in a Journal, in bytes.
const MaxAnswer = 4 << 20

// MemoryJournal is a Journal in memory. The zero value is empty.
type MemoryJournal struct {
	mu      sync.Mutex
	answers map[string][]byte
}

var _ Journal = (*MemoryJournal)(nil)

// Answers returns copies of all answers by key.
func (j *MemoryJournal) Answers(ctx context.Context) (map[string][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make(map[string][]byte, len(j.answers))
	for key, answer := range j.answers {
		all[key] = bytes.Clone(answer)
	}
	return all, ctx.Err()
}

// Append adds a copy of an answer. It returns CodeConflict if the key exists.
func (j *MemoryJournal) Append(ctx context.Context, key string, answer []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, taken := j.answers[key]; taken {
		return callwright.Errorf(callwright.CodeConflict, "the journal has an answer with the key %s", key)
	}
	if j.answers == nil {
		j.answers = map[string][]byte{}
	}
	j.answers[key] = bytes.Clone(answer)
	return nil
}

// Len returns the number of answers.
func (j *MemoryJournal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.answers)
}
