package llm

import "github.com/callwright/callwright"

// ReplyRequest is a request for the next words.
type ReplyRequest struct {
	Org          callwright.OrgID
	Task         Task     // TaskReply, also when empty, or TaskCaller
	Instructions string   // the speaker's instructions, with variables filled in
	Knowledge    []string // passages to answer from, best first
	Facts        []string // known facts as sentences: data
	Language     string   // BCP 47; empty: not stated
	Temperature  *float64 // nil: the model's own
	Model        string   // the name of a model, as given by an API client; empty: the adapter's
	Messages     []Message
	Arriving     bool   // the instructions are new in the conversation, and the agent speaks first
	CanEnd       bool   // the model may end the conversation
	CanTransfer  bool   // the model may transfer the call
	Tools        []Tool // the tools that it may call

	// Trial and Attempt distinguish repeated requests, so that a cache does not answer them: Trial counts the runs of a test,
	// Attempt the attempts within a run.
	Trial, Attempt int
}

// ReplyPart is a piece of the reply.
type ReplyPart struct {
	Text   string    // a piece of the words, of any length
	Action Action    // empty: none
	Call   *ToolCall // a tool to call; after the stream the caller repeats the request with the tool's answer
	Expect []string  // phrases that the other side may say next: hints for speech recognition
	Usage  *Usage    // in the last part, from a model that counts tokens
}

// Action is an agent's action in addition to its words.
type Action string

// The actions.
const (
	ActionEnd      Action = "end"      // hang up after the words
	ActionTransfer Action = "transfer" // hand the call to the transfer number
)
