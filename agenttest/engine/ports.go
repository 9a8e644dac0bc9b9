package engine

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// PathwayRunner holds conversations with an agent, one turn after the other, without a telephone. Package runner implements one
// that walks pathways exactly like calls and chats. agenttesttest.RunRunner tests it with the pathway agenttesttest.Shop.
type PathwayRunner interface {
	// Start begins a session. The agent does not speak yet, and asks no model. CodeNotFound: the version is absent. CodeBadRequest
	// with the field "start_node_id": the version has no node with this id. Sessions are independent, and may run concurrently.
	Start(ctx context.Context, s SessionSpec) (Session, error)
}

// SessionSpec describes a session. Sessions of other runs may share values in Variables and Webhooks, so a session must not change
// them. Start copies the map Variables: its caller may change it afterwards.
type SessionSpec struct {
	Org       callwright.OrgID
	Pathway   string // id; empty: Persona
	Persona   string // id
	Version   int    // number of the version; 0: the draft
	StartNode string // id; empty: the version's start
	Variables map[string]any
	Webhooks  []scenario.WebhookMock // the first matching one answers a request; requests are not sent
	Model     llm.Model              // the agent must ask only this model: it writes the journal of the run and counts its tokens
	Trial     int                    // number of a run that must differ from others; Model puts it into every request
}

// Session is one conversation. Only one goroutine may use it. For the same turns and the same answers of its model, it must behave
// the same, and ask its model the same in the same order, so that a run can be resumed. Only the times of requests
// (assert.Webhook.At) may differ.
type Session interface {
	// Reply answers a turn of the caller; the first one has no text, and the agent speaks first. The error is a *llm.Failure if the
	// model has failed, or wraps the error of ctx, also during the Delay of a mock; the AgentTurn contains the events until then.
	// After a permanent failure (llm.ClassPermanent) the agent apologizes, and the turn has Ended. CodeInvalidState: the
	// conversation is over, or the session is closed.
	Reply(ctx context.Context, t CallerTurn) (AgentTurn, error)
	// Graph returns the nodes of the tested version; nil: the agent has none. It must not be changed.
	Graph() assert.Graph
	// Close frees the session's resources, including goroutines. It may be called twice, and then returns nil.
	Close() error
}

// CallerTurn is a turn of the caller.
type CallerTurn struct {
	Text   string // empty in the first turn: the agent begins; blank in a later one: silence, without the model; the third consecutive one ends the talk
	Digits bool   // Text was sent as DTMF digits: the model reads "(pressed 12)"
}

// AgentTurn holds the agent's words and actions in a turn. Variables belongs to the caller; extracted whole numbers are int64 in
// it. Webhooks are in the order of the requests, requests of tools in the order of the calls.
type AgentTurn struct {
	Text      string           // sentences of several nodes are joined by a space
	Visits    []string         // ids of the visited nodes, in order, including the start in the first turn; nil: it has stayed
	Node      string           // id of the node at which it waits now; empty: it has no nodes
	Variables map[string]any   // all so far, including SessionSpec.Variables
	Webhooks  []assert.Webhook // Turn is 0 and Visit counts within this turn: the engine sets both
	Notes     []Note           // explanations of the agent's way
	Ended     bool             // the agent has ended the conversation or transferred it
	Loop      bool             // the agent loops; also a note of kind "loop"
}

// Note is one event of an agent's turn, for display and for the analysis of failures. Every move to another node has a "decision"
// with a Text, extracted variables have "variables", and each request has a "tool_call", whose Text contains "failed" if the answer
// is an error status or missing. The Text of an "action" is "presses ••" with a mask for each digit, "transfers the call to " and
// the target, or begins with "ends the conversation".
type Note struct {
	Kind string // "decision", "tool_call", "variables", "action", "loop" or "error"
	Node string // empty: none
	Text string
}
