package monitor_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
)

func TestNewNeedsItsPorts(t *testing.T) {
	t.Parallel()
	if _, err := monitor.New(monitor.Config{}); err == nil {
		t.Error("a service without ports was made")
	}
}

func TestTrunkComesAndGoes(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.attach(outbound("0001", "one"))
		h.wait("0001", 2*time.Second, health.Healthy)
		h.set(func(p *prober) { p.down["one"] = true })
		h.wait("0001", 67*time.Second, health.Suspect)
		h.wait("0001", 17*time.Second, health.Unreachable)
		h.set(func(p *prober) { p.down["one"] = false })
		h.wait("0001", 22*time.Second, health.Recovering)
		h.wait("0001", 7*time.Second, health.Healthy)
		s := h.status("0001")
		if s.Servers[0].Health.Reason != "200 OK" || s.Servers[0].Health.ResponseTime != 20*time.Millisecond {
			t.Errorf("health %+v", s.Servers[0].Health)
		}
		if mean, ok := s.History.Average(); !ok || mean != 20*time.Millisecond {
			t.Errorf("mean response time %s, %t", mean, ok)
		}
		if up, ok := s.History.Uptime(); !ok || up <= 50 || up >= 100 {
			t.Errorf("up for %g %%, %t", up, ok)
		}
	})
}

// TestEveryMinute checks that each of 500 trunks that are added together is probed immediately, again at its offset in the minute, and then
// exactly every minute, although responses take time.
func TestEveryMinute(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		const trunks = 500
		for i := range trunks {
			h.attach(outbound(fmt.Sprintf("%04d", i), fmt.Sprint("s", i)))
		}
		time.Sleep(20*time.Minute + 30*time.Second)
		synctest.Wait()
		perSecond := make([]int, 60)
		for i := range trunks {
			times := h.timesOf(fmt.Sprint("s", i))
			if len(times) < 21 || len(times) > 22 || times[0].Sub(begin) > 2*time.Second {
				t.Fatalf("trunk %d was probed %d times, first after %s", i, len(times), times[0].Sub(begin))
			}
			for j := range times[1:] {
				if d := times[j+1].Sub(times[j]); d != time.Minute && (j > 0 || d > time.Minute) {
					t.Fatalf("trunk %d was probed after %s", i, d)
				}
			}
			perSecond[times[len(times)-1].Second()]++
		}
		for second, n := range perSecond {
			if n > trunks/60*3 {
				t.Errorf("%d of %d in second %d", n, trunks, second)
			}
		}
	})
}

// TestSilentServers checks that the number of concurrent probes is limited, and that each of 2,000 silent servers is still probed every
// minute.
func TestSilentServers(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		const trunks, bound = 2000, 1000
		for i := range trunks {
			h.set(func(p *prober) { p.silent[fmt.Sprint("s", i)] = true })
			h.attach(outbound(fmt.Sprintf("%04d", i), fmt.Sprint("s", i)))
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		h.set(func(p *prober) {
			if p.most > bound {
				t.Errorf("%d probes at once", p.most)
			}
		})
		for i := range trunks {
			if s := h.status(fmt.Sprintf("%04d", i)); s.Servers[0].Health.State != health.Unreachable || s.Servers[0].Health.Reason != "no answer" {
				t.Fatalf("trunk %d: %+v", i, s.Servers[0].Health)
			}
			times := h.timesOf(fmt.Sprint("s", i))
			if last := time.Since(times[len(times)-1]); last > 75*time.Second {
				t.Fatalf("trunk %d was last probed %s ago", i, last)
			}
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.set(func(p *prober) { p.busy["one"] = 2 * time.Minute })
		h.attach(outbound("0001", "one"))
		time.Sleep(119 * time.Second)
		if n := len(h.timesOf("one")); n != 1 {
			t.Errorf("asked %d times in the two minutes", n)
		}
		time.Sleep(3 * time.Second)
		if n := len(h.timesOf("one")); n != 2 {
			t.Errorf("asked %d times after the two minutes", n)
		}
	})
}

