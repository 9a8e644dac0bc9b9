package memstore_test

import (
	"context"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/node"
)

func TestWork(t *testing.T) {
	t.Parallel()
	callwrighttest.RunWork(t, func(*testing.T) callwrighttest.Harness {
		store := memstore.New()
		work := memstore.NewWork(store, nil)
		return callwrighttest.Harness{Atomic: store, Work: work, Start: func(t *testing.T) { start(t, work) }}
	})
}

func TestLeases(t *testing.T) {
	t.Parallel()
	callwrighttest.RunLeases(t, func(*testing.T) (node.Leases, callwright.Atomic) {
		store := memstore.New()
		return memstore.Leases{Store: store}, store
	})
}

// start runs the tasks until the test ends, and then waits for running handlers.
func start(t *testing.T, work *memstore.Work) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = work.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}
