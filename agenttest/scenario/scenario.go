package scenario

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// Scenario is a test of an agent: the caller, its behavior, and the expectations. A scenario tests either a pathway or a persona.
// Its JSON follows the /v1 contract: see Decode.
type Scenario struct {
	ID      string           `json:"id"`
	Org     callwright.OrgID `json:"org_id"`
	Pathway string           `json:"pathway_id"` // id; empty: Persona
	Persona string           `json:"persona_id"` // id; empty: Pathway

	Name        string   `json:"name"` // unique in the pathway or the persona
	Description string   `json:"description"`
	Category    Category `json:"category"`
	Kind        Kind     `json:"scenario_type"`

	CallerPrompt string         `json:"tester_persona_prompt"` // instructions for the simulated caller
	CallerName   string         `json:"tester_persona_name"`
	Instructions string         `json:"advanced_instructions"` // further rules for the simulated caller
	Messages     []Message      `json:"input_messages"`        // of Replay: the caller's words; of Agent: lines of a scripted caller
	MaxTurns     int            `json:"max_turns"`             // turns of the caller
	RequestData  map[string]any `json:"request_data"`
	StartNode    string         `json:"start_node_id"` // id of the first node; empty: the version's start
	Webhooks     []WebhookMock  `json:"webhook_mocks"`

	ScoreTone  bool               `json:"service_tone_enabled"`      // score the tone even if no assertion asks for it
	Required   bool               `json:"is_required_for_promotion"` // for promotion: see pathway.Gate
	Enabled    bool               `json:"enabled"`                   // runs in batches of promotions and of tornado sessions
	MinScore   *float64           `json:"min_score"`                 // a run with a lower score has failed; nil: the score does not decide
	Assertions []assert.Assertion `json:"assertions"`
	Metadata   json.RawMessage    `json:"metadata,omitempty"` // a JSON object of the client's; nil: none

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int64     `json:"revision"` // counts the updates
}

// Kind is the source of the caller's words.
type Kind string

// The kinds.
const (
	Agent      Kind = "AGENT"      // a simulated caller, played by a model or a script
	Replay     Kind = "REPLAY"     // the caller says Messages, regardless of the agent's words
	Historical Kind = "HISTORICAL" // a real call is replayed: the caller's part of Messages
)

// Category is the kind of situation that a scenario is about.
type Category string

// The categories.
const (
	Custom            Category = "CUSTOM"
	Voicemail         Category = "VOICEMAIL"
	VoicemailScreener Category = "VOICEMAIL_SCREENER"
	AngryCaller       Category = "ANGRY_CALLER"
	BelligerentCaller Category = "BELLIGERENT_CALLER"
	ConfusedCaller    Category = "CONFUSED_CALLER"
	CallScreener      Category = "CALL_SCREENER"
	HappyPath         Category = "HAPPY_PATH"
	EdgeCase          Category = "EDGE_CASE"
)

// Message is a line of a script or of a real call.
type Message struct {
	Role llm.Role // llm.RoleCaller or llm.RoleAgent, "user" and "assistant" in errors and in the /v1 contract; empty: llm.RoleCaller
	Text string
	// A scripted caller says the first unsaid line with a matching Node and Keyword.
	Node    string // the agent is at this node; empty: any
	Keyword string // the agent's last words contain this, ignoring case; empty: any
}

// WebhookMock answers a request that the agent sends in a run. The first matching mock answers; a request without a match is
// answered with 200 and {}.
type WebhookMock struct {
	Node   string // id of the node that sends the request; empty: any
	Method string // in any case; empty: any
	URL    string // of the request before it is redacted, but without user info: exact, or a pattern with * for any characters; empty: any
	Status int    // 0: 200; variables are set from the Body with any status
	Body   json.RawMessage
	Delay  time.Duration // whole milliseconds, at most MaxMockDelay
	Fault  Fault         // replaces the answer
}

// Fault is a failure of a request in a run.
type Fault string

// The faults.
const (
	NoFault         Fault = ""
	Timeout         Fault = "timeout"          // no answer in time
	ConnectionError Fault = "connection_error" // no connection
)

// The limits of a scenario. Lengths are in characters, unless stated otherwise.
const (
	MaxBytes        = 512 << 10 // of all parts together, as JSON
	MaxName         = 200
	MaxCallerName   = 100
	MaxDescription  = 2000
	MaxPrompt       = 16_000
	MaxInstructions = 8000
	MaxID           = 128 // of a node
	MaxMessages     = 100
	MaxMessage      = 16 << 10
	MaxKeyword      = 200
	MaxURL          = 2048
	DefaultMaxTurns = 20
	MaxTurns        = 50
	MaxRequestData  = 64 << 10 // bytes as JSON
	MaxMetadata     = 64 << 10 // bytes as JSON
	MaxMocks        = 50
	MaxMockBody     = 64 << 10 // bytes
	MaxMockDelay    = 30 * time.Second
)

// Size returns the approximate size of the scenario in bytes.
func (s *Scenario) Size() int {
	size := 500 + len(s.Name) + len(s.Description) + len(s.CallerPrompt) + len(s.Instructions) + len(s.Metadata)
	if raw, err := json.Marshal(s.RequestData); err == nil {
		size += len(raw)
	}
	for _, m := range s.Messages {
		size += len(m.Text) + 50
	}
	for _, m := range s.Webhooks {
		size += len(m.URL) + len(m.Body) + 100
	}
	for _, a := range s.Assertions {
		size += len(a.Name) + len(a.Config) + 150
	}
	return size
}
