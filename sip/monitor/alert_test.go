package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
)

// alerting returns a trunk whose alert is raised over all channels when its server has been unreachable for two minutes.
func alerting(id, server string) sip.Trunk {
	t := outbound(id, server)
	t.Alerts = &alert.Config{
		Enabled:    true,
		Thresholds: alert.Thresholds{Unreachable: 2 * time.Minute},
		Channels:   alert.Channels{Email: true, SMS: true, Webhook: "https://example.com/hook"},
	}
	return t
}

// everywhere returns the messages of all channels about one notice of the alert. edge is the number of the notice.
func everywhere(edge int, text string) []string {
	said := fmt.Sprintf("0001.unreachable.%d SIP trunk +15550000001 (outbound) %s", edge, text)
	return []string{
		"mail to ops@example.com: " + said, "text to a: " + said, "hook to https://example.com/hook: " + said,
	}
}

func TestAlertOnceAnEdge(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(alerting("0001", "one"))
		h.wait("0001", 20*time.Second, unreachable)
		time.Sleep(115 * time.Second)
		h.wantTold()
		time.Sleep(75 * time.Second)
		h.wantTold(everywhere(1, "has an unreachable server")...)
		time.Sleep(10 * time.Minute)
		h.wantTold()
		h.set(func(p *prober) { p.down["one"] = false })
		time.Sleep(2 * time.Minute)
		h.wantTold()
		time.Sleep(80 * time.Second)
		h.wantTold(everywhere(2, "has all of its servers again")...)
		time.Sleep(10 * time.Minute)
		h.wantTold()
	})
}

// TestAlertOfASpareServer checks that an unreachable spare server raises an alert, although calls continue over the other server.
func TestAlertOfASpareServer(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := alerting("0001", "one")
		trunk.Failover.Servers = outbound("0001", "one", "two").Failover.Servers
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(trunk)
		h.wait("0001", 20*time.Second, unreachable, healthy)
		h.wantOrder(trunk, "two")
		time.Sleep(3*time.Minute + 10*time.Second)
		h.wantTold(everywhere(1, "has an unreachable server")...)
	})
}

// TestFlappingTrunk checks that a server that toggles for two hours causes a limited number of notices.
func TestFlappingTrunk(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		trunk := alerting("0001", "one")
		trunk.Alerts.Channels = alert.Channels{Webhook: "https://example.com/hook"}
		h.attach(trunk)
		for range 12 {
			for _, down := range []bool{true, false} {
				h.set(func(p *prober) { p.down["one"] = down })
				time.Sleep(5 * time.Minute)
			}
		}
		synctest.Wait()
		h.desk.set(func(d *desk) {
			if n, most := len(d.told), 2*2*60/12; n == 0 || n > most {
				t.Errorf("told %d times in 2 hours, at most %d are allowed", n, most)
			}
		})
	})
}

// TestBrokenChannel checks that each channel retries separately, so that a broken channel does not repeat messages on the others.
func TestBrokenChannel(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.desk.set(func(d *desk) { d.broken["hook"], d.broken["mail"] = true, true })
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(alerting("0001", "one"))
		time.Sleep(30 * time.Minute)
		want := everywhere(1, "has an unreachable server")
		h.wantTold(want[1])
		h.desk.set(func(d *desk) {
			if d.tries["text"] != 1 || d.tries["hook"] != 4 || d.tries["mail"] <= 5 {
				t.Errorf("tried %v", d.tries)
			}
			d.broken["mail"] = false
		})
		callwrighttest.WantDeliveries(t, h.config.HookLog, org, "alert +15550000001 example.com pending 4")
		time.Sleep(20 * time.Minute)
		h.wantTold(want[0])
		h.desk.set(func(d *desk) { d.broken["hook"] = false })
		time.Sleep(2 * time.Hour)
		callwrighttest.WantDeliveries(t, h.config.HookLog, org, "alert +15550000001 example.com delivered 6")
		h.wantTold(want[2])
	})
}

// TestAlertThatIsGivenUp checks that a webhook message is given up after a day, or as soon as the webhook or its trunk is deleted.
func TestAlertThatIsGivenUp(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		meanwhile func(h *house, trunk sip.Trunk)
		want      string
	}{
		"no answer": {func(*house, sip.Trunk) {}, "alert +15550000001 example.com given_up 11"},
		"no webhook": {func(h *house, trunk sip.Trunk) {
			trunk.Alerts.Channels = alert.Channels{Email: true}
			h.check(sipstore.Trunks{Store: h.store}.Update(h.t.Context(), trunk))
		}, "alert +15550000001 example.com given_up 3"},
		"no trunk": {func(h *house, trunk sip.Trunk) {
			h.check(sipstore.Trunks{Store: h.store}.Delete(h.t.Context(), trunk))
		}, "alert +15550000001 example.com given_up 3"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				h.desk.set(func(d *desk) { d.broken["hook"] = true })
				h.set(func(p *prober) { p.down["one"] = true })
				trunk := alerting("0001", "one")
				trunk.Alerts.Channels = alert.Channels{Webhook: "https://example.com/hook?token=hunter2"}
				h.attach(trunk)
				time.Sleep(4 * time.Minute)
				callwrighttest.WantDeliveries(t, h.config.HookLog, org, "alert +15550000001 example.com pending 3")
				trunk, err := sipstore.Trunks{Store: h.store}.Trunk(t.Context(), org, trunk.ID)
				h.check(err)
				test.meanwhile(h, trunk)
				time.Sleep(25 * time.Hour)
				callwrighttest.WantDeliveries(t, h.config.HookLog, org, test.want)
			})
		})
	}
}

