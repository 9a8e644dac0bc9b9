package llm

import "encoding/json"

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

// Usage counts tokens.
type Usage struct{ Input, Output int }

// Add sums two usages.
func (u Usage) Add(v Usage) Usage { return Usage{u.Input + v.Input, u.Output + v.Output} }
