// Package memory holds the data of all stores of memstore, and restores it when a transaction fails.
package memory

import (
	"context"
	"reflect"
	"sync"
)

// Data holds the rows of the stores of one package. The type must either embed *Tables or have a method Clone.
type Data[T any] interface {
	New() T // New returns the data of an empty store
}

// cloner is implemented by each Data that does not embed *Tables. Clone returns a copy that replaces the data if a transaction fails.
type cloner[T any] interface{ Clone() T }

// Store holds the data of all packages, by the type of the data.
type Store struct {
	mu    sync.Mutex
	rooms map[reflect.Type]room
	Wake  chan struct{} // receives a token after each commit and each Notify
}

// room is the data of one package. snapshot starts a transaction and returns the function that rolls it back.
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

// Notify puts a token into Wake, unless Wake already holds one. It does not block.
func (s *Store) Notify() {
	select {
	case s.Wake <- struct{}{}:
	default:
	}
}

// inside is the context key that marks a transaction of a store.
type inside struct{ store *Store }

// Do runs fn as a transaction and undoes its changes if fn fails or panics. Transactions do not overlap. If ctx carries a transaction of s,
// fn joins it. See callwright.Atomic.
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
				delete(s.rooms, kind) // the transaction created it
				continue
			}
			restores[kind]()
		}
	}
}

// With passes the data of a package to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only
// a failed transaction undoes changes.
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

// Read returns the result of f on the data of a package. It reads in the transaction of ctx if ctx carries one.
func Read[T Data[T], V any](ctx context.Context, s *Store, f func(d *T) (V, error)) (found V, err error) {
	err = With(ctx, s, func(d *T) (err error) {
		found, err = f(d)
		return err
	})
	return found, err
}
