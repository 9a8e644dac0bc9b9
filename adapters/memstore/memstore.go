// Package memstore keeps everything in memory: for tests, and for programs that embed a domain and need nothing to
// outlive them. A Store is the unit of work, and what the stores of the sub-packages keep their things in; they pass the
// same conformance suites as the databases.
package memstore

import (
	"context"

	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// Store is all of the memory.
type Store struct{ core *memory.Store }

// New returns an empty store.
func New() *Store { return &Store{memory.New()} }

// Do runs fn alone: transactions do not overlap. See callwright.Atomic.
func (s *Store) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.core.Do(ctx, fn)
}

// Core returns the memory for the stores in the sub-packages. Other programs have no use for it.
func (s *Store) Core() *memory.Store { return s.core }
