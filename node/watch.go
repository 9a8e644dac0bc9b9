package node

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// The timing of RecordWatchers.
const (
	watchEvery = time.Second            // without being woken
	watchRest  = 100 * time.Millisecond // between two looks, however often a record changes
)

// Revised is a record as it was at a revision.
type Revised[T any] struct {
	Value    T
	Revision int64
	Final    bool // it does not change any more
}

// RecordWatcher returns a record as it changes. Several changes between two reads are returned once. One goroutine may use it; only
// Close may be called from others.
type RecordWatcher[T any] struct {
	watch *Watcher
	read  func(ctx context.Context) (Revised[T], error)
	seen  int64
	next  *Revised[T] // is read, and was not returned yet
	over  bool
}

// Watch watches a record, which read reads, until it is final. since is the caller's revision; 0: none. A RecordWatcher costs no
// goroutine and must be closed. It returns the errors of read and of Watchers.Open, with these keys and organizations.
func Watch[T any](
	ctx context.Context, w *Watchers, org callwright.OrgID, key string, since int64, read func(ctx context.Context) (Revised[T], error),
) (*RecordWatcher[T], error) {
	first, err := read(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := w.Open(org, key)
	if err != nil {
		return nil, err
	}
	f := &RecordWatcher[T]{watch: watch, read: read, seen: since}
	f.accept(first)
	return f, nil
}

// accept stores a read record for Next, unless it was returned before.
func (f *RecordWatcher[T]) accept(r Revised[T]) {
	if r.Revision != f.seen {
		f.next = &r
	}
	f.over = r.Final
}

// Over reports whether Next has nothing more to return.
func (f *RecordWatcher[T]) Over() bool { return f.over && f.next == nil }

// Next waits for the record's next revision; the first one it returns immediately if the caller does not have it. It returns io.EOF
// after the final one, the error of ctx unchanged, CodeUnavailable once the RecordWatcher or its Watchers are closed, and the error
// of read. After the error of ctx it may be called again.
func (f *RecordWatcher[T]) Next(ctx context.Context) (Revised[T], error) {
	for {
		if err := f.watch.Err(); err != nil {
			return Revised[T]{}, err
		}
		if next := f.next; next != nil {
			f.next, f.seen = nil, next.Revision
			return *next, nil
		}
		if f.over {
			return Revised[T]{}, io.EOF
		}
		if err := f.wait(ctx); err != nil {
			return Revised[T]{}, err
		}
		read, err := f.read(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return Revised[T]{}, ctx.Err()
		case err != nil:
			return Revised[T]{}, err
		}
		f.accept(read)
	}
}

// wait blocks until the next look is due.
func (f *RecordWatcher[T]) wait(ctx context.Context) error {
	if err := f.watch.Rest(ctx, watchRest); err != nil {
		return err
	}
	_, err := f.watch.Wait(ctx, watchEvery-watchRest)
	return err
}

// Close ends the RecordWatcher and a waiting Next. Closing again does nothing.
func (f *RecordWatcher[T]) Close() { f.watch.Close() }
