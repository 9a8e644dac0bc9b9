package agentteststore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

// wrapping is a store that wraps the errors of InsertScenario and UpdateScenario with the name of the operation, as a database adapter may.
type wrapping struct{ agenttest.Store }

func (w wrapping) InsertScenario(ctx context.Context, s scenario.Scenario) error {
	if err := w.Store.InsertScenario(ctx, s); err != nil {
		return fmt.Errorf("insert a scenario: %w", err)
	}
	return nil
}

func (w wrapping) UpdateScenario(ctx context.Context, s scenario.Scenario) error {
	if err := w.Store.UpdateScenario(ctx, s); err != nil {
		return fmt.Errorf("update a scenario: %w", err)
	}
	return nil
}

func TestScenariosWithWrappedErrors(t *testing.T) {
	t.Parallel()
	agenttesttest.RunScenarios(t, func(*testing.T) (agenttest.Store, callwright.Atomic) {
		s := memstore.New()
		return wrapping{agentteststore.Store{Store: s}}, s
	}, nil)
}

func TestStores(t *testing.T) {
	t.Parallel()
	agenttesttest.RunStore(t, func(*testing.T) (agenttest.Store, callwright.Atomic) {
		s := memstore.New()
		return agentteststore.Store{Store: s}, s
	}, nil)
	agenttesttest.RunSessionStore(t, func(*testing.T) (tornado.Store, callwright.Atomic) {
		s := memstore.New()
		return agentteststore.Sessions{Store: s}, s
	}, nil)
}
