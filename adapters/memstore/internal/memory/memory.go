// Package memory is the common code of all stores of memstore: data that is restored when a transaction fails.
package memory

import (
	"context"
	"reflect"
	"sync"
)

// Data holds the rows of the stores of one package. It either embeds *Tables, or has a method Clone.
type Data[T any] interface {
	New() T // New returns the data of an empty store
}

// cloner is Data that is never changed in place. Clone returns a copy, which a transaction that fails restores.
type cloner[T any] interface{ Clone() T }

// Store holds the data of all packages, each under its type.
type Store struct {
	mu    sync.Mutex
	rooms map[reflect.Type]room
	Wake  chan struct{} // holds a token when a transaction has ended, or Notify was called
}

// room is the data of one package.
type room interface {
	snapshot() (restore func())
}

type roomOf[T Data[T]] struct{ data T }

func (r *roomOf[T]) snapshot() (restore func()) {
	if tables, ok := any(r.data).(undoLog); ok {
		tables.Begin()
		return tables.Undo
	}
	before := any(r.data).(cloner[T]).Clone() //nolint:forcetypeassert // see Data
	return func() { r.data = before }
}

// New returns an empty store.
func New() *Store { return &Store{rooms: map[reflect.Type]room{}, Wake: make(chan struct{}, 1)} }

// Notify puts a token into Wake.
func (s *Store) Notify() {
	select {
	case s.Wake <- struct{}{}:
	default:
	}
}

// inside marks a context that is in a transaction of this store.
type inside struct{ store *Store }

// Do runs fn alone: transactions do not overlap. See callwright.Atomic.
func (s *Store) Do(ctx context.Context, fn func(ctx context.Context) error) (err error) {
	if ctx.Value(inside{s}) != nil {
		return fn(ctx)
	}
	s.mu.Lock()
	restore := s.snapshot()
	committed := false
	defer func() {
		if !committed {
			restore()
		}
		s.mu.Unlock()
		if committed {
			s.Notify()
		}
	}()
	if err := fn(context.WithValue(ctx, inside{s}, true)); err != nil {
		return err
	}
	committed = true
	return nil
}

func (s *Store) snapshot() (restore func()) {
	restores := make(map[reflect.Type]func(), len(s.rooms))
	for kind, r := range s.rooms {
		restores[kind] = r.snapshot()
	}
	return func() {
		for kind := range s.rooms {
			if restores[kind] == nil {
				delete(s.rooms, kind) // it was empty
				continue
			}
			restores[kind]()
		}
	}
}

// With calls f with the data of a package, in the transaction of ctx or alone. f must not fail after its first change.
func With[T Data[T]](ctx context.Context, s *Store, f func(d *T) error) error {
	if ctx.Value(inside{s}) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	kind := reflect.TypeFor[T]()
	r, ok := s.rooms[kind].(*roomOf[T])
	if !ok {
		var none T
		r = &roomOf[T]{none.New()}
		s.rooms[kind] = r
	}
	return f(&r.data)
}

// Read returns the result of f on the data of a package, in the transaction of ctx or alone.
func Read[T Data[T], V any](ctx context.Context, s *Store, f func(d *T) (V, error)) (found V, err error) {
	err = With(ctx, s, func(d *T) (err error) {
		found, err = f(d)
		return err
	})
	return found, err
}
