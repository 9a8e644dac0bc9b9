package calllog_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip/calllog"
)

// bubbled is the clock of a synctest bubble, in UTC.
type bubbled struct{}

func (bubbled) Now() time.Time { return time.Now().UTC() }

// running runs the service of a house in the background. stop ends it and waits for it.
func running(h *house) (stop func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func TestRunBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(c *calllog.Config) { c.Clock = bubbled{} })
		defer running(h)()
		r := h.logged("a", "c", time.Now())
		h.Begin(t.Context(), calllog.Record{ID: "own", Org: "a", Number: one, StartedAt: time.Now()})
		time.Sleep(time.Minute)
		synctest.Wait()
		if own, _, err := h.Get(t.Context(), "a", "own"); err != nil || own.EndedAt != nil {
			t.Errorf("the call of a node that lives is %+v, %v", own, err)
		}
		got, _, err := h.Get(t.Context(), "a", "c")
		if err != nil || got.EndedAt == nil || got.Cause != "node_lost" || got.Reason == "" || got.Technical {
			t.Errorf("got %+v, %v", got, err)
		}
		if got.EndedAt != nil && !got.EndedAt.Equal(r.StartedAt) {
			t.Errorf("ended at %v: it is not known to have been there after %v", got.EndedAt, r.StartedAt)
		}
	})
}

// TestRunKnowsWhenANodeLived checks that the recorded end of a lost call is within one heartbeat of its node's last heartbeat, and not
// before the answer.
func TestRunKnowsWhenANodeLived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(c *calllog.Config) { c.Clock = bubbled{} })
		defer running(h)()
		began := time.Now()
		h.logged("a", "c", began)
		for time.Since(began) < time.Minute { // n2 is alive for a minute
			h.beat("n2")
			time.Sleep(time.Second)
		}
		late := h.logged("a", "late", time.Now())
		if err := h.store.Answer(t.Context(), "a", "late", late.StartedAt.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		got, _, err := h.Get(t.Context(), "a", "c")
		if err != nil || got.EndedAt == nil || got.EndedAt.Sub(began) < 56*time.Second || got.EndedAt.Sub(began) > time.Minute {
			t.Errorf("got %+v, %v", got, err)
		}
		if got, _, err := h.Get(t.Context(), "a", "late"); err != nil || got.EndedAt == nil || got.EndedAt.Before(*got.AnsweredAt) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// outage is a Leases whose Renew fails before the time in the field until.
type outage struct {
	node.Leases
	until time.Time
}

func (o *outage) Renew(ctx context.Context, kind, node string, now, until time.Time) ([]node.Lease, error) {
	if time.Now().Before(o.until) {
		return nil, callwright.ErrUnavailable
	}
	return o.Leases.Renew(ctx, kind, node, now, until)
}

// TestRunAfterAnOutage checks that no record is ended right after an outage of the database: every lease has expired, but each node must be
// given time to renew its lease.
func TestRunAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := &outage{}
		h := open(t, func(c *calllog.Config) {
			leases.Leases, c.Leases, c.Clock = c.Leases, leases, bubbled{}
		})
		h.logged("a", "c", time.Now())
		leases.until = time.Now().Add(time.Minute)
		defer running(h)()
		time.Sleep(time.Minute + 10*time.Second)
		h.beat("n2") // n2 renews its lease late
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got, _, err := h.Get(t.Context(), "a", "c"); err != nil || got.EndedAt != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		if !strings.Contains(h.printed.String(), "level=ERROR") {
			t.Error("nobody was told of the outage")
		}
	})
}

// TestRunClosesMany checks that all records of a dead node are ended, even if one query cannot return all of them.
func TestRunClosesMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(c *calllog.Config) { c.Clock = bubbled{} })
		for i := range 250 {
			h.logged("a", string(rune('A'+i)), time.Now())
		}
		stop := running(h)
		time.Sleep(17 * time.Second)
		synctest.Wait()
		stop()
		lost, err := h.store.Lost(t.Context(), nil, time.Now().Add(time.Hour), 1000)
		if err != nil || len(lost) != 0 {
			t.Errorf("%d records are left, %v", len(lost), err)
		}
	})
}

func TestRunForgetsOldCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(c *calllog.Config) { c.Clock, c.Keep = bubbled{}, 24*time.Hour })
		const calls = 501 // one more than deleteAtMost
		for i := range calls {
			r := h.logged("a", "c"+strconv.Itoa(i), time.Now())
			ended := r.StartedAt.Add(time.Minute)
			if err := h.store.Finish(t.Context(), "a", r.ID, calllog.End{EndedAt: &ended}, nil); err != nil {
				t.Fatal(err)
			}
		}
		defer running(h)()
		for _, want := range []struct {
			after time.Duration
			left  int
		}{{23 * time.Hour, 1}, {2 * time.Hour, 0}} {
			time.Sleep(want.after)
			synctest.Wait()
			left, err := h.store.List(t.Context(), "a", one, callwright.Keyset{}, 1)
			if err != nil || len(left) != want.left {
				t.Errorf("%d are left after %s, %v; want %d", len(left), want.after, err, want.left)
			}
		}
	})
}
