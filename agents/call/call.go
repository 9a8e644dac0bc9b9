package call

import (
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
)

// Call is the record of a call. Each call has exactly one record from its request on. The record is final, except for Analysis and
// Delivery, when Queue is an end state.
type Call struct {
	ID      string
	Org     callwright.OrgID
	Inbound bool
	From    string // E.164 if known
	To      string
	Agent   agents.Agent
	Plan    Plan

	RequestData map[string]any // the client's variables for the agent's texts
	Variables   map[string]any // RequestData with the conversation's changes
	Metadata    map[string]any // the client's data, returned unchanged

	Queue     QueueStatus
	Status    Status // outcome; empty until the end
	CreatedAt time.Time
	StartAt   *time.Time // earliest time to place the call; nil means immediately
	StartedAt *time.Time // time of the answer
	EndedAt   *time.Time

	Ending        *HangupReason // reason for the end
	ErrorMessage  string        // human-readable; empty means no error
	AnsweredBy    AnsweredBy
	Answerer      Answerer // who answered a placed call, in detail; zero before the identification and without Config.AMD
	TransferredTo string
	TransferredAt *time.Time
	TransferredBy TransferredBy
	ModelUsed     string // name of the model that spoke, for example "scripted"
	ModelCalls    ModelCalls
	Models        []ModelUse // models that answered in the conversation and the analysis; empty until the call has ended
	PathwayNumber *int       // version of the agent's pathway, 0 for the draft; nil without a pathway, or before it is loaded
	RetryOf       string     // id of the call that this call retries; may be empty
	RetriedBy     string     // id of the call that retries this call; may be empty
	Analysis      Analysis
	Carriage      LegInfo
	Stats         Stats
	Recorded      bool    // whether a recording can be read
	unrecorded    string  // reason for a missing recording; part of ErrorMessage
	summary       Summary // of the conversation, if this process has led it; not stored
	Delivery      Delivery

	Node          string    // node that holds the call while it is allocated or started
	TakenAt       time.Time // time at which that node claimed it
	StopRequested bool      // whether the owner has requested the end
	Version       int64     // incremented by Store.Update, for its compare-and-set
}

// ModelCalls counts the requests of a conversation to its model, including repeated and failed ones. It is zero until the call has ended, and
// for a conversation that a program's own brain has led.
type ModelCalls struct {
	All       int // all requests
	Withdrawn int // requests for early answers that were withdrawn: see conversation.Turn.Early
}

// Length returns the time from the answer to the end. It is 0 for a call that was never answered or has not ended.
func (c Call) Length() time.Duration {
	if c.StartedAt == nil || c.EndedAt == nil {
		return 0
	}
	return c.EndedAt.Sub(*c.StartedAt)
}

// Status is the outcome of a call. It is empty until the call has ended.
type Status string

// The outcomes of calls.
const (
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusBusy      Status = "busy"
	StatusNoAnswer  Status = "no-answer"
	StatusCanceled  Status = "canceled"
	StatusUnknown   Status = "unknown"
)

// TransferredBy names the side that transferred a call. It is empty if the call was not transferred.
type TransferredBy string

// The sides that can transfer a call.
const (
	TransferredByAgent TransferredBy = "agent" // the agent transferred the other side to TransferredTo, which ended the call
	TransferredByPeer  TransferredBy = "peer"  // the other side transferred the agent to TransferredTo, and the call continued
)

// AnsweredBy describes the party that answered a call. It is empty until the call is answered or has ended.
type AnsweredBy string

// The answering parties. A call that was answered has AnsweredByUnknown until answering machine detection has decided, and without
// detection also afterwards.
const (
	AnsweredByHuman     AnsweredBy = "human"
	AnsweredByVoicemail AnsweredBy = "voicemail"
	AnsweredByUnknown   AnsweredBy = "unknown"
	AnsweredByNobody    AnsweredBy = "no-answer"
)

// Entry is one line of a transcript.
type Entry struct {
	Seq          int // 1, 2, ... within the call
	Speaker      Speaker
	Text         string                    // of an interrupted agent: only the part that was heard
	Start, End   time.Duration             // relative to the answer
	Interrupted  bool                      // whether the other side interrupted the agent
	Unrecognized conversation.Unrecognized // reason why words of the other side are missing from Text, or all of them; empty if none are
	Latency      conversation.Latency
	Holds        []conversation.Hold   // pauses of the agent while the other side spoke; times relative to the answer
	Turn         int                   // number of the other side's turn that the line belongs to or answers, from 1; 0 for other lines
	Waited       time.Duration         // silence after the other side's words until the turn was over
	WaitedFor    endpoint.Reason       // reason for the length of Waited
	Expected     conversation.Expected // answer that the agent expected in the other side's words
	Begun        []conversation.Begun  // early answers to the turn, in order; times relative to the answer
	CreatedAt    time.Time
}

// Unintelligible replaces words that were not recognized in texts of a whole conversation.
const Unintelligible = "(not recognized)"

// Words returns the Text. Words that were not recognized are Unintelligible at its end.
func (e Entry) Words() string {
	if e.Unrecognized == "" {
		return e.Text
	}
	return strings.TrimSpace(e.Text + " " + Unintelligible)
}

// Speaker names the speaker of a transcript entry.
type Speaker string

// The speakers of transcript entries.
const (
	SpeakerUser      Speaker = "user"         // the other side
	SpeakerAssistant Speaker = "assistant"    // the agent
	SpeakerAction    Speaker = "agent-action" // an action of the agent, such as sent digits or a transfer
)
