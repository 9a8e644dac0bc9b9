package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/node"
)

var (
	errStopped  = errors.New("stopped")
	errDraining = errors.New("draining")
)

// holder is a running Holder in a test.
type holder struct {
	*node.Holder[int]
	t      *testing.T
	leases memstore.Leases
	cancel context.CancelFunc
	done   chan struct{}
}

// newHolder starts a Holder of at most two items. change adjusts its configuration.
func newHolder(t *testing.T, change func(c *node.HolderConfig)) *holder {
	t.Helper()
	h := &holder{t: t, leases: memstore.Leases{Store: memstore.New()}, done: make(chan struct{})}
	c := node.HolderConfig{Leases: h.leases, Kind: "k", Node: "n", Most: 2, Stopped: errStopped, Draining: errDraining}
	change(&c)
	var err error
	if h.Holder, err = node.NewHolder[int](c); err != nil {
		t.Fatal(err)
	}
	if _, ok := h.Hold(t.Context(), "early", 0); ok {
		t.Error("an item was held before Run")
	}
	ctx, cancel := context.WithCancel(t.Context())
	h.cancel = cancel
	go func() {
		defer close(h.done)
		_ = h.Run(ctx)
	}()
	synctest.Wait()
	return h
}

// stop ends the context of Run, and waits until Run has returned.
func (h *holder) stop() {
	h.cancel()
	<-h.done
}

// leased reports whether the node's lease is stored and has not expired.
func (h *holder) leased() bool {
	h.t.Helper()
	held, err := h.leases.Held(h.t.Context(), "k", time.Now(), 1)
	if err != nil {
		h.t.Error(err)
	}
	return len(held) == 1
}

// end is the cause for which an item ended.
type end struct{ cause error }

// hold holds an item. After the item is stopped, it lasts for the given duration, and then the returned channel receives its end.
func (h *holder) hold(id string, value int, while time.Duration) <-chan end {
	h.t.Helper()
	slot, ok := h.Hold(h.t.Context(), id, value)
	if !ok {
		h.t.Fatalf("%s is not held", id)
	}
	ended := make(chan end, 1)
	slot.Go(func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(while)
		ended <- end{context.Cause(ctx)}
	})
	return ended
}

func TestHolderHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHolder(t, func(*node.HolderConfig) {})
		if !h.leased() || !h.Leased() || h.Free() != 2 {
			t.Errorf("free: %d", h.Free())
		}
		a := h.hold("a", 1, 0)
		if _, ok := h.Hold(t.Context(), "a", 1); ok {
			t.Error("an item was held twice")
		}
		slot, ok := h.Hold(t.Context(), "b", 2)
		if _, third := h.Hold(t.Context(), "c", 3); !ok || third || h.Free() != 0 {
			t.Errorf("b: %t, c: %t", ok, third)
		}
		slot.Release()
		h.Stop("b", errStopped)
		b := h.hold("b", 2, 0)
		if all := h.All(); len(all) != 2 || all["a"] != 1 || all["b"] != 2 || !h.Holds("a") || h.Holds("c") || h.Len() != 2 {
			t.Errorf("held: %v", all)
		}
		h.StopWhere(errStopped, func(_ string, value int) bool { return value == 2 })
		if e := <-b; e.cause != errStopped { //nolint:errorlint // as it is
			t.Errorf("b ends with %v", e.cause)
		}
		h.stop()
		if e := <-a; e.cause != errDraining { //nolint:errorlint // as it is
			t.Errorf("a ends with %v", e.cause)
		}
	})
}

// TestHolderDrains checks that items get time to end, that no new items are accepted meanwhile, and that the lease is held until the last
// item has ended.
func TestHolderDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var drained time.Time
		var h *holder
		h = newHolder(t, func(c *node.HolderConfig) {
			c.DrainFor = time.Minute
			c.Drained = func(ctx context.Context) {
				drained = time.Now()
				if ctx.Err() != nil || h.Len() > 0 || !h.leased() {
					t.Errorf("%v, %d items, leased %t", ctx.Err(), h.Len(), h.leased())
				}
			}
		})
		begin := time.Now()
		a := h.hold("a", 1, time.Hour)
		h.cancel()
		synctest.Wait()
		if _, ok := h.Hold(t.Context(), "c", 3); ok {
			t.Error("an item was held while the node drains")
		}
		select {
		case <-a:
			t.Error("a was stopped at once")
		case <-time.After(time.Minute + time.Hour - time.Second):
		}
		if !h.leased() {
			t.Error("the lease is gone before the last item has ended")
		}
		<-h.done
		if took := time.Since(begin); took != time.Minute+time.Hour || !drained.Equal(time.Now()) || h.leased() {
			t.Errorf("it took %s, leased %t", took, h.leased())
		}
		if e := <-a; e.cause != errDraining { //nolint:errorlint // as it is
			t.Errorf("a ends with %v", e.cause)
		}
	})
}

