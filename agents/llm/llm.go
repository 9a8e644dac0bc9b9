// Package llm is the port through which agents use a language model. It provides streamed replies with tool calls, typed questions
// with structured answers, and classes of failures that determine retries.
//
// An adapter implements Model. Ask, Choose and Extract put questions to a Model, check its answers, and ask again after invalid
// ones.
package llm

import (
	"context"
	"iter"
)

// Model is a language model, or a substitute for one. It is safe for concurrent use. agentstest.RunModel tests it.
type Model interface {
	// Name returns the name of the model for call records, for example "scripted" or "gpt-4o-mini". It is not empty and does not
	// change.
	Name() string
	// Reply streams the next words of the agent, which are not blank unless it calls a tool or acts. The messages may contain any
	// text, and may be missing. It takes no action that r does not allow, and calls no tool that r does not list. It ends when ctx
	// ends or the consumer stops, and then frees its resources. A failure is a *Failure, and the last element; after the end of ctx
	// no words follow, and with an ended ctx, the failure is the only element. Reply does not change r.
	Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error]
	// Answer answers a question with one JSON value. The model is told to make it fit q.Schema; the caller checks whether it does:
	// see Choose, Extract and Ask. The answer to TaskRoute and TaskLabel names one of q.Options, for any messages and variables,
	// which may contain any text, including U+0000. A failure is a *Failure without an answer. A substitute may answer unknown
	// words with ClassUnsupported. Answer ends when ctx ends, with a *Failure, and does not change q.
	Answer(ctx context.Context, q Question) (Answer, error)
}

// Hinter is an optional interface of a Model that predicts a caller's next words without a reply.
type Hinter interface {
	// Hints returns phrases that may answer the last message, which is the agent's, or nil. options are the next ways of the
	// conversation, possibly none.
	Hints(r ReplyRequest, options []Option) []string
}

// Repeatable is an optional interface of a Model whose answers need not be stored, because it repeats them. A Model that wraps
// another one returns the other's result, if it does not change it. agentstest.RunModel tests it.
type Repeatable interface {
	// Repeats reports whether the same request always has the same answer, or the same failure, and costs nothing: in all processes
	// of the same program. A failure because ctx has ended does not count. The result is constant.
	Repeats() bool
}

// Repeats reports whether a model is Repeatable and repeats its answers.
func Repeats(m Model) bool {
	r, ok := m.(Repeatable)
	return ok && r.Repeats()
}

// Limited is an optional interface of a Model that follows only some instructions of an agent, or answers only some questions, for
// example a substitute without a language model. A Model that wraps others returns the result of the named one (ReplyRequest.Model,
// Question.Model).
type Limited interface {
	// Unfollowed returns a human-readable text if the instructions of an agent are not followed, with the instructions that are;
	// empty: they are followed. Empty instructions stand for free text.
	Unfollowed(asked, instructions string) string
	// Unanswered returns a human-readable text if no question of a task is answered; empty: some are.
	Unanswered(asked string, task Task) string
}

// Unfollowed returns the reason for which the named model does not follow the instructions of an agent; empty: it does. Empty
// instructions stand for free text.
func Unfollowed(m Model, asked, instructions string) string {
	if l, ok := m.(Limited); ok {
		return l.Unfollowed(asked, instructions)
	}
	return ""
}

// Unanswered returns the reason for which the named model answers no question of a task; empty: it answers some.
func Unanswered(m Model, asked string, task Task) string {
	if l, ok := m.(Limited); ok {
		return l.Unanswered(asked, task)
	}
	return ""
}
