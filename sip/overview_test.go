package sip_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// day returns the status of a trunk with one server in the given state. The trunk was down for the given part of the last hour.
func day(host string, state health.State, down time.Duration) sip.Status {
	return sip.Status{
		Servers: []sip.ServerStatus{{Server: failover.Server{Host: host, Port: 5061}, Health: health.Server{State: state}}},
		History: health.History{
			Hours: []health.Hour{{Start: start.Add(-time.Hour).Truncate(time.Hour), Up: time.Hour - down, Down: down}}, Until: start,
		},
	}
}

func TestOverview(t *testing.T) {
	t.Parallel()
	h := open(t)
	if got, err := h.Overview(t.Context(), "a", 5); err != nil || got.Any || len(got.Counts) > 0 || len(got.Worst) > 0 {
		t.Errorf("without a trunk: %+v, %v", got, err)
	}
	h.attach("a", []string{one}, inbound())
	if got, err := h.Overview(t.Context(), "a", 5); err != nil || !got.Any || len(got.Counts) > 0 || len(got.Worst) > 0 {
		t.Errorf("with an inbound trunk: %+v, %v", got, err)
	}
	for i, status := range []sip.Status{
		day("0.example", health.Healthy, 0), day("1.example", health.Suspect, 15*time.Minute), day("2.example", health.Unchecked, 0),
		day("3.example", health.Unreachable, time.Hour), day("4.example", health.Recovering, 30*time.Minute),
	} {
		number := fmt.Sprintf("+1555000100%d", i)
		h.attach("a", []string{number}, outbound("sip:x.example"))
		h.status(*h.get("a", number).Outbound, status)
	}
	h.attach("b", []string{"+15550002000"}, outbound("sip:y.example"))
	h.status(*h.get("b", "+15550002000").Outbound, day("y.example", health.Unreachable, time.Hour))
	got, err := h.Overview(t.Context(), "a", 4)
	if err != nil || fmt.Sprint(got.Counts) != "map[healthy:2 unchecked:1 unreachable:2]" {
		t.Errorf("counted %v, %v", got.Counts, err)
	}
	var worst []string
	for _, d := range got.Worst {
		worst = append(worst, fmt.Sprintf("%s %s %s %.0f %d", d.Number[9:], d.Health, d.Active, *d.Uptime, len(d.Hours)))
	}
	want := "[003 unreachable 3.example:5061 0 1 004 unreachable 4.example:5061 50 1 001 healthy 1.example:5061 75 1 000 healthy 0.example:5061 100 1]"
	if fmt.Sprint(worst) != want {
		t.Errorf("the worst are %v, want %s", worst, want)
	}
	for _, limit := range []int{0, sip.MaxWorst + 1} {
		if _, err := h.Overview(t.Context(), "a", limit); !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("%d trunks: %v", limit, err)
		}
	}
}

// unread is a sip.Statuses whose CountStatuses always fails.
type unread struct{ sip.Statuses }

func (unread) CountStatuses(context.Context, callwright.OrgID, int) (map[health.State]int, error) {
	return nil, callwright.ErrUnavailable
}

func TestOverviewFails(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) { c.Statuses = unread{c.Statuses} })
	h.attach("a", []string{one}, outbound("sip:x.example"))
	if got, err := h.Overview(t.Context(), "a", 1); !errors.Is(err, callwright.ErrUnavailable) || got.Any {
		t.Errorf("got %+v, %v", got, err)
	}
}
