package agenttesttest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// Runner is an engine.PathwayRunner whose agent a test scripts. It accepts every version and calls no model. Every session begins with the
// first turn. Runner is safe for concurrent use.
type Runner struct {
	Turns []engine.AgentTurn // in order; the last one is repeated until a turn has Ended
	Nodes assert.Graph       // the graph that sessions return
	// Answer, if not nil, replaces Turns. turn counts the turns of the session from 0.
	Answer func(ctx context.Context, turn int, in engine.CallerTurn) (engine.AgentTurn, error)

	mu      sync.Mutex
	started []engine.SessionSpec
	heard   []engine.CallerTurn
	open    int
}

var _ engine.PathwayRunner = (*Runner)(nil)

// Start starts a session. It returns the error of ctx if ctx is done.
func (r *Runner) Start(ctx context.Context, s engine.SessionSpec) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started, r.open = append(r.started, s), r.open+1
	return &scripted{runner: r}, nil
}

// Started returns the specs of the started sessions, in order.
func (r *Runner) Started() []engine.SessionSpec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.started)
}

// Heard returns the callers' turns of all sessions, in order.
func (r *Runner) Heard() []engine.CallerTurn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heard)
}

// Open returns the number of sessions that are not closed.
func (r *Runner) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// scripted is a session of a Runner that replays the runner's script.
type scripted struct {
	runner       *Runner
	turn         int
	over, closed bool
}

// Reply returns the next turn of the script, or the result of Runner.Answer if set. It returns the error of ctx if ctx is done, and
// CodeInvalidState after a turn that has Ended and after Close.
func (s *scripted) Reply(ctx context.Context, in engine.CallerTurn) (engine.AgentTurn, error) {
	if s.closed || s.over {
		return engine.AgentTurn{}, callwright.Errorf(callwright.CodeInvalidState, "the conversation is over, or the session is closed")
	}
	if err := ctx.Err(); err != nil {
		return engine.AgentTurn{}, err
	}
	s.runner.mu.Lock()
	s.runner.heard = append(s.runner.heard, in)
	s.runner.mu.Unlock()
	turn := s.turn
	s.turn++
	var out engine.AgentTurn
	var err error
	switch turns := s.runner.Turns; {
	case s.runner.Answer != nil:
		out, err = s.runner.Answer(ctx, turn, in)
	case len(turns) > 0:
		out = turns[min(turn, len(turns)-1)]
	}
	s.over = out.Ended
	return out, err
}

// Graph returns the runner's Nodes.
func (s *scripted) Graph() assert.Graph { return s.runner.Nodes }

// Close closes the session. It may be called more than once.
func (s *scripted) Close() error {
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	if !s.closed {
		s.runner.open--
	}
	s.closed = true
	return nil
}
