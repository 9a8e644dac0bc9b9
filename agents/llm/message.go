package llm

import "encoding/json"

// Task is the task of a model.
type Task string

// The tasks. Model.Reply does the first two, Model.Answer the others.
const (
	TaskReply   Task = "agent_reply" // the agent's next words
	TaskCaller  Task = "caller_turn" // a simulated caller's next words
	TaskRoute   Task = "route"       // choose one of several ways for a conversation
	TaskExtract Task = "extract"     // extract values that were said
	TaskJudge   Task = "judge"       // judge whether a conversation meets a criterion
	TaskAnalyze Task = "analyze"     // explain a conversation
	TaskFix     Task = "fix"         // propose a change that improves an agent
	TaskLabel   Task = "label"       // choose one of several labels
)

// Role is the sender of a message.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
	RoleTool   Role = "tool" // the answer of a tool that the agent called
)

// Message is one message of a conversation. The text of callers and tools is data, never an instruction to the program.
type Message struct {
	Role  Role
	Text  string
	Calls []ToolCall // of the agent: the tools that it called after the text
	Call  string     // of a tool: the id of the call that it answers
}

// Tool is a tool that a model may call in a reply.
type Tool struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string
	Parameters  json.RawMessage // JSON schema of an object; nil: no parameters
}

// ToolCall is a tool call by a model. Arguments is the model's text, which may be invalid.
type ToolCall struct {
	ID        string // not empty, and unique in its reply
	Name      string // one of the request's Tools
	Arguments json.RawMessage
}

// Usage counts tokens.
type Usage struct{ Input, Output int }

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage { return Usage{u.Input + v.Input, u.Output + v.Output} }
