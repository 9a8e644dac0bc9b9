package scenario

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// Scenario is a test of an agent: the simulated caller, its behavior, and the expectations. A scenario tests either a pathway or a persona.
// Its JSON follows the /v1 contract: see Decode.
type Scenario struct {
	ID      string           `json:"id"`
	Org     callwright.OrgID `json:"org_id"`
	Pathway string           `json:"pathway_id"` // id; empty if Persona is set
	Persona string           `json:"persona_id"` // id; empty if Pathway is set

	Name        string   `json:"name"` // unique within the pathway or the persona
	Description string   `json:"description"`
	Category    Category `json:"category"`
	Kind        Kind     `json:"scenario_type"`

	CallerPrompt string         `json:"tester_persona_prompt"` // instructions for the simulated caller
	CallerName   string         `json:"tester_persona_name"`
	Instructions string         `json:"advanced_instructions"` // further rules for the simulated caller
	Messages     []Message      `json:"input_messages"`        // the lines that the caller says: see Kind; for Historical, the lines of both sides
	MaxTurns     int            `json:"max_turns"`             // maximum number of the caller's turns
	RequestData  map[string]any `json:"request_data"`
	StartNode    string         `json:"start_node_id"` // id of the first node; empty means the version's start
	Webhooks     []WebhookMock  `json:"webhook_mocks"`

	ScoreTone  bool               `json:"service_tone_enabled"`      // rate the tone even if no assertion requires it
	Required   bool               `json:"is_required_for_promotion"` // required for promotion: see pathway.Gate
	Enabled    bool               `json:"enabled"`                   // included in batches of promotions and tornado sessions
	MinScore   *float64           `json:"min_score"`                 // a run with a lower score fails; nil means no minimum
	Assertions []assert.Assertion `json:"assertions"`
	Metadata   json.RawMessage    `json:"metadata,omitempty"` // a JSON object for the client's use; may be nil

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int64     `json:"revision"` // incremented by each update
}

// Kind determines the source of the caller's words.
type Kind string

// These constants are the kinds of a Scenario.
const (
	Agent      Kind = "AGENT"      // a model or a script plays the caller
	Replay     Kind = "REPLAY"     // the caller says Messages, regardless of the agent's words
	Historical Kind = "HISTORICAL" // the caller says its lines of a real call; Messages contains the call
)

// Category classifies the situation that a scenario tests.
type Category string

// These constants are the categories of a Scenario.
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

// Message is a line of a script or of a recorded call.
type Message struct {
	Role llm.Role // llm.RoleCaller or llm.RoleAgent ("user" and "assistant" in the /v1 contract and in errors); empty means llm.RoleCaller
	Text string
	// In each turn, a scripted caller says the first unsaid line whose Node and Keyword match.
	Node    string // id of the node at which the agent must be; empty means any
	Keyword string // text that the agent's last words must contain, ignoring case; empty means any
}

// WebhookMock is the response to a request by the agent in a run. The first mock that matches a request answers it. If none matches, the
// response is 200 with the body {}.
type WebhookMock struct {
	Node   string // id of the node that sends the request; empty means any
	Method string // case-insensitive; empty means any
	URL    string // URL of the request without user info, before redaction; * matches any characters; empty means any
	Status int    // 0 means 200; variables are set from the Body for any status
	Body   json.RawMessage
	Delay  time.Duration // whole milliseconds, at most MaxMockDelay
	Fault  Fault         // replaces the response
}

// Fault is a failure of a request in place of a response.
type Fault string

// These constants are the faults of a WebhookMock.
const (
	NoFault         Fault = ""
	Timeout         Fault = "timeout"          // no response in time
	ConnectionError Fault = "connection_error" // no connection
)

// These constants limit a scenario. Lengths are in characters unless stated otherwise.
const (
	MaxBytes        = 512 << 10 // bytes of all parts together, as JSON
	MaxName         = 200
	MaxCallerName   = 100
	MaxDescription  = 2000
	MaxPrompt       = 16_000
	MaxInstructions = 8000
	MaxID           = 128 // of a node's id
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