// TestRestartFiresNoAlert checks that the time during which no service runs does not count toward an alert's threshold, and that a raised
// alert is not sent again after a restart.
func TestRestartFiresNoAlert(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(alerting("0001", "one"))
		h.wait("0001", 20*time.Second, unreachable)
		h.stop()
		time.Sleep(time.Hour)
		h.start()
		time.Sleep(30 * time.Second)
		h.wantTold()
		time.Sleep(4 * time.Minute)
		h.wantTold(everywhere(1, "has an unreachable server")...)
		h.stop()
		time.Sleep(time.Hour)
		h.start()
		time.Sleep(10 * time.Minute)
		h.wantTold()
	})
}

// mortal is an Atomic that loses transactions while dying is set, as if the process were killed at the commit.
type mortal struct {
	callwright.Atomic
	dying atomic.Bool
}

func (m *mortal) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil || !m.dying.Load() {
			return err
		}
		return errors.New("killed")
	})
}

// TestEdgeOutlivesItsProcess checks that an alert is sent exactly once, even if the process is killed before or after the commit that
// raises it.
func TestEdgeOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	inHouse(t, func(t *testing.T, h *house) {
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(alerting("0001", "one"))
		h.wait("0001", 20*time.Second, unreachable)
		m.dying.Store(true)
		time.Sleep(4 * time.Minute)
		h.wantTold()
		if s := h.status("0001").Alerts[alert.Unreachable]; s.Raised {
			t.Errorf("the alert is %+v though nobody will be told", s)
		}
		m.dying.Store(false)
		h.stop()
		h.desk.set(func(d *desk) { d.broken["hook"], d.broken["mail"], d.broken["text"] = true, true, true })
		h.start()
		h.waitRaised("0001")
		h.wantTold()
		h.stop()
		h.desk.set(func(d *desk) { clear(d.broken) })
		h.start()
		time.Sleep(time.Minute)
		h.wantTold(everywhere(1, "has an unreachable server")...)
		time.Sleep(10 * time.Minute)
		h.wantTold()
	}, func(c *monitor.Config) { m.Atomic, c.Atomic = c.Atomic, m })
}

// TestCallDuringAnEdge checks that a notice is sent although a call changes the status while the alert is raised.
func TestCallDuringAnEdge(t *testing.T) {
	t.Parallel()
	slow := &slowStatuses{}
	inHouse(t, func(_ *testing.T, h *house) {
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(alerting("0001", "one"))
		h.wait("0001", 20*time.Second, unreachable)
		time.Sleep(115 * time.Second)
		h.set(func(p *prober) { p.during["one"] = func() { slow.conflicts.Store(2) } })
		time.Sleep(75 * time.Second)
		h.wantTold(everywhere(1, "has an unreachable server")...)
	}, func(c *monitor.Config) { slow.Statuses, c.Statuses = c.Statuses, slow })
}

// attempts logs the given number of calls over a trunk. The calls have just ended.
func (h *house) attempts(trunk sip.Trunk, count int, technical bool) {
	h.t.Helper()
	now := time.Now().UTC()
	for range count {
		log := sipstore.CallLog{Store: h.store}
		id := new(callwright.UUIDs).New()
		h.check(log.Begin(h.t.Context(), calllog.Record{
			ID: id, Org: org, TrunkID: trunk.ID, Number: trunk.Number, StartedAt: now,
		}))
		h.check(log.Finish(h.t.Context(), org, id, calllog.End{EndedAt: &now, Technical: technical}, nil))
	}
}

// TestInboundFailureRate checks the alert about the failure rate of an inbound trunk, which has no servers.
func TestInboundFailureRate(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := sip.Trunk{ID: "0001", Org: org, Number: "+15550000001", Direction: sip.Inbound, Alerts: &alert.Config{
			Enabled:    true,
			Thresholds: alert.Thresholds{FailureRate: 50, FailureRateWindow: 10 * time.Minute, Unreachable: time.Minute},
			Channels:   alert.Channels{Webhook: "https://example.com/hook"},
		}}
		h.attach(trunk)
		h.attempts(trunk, 4, true)
		time.Sleep(70 * time.Second)
		h.wantTold()
		h.attempts(trunk, 4, false)
		time.Sleep(70 * time.Second)
		h.wantTold("hook to https://example.com/hook: 0001.failure_rate.1 SIP trunk +15550000001 (inbound) has too many failed calls")
		time.Sleep(14 * time.Minute)
		h.wantTold("hook to https://example.com/hook: 0001.failure_rate.2 SIP trunk +15550000001 (inbound) has few failed calls again")
	})
}

