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

// rows is a sip.Registrations that can fail like a database: while away is set, at the next claim if hangs is set, and when it releases
// registrations after its context has ended.
type rows struct {
	sip.Registrations
	hangs *atomic.Bool // the next claim is stored, but blocks until its context ends
	away  *atomic.Bool // the database is unreachable for claims and for reads of nodes
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

// TestBegunAnew checks that a registration that is deleted and added again with another server is registered there, even if its node has
// not noticed the deletion.
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

// TestStopsBesideSilentServers checks that a node that stops releases its registrations, even if silent servers prevent it from removing
// all bindings in time.
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

// TestStoreHangs checks that registrations are claimed again if the store's answer to a claim is lost, whether they are due or look
// registered.
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
