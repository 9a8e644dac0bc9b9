package llm

import "encoding/json"

// Task names what a model must do.
type Task string

// The tasks of a model. Model.Reply performs TaskReply and TaskCaller, and Model.Answer performs the other tasks.
const (
	TaskReply   Task = "agent_reply" // the agent's next words
	TaskCaller  Task = "caller_turn" // a simulated caller's next words
	TaskRoute   Task = "route"       // choose one of several continuations of a conversation
	TaskExtract Task = "extract"     // extract values that were said
	TaskJudge   Task = "judge"       // judge whether a conversation meets a criterion
	TaskAnalyze Task = "analyze"     // explain a conversation
	TaskFix     Task = "fix"         // propose a change that improves an agent
	TaskLabel   Task = "label"       // choose one of several labels
)

// Role names the sender of a message.
type Role string

// The senders of messages.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
	RoleTool   Role = "tool" // answers a tool call of the agent
)

// Message is one message of a conversation. The texts of callers and tools are data, never instructions to the program.
type Message struct {
	Role  Role
	Text  string
	Calls []ToolCall // tools that the agent called after the text
	Call  string     // id of the tool call that a tool's message answers
}

// Tool is a tool that a model may call in a reply.
type Tool struct {
	Name        string // at most 64 letters, digits, _ and -
	Description string
	Parameters  json.RawMessage // JSON schema of an object; nil means no parameters
}

// ToolCall is a tool call by a model. Arguments contains the model's text, which may be invalid JSON.
type ToolCall struct {
	ID        string // not empty, and unique within the reply
	Name      string // name of one of the request's Tools
	Arguments json.RawMessage
	Extra     json.RawMessage `json:",omitempty"` // data of the model's service, which the messages of later requests must contain unchanged; nil means none
}

// Usage counts the tokens that a model has read and written.
type Usage struct {
	Input, Output int
	Cached        int `json:",omitzero"` // tokens among Input that the service read from its cache, as far as it reports them
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Cached + v.Cached}
}

// Sub returns u minus v.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.Input - v.Input, u.Output - v.Output, u.Cached - v.Cached}
}
