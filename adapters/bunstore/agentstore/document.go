package agentstore

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/request"
)

// The JSON forms of structures that are stored in a single column. Each type contains the fields of its domain type in the same order, so
// that Go converts between the two, and a missing field is a compile error. Durations are in nanoseconds.

type agentJSON struct {
	Task            string                 `json:"task,omitempty"`
	Pathway         agents.PathwayRef      `json:"-"` // see agentColumns
	PersonaID       string                 `json:"persona_id,omitempty"`
	Brain           string                 `json:"-"` // see agentColumns
	Persona         string                 `json:"persona,omitempty"`
	Voice           string                 `json:"voice,omitempty"`
	Language        string                 `json:"language,omitempty"`
	Model           string                 `json:"model,omitempty"`
	Fallback        string                 `json:"fallback,omitempty"`
	Temperature     *float64               `json:"temperature,omitempty"`
	FirstSentence   string                 `json:"first_sentence,omitempty"`
	WaitForGreeting bool                   `json:"wait_for_greeting,omitempty"`
	Record          bool                   `json:"record,omitempty"`
	MaxDuration     time.Duration          `json:"max_duration_ns,omitempty"`
	TransferTo      callwright.PhoneNumber `json:"transfer_to,omitempty"`
	Webhook         string                 `json:"webhook,omitempty"` // only in rows of earlier releases: see agentColumns
	Interruption    *time.Duration         `json:"interruption_ns,omitempty"`

	Interruptibility *int `json:"interruptibility,omitempty"`

	Machines agents.Machines `json:"machines,omitzero"`

	Keywords []string `json:"keywords,omitempty"` // those of web agents have a column

	VoiceSettings string                 `json:"voice_settings,omitempty"`
	Pronunciation []agents.Pronunciation `json:"pronunciation,omitzero"`
	Background    agents.Background      `json:"background,omitempty"`
	LeastWait     time.Duration          `json:"least_wait_ns,omitempty"`
	LongestWait   time.Duration          `json:"longest_wait_ns,omitempty"`
	Idle          *dialogue.Idle         `json:"idle,omitempty"`

	Tools          []json.RawMessage    `json:"-"` // see agentColumns
	DynamicData    []agents.DynamicData `json:"-"` // see agentColumns
	PersonaVersion int                  `json:"persona_version,omitempty"`
	Conditions     []persona.Condition  `json:"conditions,omitempty"`
	KnowledgeBases []string             `json:"knowledge_bases,omitempty"`

	Sources map[agents.Setting]agents.Source `json:"sources,omitempty"`
}

type answererJSON struct {
	Category call.Category     `json:"category,omitempty"`
	Rule     call.AnswererRule `json:"rule,omitempty"`
	At       time.Duration     `json:"at_ns,omitempty"`
	Words    string            `json:"words,omitempty"`
	Sure     bool              `json:"sure,omitempty"`
}

type voicemailJSON struct {
	Action  call.VoicemailAction `json:"action,omitempty"`
	Message string               `json:"message,omitempty"`
}

type analysisJSON struct {
	Summary     string `json:"summary,omitempty"`
	Disposition string `json:"disposition,omitempty"`
	Error       string `json:"error,omitempty"`
}

type promotionJSON struct {
	Number      int       `json:"number"`
	Batch       string    `json:"batch,omitempty"`
	RequestedAt time.Time `json:"requested_at"`
}

type pairJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type mappingJSON struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Context string `json:"context,omitempty"`
}

type endingJSON struct {
	Cause   call.Cause `json:"cause,omitempty"`
	SIPCode int        `json:"sip_code,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	ByPeer  bool       `json:"by_peer,omitempty"`

	Release     string `json:"release,omitempty"`
	Unconfirmed bool   `json:"unconfirmed,omitempty"`
}

type carriageJSON struct {
	SIPCallID string `json:"sip_call_id,omitempty"`
	Peer      string `json:"peer,omitempty"`
	Codec     string `json:"codec,omitempty"`
	SRTPSuite string `json:"srtp_suite,omitempty"`
	TLS       string `json:"tls,omitempty"`

	RedirectedTo string `json:"redirected_to,omitempty"`
}

type deliveryJSON struct {
	State       call.DeliveryState `json:"state,omitempty"`
	Attempts    int                `json:"attempts,omitempty"`
	LastAttempt *time.Time         `json:"last_attempt,omitempty"`
	LastFailure string             `json:"last_failure,omitempty"`
}

type statsJSON struct {
	Sent      uint64        `json:"sent,omitempty"`
	Received  uint64        `json:"received,omitempty"`
	Lost      uint64        `json:"lost,omitempty"`
	Late      uint64        `json:"late,omitempty"`
	Jitter    time.Duration `json:"jitter_ns,omitempty"`
	RoundTrip time.Duration `json:"round_trip_ns,omitempty"`
	Fault     string        `json:"fault,omitempty"`
}

// callStatsJSON is the JSON form of a call's Stats, ModelCalls and Models.
type callStatsJSON struct {
	statsJSON

	ModelCalls          int `json:"model_calls,omitempty"`
	ModelCallsWithdrawn int `json:"model_calls_withdrawn,omitempty"`

	Models []modelUseJSON `json:"models,omitempty"`
}

// modelUseJSON is the JSON form of a call.ModelUse.
type modelUseJSON struct {
	useJSON

	Cost *price.Money `json:"cost_nano,omitempty"`
}

func storedModel(m call.ModelUse) modelUseJSON { return modelUseJSON{storedUse(m.Use), m.Cost} }

func (j modelUseJSON) model() call.ModelUse { return call.ModelUse{Use: j.use(), Cost: j.Cost} }

type latencyJSON struct {
	EndOfTurn  time.Duration `json:"end_of_turn_ns,omitempty"`
	Recognized time.Duration `json:"recognized_ns,omitempty"`
	FirstStep  time.Duration `json:"first_step_ns,omitempty"`
	FirstAudio time.Duration `json:"first_audio_ns,omitempty"`
	Playing    time.Duration `json:"playing_ns,omitempty"`
}

type holdJSON struct {
	Start  time.Duration           `json:"start_ns"`
	Length time.Duration           `json:"length_ns"`
	Why    conversation.HoldReason `json:"why"`
}

type waitJSON struct {
	Length time.Duration   `json:"length_ns"`
	Why    endpoint.Reason `json:"why,omitempty"`
}

type expectedJSON struct {
	Kind   expect.Kind `json:"kind"`
	Min    int         `json:"min,omitempty"`
	Max    int         `json:"max,omitempty"`
	Digits string      `json:"digits,omitempty"`
}

type begunJSON struct {
	At   time.Duration            `json:"at_ns"`
	Used bool                     `json:"used,omitempty"`
	Why  conversation.BegunReason `json:"why,omitempty"`
}

// These conversions check at compile time that the types contain the same fields.
var (
	_ = agentJSON(agents.Agent{})
	_ = answererJSON(call.Answerer{})
	_ = voicemailJSON(call.Voicemail{})
	_ = analysisJSON(call.Analysis{})
	_ = promotionJSON(pathway.Promotion{})
	_ = pairJSON(request.Pair{})
	_ = mappingJSON(request.Mapping{})
	_ = endingJSON(call.HangupReason{})
	_ = carriageJSON(call.LegInfo{})
	_ = deliveryJSON(call.Delivery{})
	_ = statsJSON(call.Stats{})
	_ = latencyJSON(conversation.Latency{})
	_ = holdJSON(conversation.Hold{})
	_ = begunJSON(conversation.Begun{})
	_ = expectedJSON(conversation.Expected{})
)
