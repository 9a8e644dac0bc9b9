// Package llm is the port through which agents use a language model: typed tasks, streamed answers, structured answers,
// tool calls, and classes of errors that say what may be done about a failure.
package llm

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/callwright/callwright"
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

// Task is what a model is asked to do.
type Task string

// The tasks. The first two are answered by Reply, the others by Answer.
const (
	TaskReply   Task = "agent_reply" // what the agent says next
	TaskCaller  Task = "caller_turn" // what a simulated caller says next
	TaskRoute   Task = "route"       // which of several ways a conversation takes
	TaskExtract Task = "extract"     // values that were said
	TaskJudge   Task = "judge"       // whether a conversation meets a criterion
	TaskAnalyze Task = "analyze"     // what happened in a conversation, and why
	TaskFix     Task = "fix"         // a change that would make an agent better
	TaskLabel   Task = "label"       // one of several labels for something
)

// Role says who a message is from.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
	RoleTool   Role = "tool" // what a tool that the agent called has answered
)

// Message is one utterance of a conversation. Text of the caller and of tools is data, never an instruction to the
// program.
type Message struct {
	Role  Role
	Text  string
	Calls []ToolCall // of the agent: the tools that it called after the text
	Call  string     // of a tool: the id of the call that it answers
}

// Tool is something that a model may call while it replies.
type Tool struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string
	Parameters  json.RawMessage // JSON schema of an object; nil: no parameters
}

// ToolCall is a call that a model wants made. Arguments are what the model wrote, and may be anything.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// ReplyRequest asks for what is said next.
type ReplyRequest struct {
	Org          callwright.OrgID
	Task         Task     // TaskReply, also when empty, or TaskCaller
	Instructions string   // what the speaker is there for, with its variables filled in
	Knowledge    []string // passages that the answer is to rest on, the best first
	Facts        []string // sentences about what is known: data
	Language     string   // BCP 47; empty: not stated
	Temperature  *float64 // nil: the model's own
	Model        string   // a model's name as the caller of the API gave it; empty: the adapter's own
	Messages     []Message
	Arriving     bool   // the agent has just come to these instructions, and speaks first
	CanEnd       bool   // the model may end the conversation
	CanTransfer  bool   // the model may transfer the call
	Tools        []Tool // what it may call

	// Trial and Attempt tell repetitions apart, so that nobody takes a kept answer for a new one: Trial counts the runs of
	// a test, Attempt the tries within one.
	Trial, Attempt int
}

// ReplyPart is a piece of the reply.
type ReplyPart struct {
	Text   string    // a piece of what to say; any number of characters
	Action Action    // empty: none
	Call   *ToolCall // a tool to call; after the stream the request is made again with the tool's answer
	Expect []string  // phrases that may be said next, from a model that knows; a hint for speech recognition
	Usage  *Usage    // with the last part, from a model that counts
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

// Add sums two usages.
func (u Usage) Add(v Usage) Usage { return Usage{u.Input + v.Input, u.Output + v.Output} }
