package calllog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
)

// house contains a service over a log in memory, with a fake Monitor.
type house struct {
	*calllog.Service
	t       *testing.T
	clock   *clock
	monitor *watcher
	store   sipstore.CallLog
	printed *bytes.Buffer // log output
}

// configured returns a complete configuration over an empty store in memory.
func configured() calllog.Config {
	memory := memstore.New()
	return calllog.Config{
		Store: sipstore.CallLog{Store: memory}, Leases: memstore.Leases{Store: memory}, Monitor: &watcher{}, Node: "n1",
	}
}

func open(t *testing.T, change ...func(*calllog.Config)) *house {
	t.Helper()
	c := configured()
	h := &house{t: t, clock: &clock{now: start}, monitor: &watcher{}, store: c.Store.(sipstore.CallLog), printed: new(bytes.Buffer)}
	c.Monitor, c.Clock, c.Logger = h.monitor, h.clock, slog.New(slog.NewTextHandler(h.printed, nil))
	for _, f := range change {
		f(&c)
	}
	var err error
	if h.Service, err = calllog.New(c); err != nil {
		t.Fatal(err)
	}
	return h
}

// beat renews the lease of another node, as if that node were alive.
func (h *house) beat(name string) {
	h.t.Helper()
	now := time.Now()
	leases := memstore.Leases{Store: h.store.Store}
	if _, err := leases.Claim(h.t.Context(), "sip.node", name, []string{name}, now, now.Add(node.LeaseTTL)); err != nil {
		h.t.Fatal(err)
	}
}

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// watcher is a Monitor that records the observed servers and reasons.
type watcher struct{ observed, reasons []string }

func (w *watcher) Observe(_ context.Context, _ callwright.OrgID, trunkID, server string, e health.Evidence) {
	w.observed = append(w.observed, trunkID+" "+server)
	w.reasons = append(w.reasons, e.Reason)
}

// The numbers that the tests use.
const (
	one = "+15550000001"
	two = "+15550000002"
)

// wantField checks that an error is a *callwright.Error with the given code and field.
func wantField(t *testing.T, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || e.Field != field {
		t.Errorf("got %v (%s), want %s about %q", err, callwright.CodeOf(err), code, field)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for message, change := range map[string]func(*calllog.Config){
		"calllog: Config.Store is required":              func(c *calllog.Config) { c.Store = nil },
		"calllog: Config.Leases is required":             func(c *calllog.Config) { c.Leases = nil },
		"calllog: Config.Monitor is required":            func(c *calllog.Config) { c.Monitor = nil },
		"calllog: Config.Node is required":               func(c *calllog.Config) { c.Node = "" },
		"calllog: Config.Keep must be at least 24 hours": func(c *calllog.Config) { c.Keep = alert.MaxRateWindow - 1 },
	} {
		c := configured()
		change(&c)
		if _, err := calllog.New(c); err == nil || err.Error() != message {
			t.Errorf("got %v, want %s", err, message)
		}
	}
	if _, err := calllog.New(configured()); err != nil {
		t.Errorf("with required fields alone: %v", err)
	}
}
