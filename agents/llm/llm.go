// Package llm is the port through which agents use a language model. It provides streamed replies with tool calls, typed questions with
// structured answers, and classes of failures that determine retries.
//
// An adapter implements Model. Ask, Choose and Extract send questions to a Model, check its answers, and ask again after invalid answers.
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
	// Reply streams the next words of the agent. The words are not blank, unless the reply calls a tool or contains an action. The messages
	// of r may contain any text, and may be missing. The reply contains no action that r does not allow, and calls no tool that r does not
	// list. It ends when ctx ends or the consumer stops, and then frees its resources. A failure is a *Failure, and the last element. After
	// the end of ctx no words follow. If ctx has ended before, the failure is the only element. Reply does not change r.
	Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error]
	// Answer answers a question with one JSON value. The model is instructed to make it fit q.Schema; Choose, Extract and Ask check whether
	// it does. The answer to TaskRoute and TaskLabel names one of q.Options for any messages and variables. These may contain any text,
	// including U+0000. A failure is a *Failure without an answer. A substitute for a model may return ClassUnsupported for unknown words.
	// Answer ends with a *Failure when ctx ends, and does not change q.
	Answer(ctx context.Context, q Question) (Answer, error)
}

// Hinter is an optional interface of a Model that predicts a caller's next words without a reply.
type Hinter interface {
	// Hints returns phrases that may answer the agent's message, which is the last message. It returns nil if it predicts none. options
	// lists the possible continuations of the conversation; it may be empty.
	Hints(r ReplyRequest, options []Option) []string
}

// Repeatable is an optional interface of a Model whose answers need not be stored, because it repeats them. A Model that wraps another
// Model without changing its answers returns the result of the wrapped Model. agentstest.RunModel tests it.
type Repeatable interface {
	// Repeats reports whether equal requests always have equal answers or failures, in all processes of the same program, and cost nothing.
	// Failures caused by the end of ctx are excepted. The result is constant.
	Repeats() bool
}

// Repeats reports whether a model is Repeatable and repeats its answers.
func Repeats(m Model) bool {
	r, ok := m.(Repeatable)
	return ok && r.Repeats()
}

// Limited is an optional interface of a Model that follows only some instructions of an agent, or answers only some questions, for example
// a substitute for a language model. The parameter asked is the name of a model (ReplyRequest.Model, Question.Model). A Model that wraps
// others returns the result of the Model with that name.
type Limited interface {
	// Unfollowed returns a human-readable text if the model does not follow the instructions of an agent. The text also describes the
	// instructions that the model follows. It is empty if the model follows the agent's instructions. Empty instructions mean any free
	// text.
	Unfollowed(asked, instructions string) string
	// Unanswered returns a human-readable text if the model answers no question of a task. The text is empty if it answers some questions.
	Unanswered(asked string, task Task) string
	// Unchosen returns a human-readable text if the model never chooses an option in a question of TaskRoute, whatever was said and
	// whatever values the variables have. The text is empty if the model may choose it. fields contains variables whose types are known.
	Unchosen(asked string, o Option, fields []Field) string
}

// Unfollowed returns the reason why the named model does not follow the instructions of an agent, or "" if it does. Empty instructions mean
// any free text.
func Unfollowed(m Model, asked, instructions string) string {
	if l, ok := m.(Limited); ok {
		return l.Unfollowed(asked, instructions)
	}
	return ""
}

// Unanswered returns the reason why the named model answers no question of a task, or "" if it answers some questions.
func Unanswered(m Model, asked string, task Task) string {
	if l, ok := m.(Limited); ok {
		return l.Unanswered(asked, task)
	}
	return ""
}

// Unchosen returns the reason why the named model never chooses an option, or "" if it may choose it: see Limited.
func Unchosen(m Model, asked string, o Option, fields []Field) string {
	if l, ok := m.(Limited); ok {
		return l.Unchosen(asked, o, fields)
	}
	return ""
}
