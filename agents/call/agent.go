package call

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// Agent is who speaks on a call, and how.
type Agent struct {
	Task            string     // what the agent is there for
	Pathway         PathwayRef // leads the conversation instead of Task
	Persona         string     // who the agent is and how it talks; stands before Task and before the pathway's texts
	Voice           string     // empty: the synthesizer's default
	Language        string     // BCP 47; empty: the engines' default
	Model           string     // empty: the server's
	Temperature     *float64
	FirstSentence   string
	WaitForGreeting bool                   // let the other side speak first
	Record          bool                   // keep a stereo recording
	MaxDuration     time.Duration          // from the answer on
	TransferTo      callwright.PhoneNumber // where the agent may transfer the call; empty: nowhere
	Webhook         string                 // gets the call's record when it has ended; empty: nothing does
	Interruption    *time.Duration         // of voice that breaks into what the agent says; nil: the conversation's own
	Tools           []json.RawMessage      // what the model may call, as it was given: see tool.Parse
	DynamicData     []DynamicData          // what is asked of other systems before the conversation
}

// DefaultMaxDuration and LongestCall bound Agent.MaxDuration.
const (
	DefaultMaxDuration = 30 * time.Minute
	LongestCall        = 12 * time.Hour
)

// PathwayRef names the pathway that leads a conversation. The zero PathwayRef names none.
type PathwayRef struct {
	ID        string
	Version   pathway.Selector // of which version, when the conversation begins
	StartNode string           // id of the node to begin at; empty: the pathway's own start
}

// DynamicData is a request that is made before a conversation, whose answer the agent's texts may use.
type DynamicData struct {
	URL, Method string         // an empty method: GET
	Headers     []request.Pair // texts may hold {{variables}} of the call's RequestData
	Query       []request.Pair
	Body        []request.Pair // members of a JSON object; none: no body
	Cache       bool           // as it was given: every conversation asks once
	Response    []request.Mapping
}
