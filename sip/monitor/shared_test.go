package monitor_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// TestNumbersOfOneServer checks that a server that three numbers share is probed once a minute, and that all numbers show the server's
// state. One number spells the server in capitals; another uses it as the first of two servers.
func TestNumbersOfOneServer(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		ids := []string{"0001", "0002", "0003"}
		h.attach(outbound("0001", "one.example"))
		h.wait("0001", 2*time.Second, healthy)
		capital, spare := outbound("0002", "One.Example"), outbound("0003", "one.example", "two.example")
		h.attach(capital)
		h.attach(spare)
		h.wantOne(ids...)
		h.wantStates("0002", healthy)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		asked := append(h.timesOf("one.example"), h.timesOf("One.Example")...)
		if len(asked) < 11 || len(asked) > 12 {
			t.Errorf("asked %d times in ten minutes", len(asked))
		}
		for i := range asked[1:] {
			if d := asked[i+1].Sub(asked[i]); i > 0 && d != time.Minute {
				t.Errorf("asked after %s", d)
			}
		}
		h.Observe(t.Context(), org, "0002", "One.Example", health.Evidence{Reason: "no TLS"})
		h.wantOne(ids...)
		h.Observe(t.Context(), org, "0003", "one.example", health.Evidence{Reason: "no TLS"})
		h.Observe(t.Context(), org, "0001", "one.example", health.Evidence{Reason: "no TLS"})
		h.wantOne(ids...)
		h.wantStates("0002", unreachable)
		h.wantOrder(spare, "two.example") // the evidence came from calls of all three numbers
		time.Sleep(2 * time.Second)
		for _, id := range ids[:2] {
			if s := h.status(id); s.Recorded != unreachable {
				t.Errorf("%s is counted as %s", id, s.Recorded)
			}
		}
		h.check(h.Unwatch(t.Context(), capital))
		h.wantOne("0001", "0003")
	})
}

// TestAnyOrderOfEvidence checks that all numbers of a server always show the same health, and that a change of a number does not reset the
// health. Evidence from probes and calls is reported in random order, partly concurrently, while numbers are attached and changed.
func TestAnyOrderOfEvidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 40).Draw(r, "steps")
		inHouse(t, func(t *testing.T, h *house) {
			ids := []string{"0001", "0002"}
			for _, id := range ids {
				h.attach(outbound(id, "one"))
			}
			for at, step := range steps {
				id := ids[step%len(ids)]
				before := h.status(ids[0]).Servers[0].Health
				switch step / 10 {
				case 0, 1, 2:
					h.Observe(t.Context(), org, id, "one", health.Evidence{Reason: "no TLS"})
				case 3, 4:
					h.Observe(t.Context(), org, id, "one", health.Evidence{Alive: true})
				case 5:
					h.set(func(p *prober) { p.down["one"] = !p.down["one"] })
				case 6:
					time.Sleep(time.Duration(step) * time.Second)
				case 7:
					changed := outbound(id, "one")
					changed.Alerts = &alert.Config{Enabled: step%2 == 0}
					h.change(changed)
					wantKept(t, h, ids[0], before)
				case 8:
					ids = append(ids, fmt.Sprintf("1%03d", at))
					h.attach(outbound(ids[len(ids)-1], "one"))
					wantKept(t, h, ids[0], before)
				default:
					for _, id := range ids {
						go h.Observe(t.Context(), org, id, "one", health.Evidence{Alive: step%2 == 0, Reason: "a call"})
					}
				}
				h.wantOne(ids...)
			}
		})
	})
}

func wantKept(t *testing.T, h *house, id string, before health.Server) {
	t.Helper()
	if got := h.status(id).Servers[0].Health; got != before {
		t.Errorf("it was reset to %+v from %+v", got, before)
	}
}

// TestOneAlertForAServer checks that only one of three numbers with the same server and alerts sends the notices, even after one of the
// numbers is deleted, and that a number with other alerts sends separate notices.
func TestOneAlertForAServer(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		h.set(func(p *prober) { p.down["one"] = true })
		var numbers []sip.Trunk
		for _, id := range []string{"0001", "0002", "0003", "0004"} {
			trunk := alerting(id, "one")
			trunk.Alerts.Channels = alert.Channels{Email: true}
			if id == "0004" {
				trunk.Alerts.Thresholds.Unreachable = 4 * time.Minute
			}
			numbers = append(numbers, trunk)
			h.attach(trunk)
		}
		time.Sleep(3*time.Minute + 20*time.Second)
		h.wantTold("mail to ops@example.com: 0001.unreachable.1 SIP trunk +15550000001 (outbound, and 2 more numbers) has an unreachable server")
		time.Sleep(2 * time.Minute)
		h.wantTold("mail to ops@example.com: 0004.unreachable.1 SIP trunk +15550000004 (outbound) has an unreachable server")
		stored, err := h.config.Trunks.Trunk(h.t.Context(), org, "0001")
		h.check(err)
		h.check(sipstore.Trunks{Store: h.store}.Delete(h.t.Context(), stored))
		h.check(h.Unwatch(h.t.Context(), numbers[0]))
		h.set(func(p *prober) { p.down["one"] = false })
		time.Sleep(5 * time.Minute)
		h.wantTold("mail to ops@example.com: 0002.unreachable.2 SIP trunk +15550000002 (outbound, and 1 more number) has all of its servers again",
			"mail to ops@example.com: 0004.unreachable.2 SIP trunk +15550000004 (outbound) has all of its servers again")
	})
}

// TestOtherServersAreApart checks that neither different organizations nor trunks with different certificate verification share the health
// of a server.
func TestOtherServersAreApart(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		foreign, unverified := outbound("0002", "one"), outbound("0003", "one")
		foreign.Org, unverified.Options.Verify = "b", sip.VerifyNone
		h.attach(outbound("0001", "one"))
		h.attach(foreign)
		h.attach(unverified)
		h.wait("0003", 2*time.Second, healthy)
		for range 3 {
			h.Observe(t.Context(), org, "0001", "one", health.Evidence{Reason: "the certificate is not trusted"})
		}
		h.wantStates("0001", unreachable)
		h.wantStates("0003", healthy)
		if s, err := h.config.Statuses.Status(t.Context(), "b", "0002"); err != nil || s.State() != healthy {
			t.Errorf("another organization's number is %s, %v", s.State(), err)
		}
		if n := len(h.timesOf((failover.Server{Host: "one"}).String())); n != 3 {
			t.Errorf("asked %d times, want once for each", n)
		}
	})
}
