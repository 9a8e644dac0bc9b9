package engine

import (
	"context"

	"github.com/callwright/callwright/agenttest/assert"
)

// RunnerFunc is a function that implements PathwayRunner.
type RunnerFunc func(ctx context.Context, s SessionSpec) (Session, error)

// Start calls the function.
func (f RunnerFunc) Start(ctx context.Context, s SessionSpec) (Session, error) { return f(ctx, s) }

// SessionFunc is a function that implements Session, for an agent without nodes and resources.
type SessionFunc func(ctx context.Context, t CallerTurn) (AgentTurn, error)

// Reply calls the function.
func (f SessionFunc) Reply(ctx context.Context, t CallerTurn) (AgentTurn, error) { return f(ctx, t) }

// Graph returns nil.
func (SessionFunc) Graph() assert.Graph { return nil }

// Close does nothing.
func (SessionFunc) Close() error { return nil }
