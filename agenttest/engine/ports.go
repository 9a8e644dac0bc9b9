package engine

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// PathwayRunner holds conversations with an agent, one turn after the other, without a telephone. The package runner has one
// that walks pathways exactly as calls and chats do. agenttesttest.RunRunner tests one, with the pathway agenttesttest.Shop.
type PathwayRunner interface {
	// Start begins a session. The agent says nothing yet, and asks no model. CodeNotFound: the organization has no such version.
	// CodeBadRequest with the field "start_node_id": the version has no node with this id. Sessions share nothing, and may be held
	// at the same time.
	Start(ctx context.Context, s SessionSpec) (Session, error)
}

// SessionSpec describes a session. Sessions of other runs may have the same values in Variables and the same Webhooks, so that a session
// changes neither of them. Start copies the map Variables: its caller may change it afterwards.
type SessionSpec struct {
	Org       callwright.OrgID
	Pathway   string // id; empty: Persona
	Persona   string // id
	Version   int    // number of the version; 0: the draft
	StartNode string // id; empty: the version's start
	Variables map[string]any
	Webhooks  []scenario.WebhookMock // the first that fits answers a request; nothing is sent
	Model     llm.Model              // the agent must ask this model only: it keeps the journal of the run and counts its tokens
	Trial     int                    // counts the runs that are to differ; Model puts it into every request
}

// Session is one conversation. One goroutine uses it. It does the same, and asks its model the same in the same order, when it is given the
// same turns and its model the same answers, so that a run can be resumed. Only the times of requests (assert.Webhook.At) may differ.
type Session interface {
	// Reply takes a turn of the caller; the first one has no text, and the agent speaks first. The error is a *llm.Failure
	// if the model has failed, or wraps the error of ctx, also while the Delay of a mock lasts; the AgentTurn holds what happened until
	// then. After a failure that no other attempt can mend (llm.ClassPermanent) the agent apologizes, and the turn has Ended.
	// CodeInvalidState: the conversation is over, or the session is closed.
	Reply(ctx context.Context, t CallerTurn) (AgentTurn, error)
	// Graph returns the nodes of the tested version; nil: the agent has none. Nobody changes it.
	Graph() assert.Graph
	// Close frees what the session holds: no goroutine is left. It may be called twice, and then returns nil.
	Close() error
}

// CallerTurn is a turn of the caller.
type CallerTurn struct {
	Text   string // empty in the first turn: the agent begins; blank in a later one: silence, without the model; the third in a row ends the talk
	Digits bool   // Text was pressed on the telephone's keys: the model reads "(pressed 12)"
}

// AgentTurn holds the agent's words and deeds in a turn. Variables is a map of the caller's own; whole numbers that the agent extracts
// are int64 in it. Webhooks are in the order of the requests, requests of tools in the order of the calls.
type AgentTurn struct {
	Text      string           // sentences of several nodes are joined by a space
	Visits    []string         // ids of the nodes that it came to, in order, the start in the first turn; nil: it has stayed
	Node      string           // id of the node where it waits now; empty: it has no nodes
	Variables map[string]any   // all so far, SessionSpec.Variables among them
	Webhooks  []assert.Webhook // Turn is 0 and Visit counts within this turn: the engine sets both
	Notes     []Note           // why the agent went this way
	Ended     bool             // the agent has ended the conversation or transferred it
	Loop      bool             // the agent has been going round in circles, which a note of kind "loop" says, too
}

// Note is one event of an agent's turn, for people and for the analysis of failures. There is a "decision" with a Text whenever the agent
// goes to another node, "variables" when some were extracted, and a "tool_call" for each request, whose Text holds "failed" if the answer
// is an error status or missing. The Text of an "action" is "presses ••" with a mask for each digit, "transfers the call to " and the
// target, or begins with "ends the conversation".
type Note struct {
	Kind string // "decision", "tool_call", "variables", "action", "loop" or "error"
	Node string // empty: none
	Text string
}
