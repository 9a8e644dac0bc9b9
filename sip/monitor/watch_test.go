package monitor_test

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
)

const (
	unchecked, healthy, suspect = health.Unchecked, health.Healthy, health.Suspect
	unreachable, recovering     = health.Unreachable, health.Recovering
)

// TestFailoverAndBack checks the order of servers while the first of three servers fails and recovers.
func TestFailoverAndBack(t *testing.T) {
	t.Parallel()
	for back, after := range map[failover.Failback][]string{
		failover.Auto: {"one", "two", "three"}, failover.Manual: {"two", "one", "three"},
	} {
		t.Run(string(back), func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(_ *testing.T, h *house) {
				trunk := outbound("0001", "one", "two", "three")
				trunk.Failover.Failback = back
				h.attach(trunk)
				h.wantOrder(trunk, "one", "two", "three")
				h.wait("0001", 2*time.Second, healthy, healthy, healthy)
				h.set(func(p *prober) { p.down["one"] = true })
				h.wait("0001", 68*time.Second, suspect, healthy, healthy)
				h.wantOrder(trunk, "one", "two", "three")
				h.wait("0001", 17*time.Second, unreachable, healthy, healthy)
				h.wantOrder(trunk, "two", "three")
				h.set(func(p *prober) { p.down["one"] = false })
				h.wait("0001", 22*time.Second, recovering, healthy, healthy)
				h.wantOrder(trunk, "two", "three")
				h.wait("0001", 7*time.Second, healthy, healthy, healthy)
				h.wantOrder(trunk, after...)
				h.change(trunk) // the owner changes the trunk, so that calls return to the first server
				h.wantOrder(trunk, "one", "two", "three")
			})
		})
	}
}

func TestAllServersDown(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := outbound("0001", "one", "two")
		h.set(func(p *prober) { p.down["one"], p.down["two"] = true, true })
		h.attach(trunk)
		h.wait("0001", 20*time.Second, unreachable, unreachable)
		h.wantOrder(trunk, "one", "two")
	})
}

// TestCallsAreEvidence checks that after a failed call this node's calls immediately avoid the server, and that after three failures the
// server is unreachable for all nodes.
func TestCallsAreEvidence(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := outbound("0001", "one", "two")
		h.attach(trunk)
		h.wait("0001", 2*time.Second, healthy, healthy)
		h.Observe(h.t.Context(), org, "0001", "one", health.Evidence{Reason: "no TLS"})
		h.wantStates("0001", suspect, healthy)
		h.wantOrder(trunk, "two")
		h.Observe(h.t.Context(), org, "0001", "two", health.Evidence{Reason: "no TLS"})
		h.wantOrder(trunk, "one", "two") // all have failed, so none is omitted
		h.Observe(h.t.Context(), org, "0001", "two", health.Evidence{Alive: true})
		h.wantStates("0001", suspect, healthy)
		h.wantOrder(trunk, "two")
		h.Observe(h.t.Context(), org, "0001", "one", health.Evidence{})
		h.Observe(h.t.Context(), org, "0001", "one", health.Evidence{})
		h.wantStates("0001", unreachable, healthy)
		if s := h.status("0001"); s.Current() != 1 {
			t.Errorf("active is %d", s.Current())
		}
		h.wait("0001", 22*time.Second, recovering, healthy)
		h.wait("0001", 7*time.Second, healthy, healthy)
		h.wantOrder(trunk, "two")
		time.Sleep(failover.OpenFor)
		h.wantOrder(trunk, "one", "two") // one call per OpenFor may try the failed server
		h.wantOrder(trunk, "two")
		h.Observe(h.t.Context(), org, "0001", "one", health.Evidence{Alive: true})
		h.wantOrder(trunk, "one", "two")
	})
}

// TestCallsDoNotPutProbesOff checks that constant evidence from calls, successful or not, does not delay probes.
func TestCallsDoNotPutProbesOff(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		h.attach(outbound("0001", "one"))
		for i := range 600 {
			time.Sleep(time.Second)
			h.Observe(h.t.Context(), org, "0001", "one", health.Evidence{Alive: i%2 == 0})
		}
		synctest.Wait()
		times := h.timesOf("one")
		if len(times) < 10 {
			t.Errorf("probed %d times in 10 minutes", len(times))
		}
		for i := range times[1:] {
			if d := times[i+1].Sub(times[i]); d > 68*time.Second {
				t.Errorf("probed after %s", d)
			}
		}
	})
}

// TestCallHonoursRetryAfter checks that a Retry-After in the response to a call delays probes.
func TestCallHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		h.attach(outbound("0001", "one"))
		h.wait("0001", 2*time.Second, healthy)
		h.Observe(h.t.Context(), org, "0001", "one", health.Evidence{RetryAfter: 2 * time.Minute})
		time.Sleep(119 * time.Second)
		synctest.Wait()
		if n := len(h.timesOf("one")); n != 1 {
			t.Errorf("probed %d times", n)
		}
		h.wait("0001", 3*time.Second, healthy)
	})
}

