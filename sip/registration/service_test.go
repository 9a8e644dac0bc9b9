package registration_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/registration"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const org = callwright.OrgID("org")

// line is a registration.Line with scripted responses. It records the requests.
type line struct {
	answer func(registration.Binding) (time.Duration, error)

	mu             sync.Mutex
	asked          []registration.Binding
	at             []time.Time
	bindingAttempt map[string]registration.Binding
	undone         []string
	silent         bool // Unregister takes 5 seconds, as with a silent server
	working        int
	most           int
}

func (l *line) Register(ctx context.Context, b registration.Binding) (time.Duration, error) {
	l.mu.Lock()
	l.asked, l.at = append(l.asked, b), append(l.at, time.Now())
	l.working++
	l.most = max(l.most, l.working)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.working--
	}()
	granted, err := l.answer(b)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.bindingAttempt[b.TrunkID] = b
	}
	return granted, err
}

func (l *line) Unregister(ctx context.Context, trunkID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent {
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		l.mu.Lock()
	}
	l.undone = append(l.undone, trunkID)
	delete(l.bindingAttempt, trunkID)
}

func (l *line) times() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.at)
}

func (l *line) last() registration.Binding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[len(l.asked)-1]
}

func grants(d time.Duration) func(registration.Binding) (time.Duration, error) {
	return func(registration.Binding) (time.Duration, error) { return d, nil }
}

func fails(err error) func(registration.Binding) (time.Duration, error) {
	return func(registration.Binding) (time.Duration, error) { return 0, err }
}

// world contains a store and a line, over which a test can run several nodes.
type world struct {
	*testing.T
	store *memstore.Store
	line  *line
	hangs atomic.Bool // passed to rows
	away  atomic.Bool // passed to rows
	log   *slog.Logger
}

func newWorld(t *testing.T, answer func(registration.Binding) (time.Duration, error)) *world {
	t.Helper()
	return &world{T: t, store: memstore.New(), line: &line{answer: answer, bindingAttempt: map[string]registration.Binding{}}}
}

func (w *world) rows() sip.Registrations {
	return rows{Registrations: sipstore.Registrations{Store: w.store}, hangs: &w.hangs, away: &w.away}
}

func (w *world) trunks() sip.Store { return sipstore.Trunks{Store: w.store} }

func (w *world) leases() node.Leases { return memstore.Leases{Store: w.store} }

// attach stores a trunk that registers, and its registration, as sip.Service does.
func (w *world) attach(id string) sip.Trunk {
	w.Helper()
	t := sip.Trunk{
		ID: id, Org: org, Number: callwright.PhoneNumber("+1555" + fmt.Sprintf("%07s", id)), Direction: sip.Inbound,
		Endpoint: "sip:pbx.example.com",
		Options: sip.Options{
			Port: 5071, AuthMode: sip.AuthRegister, Register: sip.Credentials{Username: "u" + id, Password: "secret"}, Verify: sip.VerifyChain,
		},
	}
	if err := w.trunks().Insert(context.Background(), t); err != nil {
		w.Fatal(err)
	}
	w.put(t)
	t.Version = 1
	return t
}

func (w *world) put(t sip.Trunk) {
	w.Helper()
	now := time.Now().UTC()
	if err := w.rows().StoreRegistration(context.Background(), sip.Registration{
		TrunkID: t.ID, Org: t.Org, Number: t.Number, State: sip.Registering, Since: now, NextAt: now,
	}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) row(id string) sip.Registration {
	w.Helper()
	r, err := w.rows().Registration(context.Background(), org, id)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// run runs a service as a node in the background. stop ends it and waits for it.
func (w *world) run(node string) (stop func()) {
	w.Helper()
	s, err := registration.New(registration.Config{
		Registrations: w.rows(), Leases: w.leases(), Trunks: w.trunks(), Line: w.line, Node: node, Runtime: callwright.Runtime{Logger: w.log},
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

func pass(d time.Duration) {
	time.Sleep(d) // takes no real time in a synctest bubble
	synctest.Wait()
}

func TestRegistersRefreshesAndTakesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(100*time.Second))
		trunk := w.attach("1")
		stop := w.run("n")
		pass(2 * time.Second)
		r, b := w.row("1"), w.line.last()
		if r.State != sip.Registered || r.ExpiresAt.Sub(r.Since) != 100*time.Second || r.NextAt.Sub(r.Since) != 85*time.Second {
			t.Errorf("%+v", r)
		}
		if b.User != trunk.ContactUser() || b.Server.String() != "sip:pbx.example.com:5071;transport=tls" || b.Verify != sip.VerifyChain ||
			b.Credentials.Username != "u1" || b.Credentials.Password.Reveal() != "secret" || b.Expires != time.Hour {
			t.Errorf("%+v", b)
		}
		pass(5 * time.Minute)
		at := w.line.times()
		if len(at) != 4 {
			t.Fatalf("asked %d times in 5 minutes", len(at))
		}
		for i, now := range at[1:] {
			if d := now.Sub(at[i]); d < 85*time.Second || d > 87*time.Second {
				t.Errorf("refreshed after %s", d)
			}
		}
		stop()
		if len(w.line.bindingAttempt) != 0 {
			t.Error("the binding stays")
		}
		if r := w.row("1"); r.State != sip.Registering {
			t.Errorf("%+v", r)
		}
	})
}

func TestAnotherNodeTakesOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(time.Hour))
		for i := range 20 {
			w.attach(fmt.Sprint(i))
		}
		stopFirst := w.run("first")
		pass(2 * time.Second)
		stopSecond := w.run("second")
		pass(time.Minute)
		if n := len(w.line.times()); n != 20 {
			t.Errorf("%d REGISTERs: a second node must leave the first one's alone", n)
		}
		stopFirst()
		pass(5 * time.Second)
		if n := len(w.line.bindingAttempt); n != 20 {
			t.Errorf("%d of 20 are registered again", n)
		}
		stopSecond()
	})
}

