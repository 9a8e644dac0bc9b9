package assert

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// Evidence records what happened in one conversation. Checks do not change it, so several may read it at once.
type Evidence struct {
	Org       string         // the organization that the run belongs to, for the judge's model
	Run       string         // id of the run
	Turns     []Turn         // what was said, in order
	Visits    []Visit        // nodes that the agent came to, in order
	Variables map[string]any // at the end: integers are int64, other numbers float64
	Webhooks  []Webhook      // requests that the agent sent, in order
	Graph     Graph          // nodes of the tested version; nil: they are not known, or, without Visits, the agent has none
	End       EndReason
}

// Turn holds the words of one side. Its index in Evidence.Turns, which begins at 0, is the number that results and quotes name.
type Turn struct {
	Role llm.Role // llm.RoleAgent or llm.RoleCaller
	Text string
	Node string // id of the node at which the agent was then; empty: the agent has no nodes
}

// Visit is one arrival at a node.
type Visit struct {
	Node string
	Turn int // index of the last turn before the arrival; -1: before anything was said
}

// Webhook is a request that the agent sent. In a run nothing is sent to the address: a sink answers.
type Webhook struct {
	Node   string // id of the node that sent it; of a tool: where the agent was
	Method string
	URL    string            // without user info; values of the query that may be secret are callwright.Redacted
	Header map[string]string // values that may be secret are callwright.Redacted
	Body   json.RawMessage   // JSON; a body of another kind is a JSON string
	Turn   int               // see Visit.Turn
	Visit  int               // how many visits there were until then
	At     time.Time
}

// Graph tells the nodes of a version of a pathway and which of them follow each other.
type Graph map[string]Node // by id

// Node is a node of a Graph.
type Node struct {
	Name  string
	Next  []string // ids of the nodes to which the agent can go from here, by edges, by rules about answers, and global ones; not itself
	Fills []string // names of the variables that the node collects from words, answers of requests and answers of tools
	Says  string   // its own words, in which variables may stand for others; empty: a model finds them, or it has none
}

// EndReason says why a conversation ended. It does not depend on the verdict.
type EndReason string

// The reasons.
const (
	EndByAgent       EndReason = "agent_ended"
	EndByCaller      EndReason = "caller_ended"
	EndMaxTurns      EndReason = "max_turns"
	EndTurnTimeout   EndReason = "turn_timeout"
	EndRunTimeout    EndReason = "run_timeout"
	EndAgentError    EndReason = "agent_error"    // the agent could not answer
	EndCallerInvalid EndReason = "caller_invalid" // the simulated caller was off script, which is no failure of the agent
	EndBudget        EndReason = "budget"
	EndCancelled     EndReason = "cancelled"
	EndLoop          EndReason = "loop_detected"
)
