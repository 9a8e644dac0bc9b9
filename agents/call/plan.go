package call

import "time"

// Plan configures the steps around the conversation of a placed call.
type Plan struct {
	Voicemail     Voicemail
	Retry         *Retry   // nil: no retry
	Dispositions  []string // one of them is chosen after the call; empty: none
	SummaryPrompt string   // prompt for a summary after the call; empty: no summary
	Events        []EventCategory
}

// VoicemailAction is the reaction to an answering machine.
type VoicemailAction string

// The actions.
const (
	VoicemailIgnore  VoicemailAction = "ignore"        // continue as with a person; the default
	VoicemailHangup  VoicemailAction = "hangup"        // end the call
	VoicemailMessage VoicemailAction = "leave_message" // wait for the tone, leave the message, end the call
)

// Voicemail configures the reaction to an answering machine.
type Voicemail struct {
	Action  VoicemailAction // empty: VoicemailIgnore
	Message string          // of VoicemailMessage; may contain {{variables}}
}

// Retry configures one retry of a call that was not answered, or answered by an answering machine.
type Retry struct {
	Wait      time.Duration // from the end of the first call
	Voicemail Voicemail     // of the second call
}

// Analysis is a model's analysis of an ended call.
type Analysis struct {
	Summary     string
	Disposition string
	Error       string // human-readable reason for a missing result
}

// EventCategory is a kind of events of a live call.
type EventCategory string

// The categories.
const (
	EventsQueue       EventCategory = "queue"        // the call's way to its node
	EventsCall        EventCategory = "call"         // ringing, answer, transfer, end
	EventsLatency     EventCategory = "latency"      // duration of each answer
	EventsWebhook     EventCategory = "webhook"      // requests of the pathway's webhook nodes
	EventsTool        EventCategory = "tool"         // requests of the agent's tools
	EventsDynamicData EventCategory = "dynamic_data" // requests before the conversation
)

// EventLevel is the severity of an event.
type EventLevel string

// The levels.
const (
	EventInfo        EventLevel = "info"
	EventPerformance EventLevel = "performance"
)

// Notice is an event of a call for its webhook.
type Notice struct {
	Seq       int // 1, 2, ... within the call
	Category  EventCategory
	Level     EventLevel
	Message   string
	CreatedAt time.Time
}
