package sip_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/monitor"
)

// house contains a service over a store in memory, with fakes for its other ports.
type house struct {
	*sip.Service
	t             *testing.T
	store         *memstore.Store
	clock         *clock
	monitor       *watcher
	numbers       registry
	statuses      sipstore.Statuses
	registrations sipstore.Registrations
	printed       *bytes.Buffer // log output
}

// open returns a house with two organizations: "a", which has a contact address, and "b".
func open(t *testing.T, change ...func(*sip.Config)) *house {
	t.Helper()
	store := memstore.New()
	h := &house{
		t: t, store: store, clock: &clock{now: start}, monitor: newWatcher(t, store, monitor.Config{Mailer: mailer{}, Hooks: hooks{}}),
		numbers: registry{}, printed: new(bytes.Buffer),
		statuses: sipstore.Statuses{Store: store}, registrations: sipstore.Registrations{Store: store},
	}
	tenants := orgstore.Tenants{Store: store}
	for _, o := range []callwright.Organization{{ID: "a", ContactEmail: "ops@example.com"}, {ID: "b"}} {
		if err := tenants.InsertOrganization(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	c := configured(store)
	c.Numbers, c.Monitor, c.Clock, c.Logger = h.numbers, h.monitor, h.clock, slog.New(slog.NewTextHandler(h.printed, nil))
	for _, f := range change {
		f(&c)
	}
	var err error
	if h.Service, err = sip.New(c); err != nil {
		t.Fatal(err)
	}
	return h
}

// configured returns a configuration with only the required fields.
func configured(store *memstore.Store) sip.Config {
	return sip.Config{
		Store: sipstore.Trunks{Store: store}, Atomic: store, Statuses: sipstore.Statuses{Store: store},
		Registrations: sipstore.Registrations{Store: store},
		Codecs:        []string{"PCMU", "PCMA", "G722"}, DerivationKey: callwright.Secret(strings.Repeat("k", 32)),
	}
}

func private(c *sip.Config) { c.AllowPrivate = true }

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// registry is an InboundNumbers that records the registered numbers and their organizations.
type registry map[callwright.PhoneNumber]callwright.OrgID

func (r registry) RegisterInbound(_ context.Context, org callwright.OrgID, n callwright.PhoneNumber) error {
	r[n] = org
	return nil
}

func (r registry) ReleaseInbound(_ context.Context, org callwright.OrgID, n callwright.PhoneNumber) error {
	if r[n] == org {
		delete(r, n)
	}
	return nil
}

// watcher is a Monitor that records calls of Watch and Unwatch, and returns servers in reverse order. It checks channels like the real
// Monitor.
type watcher struct {
	*monitor.Service
	watched, forgotten []sip.Trunk
	err                error
}

func newWatcher(t *testing.T, store *memstore.Store, c monitor.Config) *watcher {
	t.Helper()
	c.Statuses, c.Trunks, c.Attempts = sipstore.Statuses{Store: store}, sipstore.Trunks{Store: store}, sipstore.CallLog{Store: store}
	c.Atomic, c.Work, c.Organizations = store, memstore.NewWork(store, nil), orgstore.Tenants{Store: store}
	c.Prober = noProber{}
	checks, err := monitor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{Service: checks}
}

// noProber is a monitor.Prober for tests that probe nothing: its methods must not be called.
type noProber struct{ monitor.Prober }

func (w *watcher) Watch(_ context.Context, t sip.Trunk) error {
	w.watched = append(w.watched, t)
	return w.err
}

func (w *watcher) Unwatch(_ context.Context, t sip.Trunk) error {
	w.forgotten = append(w.forgotten, t)
	return w.err
}

func (w *watcher) Servers(_ context.Context, t sip.Trunk) ([]failover.Server, error) {
	servers, _ := t.Servers()
	slices.Reverse(servers)
	return servers, w.err
}

// texter discards text messages.
type texter struct{}

func (texter) SendText(context.Context, callwright.OrgID, string, string) error { return nil }

// mailer discards mails.
type mailer struct{}

func (mailer) SendMail(context.Context, string, string, string, string) error { return nil }

// hooks discards notices, and accepts only https URLs.
type hooks struct{}

func (hooks) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

func (hooks) SendNotice(context.Context, string, alert.Notice) error { return nil }

// The numbers that most tests use.
const (
	one = "+15550000001"
	two = "+15550000002"
)

// attach attaches numbers, and stops the test if one fails.
func (h *house) attach(org callwright.OrgID, numbers []string, directions ...sip.DirectionInput) sip.Attached {
	h.t.Helper()
	done, err := h.Attach(h.t.Context(), org, sip.Attachment{Numbers: numbers, Directions: directions})
	if err != nil || len(done.Failed) > 0 {
		h.t.Fatalf("attach: %+v, %v", done.Failed, err)
	}
	return done
}

// get returns the trunks that an organization has attached to a number, which may be none. It stops the test on an error.
func (h *house) get(org callwright.OrgID, number string) sip.Record {
	h.t.Helper()
	r, err := h.Get(h.t.Context(), org, number)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func inbound() sip.DirectionInput { return sip.DirectionInput{Type: sip.Inbound} }

func outbound(endpoint string) sip.DirectionInput {
	return sip.DirectionInput{Type: sip.Outbound, Endpoint: &endpoint}
}

// registering returns an inbound direction that registers with a server. An empty endpoint means the server of the outbound direction.
func registering(endpoint string) sip.DirectionInput {
	return sip.DirectionInput{
		Type: sip.Inbound, AuthMode: new(sip.AuthRegister), Endpoint: &endpoint,
		Register: &sip.Credentials{Username: "alice", Password: "given-secret"},
	}
}

// wantField checks that an error is a *callwright.Error with the given code and field.
func wantField(t *testing.T, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || e.Field != field {
		t.Errorf("got %v (%s), want %s about %q", err, callwright.CodeOf(err), code, field)
	}
}
