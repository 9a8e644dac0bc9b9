package call

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
)

// Call is the record of a call. There is exactly one for each call, from the request on; it is final when Queue is an
// end state.
type Call struct {
	ID      string
	Org     callwright.OrgID
	Inbound bool
	From    string // E.164 where it is known to be
	To      string
	Agent   agents.Agent
	Plan    Plan

	RequestData map[string]any // variables of the client, for the agent's texts
	Variables   map[string]any // RequestData, and what the conversation has added or changed
	Metadata    map[string]any // of the client, returned as it was given

	Queue     QueueStatus
	Status    Status // the outcome; empty until the end
	CreatedAt time.Time
	StartAt   *time.Time // when it may be placed at the earliest; nil: at once
	StartedAt *time.Time // answered
	EndedAt   *time.Time

	Ending        *HangupReason // how it ended
	ErrorMessage  string        // for people; empty when nothing went wrong
	AnsweredBy    AnsweredBy
	TransferredTo string
	TransferredAt *time.Time
	TransferredBy TransferredBy
	ModelUsed     string // the model that spoke, such as "scripted"
	PathwayNumber *int   // which version of the agent's pathway it was, 0 for the draft; nil: none yet, or no pathway
	RetryOf       string // id of the call that this one tries again; empty: none
	RetriedBy     string // id of the call that tries this one again; empty: none
	Analysis      Analysis
	Carriage      LegInfo
	Stats         Stats
	Recorded      bool   // a recording can be read
	unrecorded    string // why there is none although the agent records, for ErrorMessage
	Delivery      Delivery

	Node          string    // which node the call lives on while it is allocated or started
	TakenAt       time.Time // when that node took it
	StopRequested bool      // its owner wants it to end
	Version       int64     // for the compare-and-set
}

// Length returns the time from the answer to the end; 0 for a call that was never answered.
func (c Call) Length() time.Duration {
	if c.StartedAt == nil || c.EndedAt == nil {
		return 0
	}
	return c.EndedAt.Sub(*c.StartedAt)
}

// Status is the outcome of a call.
type Status string

// The outcomes.
const (
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusBusy      Status = "busy"
	StatusNoAnswer  Status = "no-answer"
	StatusCanceled  Status = "canceled"
	StatusUnknown   Status = "unknown"
)

// TransferredBy names the side that transferred a call; empty without a transfer.
type TransferredBy string

// The sides that transfer calls.
const (
	TransferredByAgent TransferredBy = "agent" // the other side went to TransferredTo, and the call was over
	TransferredByPeer  TransferredBy = "peer"  // the agent went to TransferredTo, and the call went on
)

// AnsweredBy is who answered a call.
type AnsweredBy string

// Who answers calls. A call without answering machine detection is "unknown" once it is answered.
const (
	AnsweredByHuman     AnsweredBy = "human"
	AnsweredByVoicemail AnsweredBy = "voicemail"
	AnsweredByUnknown   AnsweredBy = "unknown"
	AnsweredByNobody    AnsweredBy = "no-answer"
)

// Entry is one line of a transcript.
type Entry struct {
	Seq         int // 1, 2, ... within the call
	Speaker     Speaker
	Text        string        // of the agent: what was heard of it
	Start, End  time.Duration // since the answer
	Interrupted bool          // the other side broke in
	Latency     conversation.Latency
	CreatedAt   time.Time
}

// Speaker is the one who spoke an entry of a transcript.
type Speaker string

// The speakers.
const (
	SpeakerUser      Speaker = "user"         // the other side
	SpeakerAssistant Speaker = "assistant"    // the agent
	SpeakerAction    Speaker = "agent-action" // what the agent did: pressed digits, transferred
)
