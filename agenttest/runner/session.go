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

// session is a conversation with a version of a pathway.
type session struct {
	runtime *pathway.Runtime
	graph   *graph.Graph
	agent   pathway.Agent
	sink    *Sink
	state   pathway.State
	nodes   assert.Graph // nil: not asked for yet
	caught  int          // webhooks so far
	closed  bool
}

var errClosed = callwright.Errorf(callwright.CodeInvalidState, "the session is closed")

// Reply takes a turn: see pathway.Runtime.Step. After the end of ctx the session can go on.
func (s *session) Reply(ctx context.Context, in engine.CallerTurn) (engine.AgentTurn, error) {
	if s.closed {
		return engine.AgentTurn{}, errClosed
	}
	var did []conversation.Step
	state, log, err := s.runtime.Step(ctx, s.graph, s.agent, s.state, s.heard(in), func(step conversation.Step) bool {
		switch step.(type) {
		case conversation.Press, conversation.Transfer, conversation.End:
			did = append(did, step)
		}
		return true
	})
	if log.Turn == 0 {
		return engine.AgentTurn{}, err // nothing has happened
	}
	out := engine.AgentTurn{
		Text: log.Said, Visits: slices.Clone(state.Visited[len(s.state.Visited):]), Node: state.Node,
		Variables: maps.Clone(state.Variables), Notes: s.notes(log, did), Ended: state.Over, Loop: looped(log),
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

// heard returns the turn of the caller. The first one without words is the start.
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

// looped reports whether a turn has visited the most nodes allowed.
func looped(log pathway.Log) bool {
	return slices.ContainsFunc(log.Entries, func(e pathway.LogEntry) bool { return e.Kind == pathway.LogLoop })
}

// Graph returns the nodes of the version: see Graph.
func (s *session) Graph() assert.Graph {
	if s.nodes == nil {
		s.nodes = Graph(s.graph)
	}
	return s.nodes
}

// Close forgets what was said. It may be called twice.
func (s *session) Close() error {
	s.closed, s.state = true, pathway.State{}
	return nil
}
