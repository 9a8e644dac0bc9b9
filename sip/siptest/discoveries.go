package siptest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/uri"
)

// RunDiscoveryStore tests a discovery.Store. newStore returns an empty store.
func RunDiscoveryStore(t *testing.T, newStore func(t *testing.T) discovery.Store) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[discovery.Store, discovery.Discovery]{
		New:     newStore,
		Org:     func(d *discovery.Discovery) *callwright.OrgID { return &d.Org },
		Version: func(d *discovery.Discovery) *int64 { return &d.Version },
		Insert:  func(s discovery.Store, ctx context.Context, d discovery.Discovery) error { return s.Begin(ctx, d, at) },
		Find: func(s discovery.Store, ctx context.Context, d discovery.Discovery) (discovery.Discovery, error) {
			return s.Get(ctx, d.Org, d.ID)
		},
		Change: func(d *discovery.Discovery, writer int) {
			d.Reason, d.Port, d.SRV, d.Attempts, d.Recommended, d.CompletedAt = "", uint16(writer), nil, nil, nil, nil
		},
		Replace: discovery.Store.Update,
	})
	tests := map[string]func(*testing.T, discovery.Store){
		"runs one at a time":                     runsOne,
		"runs one at a time in a race":           runsOneInRace,
		"hides other organizations' discoveries": hidesDiscoveries,
		"finds the newest that is the same":      findsRecent,
		"forgets":                                forgetsDiscoveries,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func lookAt(id string, org callwright.OrgID, host string, started time.Time) discovery.Discovery {
	return discovery.Discovery{
		ID: id, Org: org, Host: host, Status: discovery.Running, StartedAt: started, Version: 1,
	}
}

// complete adds a discovery and completes it.
func complete(t *testing.T, s discovery.Store, d discovery.Discovery, at time.Time) discovery.Discovery {
	t.Helper()
	err := s.Begin(t.Context(), d, at)
	d.Status, d.CompletedAt = discovery.Completed, &at
	if err := errors.Join(err, s.Update(t.Context(), d)); err != nil {
		t.Fatalf("complete %s: %v", d.ID, err)
	}
	d.Version++
	return d
}

func runsOne(t *testing.T, s discovery.Store) {
	first := lookAt("d1", "a", "x", at)
	if err := s.Begin(t.Context(), first, at); err != nil {
		t.Fatal(err)
	}
	stale := at.Add(-time.Microsecond)
	second := lookAt("d2", "a", "y", at.Add(time.Second))
	if err := s.Begin(t.Context(), second, stale); !errors.Is(err, callwright.ErrDiscoveryInProgress) {
		t.Errorf("a second one gave %v, want that one is in progress", err)
	}
	if _, err := s.Get(t.Context(), "a", "d2"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("the second one was kept: %v", err)
	}
	if err := s.Begin(t.Context(), lookAt("d3", "b", "x", at), stale); err != nil {
		t.Errorf("another organization's gave %v", err)
	}
	if err := s.Begin(t.Context(), lookAt("d3", "c", "x", at), stale); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a taken id gave %v, want a conflict", err)
	}
	if err := s.Begin(t.Context(), second, at); err != nil {
		t.Errorf("after one that is stale: %v", err)
	}
	second.Status = discovery.Failed
	if err := s.Update(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(t.Context(), lookAt("d4", "a", "x", at.Add(time.Minute)), at); err != nil {
		t.Errorf("after one that has failed: %v", err)
	}
}

func runsOneInRace(t *testing.T, s discovery.Store) {
	const rounds, racers = 5, 10
	for round := range rounds {
		org := callwright.OrgID(fmt.Sprint("o", round))
		var added atomic.Int32
		var wait sync.WaitGroup
		for i := range racers {
			wait.Go(func() {
				d := lookAt(fmt.Sprint("d", round, "-", i), org, fmt.Sprint("host", i), at)
				switch err := s.Begin(t.Context(), d, at.Add(-time.Minute)); {
				case err == nil:
					added.Add(1)
				case !errors.Is(err, callwright.ErrDiscoveryInProgress):
					t.Errorf("begin: %v", err)
				}
			})
		}
		wait.Wait()
		if n := added.Load(); n != 1 {
			t.Fatalf("%d of %d run at once", n, racers)
		}
	}
}

func hidesDiscoveries(t *testing.T, s discovery.Store) {
	d := complete(t, s, lookAt("d1", "a", "x", at), at.Add(time.Second))
	d.Org = "b"
	_, getErr := s.Get(t.Context(), "b", "d1")
	_, recentErr := s.Recent(t.Context(), d, at)
	for name, err := range map[string]error{"get": getErr, "recent": recentErr, "update": s.Update(t.Context(), d)} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
}

func findsRecent(t *testing.T, s discovery.Store) {
	wanted := lookAt("new", "a", "x", at.Add(time.Hour))
	wanted.Port, wanted.Transport = 5070, uri.TCP
	same := func(id string, completed time.Duration, change func(d *discovery.Discovery)) {
		d := wanted
		d.ID, d.StartedAt = id, at
		change(&d)
		complete(t, s, d, at.Add(completed))
	}
	same("d1", time.Second, func(*discovery.Discovery) {})
	same("d2", 3*time.Second, func(*discovery.Discovery) {})
	same("d3", 2*time.Second, func(*discovery.Discovery) {})
	same("other host", 9*time.Second, func(d *discovery.Discovery) { d.Host = "y" })
	same("other port", 9*time.Second, func(d *discovery.Discovery) { d.Port = 0 })
	same("other transport", 9*time.Second, func(d *discovery.Discovery) { d.Transport = "" })
	failed := wanted
	failed.ID, failed.Version = "failed", 2
	if err := s.Begin(t.Context(), failed, at.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	completed := at.Add(9 * time.Second)
	failed.Status, failed.CompletedAt, failed.Version = discovery.Failed, &completed, 1
	if err := s.Update(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	for _, since := range []time.Time{at, at.Add(3 * time.Second)} {
		if got, err := s.Recent(t.Context(), wanted, since); err != nil || got.ID != "d2" {
			t.Errorf("since %v: %q, %v; want d2", since, got.ID, err)
		}
	}
	since := at.Add(3*time.Second + time.Microsecond)
	if got, err := s.Recent(t.Context(), wanted, since); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("since %v: %q, %v; want not found", since, got.ID, err)
	}
}

func forgetsDiscoveries(t *testing.T, s discovery.Store) {
	complete(t, s, lookAt("old", "a", "x", at), at.Add(time.Second))
	complete(t, s, lookAt("kept", "b", "x", at.Add(time.Second)), at.Add(time.Second))
	if err := s.Begin(t.Context(), lookAt("old and running", "c", "x", at), at); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteOld(t.Context(), at.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for id, org := range map[string]callwright.OrgID{"old": "a", "kept": "b", "old and running": "c"} {
		if _, err := s.Get(t.Context(), org, id); (err == nil) != (id == "kept") {
			t.Errorf("%s: %v", id, err)
		}
	}
}
