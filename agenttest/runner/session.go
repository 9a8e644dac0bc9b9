package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// session is an engine.Session with a version of a pathway or of a persona.
type session struct {
	runner *Runner
	agent  agent
	sink   *Sink
	state  pathway.State
	did    []conversation.Step // actions in the current turn
	nodes  assert.Graph        // result of Graph; nil if not requested yet
	caught int                 // number of requests recorded so far
	closed bool
}

// agent is the tested agent of a session.
type agent interface {
	// step executes a turn: see pathway.Interpreter.Step. state is the result of the last turn.
	step(
		ctx context.Context, state pathway.State, in conversation.Turn, emit func(conversation.Step) bool,
	) (pathway.State, pathway.Log, error)
	// at returns the graph that currently leads the conversation, or nil if none does.
	at() *graph.Graph
	// graphs returns all graphs that may lead the conversation.
	graphs() []*graph.Graph
}

// walker is the agent of a pathway in a session.
type walker struct {
	runtime *pathway.Interpreter
	graph   *graph.Graph
	agent   pathway.Agent
}

func (w *walker) step(
	ctx context.Context, state pathway.State, in conversation.Turn, emit func(conversation.Step) bool,
) (pathway.State, pathway.Log, error) {
	return w.runtime.Step(ctx, w.graph, w.agent, state, in, emit)
}

func (w *walker) at() *graph.Graph { return w.graph }

func (w *walker) graphs() []*graph.Graph { return []*graph.Graph{w.graph} }

var errClosed = callwright.Errorf(callwright.CodeInvalidState, "the session is closed")

// Reply executes a turn. The session can continue after a turn whose ctx was canceled.
func (s *session) Reply(ctx context.Context, in engine.CallerTurn) (engine.AgentTurn, error) {
	if s.closed {
		return engine.AgentTurn{}, errClosed
	}
	s.did = nil
	state, log, err := s.agent.step(ctx, s.state, s.heard(in), s.note)
	if log.Turn == 0 {
		return engine.AgentTurn{}, err // no turn was executed
	}
	out := engine.AgentTurn{
		Text: log.Said, Visits: slices.Clone(state.Visited[len(s.state.Visited):]), Node: state.Node,
		Variables: maps.Clone(state.Variables), Notes: s.notes(log), Ended: state.Over, Loop: looped(log),
	}
	s.state = state
	var lost int
	if out.Webhooks, lost = s.webhooks(log); lost > 0 {
		out.Notes = append(out.Notes, engine.Note{
			Kind: "error", Text: fmt.Sprintf("%d requests are not recorded: a session records at most %d", lost, MaxWebhooks),
		})
	}
	return out, err
}

// note records the agent's actions. It always returns true, to accept further steps.
func (s *session) note(step conversation.Step) bool {
	switch step.(type) {
	case conversation.Press, conversation.Transfer, conversation.End:
		s.did = append(s.did, step)
	}
	return true
}

// heard converts the caller's turn. A first turn without words is the start of the conversation.
func (s *session) heard(in engine.CallerTurn) conversation.Turn {
	switch {
	case strings.TrimSpace(in.Text) == "" && s.state.Turn == 0:
		return conversation.Turn{Kind: conversation.TurnStart}
	case in.Digits && in.Text != "":
		return conversation.Turn{Kind: conversation.TurnDigits, Text: in.Text}
	default:
		return conversation.TextTurn(in.Text)
	}
}

// looped reports whether the agent stopped in a turn because it had visited the maximum number of nodes.
func looped(log pathway.Log) bool {
	return slices.ContainsFunc(log.Entries, func(e pathway.LogEntry) bool { return e.Kind == pathway.LogLoop })
}

// Graph returns the nodes of the pathway, or of all pathways to which the persona may hand over: see the function Graph. If several
// pathways have a node with the same id, it returns the node of the first one.
func (s *session) Graph() assert.Graph {
	if s.nodes != nil {
		return s.nodes
	}
	graphs := s.agent.graphs()
	if len(graphs) == 1 {
		s.nodes = s.runner.see(graphs[0])
		return s.nodes
	}
	for _, g := range slices.Backward(graphs) {
		nodes := Graph(g)
		if s.nodes == nil {
			s.nodes = nodes
		}
		maps.Copy(s.nodes, nodes)
	}
	return s.nodes
}

// Close discards the conversation. It may be called more than once.
func (s *session) Close() error {
	s.closed, s.state = true, pathway.State{}
	return nil
}
