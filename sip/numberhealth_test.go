package sip_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/siptest"
)

// status stores a status for a trunk, in place of the current one.
func (h *house) status(t sip.Trunk, s sip.Status) {
	h.t.Helper()
	s.TrunkID, s.Org, s.Number = t.ID, t.Org, t.Number
	if err := siptest.StageStatus(h.t.Context(), h.statuses, s); err != nil {
		h.t.Fatal(err)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	h := open(t)
	out := outbound("sip:x.example")
	out.Verify = new(sip.VerifyNone)
	h.attach("a", []string{one}, registering("sip:x.example"), out)
	got, err := h.Health(t.Context(), "a", one)
	if err != nil || got.State != health.Unchecked || got.CheckedAt != nil || got.Uptime != nil || got.Average != nil ||
		got.Verify != sip.VerifyNone || got.Number != one || got.Registration == nil || got.Registration.State != sip.Registering {
		t.Errorf("before anything is known: %+v, %v", got, err)
	}

	h.status(*h.get("a", one).Outbound, sip.Status{
		Active: 1,
		Servers: []sip.ServerStatus{
			{Server: failover.Server{Host: "x.example"}, Health: health.Server{
				State: health.Recovering, Since: start, CheckedAt: start.Add(time.Minute), ResponseTime: time.Second, Reason: "200 OK",
			}},
			{Server: failover.Server{Host: "y.example"}, Health: health.Server{
				State: health.Suspect, Since: start, CheckedAt: start, ResponseTime: 40 * time.Millisecond, Reason: "no answer",
			}, Samples: []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond}},
			{Server: failover.Server{Host: "z.example"}, Health: health.Server{State: health.Unchecked}},
		},
		History: health.History{
			Days: []health.Day{{Date: start.Truncate(24 * time.Hour), Up: 3 * time.Hour, Down: time.Hour}},
		},
	})
	got, err = h.Health(t.Context(), "a", one)
	if err != nil || got.State != health.Healthy || !got.CheckedAt.Equal(start.Add(time.Minute)) || *got.ResponseTime != 40*time.Millisecond ||
		*got.Uptime != 75 || *got.Average != 30*time.Millisecond || *got.P95 != 60*time.Millisecond || len(got.Servers) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	first, last := got.Servers[0], got.Servers[2]
	if first.State != health.Unreachable || first.Active || !got.Servers[1].Active || first.Reason != "200 OK" || !first.Since.Equal(start) {
		t.Errorf("the first server is %+v", first)
	}
	if last.State != health.Unchecked || last.CheckedAt != nil || last.ResponseTime != nil {
		t.Errorf("the last server is %+v", last)
	}
}

func TestHealthOfInbound(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, inbound())
	got, err := h.Health(t.Context(), "a", one)
	if err != nil || got.State != health.Unchecked || got.Verify != "" || len(got.Servers) != 0 || got.Registration != nil || got.Number != one {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, org := range []callwright.OrgID{"a", "b"} {
		if _, err := h.Health(t.Context(), org, map[callwright.OrgID]string{"a": two, "b": one}[org]); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	}
	_, err = h.Health(t.Context(), "a", "abc")
	wantField(t, err, callwright.CodeBadRequest, "phone_number")
}

// counting counts the calls of List and StatusesOf.
type counting struct {
	sip.Store
	sip.Statuses
	n int
}

func (c *counting) List(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]sip.Trunk, error) {
	c.n++
	return c.Store.List(ctx, org, after, limit)
}

func (c *counting) StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]sip.Status, error) {
	c.n++
	return c.Statuses.StatusesOf(ctx, org, trunkIDs)
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{two}, inbound())
	h.attach("a", []string{one}, outbound("sip:x.example"), inbound())
	h.attach("a", []string{"+15550000003"}, outbound("sip:y.example"))
	h.attach("b", []string{"+15550000004"}, inbound())
	h.status(*h.get("a", one).Outbound, sip.Status{Servers: []sip.ServerStatus{
		{Health: health.Server{State: health.Unreachable}}, {Server: failover.Server{Port: 1}, Health: health.Server{State: health.Suspect}},
	}})
	h.status(*h.get("a", two).Inbound, sip.Status{}) // as if the inbound trunk had alerts
	asked := &counting{Store: sipstore.Trunks{Store: h.store}, Statuses: h.statuses}
	counted := configured(h.store)
	counted.Store, counted.Statuses = asked, asked
	s, err := sip.New(counted)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Numbers(t.Context(), "a")
	want := "[{+15550000001 [inbound outbound] sip:x.example healthy :1 <nil>} {+15550000002 [inbound]  unchecked  <nil>} " +
		"{+15550000003 [outbound] sip:y.example unchecked  <nil>}]"
	if fmt.Sprint(got) != want || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if asked.n != 2 {
		t.Errorf("the stores were asked %d times", asked.n)
	}
}

func TestNumbersPage(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one, two}, outbound("sip:x.example"))
	h.status(*h.get("a", one).Outbound, sip.Status{
		Servers: []sip.ServerStatus{{Server: failover.Server{Host: "x.example", Port: 5061}}},
		History: health.History{Days: []health.Day{{Date: start, Up: time.Hour, Down: time.Hour}}},
	})
	page, err := h.NumbersPage(t.Context(), "a", callwright.Keyset{}, 1)
	if err != nil || len(page.Items) != 1 || page.Items[0].Number != one || page.Items[0].Active != "x.example:5061" || *page.Items[0].Uptime != 50 {
		t.Fatalf("the first page: %+v, %v", page, err)
	}
	page, err = h.NumbersPage(t.Context(), "a", page.Next, 1)
	if err != nil || len(page.Items) != 1 || page.Items[0].Number != two || !page.Next.IsZero() {
		t.Errorf("the last page: %+v, %v", page, err)
	}
	if _, err := h.NumbersPage(t.Context(), "a", callwright.Keyset{}, 501); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("a page of 501: %v", err)
	}
}

func TestCodecsOf(t *testing.T) {
	t.Parallel()
	h := open(t)
	chosen := &sip.CodecConfig{Codecs: []sip.CodecSetting{{Name: "G.729", Enabled: true}, {Name: "PCMA", Enabled: true}}, Transcode: true}
	for name, test := range map[string]struct {
		trunk sip.Trunk
		want  string
	}{
		"the standard": {sip.Trunk{}, "[{PCMU true} {PCMA true} {G.722 false}] false"},
		"a choice":     {sip.Trunk{Codecs: chosen}, "[{PCMA true} {PCMU false} {G.722 false}] true"},
	} {
		if c := h.CodecsOf(test.trunk); fmt.Sprint(c.Codecs, c.Transcode) != test.want {
			t.Errorf("%s: got %v", name, c)
		}
	}
}
