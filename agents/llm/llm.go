// Package llm is the port through which agents use a language model. It has streamed replies with tool calls, typed
// questions with structured answers, and classes of failures that say whether to try again.
//
// An adapter implements Model. Ask, Choose and Extract put questions to a Model, check its answers, and ask again for those
// that are invalid.
package llm

import (
	"context"
	"iter"
)

// Model is a language model, or a stand-in for one. It is safe for concurrent use. agentstest.RunModel tests one.
type Model interface {
	// Name returns the name of the model for call records, such as "scripted" or "gpt-4o-mini". It is not empty and does
	// not change.
	Name() string
	// Reply streams the next words of the agent, which are not blank unless it calls a tool or acts. The messages may hold any text, and may
	// be missing. It has no action that r does not allow, and calls no tool that r does not have. It ends when ctx ends or the consumer stops,
	// and holds nothing open afterwards. A failure is a *Failure, and the last element; after the end of ctx no words follow, and with a
	// ctx that has ended before, the failure is the only element. Reply does not change r.
	Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error]
	// Answer answers a question with one JSON value. The model is told to make it fit q.Schema; the caller checks whether
	// it does: see Choose, Extract and Ask. The answer to TaskRoute and TaskLabel names one of q.Options, whatever the messages and
	// variables say, which may be any text, U+0000 included. A failure is a *Failure without an answer. A stand-in may answer words that
	// it does not understand with ClassUnsupported. Answer ends when ctx ends, with a *Failure, and does not change q.
	Answer(ctx context.Context, q Question) (Answer, error)
}

// Hinter is an optional interface of a Model that knows what a caller may say next, without being asked for a reply.
type Hinter interface {
	// Hints returns phrases that may answer the last message, which is the agent's, or nil. options are the ways that the
	// conversation may take then; it may have none.
	Hints(r ReplyRequest, options []Option) []string
}

// Repeatable is an optional interface of a Model that may be asked again instead of keeping its answers. A Model that wraps
// another returns what the other does, if it changes nothing about it. agentstest.RunModel tests one.
type Repeatable interface {
	// Repeats reports whether the same request always has the same answer, or the same failure, and costs nothing: in this
	// process and in every other one of the same program. A failure because ctx has ended does not count. Repeats does not
	// change.
	Repeats() bool
}

// Repeats reports whether a model is Repeatable and repeats its answers.
func Repeats(m Model) bool {
	r, ok := m.(Repeatable)
	return ok && r.Repeats()
}

// Limited is an optional interface of a Model that follows only some instructions of an agent, or answers only some questions,
// such as a stand-in without a language model. A Model that wraps others returns what the one says that the name asks for
// (ReplyRequest.Model, Question.Model).
type Limited interface {
	// Unfollowed returns, for people, that the instructions of an agent are not followed, and what would be; empty: they are.
	// Empty instructions stand for free text.
	Unfollowed(asked, instructions string) string
	// Unanswered returns, for people, that no question of a task is answered; empty: some are.
	Unanswered(asked string, task Task) string
}

// Unfollowed returns why the model that a name asks for does not follow the instructions of an agent; empty: it does. Empty
// instructions stand for free text.
func Unfollowed(m Model, asked, instructions string) string {
	if l, ok := m.(Limited); ok {
		return l.Unfollowed(asked, instructions)
	}
	return ""
}

// Unanswered returns why the model that a name asks for answers no question of a task; empty: it answers some.
func Unanswered(m Model, asked string, task Task) string {
	if l, ok := m.(Limited); ok {
		return l.Unanswered(asked, task)
	}
	return ""
}
