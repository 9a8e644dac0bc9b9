// Package memstore stores all data in memory, for tests and for programs that do not need the data after they exit. As in bunstore, the
// stores of the domains are in sub-packages. They pass the same conformance suites as the stores of bunstore.
//
//	memory := memstore.New()
//	work := memstore.NewWork(memory, nil)
//	calls := agentstore.Calls{Store: memory}
package memstore

import (
	"context"

	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// Store holds the data of all stores in the sub-packages; it implements callwright.Atomic.
type Store struct{ core *memory.Store }

// New returns an empty store.
func New() *Store { return &Store{memory.New()} }

// Do runs fn in a transaction. Only one transaction runs at a time. If fn fails, Do restores the earlier data. See callwright.Atomic.
func (s *Store) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.core.Do(ctx, fn)
}

// Core returns the internal memory. Only the stores in the sub-packages use it.
func (s *Store) Core() *memory.Store { return s.core }
