package access_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
)

// watched is a store that counts the calls of TouchKey, and can delay them or make them fail.
type watched struct {
	orgstore.Tenants
	hang chan struct{} // if set, TouchKey waits until it is closed or the context ends

	mu    sync.Mutex
	wrote int
	fail  error
}

// TouchKey counts the call. If hang is set, it then waits until hang is closed, or returns the error of ctx if ctx ends first. Then it
// returns the error that fail held at the beginning of the call, or stores the use if that error was nil.
func (w *watched) TouchKey(ctx context.Context, id string, at time.Time, every time.Duration) error {
	w.mu.Lock()
	w.wrote++
	fail := w.fail
	w.mu.Unlock()
	if w.hang != nil {
		select {
		case <-w.hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if fail != nil {
		return fail
	}
	return w.Tenants.TouchKey(ctx, id, at, every)
}

func (w *watched) writes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote
}

// plain is an Atomic without transactions, so that a hanging store does not delay other callers.
type plain struct{}

func (plain) Do(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

// node starts a service on a store. stop cancels Run, waits for it, and fails the test if it returns an error.
func node(t *testing.T, w *watched) (s *access.Service, stop func()) {
	t.Helper()
	s, err := access.New(access.Config{Store: w, Atomic: plain{}, Secret: callwright.Secret(make([]byte, 32))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// newKey creates an organization with a key, and returns the key.
func newKey(t *testing.T, s *access.Service) access.NewKey {
	t.Helper()
	o, err := s.CreateOrganization(t.Context(), "", "Acme")
	if err != nil {
		t.Fatal(err)
	}
	k, err := s.CreateKey(t.Context(), o.ID, "ci", 0)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func use(t *testing.T, s *access.Service, k access.NewKey) {
	t.Helper()
	if _, err := s.CheckKey(t.Context(), k.Key.Reveal()); err != nil {
		t.Fatal(err)
	}
}

// lastUse returns the stored time of a key's last use, or the zero time if no use is stored.
func lastUse(t *testing.T, w *watched, k access.NewKey) time.Time {
	t.Helper()
	record, err := w.Key(t.Context(), k.Record.Org, k.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	if record.LastUsedAt == nil {
		return time.Time{}
	}
	return *record.LastUsedAt
}

// TestLastUse uses a key on two nodes, ten times a second for three minutes: the time of the last use is stored once a minute, so the
// stored time is never more than about a minute old.
func TestLastUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Tenants: orgstore.Tenants{Store: memstore.New()}}
		one, stopOne := node(t, w)
		two, stopTwo := node(t, w)
		k := newKey(t, one)
		if !lastUse(t, w, k).IsZero() {
			t.Error("a new key was used")
		}
		if _, err := one.CheckKey(t.Context(), k.Key.Reveal()+"x"); err == nil {
			t.Error("a wrong key was taken")
		}
		synctest.Wait()
		if w.writes() > 0 {
			t.Error("a refused key counts as used")
		}
		begin := time.Now()
		seen := map[time.Time]bool{}
		for time.Since(begin) < 3*time.Minute {
			use(t, one, k)
			use(t, two, k)
			time.Sleep(100 * time.Millisecond)
			last := lastUse(t, w, k)
			if seen[last] = true; last.IsZero() || time.Since(last) > access.UseInterval+2*time.Second {
				t.Fatalf("%s after the begin the last use is of %s ago", time.Since(begin), time.Since(last))
			}
		}
		if len(seen) != 3 || w.writes() > 6 {
			t.Errorf("%d last uses by %d writes in 3 minutes", len(seen), w.writes())
		}
		use(t, one, k)
		stopOne()
		stopTwo()
	})
}

// TestLastUseIsWrittenAtTheEnd stops a node while a use is pending: the use is written before Run returns.
func TestLastUseIsWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Tenants: orgstore.Tenants{Store: memstore.New()}}
		s, stop := node(t, w)
		first, second := newKey(t, s), newKey(t, s)
		use(t, s, first)
		synctest.Wait()
		use(t, s, second) // pending until the next round
		stop()
		if got := lastUse(t, w, second); !got.Equal(time.Now()) {
			t.Errorf("the last use is %s", got)
		}
	})
}

// TestRequestsDoNotWait checks that key checks do not wait while writes of uses hang, and that uses are written again after writes have
// failed.
func TestRequestsDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Tenants: orgstore.Tenants{Store: memstore.New()}, hang: make(chan struct{})}
		s, stop := node(t, w)
		begin, first := time.Now(), newKey(t, s)
		use(t, s, first)
		for range 1500 { // more than maxUses
			use(t, s, newKey(t, s))
		}
		synctest.Wait()
		if took := time.Since(begin); took > 0 || w.writes() != 1 {
			t.Errorf("it took %s, with %d writes", took, w.writes())
		}
		w.mu.Lock()
		w.fail = errors.New("the database is away")
		w.mu.Unlock()
		close(w.hang)
		time.Sleep(2 * time.Second)
		use(t, s, first)
		synctest.Wait()
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		time.Sleep(2 * time.Second)
		use(t, s, first)
		stop()
		if lastUse(t, w, first).IsZero() {
			t.Error("after failures no use is written")
		}
		if w.writes() > 1100 {
			t.Errorf("%d uses were kept", w.writes())
		}
	})
}
