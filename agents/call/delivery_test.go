package call_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/delivery"
)

// address is the URL of the webhooks in these tests. Its path and query contain secrets.
const address = "https://hooks.example.com/services/hunter2-path?token=hunter2-query"

// post is a call.Notifier that returns answer for each record and each event. It records the times of the attempts to deliver records.
type post struct {
	call.Notifier
	mu     sync.Mutex
	answer error
	asked  []time.Time

	deliveries *delivery.Log
}

func (p *post) Notify(context.Context, callwright.OrgID, string, call.Call, []call.Entry, []pathway.Log) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, time.Now())
	return p.answer
}

func (p *post) NotifyEvent(context.Context, callwright.OrgID, string, call.Call, call.Notice) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer
}

func (p *post) set(answer error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// after returns the time of each attempt relative to the first attempt, rounded to seconds.
func (p *post) after() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []time.Duration
	for _, at := range p.asked {
		out = append(out, at.Sub(p.asked[0]).Round(time.Second))
	}
	return out
}

// logBuffer collects the log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) lines(with string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.buf.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

var errDown = callwright.Errorf(callwright.CodeUnavailable, "it answered with status 503")

// inPostOffice runs a test after the end of a call, with a house whose Notifier, p, returns answer. id is the call's id. After the test it
// checks that the log contains no secret of the webhook's URL.
func inPostOffice(t *testing.T, answer error, test func(t *testing.T, h *house, id string, p *post, logged *logBuffer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, logged := &post{answer: answer}, &logBuffer{}
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.Deliveries = callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()})
			p.deliveries, p.Notifier, c.Notifier, c.Logger = c.Deliveries, c.Notifier, p, slog.New(slog.NewTextHandler(logged, nil))
		})
		defer h.stop()
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		c := h.create(agents.Agent{Webhook: address})
		if c.Delivery.State != "" {
			t.Errorf("before its end, the call's delivery is %+v", c.Delivery)
		}
		h.ended(c.ID)
		test(t, h, c.ID, p, logged)
		if all := logged.lines("hunter2"); len(all) > 0 {
			t.Errorf("the log has secrets of the address: %s", all)
		}
	})
}

func (h *house) delivery(id string) call.Delivery {
	h.t.Helper()
	synctest.Wait()
	c, _, err := h.Get(h.t.Context(), "a", id)
	if err != nil {
		h.t.Fatal(err)
	}
	return c.Delivery
}

// TestWebhookThatIsDownForHours checks that a webhook receives the record after an outage of hours.
func TestWebhookThatIsDownForHours(t *testing.T) {
	t.Parallel()
	inPostOffice(t, errDown, func(t *testing.T, h *house, id string, p *post, logged *logBuffer) {
		waitFor(time.Minute)
		d := h.delivery(id)
		if d.State != call.DeliveryPending || d.Attempts != 3 || d.LastFailure != "it answered with status 503" || d.LastAttempt == nil {
			t.Errorf("after a minute the delivery is %+v", d)
		}
		callwrighttest.WantDeliveries(t, p.deliveries, "a", "call "+id+" hooks.example.com pending 3")
		waitFor(12 * time.Hour)
		p.set(nil)
		waitFor(12 * time.Hour)
		d = h.delivery(id)
		last := p.asked[len(p.asked)-1]
		if d.State != call.DeliveryDelivered || d.Attempts != len(p.asked) || d.LastFailure == "" || !d.LastAttempt.Equal(last) {
			t.Errorf("asked at %v; the delivery is %+v", p.after(), d)
		}
		if p.after()[len(p.asked)-1] != 14*time.Hour || len(logged.lines("given up")) != 0 {
			t.Errorf("asked at %v", p.after())
		}
		callwrighttest.WantDeliveries(t, p.deliveries, "a", fmt.Sprintf("call %s hooks.example.com delivered %d", id, len(p.asked)))
	})
}

// TestWebhookThatIsDownForGood checks that the delivery is given up after a day, and that the record and the log show it.
func TestWebhookThatIsDownForGood(t *testing.T) {
	t.Parallel()
	inPostOffice(t, errDown, func(t *testing.T, h *house, id string, p *post, logged *logBuffer) {
		waitFor(72 * time.Hour)
		got := p.after()
		if first, last := got[1], got[len(got)-1]; len(got) != 11 || first != 5*time.Second || last != 24*time.Hour {
			t.Errorf("asked at %v", got)
		}
		d := h.delivery(id)
		if d.State != call.DeliveryGivenUp || d.Attempts != len(got) || d.LastFailure != "it answered with status 503" {
			t.Errorf("the delivery is %+v", d)
		}
		lines := logged.lines("given up")
		if len(lines) != 1 || !strings.Contains(lines[0], id) || !strings.Contains(lines[0], "hooks.example.com") || !strings.Contains(lines[0], "level=ERROR") {
			t.Errorf("logged %q", lines)
		}
		callwrighttest.WantDeliveries(t, p.deliveries, "a", "call "+id+" hooks.example.com given_up 11")
	})
}

// TestWebhookThatRefuses checks that a delivery is given up after the first attempt if the webhook refuses the record permanently.
func TestWebhookThatRefuses(t *testing.T) {
	t.Parallel()
	refusal := callwright.Errorf(callwright.CodeForbidden, "it answered with status 410")
	inPostOffice(t, refusal, func(t *testing.T, h *house, id string, p *post, logged *logBuffer) {
		waitFor(72 * time.Hour)
		d := h.delivery(id)
		if d.State != call.DeliveryGivenUp || d.Attempts != 1 || len(p.asked) != 1 || d.LastFailure != "it answered with status 410" {
			t.Errorf("asked at %v; the delivery is %+v", p.after(), d)
		}
		callwrighttest.WantDeliveries(t, p.deliveries, "a", "call "+id+" hooks.example.com given_up 1")
		if lines := logged.lines("given up"); len(lines) != 1 {
			t.Errorf("logged %q", lines)
		}
	})
}

// TestWebhookThatTakesTheRecord checks that an accepted record is delivered at the first attempt.
func TestWebhookThatTakesTheRecord(t *testing.T) {
	t.Parallel()
	inPostOffice(t, nil, func(t *testing.T, h *house, id string, p *post, _ *logBuffer) {
		waitFor(time.Hour)
		if d := h.delivery(id); d.State != call.DeliveryDelivered || d.Attempts != 1 || d.LastFailure != "" || len(p.asked) != 1 {
			t.Errorf("asked at %v; the delivery is %+v", p.after(), d)
		}
		callwrighttest.WantDeliveries(t, p.deliveries, "a")
	})
}

// TestCallWithoutWebhook checks that a call without a webhook has no delivery.
func TestCallWithoutWebhook(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		if c, _ := h.ended(h.create(agents.Agent{}).ID); c.Delivery != (call.Delivery{}) {
			t.Errorf("the delivery is %+v", c.Delivery)
		}
	})
}
