package call

import (
	"time"

	"github.com/callwright/callwright/agents"
)

// Plan configures the steps before and after the conversation of a placed call.
type Plan struct {
	Voicemail     Voicemail
	Retry         *Retry   // nil means no retry
	Dispositions  []string // a model chooses one of them after the call; may be empty
	SummaryPrompt string   // instructions for a summary after the call; empty means no summary
	Events        []EventCategory
}

// VoicemailAction selects the reaction to an answering machine.
type VoicemailAction = agents.MachineAction

// The reactions to an answering machine.
const (
	VoicemailIgnore  = agents.MachineIgnore  // continue as with a person
	VoicemailHangup  = agents.MachineHangup  // end the call
	VoicemailMessage = agents.MachineMessage // wait for the tone, leave the message, and end the call
)

// Voicemail configures the reaction to an answering machine.
type Voicemail struct {
	Action  VoicemailAction // empty means that of the agent's Machines
	Message string          // text for VoicemailMessage; may contain {{variables}}
}

// Retry configures one retry of a call that was not answered, or that an answering machine answered without receiving a message.
type Retry struct {
	Wait      time.Duration // counted from the end of the first call
	Voicemail Voicemail     // reaction of the second call to an answering machine
}

// Analysis is a model's analysis of an ended call. It is zero before the analysis.
type Analysis struct {
	Summary     string
	Disposition string
	Error       string // human-readable reason if the analysis failed; otherwise empty
}

// EventCategory names a category of a call's events. Plan.Events selects the categories that the webhook receives.
type EventCategory string

// The categories of a call's events.
const (
	EventsQueue       EventCategory = "queue"        // queueing and allocation to a node
	EventsCall        EventCategory = "call"         // ringing, answer, transfer and end
	EventsLatency     EventCategory = "latency"      // duration of each answer
	EventsWebhook     EventCategory = "webhook"      // requests of the pathway's webhook nodes
	EventsTool        EventCategory = "tool"         // requests of the agent's tools
	EventsDynamicData EventCategory = "dynamic_data" // requests of dynamic data before the conversation
)

// EventLevel is the level of an event: information, or a measured duration.
type EventLevel string

// The levels of events: EventPerformance for latencies, and EventInfo for all other events.
const (
	EventInfo        EventLevel = "info"
	EventPerformance EventLevel = "performance"
)

// Notice is an event of a call that the call's webhook receives.
type Notice struct {
	Seq       int // 1, 2, ... in the order of the call's events; the end has the highest
	Category  EventCategory
	Level     EventLevel
	Message   string
	CreatedAt time.Time
}
