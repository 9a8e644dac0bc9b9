package agentstest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/callwright/callwright/agents/llm"
)

// Model is a language model whose answers a test scripts. It keeps what it was asked, and is safe for concurrent use. The
// zero Model can't do anything, and says so.
type Model struct {
	Called string // its name; empty: "fake"
	// Says gives the parts of a reply; an error comes after them. nil: llm.ClassUnsupported.
	Says func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error)
	// Answers gives the answer to a question as it is written. nil: llm.ClassUnsupported.
	Answers func(ctx context.Context, q llm.Question) (string, error)
	// Usage is what every reply and every answer says it has used.
	Usage llm.Usage

	mu        sync.Mutex
	requests  []llm.ReplyRequest
	questions []llm.Question
}

var _ llm.Model = (*Model)(nil)

// Texts are the parts of a reply that says something in pieces.
func Texts(pieces ...string) []llm.ReplyPart {
	parts := make([]llm.ReplyPart, 0, len(pieces))
	for _, p := range pieces {
		parts = append(parts, llm.ReplyPart{Text: p})
	}
	return parts
}

// Name is what it is called.
func (m *Model) Name() string {
	if m.Called == "" {
		return "fake"
	}
	return m.Called
}

// Reply gives what Says gives.
func (m *Model) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		r.Messages = slices.Clone(r.Messages)
		m.mu.Lock()
		m.requests = append(m.requests, r)
		m.mu.Unlock()
		err := ended(ctx)
		var parts []llm.ReplyPart
		if err == nil && m.Says != nil {
			parts, err = m.Says(ctx, r)
		} else if err == nil {
			err = unscripted
		}
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
		switch {
		case err != nil:
			yield(llm.ReplyPart{}, err)
		case m.Usage != llm.Usage{}:
			usage := m.Usage
			yield(llm.ReplyPart{Usage: &usage}, nil)
		}
	}
}

// Answer gives what Answers gives.
func (m *Model) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	q.Messages = slices.Clone(q.Messages)
	m.mu.Lock()
	m.questions = append(m.questions, q)
	m.mu.Unlock()
	if err := ended(ctx); err != nil {
		return llm.Answer{}, err
	}
	if m.Answers == nil {
		return llm.Answer{}, unscripted
	}
	text, err := m.Answers(ctx, q)
	if err != nil {
		return llm.Answer{}, err
	}
	return llm.Answer{JSON: json.RawMessage(text), Model: m.Name(), Usage: m.Usage}, nil
}

// Requests are the replies that it was asked for, in order.
func (m *Model) Requests() []llm.ReplyRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Questions are those that it was asked, in order.
func (m *Model) Questions() []llm.Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.questions)
}

var unscripted = &llm.Failure{Class: llm.ClassUnsupported, Message: "the test has not scripted this"}

// ended is the failure of a context that has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Failure{Class: llm.ClassTransient, Message: "the request has ended", Cause: err}
	}
	return nil
}
