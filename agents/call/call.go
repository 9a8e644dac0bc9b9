package call

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
)

// Call is the record of a call. Each call has exactly one record, from its request; it is final when Queue is an end state.
type Call struct {
	ID      string
	Org     callwright.OrgID
	Inbound bool
	From    string // E.164 if known
	To      string
	Agent   agents.Agent
	Plan    Plan

	RequestData map[string]any // variables of the client, for the agent's texts
	Variables   map[string]any // RequestData with the conversation's changes
	Metadata    map[string]any // of the client, returned as it was given

	Queue     QueueStatus
	Status    Status // the outcome; empty until the end
	CreatedAt time.Time
	StartAt   *time.Time // earliest time to place it; nil: immediately
	StartedAt *time.Time // answered
	EndedAt   *time.Time

	Ending        *HangupReason // reason of its end
	ErrorMessage  string        // human-readable; empty without an error
	AnsweredBy    AnsweredBy
	TransferredTo string
	TransferredAt *time.Time
	TransferredBy TransferredBy
	ModelUsed     string // the speaking model, for example "scripted"
	PathwayNumber *int   // version of the agent's pathway, 0 for the draft; nil: none yet, or no pathway
	RetryOf       string // id of the call that this one retries; empty: none
	RetriedBy     string // id of the call that retries this one; empty: none
	Analysis      Analysis
	Carriage      LegInfo
	Stats         Stats
	Recorded      bool   // a recording can be read
	unrecorded    string // reason for a missing recording, for ErrorMessage
	Delivery      Delivery

	Node          string    // node of the call while it is allocated or started
	TakenAt       time.Time // time at which that node claimed it
	StopRequested bool      // its owner has requested its end
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
	TransferredByAgent TransferredBy = "agent" // the other side was transferred to TransferredTo, which ended the call
	TransferredByPeer  TransferredBy = "peer"  // the agent was transferred to TransferredTo, and the call continued
)

// AnsweredBy is the kind of party that answered a call.
type AnsweredBy string

// The kinds of answering parties. A call without answering machine detection is "unknown" once it is answered.
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
	Text        string        // of the agent: the heard part
	Start, End  time.Duration // since the answer
	Interrupted bool          // interrupted by the other side
	Latency     conversation.Latency
	CreatedAt   time.Time
}

// Speaker is the speaker of a transcript entry.
type Speaker string

// The speakers.
const (
	SpeakerUser      Speaker = "user"         // the other side
	SpeakerAssistant Speaker = "assistant"    // the agent
	SpeakerAction    Speaker = "agent-action" // an action of the agent: sent digits, a transfer
)