// TestHolderClaims checks when Claim and Review are called, and that they never run concurrently.
func TestHolderClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var claims, reviews atomic.Int64
		var busy sync.Mutex
		h := newHolder(t, func(c *node.HolderConfig) {
			c.Claim = func(context.Context) error {
				if !busy.TryLock() {
					t.Error("Claim beside Review")
				}
				defer busy.Unlock()
				claims.Add(1)
				return nil
			}
			c.Review = func(context.Context) error {
				if !busy.TryLock() {
					t.Error("Review beside Claim")
				}
				defer busy.Unlock()
				time.Sleep(1500 * time.Millisecond)
				reviews.Add(1)
				return nil
			}
		})
		want := func(c, r int64) {
			t.Helper()
			synctest.Wait()
			if claims.Load() != c || reviews.Load() != r {
				t.Errorf("%d claims, %d reviews; want %d, %d", claims.Load(), reviews.Load(), c, r)
			}
		}
		want(1, 0)
		time.Sleep(4*time.Second + time.Millisecond)
		want(5, 0)
		h.Wake()
		want(6, 0)
		a, b := h.hold("a", 1, 0), h.hold("b", 2, 0)
		h.Stop("a", nil)
		<-a
		want(7, 0) // an item of a full Holder has ended
		h.Stop("b", nil)
		<-b
		want(7, 0)
		time.Sleep(4 * time.Second)
		if reviews.Load() != 1 {
			t.Errorf("%d reviews", reviews.Load())
		}
		h.stop()
	})
}

// TestHolderStops checks that items marked by other nodes are stopped, even if Stops returns an error with them, and that Claim is called
// then.
func TestHolderStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var marked []string
		var refills atomic.Int64
		h := newHolder(t, func(c *node.HolderConfig) {
			c.Refill = true
			c.Claim = func(context.Context) error { refills.Add(1); return nil }
			c.Stops = func(ctx context.Context, name string) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				if _, bounded := ctx.Deadline(); !bounded || name != "n" {
					t.Errorf("%q, bounded %t", name, bounded)
				}
				return slices.Clone(marked), errAway
			}
		})
		a := h.hold("a", 1, 0)
		before := refills.Load()
		mu.Lock()
		marked = []string{"gone", "a"}
		mu.Unlock()
		begin := time.Now()
		if e := <-a; e.cause != errStopped || time.Since(begin) > time.Second { //nolint:errorlint // as it is
			t.Errorf("a ends with %v after %s", e.cause, time.Since(begin))
		}
		synctest.Wait()
		if refills.Load() < before+1 {
			t.Error("the end of an item has not called Claim")
		}
		h.stop()
	})
}

// TestHolderIsSafe holds, stops and releases items from many goroutines while the Holder begins to drain.
func TestHolderIsSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHolder(t, func(c *node.HolderConfig) {
			c.Most, c.Refill = 10, true
			c.Claim = func(context.Context) error { return nil }
		})
		var workers sync.WaitGroup
		for worker := range 20 {
			workers.Go(func() {
				for i := range 100 {
					id := fmt.Sprint((worker + i) % 15)
					if slot, ok := h.Hold(t.Context(), id, i); ok {
						slot.Go(func(ctx context.Context) { <-ctx.Done() })
					}
					if len(h.All()) > 10 {
						t.Error("more than 10 items are held")
					}
					h.Stop(id, errStopped)
				}
			})
		}
		h.cancel()
		workers.Wait()
		<-h.done
		if h.Len() != 0 || h.Free() != 0 {
			t.Errorf("%d items are held after the end, %d free", h.Len(), h.Free())
		}
	})
}

func TestHolderConfig(t *testing.T) {
	t.Parallel()
	_, err := node.NewHolder[int](node.HolderConfig{})
	if want := "node: HolderConfig.Leases, HolderConfig.Kind and HolderConfig.Node are required"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
