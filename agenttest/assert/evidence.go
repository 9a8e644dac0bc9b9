package assert

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// Evidence records one conversation. Checks do not change it, so several checks may read it concurrently.
type Evidence struct {
	Org       string         // organization of the run, for the judge's model
	Run       string         // id of the run
	Turns     []Turn         // all turns, in order
	Visits    []Visit        // nodes that the agent visited, in order
	Variables map[string]any // values at the end: integers are int64, other numbers float64
	Webhooks  []Webhook      // requests that the agent sent, in order
	Graph     Graph          // nodes of the tested version; nil means unknown or, without Visits, that the agent has no nodes
	End       EndReason
}

// Turn contains the words of one side. Results and quotes refer to a turn by its index in Evidence.Turns.
type Turn struct {
	Role llm.Role // llm.RoleAgent or llm.RoleCaller
	Text string
	Node string // id of the agent's node at that time; empty if the agent has no nodes
}

// Visit is one arrival of the agent at a node.
type Visit struct {
	Node string
	Turn int // index of the last turn before the arrival; -1 if nothing was said before
}

// Webhook is a request by the agent. A test run does not send its requests: mocks answer them.
type Webhook struct {
	Node   string // id of the node that made the request; for a tool, the agent's node
	Method string
	URL    string            // without user info; query values that may be secret are callwright.Redacted
	Header map[string]string // values that may be secret are callwright.Redacted
	Body   json.RawMessage   // JSON; a body in another format is encoded as a JSON string
	Turn   int               // index of the last turn before the request: see Visit.Turn
	Visit  int               // number of visits before the request
	At     time.Time
}

// Graph contains the nodes of a version of a pathway, by id.
type Graph map[string]Node

// Node describes the actions of a node and its successors.
type Node struct {
	Name  string
	Next  []string // ids of possible next nodes, by edges, branches of requests and global nodes; not its own id
	Fills []string // variables that the node collects from words and from responses to requests and tools
	Says  string   // fixed words, possibly with variables; empty if a model produces them or there are none
}

// EndReason is the reason why a conversation ended. It does not depend on the verdict.
type EndReason string

// The EndReason of a conversation.
const (
	EndByAgent       EndReason = "agent_ended"
	EndByCaller      EndReason = "caller_ended"
	EndMaxTurns      EndReason = "max_turns"
	EndTurnTimeout   EndReason = "turn_timeout"
	EndRunTimeout    EndReason = "run_timeout"
	EndAgentError    EndReason = "agent_error"    // the agent could not answer
	EndCallerInvalid EndReason = "caller_invalid" // the simulated caller did not keep to its role, which is not a failure of the agent
	EndBudget        EndReason = "budget"
	EndCancelled     EndReason = "cancelled"
	EndLoop          EndReason = "loop_detected"
)
