package call

import "time"

// Plan is what happens around the conversation of a call that is placed.
type Plan struct {
	Voicemail     Voicemail
	Retry         *Retry   // nil: the call is not tried again
	Dispositions  []string // one of them is chosen when the call has ended; none: nothing is
	SummaryPrompt string   // how to sum the call up when it has ended; empty: it is not summed up
	Events        []EventCategory
}

// VoicemailAction is what to do when an answering machine answers.
type VoicemailAction string

// The actions.
const (
	VoicemailIgnore  VoicemailAction = "ignore"        // talk on, as to a person; the default
	VoicemailHangup  VoicemailAction = "hangup"        // end the call
	VoicemailMessage VoicemailAction = "leave_message" // wait for the tone, leave the message, end the call
)

// Voicemail is what to do when an answering machine answers.
type Voicemail struct {
	Action  VoicemailAction // empty: VoicemailIgnore
	Message string          // of VoicemailMessage; may hold {{variables}}
}

// Retry has a call tried once more when nobody, or an answering machine, has answered it.
type Retry struct {
	Wait      time.Duration // from the end of the first call
	Voicemail Voicemail     // of the second call
}

// Analysis is what a model has concluded from a call that has ended.
type Analysis struct {
	Summary     string
	Disposition string
	Error       string // why there is none of what was asked for, for people
}

// EventCategory is a kind of events of a live call.
type EventCategory string

// The categories.
const (
	EventsQueue       EventCategory = "queue"        // the call's way to its node
	EventsCall        EventCategory = "call"         // ringing, answer, transfer, end
	EventsLatency     EventCategory = "latency"      // how long each answer took
	EventsWebhook     EventCategory = "webhook"      // requests of the pathway's webhook nodes
	EventsTool        EventCategory = "tool"         // requests of the agent's tools
	EventsDynamicData EventCategory = "dynamic_data" // requests before the conversation
)

// EventLevel is what an event is for.
type EventLevel string

// The levels.
const (
	EventInfo        EventLevel = "info"
	EventPerformance EventLevel = "performance"
)

// Notice is an event of a call that its webhook is notified of.
type Notice struct {
	Seq       int // 1, 2, ... within the call
	Category  EventCategory
	Level     EventLevel
	Message   string
	CreatedAt time.Time
}
