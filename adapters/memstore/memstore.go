// Package memstore stores everything in memory, for tests and for programs that need no data after they end. The stores of
// the domains are in sub-packages, as in bunstore, and pass the same conformance suites.
//
//	memory := memstore.New()
//	work := memstore.NewWork(memory, nil)
//	calls := agentstore.Calls{Store: memory}
package memstore

import (
	"context"

	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// Store is the memory, which the stores of the sub-packages use. It is a callwright.Atomic.
type Store struct{ core *memory.Store }

// New returns an empty store.
func New() *Store { return &Store{memory.New()} }

// Do runs fn alone: transactions do not overlap. See callwright.Atomic.
func (s *Store) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.core.Do(ctx, fn)
}

// Core returns the internals that the stores in the sub-packages use. It is not for other programs.
func (s *Store) Core() *memory.Store { return s.core }
