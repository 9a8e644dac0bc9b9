package assert

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// Evidence records one conversation. Checks do not change it, so several may read it concurrently.
type Evidence struct {
	Org       string         // the organization that the run belongs to, for the judge's model
	Run       string         // id of the run
	Turns     []Turn         // turns, in order
	Visits    []Visit        // nodes that the agent visited, in order
	Variables map[string]any // at the end: integers are int64, other numbers float64
	Webhooks  []Webhook      // requests that the agent sent, in order
	Graph     Graph          // nodes of the tested version; nil: unknown, or, without Visits, the agent has none
	End       EndReason
}

// Turn holds the words of one side. Its index in Evidence.Turns, from 0, is the number of the turn in results and quotes.
type Turn struct {
	Role llm.Role // llm.RoleAgent or llm.RoleCaller
	Text string
	Node string // id of the agent's node at that time; empty: the agent has no nodes
}

// Visit is one arrival at a node.
type Visit struct {
	Node string
	Turn int // index of the last turn before the arrival; -1: before anything was said
}

// Webhook is a request that the agent sent. In a run requests are not sent: a sink answers.
type Webhook struct {
	Node   string // id of the node that sent it; of a tool: the agent's node
	Method string
	URL    string            // without user info; values of the query that may be secret are callwright.Redacted
	Header map[string]string // values that may be secret are callwright.Redacted
	Body   json.RawMessage   // JSON; a body of another kind is a JSON string
	Turn   int               // see Visit.Turn
	Visit  int               // number of visits before
	At     time.Time
}

// Graph holds the nodes of a version of a pathway and their successors.
type Graph map[string]Node // by id

// Node is a node of a Graph.
type Node struct {
	Name  string
	Next  []string // ids of possible next nodes, by edges, by branches of requests, and global ones; not itself
	Fills []string // names of the variables that the node collects from words and from answers of requests and tools
	Says  string   // its fixed words, possibly with variables; empty: a model finds them, or none
}

// EndReason is the reason for a conversation's end. It does not depend on the verdict.
type EndReason string

// The reasons.
const (
	EndByAgent       EndReason = "agent_ended"
	EndByCaller      EndReason = "caller_ended"
	EndMaxTurns      EndReason = "max_turns"
	EndTurnTimeout   EndReason = "turn_timeout"
	EndRunTimeout    EndReason = "run_timeout"
	EndAgentError    EndReason = "agent_error"    // the agent could not answer
	EndCallerInvalid EndReason = "caller_invalid" // the simulated caller left its part, which is not a failure of the agent
	EndBudget        EndReason = "budget"
	EndCancelled     EndReason = "cancelled"
	EndLoop          EndReason = "loop_detected"
)
