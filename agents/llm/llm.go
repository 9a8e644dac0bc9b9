// Package llm is the port through which agents use a language model: typed tasks, streamed answers, structured answers,
// tool calls, and classes of errors that say what may be done about a failure.
package llm

import (
	"context"
	"iter"
)

// Model is a language model, or what stands in for one. It is safe for concurrent use.
type Model interface {
	// Name is what a call's record shows: which model answered, such as "scripted" or "gpt-4o-mini".
	Name() string
	// Reply streams what is said next. It ends when ctx ends or the consumer stops, and then holds nothing open. A
	// failure is one *Failure, as the last element.
	Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error]
	// Answer answers a question with one JSON value, which the model was told to make fit q.Schema; whether it does is
	// for the one who asks to check: see Choose, Extract and Ask. A failure is a *Failure. It ends when ctx ends.
	Answer(ctx context.Context, q Question) (Answer, error)
}

// Hinter is what a Model may have beside: it knows what a caller can say next without being asked for a reply.
type Hinter interface {
	// Hints are phrases that may answer the last message, which is the agent's; nil when it knows none. options are the
	// ways that the conversation may then take, where there are any.
	Hints(r ReplyRequest, options []Option) []string
}