func TestSlowTrunk(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := alerting("0001", "one")
		trunk.Alerts.Thresholds = alert.Thresholds{ResponseTime: 20 * time.Millisecond}
		trunk.Alerts.Channels = alert.Channels{SMS: true}
		h.attach(trunk)
		time.Sleep(3 * time.Minute)
		h.wantTold()
		time.Sleep(3 * time.Minute)
		h.wantTold("text to a: 0001.response_time.1 SIP trunk +15550000001 (outbound) answers slowly")
	})
}

// TestNobodyToTell checks that a waiting notice is dropped without further attempts if its trunk, its alerts or its address is deleted.
func TestNobodyToTell(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(h *house, t sip.Trunk)
		told   int // number of messages over the remaining channels
	}{
		"no alerts":   {func(h *house, t sip.Trunk) { t.Alerts.Enabled = false; h.change(t) }, 0},
		"no channels": {func(h *house, t sip.Trunk) { t.Alerts.Channels = alert.Channels{}; h.change(t) }, 0},
		"no address": {func(h *house, _ sip.Trunk) {
			h.check(orgstore.Tenants{Store: h.store}.UpdateOrganization(h.t.Context(), callwright.Organization{ID: org}))
		}, 2},
		"no trunk": {func(h *house, t sip.Trunk) {
			stored, err := h.config.Trunks.Trunk(h.t.Context(), org, t.ID)
			h.check(err)
			h.check(h.store.Do(h.t.Context(), func(ctx context.Context) error {
				return errors.Join(sipstore.Trunks{Store: h.store}.Delete(ctx, stored), h.Unwatch(ctx, stored))
			}))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				h.desk.set(func(d *desk) { d.broken["hook"], d.broken["mail"], d.broken["text"] = true, true, true })
				h.set(func(p *prober) { p.down["one"] = true })
				trunk := alerting("0001", "one")
				h.attach(trunk)
				h.waitRaised("0001")
				test.change(h, trunk)
				var tries int
				h.desk.set(func(d *desk) {
					clear(d.broken)
					tries = d.tries["mail"]
				})
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				h.desk.set(func(d *desk) {
					if len(d.told) != test.told || d.tries["mail"] != tries {
						t.Errorf("told %v; mail was tried %d times more", d.told, d.tries["mail"]-tries)
					}
				})
			})
		})
	}
}

// TestTaskOfAnOlderRelease checks a task that an older release, which had no Task.Args, has enqueued: the message is read from the task's
// key.
func TestTaskOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.attach(alerting("0001", "one"))
		key := `{"trunk_id":"0001","channel":"webhook","notice":{"id":"n1","org":"` + string(org) + `","kind":"unreachable"}}`
		h.check(h.config.Work.Enqueue(t.Context(), callwright.Task{Kind: "sip.alert", Key: key, Org: org}))
		time.Sleep(time.Minute)
		synctest.Wait()
		h.desk.set(func(d *desk) {
			if len(d.told) != 1 || d.tries["hook"] != 1 {
				t.Errorf("told %v, tried %v", d.told, d.tries)
			}
		})
	})
}

func TestUnreadableTask(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.check(h.config.Work.Enqueue(t.Context(), callwright.Task{Kind: "sip.alert", Key: "{", Org: org}))
		time.Sleep(time.Hour)
		h.wantTold()
	})
}

// poisonedTrunks returns an error for the trunk "0001".
type poisonedTrunks struct{ monitor.Trunks }

func (s poisonedTrunks) Trunk(ctx context.Context, o callwright.OrgID, id string) (sip.Trunk, error) {
	if id == "0001" {
		return sip.Trunk{}, callwright.ErrInternal
	}
	return s.Trunks.Trunk(ctx, o, id)
}

// TestOneTrunkDoesNotHarmOthers checks that statuses are recorded although a trunk in the same batch cannot be read.
func TestOneTrunkDoesNotHarmOthers(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		for i := range 3 {
			h.attach(alerting(fmt.Sprintf("%04d", i), fmt.Sprint("s", i)))
		}
		time.Sleep(2 * time.Second)
		for id, want := range map[string]health.State{"0000": healthy, "0001": unchecked, "0002": healthy} {
			if got := h.status(id).Recorded; got != want {
				h.t.Errorf("%s is recorded as %s, want %s", id, got, want)
			}
		}
	}, func(c *monitor.Config) { c.Trunks = poisonedTrunks{c.Trunks} })
}
