package engine

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// PathwayRunner holds conversations with an agent, one turn after the other, without a telephone. The package runner has one
// that walks pathways exactly as calls and chats do. agenttesttest.RunRunner tests one.
type PathwayRunner interface {
	// Start begins a session. The agent says nothing yet. CodeNotFound: there is no such version. CodeBadRequest with the
	// field "start_node_id": the version has no such node.
	Start(ctx context.Context, s SessionSpec) (Session, error)
}

// SessionSpec is what a session is about. Sessions of other runs may have the same values in Variables and the same Webhooks, so
// nobody changes these.
type SessionSpec struct {
	Org       callwright.OrgID
	Pathway   string // id; empty: Persona
	Persona   string // id
	Version   int    // number of the version; 0: the draft
	StartNode string // id; empty: the version's start
	Variables map[string]any
	Webhooks  []scenario.WebhookMock
	Model     llm.Model // the agent must ask this model only: it keeps the journal of the run and counts its tokens
	Trial     int       // counts the runs that are to differ; Model puts it into every request
}

// Session is one conversation. One goroutine uses it. It does the same when it is given the same turns and its model the same
// answers, so that a run can be resumed.
type Session interface {
	// Reply takes a turn of the caller; the first one has no text, and the agent speaks first. The error is a *llm.Failure
	// if the model has failed, or wraps the error of ctx; the AgentTurn has what happened until then. CodeInvalidState: the
	// conversation is over, or the session is closed.
	Reply(ctx context.Context, t CallerTurn) (AgentTurn, error)
	// Graph returns the nodes of the tested version; nil: the agent has none. Nobody changes it.
	Graph() assert.Graph
	// Close frees what the session holds. It may be called twice.
	Close() error
}

// CallerTurn is a turn of the caller.
type CallerTurn struct {
	Text   string // empty in the first turn: the agent begins
	Digits bool   // Text was pressed on the telephone's keys
}

// AgentTurn is what the agent said and did in a turn.
type AgentTurn struct {
	Text      string
	Visits    []string // ids of the nodes that it came to, in order
	Node      string   // id of the node where it waits now; empty: it has no nodes
	Variables map[string]any
	Webhooks  []assert.Webhook // in order; Turn is 0 and Visit counts within this turn: the engine sets both
	Notes     []Note           // why the agent went this way
	Ended     bool             // the agent has ended the conversation or transferred it
	Loop      bool             // the agent has been going round in circles
}

// Note is one event of an agent's turn, for people and for the analysis of failures.
type Note struct {
	Kind string // "decision", "tool_call", "variables", "action", "loop" or "error"
	Node string // empty: none
	Text string
}
