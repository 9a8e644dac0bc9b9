package registration_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// rows fails after the deadline of its context, as databases do.
type rows struct {
	sip.Registrations
	hangs *atomic.Bool // the next claim is stored but never returns
	away  *atomic.Bool // the database cannot be reached
}

var errAway = callwright.Errorf(callwright.CodeUnavailable, "the database is away")

func (r rows) RegistrationsOf(ctx context.Context, node string) ([]string, error) {
	if r.away.Load() {
		return nil, errAway
	}
	return r.Registrations.RegistrationsOf(ctx, node)
}

func (r rows) RegistrationNodes(ctx context.Context) ([]string, error) {
	if r.away.Load() {
		return nil, errAway
	}
	return r.Registrations.RegistrationNodes(ctx)
}

func (r rows) ClaimRegistrations(
	ctx context.Context, node string, now time.Time, limit int,
) ([]sip.Registration, error) {
	if r.away.Load() {
		return nil, errAway
	}
	taken, err := r.Registrations.ClaimRegistrations(ctx, node, now, limit)
	if len(taken) > 0 && r.hangs.Swap(false) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return taken, err
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

// TestStopsBesideSilentServers stops a node whose servers no longer answer, so that it cannot remove all bindings in time: another
// node can still claim the registrations.
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
		rows, err := w.rows().ClaimRegistrations(t.Context(), "other", time.Now(), many)
		if err != nil || len(rows) != many {
			t.Errorf("another node gets %d of %d registrations, %v", len(rows), many, err)
		}
	})
}

// TestStoreHangs loses the store's answer to a claim of due registrations, some of which look registered.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]sip.RegistrationState{"due": sip.Registering, "not due": sip.Registered} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, grants(time.Hour))
				w.attach("1")
				r := w.row("1")
				if r.State = state; state == sip.Registered {
					r.NextAt = r.NextAt.Add(time.Hour)
				}
				if err := w.rows().StoreRegistration(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				w.hangs.Store(true)
				defer w.run("n")()
				pass(20 * time.Second)
				if len(w.line.bindingAttempt) != 1 || w.row("1").State != sip.Registered {
					t.Errorf("%+v", w.row("1"))
				}
			})
		})
	}
}