// TestDeadNodeIsFollowed checks that other nodes claim the registrations of a dead node after its lease has expired, even if its bindings
// look valid.
func TestDeadNodeIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(time.Hour))
		w.attach("1")
		now := time.Now()
		_, err := w.leases().Claim(t.Context(), "sip.registration", "dead", []string{"dead"}, now, now.Add(node.LeaseTTL))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := w.rows().ClaimRegistrations(t.Context(), "dead", now, 10)
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		rows[0].State, rows[0].ExpiresAt, rows[0].NextAt = sip.Registered, now.Add(time.Hour), now.Add(50*time.Minute)
		if err := w.rows().StoreRegistration(t.Context(), rows[0]); err != nil {
			t.Fatal(err)
		}
		defer w.run("n")()
		pass(node.LeaseTTL - time.Second)
		if n := len(w.line.times()); n != 0 {
			t.Errorf("%d REGISTERs while the lease lasts", n)
		}
		pass(node.LeaseRenewal + 2*time.Second)
		if r := w.row("1"); len(w.line.bindingAttempt) != 1 || r.State != sip.Registered {
			t.Errorf("%+v", r)
		}
	})
}

func TestBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fails(errors.New("no answer")))
		w.attach("1")
		defer w.run("n")()
		pass(time.Hour)
		if n := len(w.line.times()); n < 15 || n > 40 {
			t.Errorf("%d attempts in an hour", n)
		}
		if r := w.row("1"); r.State != sip.Registering || r.Reason != "no answer" || r.Failures < 10 {
			t.Errorf("%+v", r)
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refusal registration.Refusal
		state   sip.RegistrationState
		wait    time.Duration // minimum time before the second attempt
	}{
		"wrong password": {registration.Refusal{Code: 401, Reason: "401 Unauthorized", Auth: true}, sip.Refused, 5 * time.Minute},
		"forbidden":      {registration.Refusal{Code: 403, Reason: "403 Forbidden"}, sip.Refused, 5 * time.Minute},
		"moved":          {registration.Refusal{Code: 302, Reason: "302 Moved"}, sip.Refused, 5 * time.Minute},
		"decline":        {registration.Refusal{Code: 603, Reason: "603 Decline"}, sip.Refused, 5 * time.Minute},
		"busy":           {registration.Refusal{Code: 503, Reason: "503", RetryAfter: 2 * time.Minute}, sip.Registering, 2 * time.Minute},
		"timeout":        {registration.Refusal{Code: 408, Reason: "408"}, sip.Registering, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, fails(&tt.refusal))
				w.attach("1")
				defer w.run("n")()
				pass(2 * time.Second)
				if r := w.row("1"); r.State != tt.state || r.Reason != tt.refusal.Reason {
					t.Errorf("%+v", r)
				}
				pass(tt.wait + tt.wait/5 + 2*time.Second)
				at := w.line.times()
				if len(at) < 2 || at[1].Sub(at[0]) < tt.wait {
					t.Errorf("attempts at %v", at)
				}
			})
		})
	}
}

func TestServerWantsLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(b registration.Binding) (time.Duration, error) {
			if b.Expires < 2*time.Hour {
				return 0, &registration.Refusal{Code: 423, Reason: "423 Interval Too Brief", MinExpires: 2 * time.Hour}
			}
			return b.Expires, nil
		})
		w.attach("1")
		defer w.run("n")()
		pass(2 * time.Second)
		if r := w.row("1"); r.State != sip.Registered || r.ExpiresAt.Sub(r.Since) != 2*time.Hour || len(w.line.times()) != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestConnectionIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, grants(time.Hour))
		w.attach("1")
		defer w.run("n")()
		pass(2 * time.Second)
		first := w.line.last()
		first.Lost()
		pass(4 * time.Second)
		if r := w.row("1"); len(w.line.times()) != 2 || r.State != sip.Registered {
			t.Fatalf("%+v", r)
		}
		first.Lost() // the old connection is no longer used
		pass(4 * time.Second)
		if n := len(w.line.times()); n != 2 {
			t.Errorf("%d attempts", n)
		}
	})
}

// TestConnectionIsLostAtOnce checks that a connection that is lost before Register returns does not leave a binding that looks valid.
func TestConnectionIsLostAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := 0
		w := newWorld(t, func(b registration.Binding) (time.Duration, error) {
			if broken++; broken <= 3 {
				b.Lost()
			}
			return time.Hour, nil
		})
		w.attach("1")
		defer w.run("n")()
		pass(20 * time.Second)
		if r := w.row("1"); len(w.line.times()) != 4 || r.State != sip.Registered {
			t.Errorf("%d attempts, %+v", len(w.line.times()), r)
		}
	})
}

func TestTrunkChanges(t *testing.T) {
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
		w.put(trunk)
		pass(2 * time.Second)
		if got := w.line.last().Server.Host; got != "other.example.com" {
			t.Errorf("registered with %s", got)
		}
		if !slices.Equal(w.line.undone, []string{"1"}) || len(w.line.bindingAttempt) != 1 {
			t.Errorf("taken back: %v", w.line.undone)
		}
	})
}

func TestTrunkGoes(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*world, sip.Trunk) error{
		"with its registration": func(w *world, tr sip.Trunk) error {
			return errors.Join(w.trunks().Delete(context.Background(), tr), w.rows().DeleteRegistration(context.Background(), org, tr.ID))
		},
		"its registration only": func(w *world, tr sip.Trunk) error {
			return w.rows().DeleteRegistration(context.Background(), org, tr.ID)
		},
		"without it": func(w *world, tr sip.Trunk) error { return w.trunks().Delete(context.Background(), tr) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, grants(20*time.Second))
				trunk := w.attach("1")
				defer w.run("n")()
				pass(2 * time.Second)
				if err := remove(w, trunk); err != nil {
					t.Fatal(err)
				}
				pass(20 * time.Second)
				if len(w.line.bindingAttempt) != 0 || len(w.line.undone) == 0 {
					t.Errorf("bound %v, taken back %v", w.line.bindingAttempt, w.line.undone)
				}
				asked := len(w.line.times())
				pass(time.Minute)
				if len(w.line.times()) != asked {
					t.Error("it registers on")
				}
			})
		})
	}
}

// TestManyWithSlowServers checks that 1,000 registrations at slow servers succeed, and that the number of concurrent requests is limited.
func TestManyWithSlowServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(registration.Binding) (time.Duration, error) {
			time.Sleep(5 * time.Second)
			return time.Hour, nil
		})
		const many = 1000
		for i := range many {
			w.attach(fmt.Sprint(i))
		}
		stop := w.run("n")
		pass(90 * time.Second)
		if n := len(w.line.bindingAttempt); n != many || w.line.most > 100 {
			t.Errorf("%d of %d are registered, %d at once", n, many, w.line.most)
		}
		stop()
		if n := len(w.line.bindingAttempt); n != 0 {
			t.Errorf("%d stay", n)
		}
	})
}

func TestStopsWhileAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(registration.Binding) (time.Duration, error) {
			time.Sleep(20 * time.Second)
			return time.Hour, nil
		})
		w.attach("1")
		stop := w.run("n")
		pass(time.Second)
		stop()
		if len(w.line.bindingAttempt) != 0 || !slices.Contains(w.line.undone, "1") {
			t.Errorf("bound %v, taken back %v", w.line.bindingAttempt, w.line.undone)
		}
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	good := registration.Config{
		Registrations: w.rows(), Leases: w.leases(), Trunks: w.trunks(), Line: w.line, Node: "n",
	}
	for name, change := range map[string]func(*registration.Config){
		"no registrations": func(c *registration.Config) { c.Registrations = nil },
		"no leases":        func(c *registration.Config) { c.Leases = nil },
		"no trunks":        func(c *registration.Config) { c.Trunks = nil },
		"no line":          func(c *registration.Config) { c.Line = nil },
		"no node":          func(c *registration.Config) { c.Node = "" },
	} {
		cfg := good
		change(&cfg)
		if _, err := registration.New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
