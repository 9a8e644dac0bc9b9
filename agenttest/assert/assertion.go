package assert

import (
	"encoding/json"
	"slices"
)

// Assertion describes one expectation for a conversation. Its JSON follows the /v1 contract: see scenario.DecodeAssertions.
type Assertion struct {
	ID       string          `json:"id,omitempty"` // unique within its scenario
	Type     Type            `json:"type"`
	Name     string          `json:"name"`             // display name; may be empty
	Config   json.RawMessage `json:"config,omitempty"` // a JSON object with the members of the type: see Compile
	Required bool            `json:"is_required"`      // must pass so that the run passes; an optional assertion affects only the score
	Weight   float64         `json:"weight"`           // weight in the score; finite and at least 0
	Order    int             `json:"order"`            // position among the assertions of the scenario
}

// Type determines how an assertion is evaluated.
type Type string

// The Type of an Assertion.
const (
	LLMJudge          Type = "LLM_JUDGE"          // a model judges the conversation by a criterion
	CustomLLM         Type = "CUSTOM_LLM"         // a model chosen by the client judges the conversation by the client's instructions
	ServiceTone       Type = "SERVICE_TONE"       // a model scores the naturalness of the agent's speech
	VariableExtracted Type = "VARIABLE_EXTRACTED" // a variable was collected
	NodeReached       Type = "NODE_REACHED"       // a node was visited
	NodesVisited      Type = "NODES_VISITED"      // all or any of a set of nodes were visited
	WebhookTriggered  Type = "WEBHOOK_TRIGGERED"  // the agent sent a request
	RegexMatch        Type = "REGEX_MATCH"        // a regular expression matches words or a variable
	StringCheck       Type = "STRING_CHECK"       // words or a variable compare to a text
	TraversalMatch    Type = "TRAVERSAL_MATCH"    // the visited nodes resemble a reference path
)

// Kind describes a type of assertion for people.
type Kind struct {
	Type   Type
	About  string // what the assertion examines
	Config string // an example of the configuration
}

// Kinds returns descriptions of all types, in the order of the contract.
func Kinds() []Kind { return slices.Clone(kinds) }

var kinds = []Kind{
	{LLMJudge, "A model judges the conversation by a criterion.", `{"prompt": "Did the agent repeat the agreed time?", "output_type": "boolean"}`},
	{ServiceTone, "A model scores how naturally the agent spoke. The tone must be scored: see below.", `{"threshold": 0.7}`},
	{VariableExtracted, "A variable was collected.", `{"variable": "day", "operator": "equals", "value": "Tuesday"}`},
	{NodeReached, "A node was visited.", `{"node_id": "bye"}`},
	{NodesVisited, "All or any of a set of nodes were visited.", `{"node_ids": ["ask", "bye"], "match": "all"}`},
	{WebhookTriggered, "The agent sent a request.", `{"node_id": "book", "method": "POST", "min_count": 1, "body_match": {"/day": "Tuesday"}}`},
	{RegexMatch, "A regular expression matches words or a variable.", `{"pattern": "\\bTuesday\\b", "flags": "i", "role": "assistant"}`},
	{StringCheck, "Words or a variable compare to a text.", `{"operator": "contains", "value": "nine", "role": "assistant"}`},
	{CustomLLM, "A model judges it with instructions of yours.", `{"system_prompt": "You rate how clearly prices are told.", "output_type": "score", "threshold": 0.7}`},
	{TraversalMatch, "The visited nodes are like a reference path.", `{"reference_path": ["ask", "bye"], "mode": "similarity", "threshold": 0.8}`},
}

// Types returns all types, in the order of the contract.
func Types() []Type {
	types := make([]Type, len(kinds))
	for i, k := range kinds {
		types[i] = k.Type
	}
	return types
}

// These constants limit assertions and their configurations.
const (
	MaxAssertions   = 50        // in a scenario
	MaxID           = 64        // characters of an id
	MaxName         = 200       // characters of a name
	MaxWeight       = 1000      // maximum weight of an assertion
	MaxOrder        = 1000      // maximum Order of an assertion
	MaxConfig       = 256 << 10 // bytes of a configuration
	MaxPattern      = 1000      // bytes of a regular expression
	MaxPrompt       = 8000      // characters of a criterion
	MaxInstructions = 16000     // characters of the client's own rules for the judge
	MaxValue        = 4096      // characters of a text to compare with
	MaxValues       = 50        // alternative expected values
	MaxReference    = 128       // characters of a node's id, of a variable's name and of a model's name
	MaxURL          = 2048      // characters of a URL
	MaxMembers      = 200       // members of a body to compare with
	MaxPointers     = 20        // JSON pointers into a body to compare
	MaxLabels       = 20        // categories of a judge
	MaxLabel        = 64        // characters of a category
	MaxCount        = 100       // maximum count of matches and requests in an assertion
	MaxTurn         = 200       // index of a turn that an assertion names
	MaxSet          = 100       // nodes of a set
)

// These constants limit the data that an assertion examines. Beyond them, the result is an error with CodeTooLarge.
const (
	MaxTarget = 1 << 20 // bytes of words, of a variable's value, or of the requests' bodies
	MaxWork   = 1 << 28 // all regular expressions of a run together: program steps × bytes × matches to find
	MaxNodes  = 512     // nodes of the reference path, which Compile checks, and of the visited path that is compared with it
	MaxVisits = 10_000
	MaxCalls  = 10_000 // requests of the agent
)
