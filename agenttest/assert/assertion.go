package assert

import "encoding/json"

// Assertion is one expectation of a conversation.
type Assertion struct {
	ID       string // unique in its scenario
	Type     Type
	Name     string          // for people; empty: none
	Config   json.RawMessage // a JSON object with the members of the type: see Compile
	Required bool            // must hold for a run to pass; else it only moves the score
	Weight   float64         // of its score; finite and at least 0
	Order    int             // among the assertions of the scenario
}

// Type says what an assertion looks at.
type Type string

// The types.
const (
	LLMJudge          Type = "LLM_JUDGE"          // a model judges the conversation by a criterion
	CustomLLM         Type = "CUSTOM_LLM"         // a model of the client's judges it with instructions of the client's
	ServiceTone       Type = "SERVICE_TONE"       // a model scores how naturally the agent spoke
	VariableExtracted Type = "VARIABLE_EXTRACTED" // a variable was collected
	NodeReached       Type = "NODE_REACHED"       // a node was visited
	NodesVisited      Type = "NODES_VISITED"      // all or any of a set of nodes were visited
	WebhookTriggered  Type = "WEBHOOK_TRIGGERED"  // the agent sent a request
	RegexMatch        Type = "REGEX_MATCH"        // a regular expression matches words or a variable
	StringCheck       Type = "STRING_CHECK"       // words or a variable compare to a text
	TraversalMatch    Type = "TRAVERSAL_MATCH"    // the visited nodes are like a reference path
)

// Types are all types, in the order of the contract.
func Types() []Type {
	return []Type{
		LLMJudge, ServiceTone, VariableExtracted, NodeReached, NodesVisited, WebhookTriggered, RegexMatch, StringCheck,
		CustomLLM, TraversalMatch,
	}
}

// The limits of assertions.
const (
	MaxAssertions = 50       // in a scenario
	MaxName       = 200      // characters of a name
	MaxPattern    = 1000     // bytes of a regular expression
	MaxText       = 16 << 10 // bytes of a prompt, a value or any other text of a configuration
	MaxTarget     = 1 << 20  // bytes of words that one assertion looks at
	MaxNodes      = 512      // nodes of a reference path, of a set and of the visited path that is compared
)
