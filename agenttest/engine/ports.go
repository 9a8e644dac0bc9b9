package engine

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// PathwayRunner holds conversations with an agent, turn by turn, without a telephone. Package runner implements it for pathways, which it
// executes exactly like calls and chats. agenttesttest.RunRunner tests implementations with the pathway agenttesttest.Shop.
type PathwayRunner interface {
	// Start starts a session. The agent does not speak yet, and no model is called. Start returns CodeNotFound if the version is absent,
	// and CodeBadRequest with the field "start_node_id" if the version contains no node with this id. Sessions share no state, and may run
	// concurrently.
	Start(ctx context.Context, s SessionSpec) (Session, error)
}

// SessionSpec describes a session. Sessions of other runs may share the values in Variables and Webhooks, so a session must not change
// them. Start copies the map Variables, so that its caller may change it afterwards.
type SessionSpec struct {
	Org       callwright.OrgID
	Pathway   string // id of the pathway; empty if Persona is set
	Persona   string // id of the persona
	Version   int    // number of the version; 0 means the draft
	StartNode string // node id; empty means the version's start node
	Variables map[string]any
	Webhooks  []scenario.WebhookMock // the first matching mock answers a request; requests are not sent
	Model     llm.Model              // the only model that the agent may call: it records answers in the run's journal and counts tokens
	Trial     int                    // distinguishes runs of the same scenario; Model adds it to every request
}

// Session is one conversation. It is not safe for concurrent use. For the same turns and the same model answers, a session must behave the
// same and send the same model requests in the same order, so that a run can be resumed. Only the times of requests (assert.Webhook.At) may
// differ.
type Session interface {
	// Reply answers a turn of the caller. The first turn has no text, because the agent speaks first. If the model fails, the error is a
	// *llm.Failure; if ctx is done, even during the Delay of a mock, the error wraps the error of ctx. The AgentTurn then contains the
	// events until the error. After a permanent failure (llm.ClassPermanent) the agent apologizes, and the turn has Ended. Reply returns
	// CodeInvalidState if the conversation is over or the session is closed.
	Reply(ctx context.Context, t CallerTurn) (AgentTurn, error)
	// Graph returns the nodes of the tested version, or nil if the agent has no nodes. The caller must not change them.
	Graph() assert.Graph
	// Close releases the session's resources, including goroutines. A second call returns nil.
	Close() error
}

// CallerTurn contains the caller's words in a turn.
type CallerTurn struct {
	Text   string // empty in the first turn; later, blank means silence: no model answers it, and the third in a row ends the talk
	Digits bool   // Text was sent as DTMF digits: the model reads "(pressed 12)"
}

// AgentTurn contains the agent's words and actions in a turn. Variables belongs to the caller of Reply; extracted integers are int64 in it.
// Webhooks are in the order of the requests, and requests of tools in the order of the tool calls.
type AgentTurn struct {
	Text      string           // sentences of several nodes are joined by a space
	Visits    []string         // ids of the visited nodes, in order, with the start in the first turn; nil if the agent stayed
	Node      string           // id of the node at which the agent waits; empty if it has no nodes
	Variables map[string]any   // all variables so far, including SessionSpec.Variables
	Webhooks  []assert.Webhook // Turn is 0 and Visit counts within this turn; the engine adjusts both
	Notes     []Note           // explain the agent's moves
	Ended     bool             // the agent has ended the conversation or transferred it
	Loop      bool             // the agent loops; Notes then contains a note of kind "loop"
}

// Note is one event of an agent's turn, for display and for the analysis of failures. Every move to another node has a note of kind
// "decision" with a Text. Extracted variables have a note of kind "variables". Each request has a "tool_call" note, whose Text contains
// "failed" if the response is missing or has an error status. The Text of an "action" note is "presses ••" with a mask for each digit,
// "transfers the call to " and the target, or begins with "ends the conversation".
type Note struct {
	Kind string // "decision", "tool_call", "variables", "action", "loop" or "error"
	Node string // node id; may be empty
	Text string
}
