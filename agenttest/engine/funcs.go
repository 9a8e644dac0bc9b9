package engine

import (
	"context"

	"github.com/callwright/callwright/agenttest/assert"
)

// RunnerFunc is a function that implements PathwayRunner.Start.
type RunnerFunc func(ctx context.Context, s SessionSpec) (Session, error)

// Start calls f.
func (f RunnerFunc) Start(ctx context.Context, s SessionSpec) (Session, error) { return f(ctx, s) }

// SessionFunc is a function that implements Session.Reply, for an agent without nodes and resources.
type SessionFunc func(ctx context.Context, t CallerTurn) (AgentTurn, error)

// Reply calls f.
func (f SessionFunc) Reply(ctx context.Context, t CallerTurn) (AgentTurn, error) { return f(ctx, t) }

// Graph returns nil, because the agent has no nodes.
func (SessionFunc) Graph() assert.Graph { return nil }

// Close does nothing and returns nil.
func (SessionFunc) Close() error { return nil }
