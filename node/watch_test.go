package node_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// counter is a record that is final at revision 9.
type counter struct {
	mu       sync.Mutex
	watchers node.Watchers
	revision int64
	err      error
	reads    int
}

func newCounter() *counter {
	return &counter{revision: 1, watchers: node.Watchers{Total: 3, Share: 2}}
}

func (c *counter) read(context.Context) (node.Revised[string], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	return node.Revised[string]{Value: "it", Revision: c.revision, Final: c.revision == 9}, c.err
}

func (c *counter) set(revision int64, wake bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = revision
	if wake {
		c.watchers.Wake("other", "it")
	}
}

func (c *counter) watch(t *testing.T, since int64) *node.RecordWatcher[string] {
	t.Helper()
	f, err := node.Watch(t.Context(), &c.watchers, "acme", "it", since, c.read)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// wantNext checks that Next returns the given revision after exactly the given duration.
func wantNext(t *testing.T, f *node.RecordWatcher[string], revision int64, after time.Duration) {
	t.Helper()
	since := time.Now()
	got, err := f.Next(t.Context())
	if err != nil || got.Revision != revision || got.Value != "it" || time.Since(since) != after {
		t.Errorf("got %+v, %v after %s; want %d after %s", got, err, time.Since(since), revision, after)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter()
		f := c.watch(t, 0)
		wantNext(t, f, 1, 0)
		c.set(2, true) // returned immediately after the pause between two reads
		wantNext(t, f, 2, 100*time.Millisecond)
		c.set(3, false)
		wantNext(t, f, 3, time.Second)
		for revision := int64(4); revision < 9; revision++ { // Next returns only the newest of them
			c.set(revision, true)
		}
		wantNext(t, f, 8, 100*time.Millisecond)

		within, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := f.Next(within); err != context.DeadlineExceeded { //nolint:errorlint // as it is
			t.Errorf("nothing happens: %v", err)
		}
		c.set(9, true)
		wantNext(t, f, 9, 100*time.Millisecond)
		if _, err := f.Next(t.Context()); !errors.Is(err, io.EOF) || !f.Over() {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestWatchWakesAreMerged checks that a thousand wake-ups in a second cause at most a read every 100 ms.
func TestWatchWakesAreMerged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter()
		f := c.watch(t, 1)
		go func() {
			for range 1000 {
				time.Sleep(time.Millisecond)
				c.set(1, true)
			}
			c.set(2, true)
		}()
		if got, err := f.Next(t.Context()); err != nil || got.Revision != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
		if c.reads > 12 {
			t.Errorf("it was read %d times", c.reads)
		}
	})
}

func TestWatchResumes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter()
		c.set(5, false)
		f := c.watch(t, 5)
		go func() {
			time.Sleep(250 * time.Millisecond)
			c.set(6, true)
		}()
		wantNext(t, f, 6, 250*time.Millisecond)
		f.Close()
		wantNext(t, c.watch(t, 4), 6, 0)
		c.set(9, false)
		if f := c.watch(t, 8); f.Over() {
			t.Error("the final state is kept from who has not seen it")
		} else {
			wantNext(t, f, 9, 0)
			f.Close()
		}
		f = c.watch(t, 9)
		if _, err := f.Next(t.Context()); !f.Over() || !errors.Is(err, io.EOF) {
			t.Errorf("who has the final state gets %v", err)
		}
	})
}

func TestWatchFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter()
		f := c.watch(t, 1)
		c.mu.Lock()
		c.err = callwright.NotFound("it")
		c.mu.Unlock()
		if _, err := f.Next(t.Context()); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("what is deleted gives %v", err)
		}
		if _, err := node.Watch(t.Context(), &c.watchers, "acme", "it", 0, c.read); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("following what is deleted gives %v", err)
		}
	})
}

func TestWatchersAreBounded(t *testing.T) {
	t.Parallel()
	w := node.Watchers{Total: 3, Share: 2}
	open := func(org callwright.OrgID) *node.Watcher {
		t.Helper()
		watch, err := w.Open(org, "it")
		if err != nil {
			t.Fatal(err)
		}
		return watch
	}
	full := func(org callwright.OrgID, want string) {
		t.Helper()
		_, err := w.Open(org, "it")
		wait, ok := callwright.RetryAfter(err)
		if !errors.Is(err, callwright.ErrTooManyRequests) || !ok || wait <= 0 || err.Error() != want {
			t.Errorf("one more gives %v, to be tried again after %s", err, wait)
		}
	}
	first, _ := open("acme"), open("acme")
	full("acme", "an organization may have at most 2 open streams of this kind on a server: close one")
	open("other")
	full("other", "this server may have at most 3 open streams of this kind: try again later")
	first.Close()
	first.Close() // the second call frees no further place
	open("other")
	full("third", "this server may have at most 3 open streams of this kind: try again later")
}

func TestWatchersClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter()
		closed, served := c.watch(t, 1), c.watch(t, 1)
		var mu sync.Mutex
		var ends []error
		for _, f := range []*node.RecordWatcher[string]{closed, served} {
			go func() {
				_, err := f.Next(t.Context())
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, err)
			}()
		}
		synctest.Wait()
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			if i := slices.IndexFunc(ends, func(err error) bool { return !errors.Is(err, callwright.ErrUnavailable) }); i >= 0 {
				t.Errorf("it ended with %v", ends[i])
			}
			return len(ends)
		}
		closed.Close()
		synctest.Wait()
		if n := count(); n != 1 {
			t.Errorf("%d have ended", n)
		}
		c.watchers.Close()
		c.watchers.Close()
		synctest.Wait()
		if n := count(); n != 2 {
			t.Errorf("%d have ended", n)
		}
		if _, err := c.watchers.Open("acme", "it"); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("after the end: %v", err)
		}
	})
}
