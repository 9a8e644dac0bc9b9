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

// session is a conversation with a version of a pathway or of a persona.
type session struct {
	runner *Runner
	agent  agent
	sink   *Sink
	state  pathway.State
	did    []conversation.Step // actions in the turn
	nodes  assert.Graph        // nil: not requested yet
	caught int                 // webhooks so far
	closed bool
}

// agent is the tested agent.
type agent interface {
	// step runs a turn: see pathway.Interpreter.Step. The state is the last turn's.
	step(
		ctx context.Context, state pathway.State, in conversation.Turn, emit func(conversation.Step) bool,
	) (pathway.State, pathway.Log, error)
	// at returns the graph that leads the conversation now; nil: none.
	at() *graph.Graph
	// graphs returns all graphs that may lead it.
	graphs() []*graph.Graph
}

// walker is the agent of a pathway.
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

// Reply runs a turn. After the end of ctx the session can continue.
func (s *session) Reply(ctx context.Context, in engine.CallerTurn) (engine.AgentTurn, error) {
	if s.closed {
		return engine.AgentTurn{}, errClosed
	}
	s.did = nil
	state, log, err := s.agent.step(ctx, s.state, s.heard(in), s.note)
	if log.Turn == 0 {
		return engine.AgentTurn{}, err // no step was taken
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

// note records the agent's actions. It accepts all steps.
func (s *session) note(step conversation.Step) bool {
	switch step.(type) {
	case conversation.Press, conversation.Transfer, conversation.End:
		s.did = append(s.did, step)
	}
	return true
}

// heard returns the caller's turn. The first one without words is the start.
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

// looped reports whether a turn has visited the maximum number of nodes.
func looped(log pathway.Log) bool {
	return slices.ContainsFunc(log.Entries, func(e pathway.LogEntry) bool { return e.Kind == pathway.LogLoop })
}

// Graph returns the nodes of the pathway, or of all pathways to which the persona may hand over: see Graph. Of equal node ids the
// first pathway's node counts.
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

// Close drops the conversation. It may be called twice.
func (s *session) Close() error {
	s.closed, s.state = true, pathway.State{}
	return nil
}
