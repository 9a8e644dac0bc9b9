package node

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// The intervals of a RecordWatcher.
const (
	watchEvery = time.Second            // longest interval between two reads
	watchRest  = 100 * time.Millisecond // shortest interval between two reads, even if the record changes more often
)

// Revised is a record with its revision.
type Revised[T any] struct {
	Value    T
	Revision int64
	Final    bool // the record does not change any more
}

// RecordWatcher returns the revisions of a record. If the record changes several times between two reads, Next returns only the last
// revision. Only Close is safe for concurrent use.
type RecordWatcher[T any] struct {
	watch *Watcher
	read  func(ctx context.Context) (Revised[T], error)
	seen  int64
	next  *Revised[T] // read but not yet returned revision, or nil
	over  bool
}

// Watch returns a RecordWatcher of the record that read returns. key wakes it: see Watchers.Wake. since is the revision that the caller
// already has, or 0. A RecordWatcher uses no goroutine and must be closed. Watch returns the errors of read and of Watchers.Open.
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

// accept stores a record for Next, unless its revision was the last one returned.
func (f *RecordWatcher[T]) accept(r Revised[T]) {
	if r.Revision != f.seen {
		f.next = &r
	}
	f.over = r.Final
}

// Over reports whether the record is final and Next has returned its last revision.
func (f *RecordWatcher[T]) Over() bool { return f.over && f.next == nil }

// Next waits for the next revision of the record and returns it. The first call returns the current revision immediately, unless it equals
// the argument since of Watch. After the final revision, Next returns io.EOF. If the RecordWatcher or its Watchers are closed, it returns
// CodeUnavailable. It returns the error of ctx unchanged, and may then be called again. It also returns the error of read.
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

// wait waits until the next read is due: at least watchRest, and then for a wake-up or until watchEvery.
func (f *RecordWatcher[T]) wait(ctx context.Context) error {
	if err := f.watch.Rest(ctx, watchRest); err != nil {
		return err
	}
	_, err := f.watch.Wait(ctx, watchEvery-watchRest)
	return err
}

// Close closes the RecordWatcher and ends a waiting Next. Repeated calls have no effect.
func (f *RecordWatcher[T]) Close() { f.watch.Close() }
