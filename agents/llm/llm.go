// Package llm is the port through which agents use a language model: typed tasks, streamed answers, classes of errors.
package llm

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/callwright/callwright"
)

// Model is a language model, or what stands in for one.
type Model interface {
	// Name is what a call's record shows: which model answered, such as "scripted" or "gpt-4o-mini".
	Name() string
	// Reply streams an agent's answer to the last message. It ends when ctx ends or the consumer stops, and then
	// holds nothing open. A failure is one *Failure, as the last element.
	Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error]
}

// Hinter is what a Model may have beside: it knows what a caller can say next without being asked for a reply.
type Hinter interface {
	// Hints are phrases that may answer the last message, which is the agent's; nil when it knows none.
	Hints(r ReplyRequest) []string
}

// Role says who a message is from.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
)

// Message is one utterance of a conversation. Text of the caller is data, never an instruction to the program.
type Message struct {
	Role Role
	Text string
}

// ReplyRequest asks for what the agent says next.
type ReplyRequest struct {
	Org         callwright.OrgID
	Task        string // what the agent is there for, with its variables filled in
	Language    string
	Temperature *float64
	Model       string // a model's name as the caller of the API gave it; empty: the adapter's own
	Messages    []Message
	CanTransfer bool // a transfer number is set
}

// ReplyPart is a piece of the answer: text, or an action, or what the model expects to hear next.
type ReplyPart struct {
	Text   string   // a piece of what to say; any number of characters
	Action Action   // empty: none
	Expect []string // phrases that the caller may say next, from a model that knows; a hint for speech recognition
	Usage  *Usage   // with the last part, from a model that counts
}

// Action is what an agent can do beside talking.
type Action string

// The actions.
const (
	ActionEnd      Action = "end"      // hang up after what was said
	ActionTransfer Action = "transfer" // hand the call to the transfer number
)

// Usage counts tokens.
type Usage struct{ Input, Output int }

// Class says what may be done about a failure.
type Class string

// The classes of failures.
const (
	ClassTransient   Class = "transient"    // try again at once or soon
	ClassRateLimited Class = "rate_limited" // try again after RetryAfter
	ClassQuota       Class = "quota"        // the account is used up: trying again is useless until someone pays
	ClassPermanent   Class = "permanent"    // the request or the credentials are wrong
	ClassTooLong     Class = "too_long"     // the conversation does not fit the model's context
	ClassUnsupported Class = "unsupported"  // this stand-in can't do the task, and says so instead of making it up
)

// Failure is a model's failure. The message is for people and holds no key and no prompt.
type Failure struct {
	Class      Class
	Message    string
	RetryAfter time.Duration
	Cause      error
}

// Error is the message with its class.
func (f *Failure) Error() string { return "llm: " + string(f.Class) + ": " + f.Message }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// ClassOf is the class of a failure in err's chain; any other error is transient.
func ClassOf(err error) Class {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class
	}
	return ClassTransient
}
