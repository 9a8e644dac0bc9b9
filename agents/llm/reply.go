package llm

import "github.com/callwright/callwright"

// ReplyRequest asks a model for the next words of a speaker.
type ReplyRequest struct {
	Org          callwright.OrgID
	Task         Task     // TaskReply or TaskCaller; empty means TaskReply
	Instructions string   // instructions of the speaker, with variables replaced by their values
	Knowledge    []string // passages that the reply may use, best first
	Facts        []string // known facts as sentences; treated as data
	Language     string   // BCP 47; empty means unspecified
	Temperature  *float64 // nil means the model's default
	Model        string   // name of a model as an API client specifies it; empty means the adapter's default
	Fallback     string   // name of the model that replies if Model fails; empty or unknown means the adapter's default, or none
	Messages     []Message
	Unheard      string // words of the agent that the caller has interrupted and not heard; treated as data
	Arriving     bool   // whether the instructions are new in the conversation and the agent speaks first
	CanEnd       bool   // whether the model may end the conversation
	CanTransfer  bool   // whether the model may transfer the call
	Tools        []Tool // tools that the model may call

	// Trial and Attempt distinguish repeated requests, so that a cache does not answer them. Trial numbers the runs of a test, Attempt the
	// attempts within a run.
	Trial, Attempt int
}

// ReplyPart is one part of a streamed reply.
type ReplyPart struct {
	Text   string    // next words, of any length
	Action Action    // empty means none
	Call   *ToolCall // tool to call; after the stream, the request is repeated with the tool's answer
	Expect []string  // phrases that the other side may say next, as hints for speech recognition
	Usage  *Usage    // set in the last part, if the model counts tokens
	Model  string    // Model.Name of the model that replies in place of the requested one, in each part; else empty
	Cause  Class     // class of the requested model's failure, because of which Model replies; empty if Model is
}

// Action names an agent's action in addition to its words.
type Action string

// The actions of an agent.
const (
	ActionEnd      Action = "end"      // hang up after the words
	ActionTransfer Action = "transfer" // transfer the call to the transfer number
)