// TestNoNewsIsNotWritten checks that evidence that changes nothing is not written.
func TestNoNewsIsNotWritten(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.attach(outbound("0001", "one"))
		h.wait("0001", 2*time.Second, healthy)
		before := h.status("0001")
		h.Observe(t.Context(), org, "0001", "one", health.Evidence{Alive: true, ResponseTime: time.Hour})
		h.Observe(t.Context(), org, "0001", "another", health.Evidence{})
		h.Observe(t.Context(), org, "gone", "one", health.Evidence{})
		if after := h.status("0001"); !reflect.DeepEqual(after, before) {
			t.Errorf("it is %+v, was %+v", after, before)
		}
	})
}

// TestWatchGoesOn checks that a change of a trunk keeps the state of its unchanged servers.
func TestWatchGoesOn(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		trunk := outbound("0001", "one", "two")
		h.attach(trunk)
		h.set(func(p *prober) { p.down["one"] = true })
		h.wait("0001", 20*time.Second, unreachable, healthy)
		time.Sleep(70 * time.Second) // until the second server, which is now active, is probed again
		before := h.status("0001")
		asked := len(h.timesOf("one"))
		trunk.Alerts = &alert.Config{}
		h.change(trunk)
		after := h.status("0001")
		if after.Active != 1 || !reflect.DeepEqual(after.Servers, before.Servers) || len(after.History.Samples) == 0 {
			t.Errorf("status %+v, before %+v", after, before)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if n := len(h.timesOf("one")); n != asked {
			t.Errorf("probed %d times because of the change", n-asked)
		}
		trunk.Options.Verify = sip.VerifyNone
		h.change(trunk)
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if n := len(h.timesOf("one")); n != asked+1 {
			t.Errorf("probed %d times within a second because certificates are checked in another way", n-asked)
		}
		h.change(outbound("0001", "two", "three"))
		s := h.status("0001")
		if s.Servers[0].Health.State != healthy || s.Servers[1].Health != (health.Server{State: unchecked}) {
			t.Errorf("with other servers: %+v", s)
		}
	})
}

// TestWatchOfEndpoint checks that the endpoint of a trunk without failover is watched as its only server.
func TestWatchOfEndpoint(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		trunk := outbound("0001")
		trunk.Endpoint, trunk.Failover, trunk.Options.Port = "sip:pbx.example.com", nil, 5071
		h.wantOrder(trunk, "pbx.example.com:5071") // even before Watch is called
		h.attach(trunk)
		h.wantOrder(trunk, "pbx.example.com:5071")
		trunk.Endpoint = "tel:1"
		if err := h.Watch(t.Context(), trunk); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("an endpoint that is none gave %v", err)
		}
	})
}

func TestWatchOfInbound(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		trunk := sip.Trunk{ID: "0001", Org: org, Number: "+15550000001", Direction: sip.Inbound}
		h.attach(trunk)
		if _, err := h.config.Statuses.Status(t.Context(), org, "0001"); callwright.CodeOf(err) != callwright.CodeNotFound {
			t.Errorf("without alerts it is watched: %v", err)
		}
		trunk.Alerts = &alert.Config{Enabled: true}
		h.change(trunk)
		if s := h.status("0001"); len(s.Servers) != 0 || !s.Alerting {
			t.Errorf("status %+v", s)
		}
		trunk.Alerts.Enabled = false
		h.change(trunk)
		if s := h.status("0001"); s.Alerting {
			t.Errorf("status %+v", s)
		}
		if servers, err := h.Servers(t.Context(), trunk); err != nil || len(servers) != 0 {
			t.Errorf("calls go to %v, %v", servers, err)
		}
		h.check(h.Unwatch(t.Context(), trunk))
	})
}

// slowStatuses is a sip.Statuses whose StoreStatus returns CodeConflict a given number of times, as if another writer were faster.
type slowStatuses struct {
	sip.Statuses
	conflicts atomic.Int32
}

func (s *slowStatuses) StoreStatus(ctx context.Context, status sip.Status) error {
	if s.conflicts.Add(-1) >= 0 {
		return callwright.ErrConflict
	}
	return s.Statuses.StoreStatus(ctx, status)
}

func TestWatchTriesAgain(t *testing.T) {
	t.Parallel()
	slow := &slowStatuses{}
	inHouse(t, func(t *testing.T, h *house) {
		slow.conflicts.Store(3)
		h.check(h.Watch(t.Context(), outbound("0001", "one")))
		h.wantStates("0001", unchecked)
		slow.conflicts.Store(100)
		if err := h.Watch(t.Context(), outbound("0002", "one")); callwright.CodeOf(err) != callwright.CodeConflict {
			t.Errorf("got %v", err)
		}
		slow.conflicts.Store(0)
	}, func(c *monitor.Config) { slow.Statuses, c.Statuses = c.Statuses, slow })
}