func TestVerification(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		full, none := outbound("0001", "one"), outbound("0002", "two")
		none.Options.Verify = sip.VerifyNone
		h.attach(full)
		h.attach(none)
		time.Sleep(2 * time.Second)
		h.set(func(p *prober) {
			if p.verify["one"] != sip.VerifyFull || p.verify["two"] != sip.VerifyNone {
				t.Errorf("verified %v", p.verify)
			}
		})
	})
}

// TestOneProberPerTrunk checks that two nodes with the same store together probe a server no more often than a single node would.
func TestOneProberPerTrunk(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		stopFirst := h.stop
		defer stopFirst()
		h.start()
		for i := range 100 {
			h.attach(outbound(fmt.Sprintf("%04d", i), fmt.Sprint("s", i)))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		for i := range 100 {
			if n := len(h.timesOf(fmt.Sprint("s", i))); n > 12 {
				t.Fatalf("server %d was asked %d times in 10 minutes", i, n)
			}
		}
	})
}

// TestStopIsNoMiss checks that a probe that is aborted because the service stops does not count as a miss.
func TestStopIsNoMiss(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.set(func(p *prober) { p.silent["one"] = true })
		h.attach(outbound("0001", "one"))
		time.Sleep(2 * time.Second)
		h.stop()
		if s := h.status("0001").Servers[0].Health; s != (health.Server{State: health.Unchecked}) {
			t.Errorf("health %+v", s)
		}
		h.set(func(p *prober) { p.silent["one"] = false })
		h.start()
		time.Sleep(32 * time.Second) // the lease of the stopped node ends
		h.wantStates("0001", health.Healthy)
	})
}

// TestChangesDuringAProbe checks that the result of a probe does not overwrite changes that happen during the probe.
func TestChangesDuringAProbe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(h *house, t sip.Trunk)
		want   func(s sip.Status) bool
	}{
		"a call failed": {
			func(h *house, t sip.Trunk) { h.Observe(h.t.Context(), org, t.ID, "one", health.Evidence{}) },
			func(s sip.Status) bool { h := s.Servers[0].Health; return h.State == health.Unchecked && h.Streak == 2 },
		},
		"the server was replaced": {
			func(h *house, t sip.Trunk) { h.change(outbound(t.ID, "two")) },
			func(s sip.Status) bool { return len(s.Servers) == 1 && s.Servers[0].Health.CheckedAt.IsZero() },
		},
		"its certificate is checked in another way": {
			func(h *house, t sip.Trunk) { t.Options.Verify = sip.VerifyNone; h.change(t) },
			func(s sip.Status) bool { return s.Servers[0].Health.CheckedAt.IsZero() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				trunk := outbound("0001", "one")
				h.set(func(p *prober) {
					p.down["one"] = true
					p.during["one"] = func() {
						test.change(h, trunk)
						h.set(func(p *prober) { p.during["one"], p.silent["one"] = nil, true })
					}
					p.silent["two"] = true
				})
				h.attach(trunk)
				time.Sleep(1200 * time.Millisecond)
				synctest.Wait()
				if s := h.status("0001"); !test.want(s) {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}

func TestForgottenDuringAProbe(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		trunk := outbound("0001", "one")
		h.set(func(p *prober) { p.during["one"] = func() { h.check(h.Unwatch(h.t.Context(), trunk)) } })
		h.attach(trunk)
		time.Sleep(time.Minute)
		if _, err := h.config.Statuses.Status(t.Context(), org, "0001"); callwright.CodeOf(err) != callwright.CodeNotFound {
			t.Errorf("got %v", err)
		}
		if n := len(h.timesOf("one")); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// hung is a store whose first ClaimStatuses blocks until its context ends.
type hung struct {
	sip.Statuses
	dedupe sync.Once
}

func (s *hung) ClaimStatuses(ctx context.Context, now, until time.Time, limit int) (due []sip.Status, err error) {
	s.dedupe.Do(func() {
		<-ctx.Done()
		err = ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return s.Statuses.ClaimStatuses(ctx, now, until, limit)
}

func TestStoreHangs(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		h.attach(outbound("0001", "one"))
		h.wait("0001", 10*time.Second, healthy)
	}, func(c *monitor.Config) { c.Statuses = &hung{Statuses: c.Statuses} })
}
