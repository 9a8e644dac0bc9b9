package llm

import "github.com/callwright/callwright"

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
