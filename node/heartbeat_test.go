package node_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/node"
)

// flaky is a Leases whose Renew fails while away is set.
type flaky struct {
	memstore.Leases
	away atomic.Bool
}

var errAway = errors.New("the database is away")

func (f *flaky) Renew(ctx context.Context, kind, node string, now, until time.Time) ([]node.Lease, error) {
	if f.away.Load() {
		return nil, errAway
	}
	return f.Leases.Renew(ctx, kind, node, now, until)
}

// beats starts a heartbeat that runs until stop is called or the test ends.
func beats(t *testing.T, leases node.Leases, name string, back func(context.Context)) (h *node.Heartbeat, stop func()) {
	t.Helper()
	h, err := node.NewHeartbeat(node.HeartbeatConfig{Leases: leases, Kind: "k", Node: name, OnReturn: back})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.Run(ctx)
	}()
	synctest.Wait()
	return h, func() {
		cancel()
		<-done
	}
}

func peers(t *testing.T, h *node.Heartbeat) (node.Peers, bool) {
	t.Helper()
	p, ok, err := h.Peers(t.Context())
	if err != nil {
		t.Error(err)
	}
	return p, ok
}

func TestHeartbeatTellsWhoLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := memstore.Leases{Store: memstore.New()}
		a, stopA := beats(t, leases, "a", nil)
		defer stopA()
		cut := &flaky{Leases: leases}
		_, stopB := beats(t, cut, "b", nil)
		defer stopB()
		if _, ok := peers(t, a); ok {
			t.Error("a node that has only begun judges the others")
		}
		time.Sleep(node.LeaseTTL)
		if p, ok := peers(t, a); !ok || !slices.Equal(p.Alive, []string{"a", "b"}) {
			t.Errorf("alive are %v, %t", p.Alive, ok)
		}
		cut.away.Store(true)
		lastSeen := time.Now()
		time.Sleep(node.LeaseTTL + time.Millisecond)
		p, ok := peers(t, a)
		if seen := p.LastSeen("b"); !ok || !slices.Equal(p.Alive, []string{"a"}) || seen.After(lastSeen) || lastSeen.Sub(seen) > node.LeaseRenewal {
			t.Errorf("alive are %v, %t; b was last seen %s before it was cut off", p.Alive, ok, lastSeen.Sub(p.LastSeen("b")))
		}
		if !p.LastSeen("unknown").IsZero() {
			t.Error("an unknown node was seen")
		}
		time.Sleep(25 * time.Hour)
		peers(t, a)
		if expired, err := leases.Expired(t.Context(), "k", time.Now(), 10); err != nil || len(expired) != 0 {
			t.Errorf("the lease of a node that died yesterday is kept: %v, %v", expired, err)
		}
	})
}

func TestHeartbeatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := memstore.Leases{Store: memstore.New()}
		h, stop := beats(t, leases, "a", nil)
		held := h.Held()
		stop()
		if !held || h.Held() {
			t.Errorf("held while it runs: %t, after its end: %t", held, h.Held())
		}
		if held, err := leases.Held(t.Context(), "k", time.Now(), 10); err != nil || len(held) != 0 {
			t.Errorf("a node that has ended holds %v, %v", held, err)
		}
	})
}

// TestHeartbeatOutOfContact checks that a node declares no others dead during an outage of the database and for LeaseTTL after it, because
// all nodes renew late then. A single missed renewal is no outage.
func TestHeartbeatOutOfContact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := &flaky{Leases: memstore.Leases{Store: memstore.New()}}
		var returns atomic.Int32
		h, stop := beats(t, leases, "a", func(context.Context) { returns.Add(1) })
		defer stop()
		time.Sleep(time.Minute + time.Second) // between two renewals
		leases.away.Store(true)
		time.Sleep(node.LeaseRenewal) // one renewal is missed
		leases.away.Store(false)
		time.Sleep(node.LeaseRenewal)
		if _, ok := peers(t, h); !ok || returns.Load() != 0 {
			t.Errorf("after one renewal that failed: %t, %d returns", ok, returns.Load())
		}
		leases.away.Store(true)
		time.Sleep(time.Minute)
		if _, ok := peers(t, h); ok {
			t.Error("a node out of contact judges the others")
		}
		leases.away.Store(false)
		time.Sleep(node.LeaseRenewal)
		if _, ok := peers(t, h); ok || returns.Load() != 1 {
			t.Errorf("as soon as it is back: %t, %d returns", ok, returns.Load())
		}
		time.Sleep(node.LeaseTTL)
		if p, ok := peers(t, h); !ok || !slices.Equal(p.Alive, []string{"a"}) {
			t.Errorf("later: %v, %t", p.Alive, ok)
		}
	})
}

func TestHeartbeatConfig(t *testing.T) {
	t.Parallel()
	good := node.HeartbeatConfig{Leases: memstore.Leases{Store: memstore.New()}, Kind: "k", Node: "n"}
	for field, spoil := range map[string]func(*node.HeartbeatConfig){
		"Leases": func(c *node.HeartbeatConfig) { c.Leases = nil },
		"Kind":   func(c *node.HeartbeatConfig) { c.Kind = "" },
		"Node":   func(c *node.HeartbeatConfig) { c.Node = "" },
	} {
		c := good
		spoil(&c)
		if _, err := node.NewHeartbeat(c); err == nil || !strings.Contains(err.Error(), "HeartbeatConfig."+field+" is required") {
			t.Errorf("without %s: %v", field, err)
		}
	}
	if h, err := node.NewHeartbeat(good); err != nil {
		t.Error(err)
	} else if _, ok := peers(t, h); !ok { // observers call Peers without Run
		t.Error("a heartbeat that does not run waits")
	}
}
