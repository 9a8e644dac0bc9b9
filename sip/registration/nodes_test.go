package registration_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/sip"
)

// rows does nothing more when it is too late, as databases do.
type rows struct {
	sip.Registrations
	hangs *atomic.Bool // the next look for what is due does not come back by itself
}

func (r rows) LeaseRegistrations(
	ctx context.Context, node string, now, until time.Time, limit int,
) ([]sip.Registration, error) {
	if r.hangs.Swap(false) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return r.Registrations.LeaseRegistrations(ctx, node, now, until, limit)
}

func (r rows) ReleaseRegistrations(ctx context.Context, node string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.Registrations.ReleaseRegistrations(ctx, node)
}

// TestBegunAnew strikes a registration and begins it anew, with another server, before its node has noticed.
func TestBegunAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(time.Hour))
		trunk := w.attach("1")
		defer w.run("n")()
		pass(2 * time.Second)
		trunk.Endpoint = "sip:other.example.com"
		if err := w.trunks().Update(t.Context(), trunk); err != nil {
			t.Fatal(err)
		}
		if err := w.rows().DeleteRegistration(t.Context(), org, trunk.ID); err != nil {
			t.Fatal(err)
		}
		w.put(trunk)
		pass(4 * time.Second)
		if r := w.row("1"); r.State != sip.Registered || w.line.last().Server.Host != "other.example.com" {
			t.Errorf("registered with %s: %+v", w.line.last().Server.Host, r)
		}
	})
}

// TestStopsBesideSilentServers stops a node whose servers don't answer any more, so that it can't take back all that it
// has in time: another node may have the registrations all the same.
func TestStopsBesideSilentServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many = 400
		w := newWorld(t, grants(time.Hour))
		for i := range many {
			w.attach(fmt.Sprint(i))
		}
		stop := w.run("n")
		pass(10 * time.Second)
		w.line.silent = true
		stop()
		now := time.Now()
		rows, err := w.rows().LeaseRegistrations(t.Context(), "other", now, now.Add(time.Minute), many)
		if err != nil || len(rows) != many {
			t.Errorf("another node gets %d of %d registrations, %v", len(rows), many, err)
		}
	})
}

// TestStoreHangs has the store not come back when it is asked for what is due.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(time.Hour))
		w.attach("1")
		w.hangs.Store(true)
		defer w.run("n")()
		pass(10 * time.Second)
		if r := w.row("1"); r.State != sip.Registered {
			t.Errorf("%+v", r)
		}
	})
}
