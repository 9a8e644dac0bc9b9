package ban_test

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/ban"
	"github.com/callwright/callwright/sip/siptest"
)

// line is a ban.Line in memory.
type line struct {
	mu   sync.Mutex
	bans map[netip.Addr]time.Time
}

func (l *line) Bans() map[netip.Addr]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.bans, func(_ netip.Addr, until time.Time) bool { return !time.Now().Before(until) })
	return maps.Clone(l.bans)
}

func (l *line) Ban(source netip.Addr, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bans[source] = until
}

func (l *line) Lift(source netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.bans, source)
}

func TestLine(t *testing.T) {
	t.Parallel()
	siptest.RunBanLine(t, func(*testing.T) ban.Line { return &line{bans: map[netip.Addr]time.Time{}} })
}

// TestNodesShareBans checks that a ban of one node holds on all nodes, including a node that starts later, until the ban is lifted or ends.
func TestNodesShareBans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := memstore.Leases{Store: memstore.New()}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		start := func(node string) *line {
			l := &line{bans: map[netip.Addr]time.Time{}}
			s, err := ban.New(ban.Config{Leases: leases, Line: l, Node: node})
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() { _ = s.Run(ctx) })
			return l
		}
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		one, two := start("one"), start("two")
		synctest.Wait()
		scanner, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::")
		until := time.Now().Add(10 * time.Minute)
		one.Ban(scanner, until)
		two.Ban(other, until)
		pass(10 * time.Second)
		three := start("three")
		synctest.Wait()
		for name, l := range map[string]*line{"one": one, "two": two, "three": three} {
			if got := l.Bans(); len(got) != 2 || !got[scanner].Equal(until) {
				t.Errorf("node %s bans %v", name, got)
			}
		}
		all, err := ban.List(ctx, leases, time.Now())
		if err != nil || len(all) != 2 {
			t.Fatalf("the list is %v, %v", all, err)
		}

		lifted, err := ban.Lift(ctx, leases, netip.MustParseAddr("2001:db8::77"), time.Now())
		if err != nil || lifted.Source != other || lifted.Node != "two" {
			t.Errorf("lifted %+v, %v", lifted, err)
		}
		if _, err := ban.Lift(ctx, leases, other, time.Now()); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("lifted twice: %v", err)
		}
		pass(10 * time.Second)
		for name, l := range map[string]*line{"one": one, "two": two, "three": three} {
			if got := l.Bans(); len(got) != 1 || !got[scanner].Equal(until) {
				t.Errorf("after one was lifted, node %s bans %v", name, got)
			}
		}
		two.Ban(other, until.Add(time.Minute)) // the source misbehaves again
		pass(10 * time.Second)
		if got := one.Bans(); len(got) != 2 {
			t.Errorf("a source cannot be banned again: %v", got)
		}

		pass(15 * time.Minute)
		if all, err := ban.List(ctx, leases, time.Now()); err != nil || len(all) != 0 || len(one.Bans()) != 0 {
			t.Errorf("after their end: %v, %v", all, err)
		}
		if ended, err := leases.Expired(ctx, "sip-ban", time.Now(), 10); err != nil || len(ended) != 0 {
			t.Errorf("ended bans stay stored: %v, %v", ended, err)
		}
		cancel()
		running.Wait()
	})
}

// TestTrustLiftsBans checks that the bans of a source that becomes trusted are lifted on all nodes, and are no longer listed.
func TestTrustLiftsBans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := memstore.Leases{Store: memstore.New()}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		var trusted atomic.Bool
		carrier, scanner := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		var nodes []*line
		for _, name := range []string{"one", "two"} {
			l := &line{bans: map[netip.Addr]time.Time{}}
			s, err := ban.New(ban.Config{
				Leases: leases, Line: l, Node: name, Trusted: func(a netip.Addr) bool { return a == carrier && trusted.Load() },
			})
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() { _ = s.Run(ctx) })
			nodes = append(nodes, l)
		}
		until := time.Now().Add(10 * time.Minute)
		nodes[0].Ban(carrier, until)
		nodes[1].Ban(scanner, until.Add(time.Minute))
		expect := func(when string, want int) {
			t.Helper()
			time.Sleep(11 * time.Second)
			synctest.Wait()
			all, err := ban.List(ctx, leases, time.Now())
			if err != nil || len(all) != want || all[0].Source != scanner {
				t.Errorf("%s: listed are %v, %v", when, all, err)
			}
			for i, l := range nodes {
				if got := l.Bans(); len(got) != want || !got[scanner].Equal(until.Add(time.Minute)) {
					t.Errorf("%s: node %d bans %v", when, i, got)
				}
			}
		}
		expect("before", 2)
		trusted.Store(true)
		expect("after", 1)
		nodes[0].Ban(carrier, until) // a ban from just before the source became trusted
		expect("again", 1)
		cancel()
		running.Wait()
	})
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	if _, err := ban.New(ban.Config{}); err == nil {
		t.Error("a service without leases")
	}
}
