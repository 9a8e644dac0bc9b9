package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/monitor"
)

// deliveries returns descriptions of the deliveries about a trunk's number, sorted.
func (h *house) deliveries(trunk sip.Trunk) []string {
	h.t.Helper()
	synctest.Wait()
	all, err := sipstore.Deliveries{Store: h.store}.DeliveriesOf(h.t.Context(), org, trunk.Number, callwright.Keyset{}, 500)
	h.check(err)
	var texts []string
	for _, d := range all {
		texts = append(texts, fmt.Sprintf("%s to %q: %s %s resolved=%t %s, %d tries, done %t %s",
			d.Channel, d.To, d.Direction, d.Kind, d.Resolved, d.State, d.Attempts, d.DoneAt != nil, d.Error))
	}
	slices.Sort(texts)
	return texts
}

func (h *house) wantDeliveries(trunk sip.Trunk, want ...string) {
	h.t.Helper()
	if got := h.deliveries(trunk); !slices.Equal(got, want) {
		h.t.Errorf("after %s the deliveries are\n%q\nwant\n%q", h.elapsed(), got, want)
	}
}

// recorded configures a monitor to store deliveries, in the same memory as its statuses.
func recorded(c *monitor.Config) {
	c.Deliveries = sipstore.Deliveries{Store: c.Statuses.(sipstore.Statuses).Store} //nolint:forcetypeassert // it is ours
}

// secretHook is a webhook URL that contains keys, which deliveries must not reveal.
const secretHook = "https://user:key@hooks.example.com:8443/services/KEY?token=KEY"

func TestDeliveries(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := alerting("0001", "one")
		trunk.Alerts.Channels.Webhook = secretHook
		h.desk.set(func(d *desk) { d.broken["hook"], d.broken["mail"] = true, true })
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(trunk)
		h.wait("0001", 20*time.Second, unreachable)
		h.wantDeliveries(trunk)
		h.waitRaised("0001")
		h.wantDeliveries(trunk,
			`email to "ops@example.com": outbound unreachable resolved=false pending, 1 tries, done false the service is not available: try again later`,
			`sms to "": outbound unreachable resolved=false sent, 1 tries, done true `,
			`webhook to "https://hooks.example.com:8443": outbound unreachable resolved=false pending, 1 tries, done false the service is not available: try again later`)
		time.Sleep(30 * time.Minute)
		h.desk.set(func(d *desk) { clear(d.broken) })
		h.set(func(p *prober) { p.down["one"] = false })
		time.Sleep(2 * time.Hour)
		mail := fmt.Sprintf(`email to "ops@example.com": outbound unreachable resolved=false sent, %d tries, done true `, h.triesOf("mail")-1)
		h.wantDeliveries(trunk, mail,
			`email to "ops@example.com": outbound unreachable resolved=true sent, 1 tries, done true `,
			`sms to "": outbound unreachable resolved=false sent, 1 tries, done true `,
			`sms to "": outbound unreachable resolved=true sent, 1 tries, done true `,
			`webhook to "https://hooks.example.com:8443": outbound unreachable resolved=false sent, 6 tries, done true `,
			`webhook to "https://hooks.example.com:8443": outbound unreachable resolved=true sent, 1 tries, done true `)
		stored, err := h.config.Trunks.Trunk(h.t.Context(), org, "0001")
		h.check(err)
		h.check(h.Unwatch(h.t.Context(), stored))
		h.wantDeliveries(trunk)
	}, recorded)
}

func (h *house) triesOf(channel string) (n int) {
	h.desk.set(func(d *desk) { n = d.tries[channel] })
	return n
}

// TestDeliveriesThatEnd checks the deliveries of a channel that is turned off while a notice waits, and of a webhook that refuses
// permanently.
func TestDeliveriesThatEnd(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := alerting("0001", "one")
		h.desk.set(func(d *desk) { d.broken["mail"], d.broken["text"], d.refuses = true, true, true })
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(trunk)
		h.waitRaised("0001")
		trunk.Alerts = &alert.Config{Enabled: true, Thresholds: trunk.Alerts.Thresholds, Channels: alert.Channels{Email: true}}
		h.change(trunk)
		time.Sleep(10 * time.Minute)
		h.desk.set(func(d *desk) { clear(d.broken) })
		time.Sleep(10 * time.Minute)
		mail := fmt.Sprintf(`email to "ops@example.com": outbound unreachable resolved=false sent, %d tries, done true `, h.triesOf("mail"))
		h.wantDeliveries(trunk, mail,
			`sms to "": outbound unreachable resolved=false withdrawn, 2 tries, done true the alerts or their channel were turned off`,
			`webhook to "https://example.com": outbound unreachable resolved=false given_up, 1 tries, done true it is gone`)
	}, recorded)
}

// TestDeliveriesOutliveTheProcess checks that deliveries are stored once, even if the process is killed at the commit that raises the
// alert.
func TestDeliveriesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := alerting("0001", "one")
		trunk.Alerts.Channels = alert.Channels{SMS: true}
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(trunk)
		h.wait("0001", 20*time.Second, unreachable)
		m.dying.Store(true)
		time.Sleep(4 * time.Minute)
		h.wantDeliveries(trunk)
		m.dying.Store(false)
		h.waitRaised("0001")
		time.Sleep(time.Minute)
		h.wantDeliveries(trunk, `sms to "": outbound unreachable resolved=false sent, 1 tries, done true `)
	}, recorded, func(c *monitor.Config) { m.Atomic, c.Atomic = c.Atomic, m })
}

// TestDeliveriesAreForgotten checks that deliveries older than 90 days are deleted.
func TestDeliveriesAreForgotten(t *testing.T) {
	t.Parallel()
	inHouse(t, func(_ *testing.T, h *house) {
		trunk := sip.Trunk{ID: "t", Org: org, Number: "+15550000007"}
		for i := range 600 {
			d := sip.Delivery{ID: fmt.Sprint(i), Org: org, TrunkID: trunk.ID, Number: trunk.Number, CreatedAt: time.Now().Add(-91 * 24 * time.Hour)}
			if i == 0 {
				d.CreatedAt = time.Now()
			}
			h.check(h.config.Deliveries.AddDelivery(h.t.Context(), d, 1000))
		}
		time.Sleep(time.Hour + time.Minute)
		if n := len(h.deliveries(trunk)); n != 1 {
			h.t.Errorf("%d are left", n)
		}
	}, recorded)
}

// unwritten is a sip.Deliveries whose ReportDelivery always fails.
type unwritten struct{ sip.Deliveries }

var errUnwritten = errors.New("unwritten")

func (unwritten) ReportDelivery(context.Context, sip.Delivery) error { return errUnwritten }

// TestUnwrittenOutcome checks that a notice is sent again if its outcome cannot be stored, as after a crash of the process.
func TestUnwrittenOutcome(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		trunk := alerting("0001", "one")
		trunk.Alerts.Channels = alert.Channels{SMS: true}
		h.set(func(p *prober) { p.down["one"] = true })
		h.attach(trunk)
		h.waitRaised("0001")
		time.Sleep(5 * time.Minute)
		if n := h.triesOf("text"); n < 2 {
			t.Errorf("it was tried %d times", n)
		}
		h.wantDeliveries(trunk, `sms to "": outbound unreachable resolved=false pending, 0 tries, done false `)
	}, recorded, func(c *monitor.Config) { c.Deliveries = unwritten{c.Deliveries} })
}
