package agentstest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/callwright/callwright/agents/llm"
)

// Model is an llm.Model whose answers a test scripts. It records its requests, and is safe for concurrent use. The zero Model fails every
// request with llm.ClassUnsupported.
type Model struct {
	Called string // returned by Name; empty means "fake"
	// Says returns the parts of a reply, and an error that follows them. If nil, replies fail with llm.ClassUnsupported.
	Says func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error)
	// Answers returns the JSON answer to a question. If nil, answers fail with llm.ClassUnsupported.
	Answers func(ctx context.Context, q llm.Question) (string, error)
	// Usage is the usage that every successful reply and every successful answer reports.
	Usage llm.Usage

	mu        sync.Mutex
	requests  []llm.ReplyRequest
	questions []llm.Question
}

var _ llm.Model = (*Model)(nil)

// Texts returns the parts of a reply, one for each piece of text.
func Texts(pieces ...string) []llm.ReplyPart {
	parts := make([]llm.ReplyPart, 0, len(pieces))
	for _, p := range pieces {
		parts = append(parts, llm.ReplyPart{Text: p})
	}
	return parts
}

// Name returns Called, or "fake".
func (m *Model) Name() string {
	if m.Called == "" {
		return "fake"
	}
	return m.Called
}

// Reply records the request and streams the parts of Says, followed by the error of Says or, without an error, by Usage, unless Usage is
// zero. If ctx has ended, Reply fails with llm.ClassTransient.
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

// Answer records the question and returns the result of Answers. If ctx has ended, Answer fails with llm.ClassTransient.
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

// Requests returns the requests for replies so far, in order.
func (m *Model) Requests() []llm.ReplyRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Questions returns the questions so far, in order.
func (m *Model) Questions() []llm.Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.questions)
}

var unscripted = &llm.Failure{Class: llm.ClassUnsupported, Message: "the test has not scripted this"}

// ended returns a failure of ClassTransient if ctx has ended, and nil otherwise.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Failure{Class: llm.ClassTransient, Message: "the request has ended", Cause: err}
	}
	return nil
}
