package monitor_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// prober is a fake Prober. Every server is up unless a test changes it.
type prober struct {
	mu     sync.Mutex
	down   map[string]bool
	silent map[string]bool // servers that do not respond before the probe times out
	busy   map[string]time.Duration
	codes  map[string]int    // statuses with which servers respond instead of 200
	during map[string]func() // functions that are called while a server is being probed
	asked  map[string][]time.Time
	verify map[string]sip.TLSVerification
	now    int // number of probes in progress
	most   int
}

func newProber() *prober {
	return &prober{
		down: map[string]bool{}, silent: map[string]bool{}, busy: map[string]time.Duration{}, codes: map[string]int{},
		during: map[string]func(){}, asked: map[string][]time.Time{}, verify: map[string]sip.TLSVerification{},
	}
}

func (p *prober) Options(ctx context.Context, s failover.Server, verify sip.TLSVerification) health.Evidence {
	name := s.String()
	p.mu.Lock()
	p.asked[name] = append(p.asked[name], time.Now())
	p.verify[name] = verify
	p.now++
	p.most = max(p.most, p.now)
	down, silent, busy, code, during := p.down[name], p.silent[name], p.busy[name], p.codes[name], p.during[name]
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.now--
		p.mu.Unlock()
	}()
	if during != nil {
		during()
	}
	if silent {
		<-ctx.Done()
	}
	var e health.Evidence
	switch {
	case silent:
		e.Reason = "no answer"
	case busy > 0:
		e.Reason, e.RetryAfter = "503 Busy", busy
	case down:
		e.Reason = "connection refused"
	case code == 408, code == 502, code == 503, code == 504:
		e.Reason = strconv.Itoa(code)
	default:
		e.Alive, e.ResponseTime, e.Reason = true, 20*time.Millisecond, fmt.Sprintf("%d OK", cmp.Or(code, 200))
	}
	return e
}

func (p *prober) set(change func(p *prober)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *prober) timesOf(server string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked[server])
}

// desk implements Mailer, Texter and Hooks, and records the messages. A test can make a channel fail.
type desk struct {
	mu      sync.Mutex
	broken  map[string]bool
	refuses bool // the webhook refuses permanently
	tries   map[string]int
	told    []string
}

func (d *desk) take(channel, to, id, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries[channel]++
	if d.broken[channel] {
		return callwright.ErrUnavailable
	}
	d.told = append(d.told, fmt.Sprintf("%s to %s: %s %s", channel, to, id, text))
	return nil
}

func (d *desk) SendMail(_ context.Context, id, to, subject, _ string) error {
	return d.take("mail", to, id, subject)
}

func (d *desk) SendText(_ context.Context, org callwright.OrgID, id, text string) error {
	return d.take("text", string(org), id, text)
}

func (*desk) CheckURL(string) error { return nil }

func (d *desk) SendNotice(_ context.Context, url string, n alert.Notice) error {
	err := d.take("hook", url, n.ID, n.Subject())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses {
		err = callwright.Errorf(callwright.CodeForbidden, "it is gone")
	}
	return err
}

func (d *desk) set(change func(d *desk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// taken returns the messages since the last call, sorted.
func (d *desk) taken() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	told := slices.Sorted(slices.Values(d.told))
	d.told = nil
	return strings.Join(told, "\n")
}

// house contains a monitor over a store in memory. It must run in a synctest bubble.
type house struct {
	t      *testing.T
	store  *memstore.Store
	config monitor.Config
	*monitor.Service
	*prober
	desk *desk
	stop func()
}

const org callwright.OrgID = "a"

func newHouse(t *testing.T, change ...func(c *monitor.Config)) *house {
	t.Helper()
	h := &house{t: t, store: memstore.New()}
	h.prober = newProber()
	h.desk = &desk{broken: map[string]bool{}, tries: map[string]int{}}
	tenants := orgstore.Tenants{Store: h.store}
	h.check(tenants.InsertOrganization(t.Context(), callwright.Organization{ID: org, ContactEmail: "ops@example.com"}))
	h.config = monitor.Config{
		Statuses: sipstore.Statuses{Store: h.store}, Trunks: sipstore.Trunks{Store: h.store},
		Attempts: sipstore.CallLog{Store: h.store}, Atomic: h.store, Prober: h.prober, Organizations: tenants,
		Mailer: h.desk, Texter: h.desk, Hooks: h.desk, HookLog: callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()}), Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
	}
	for _, c := range change {
		c(&h.config)
	}
	h.start()
	return h
}

// start creates and runs a new service on the store, like a process that has just started.
func (h *house) start() {
	h.t.Helper()
	work := memstore.NewWork(h.store, h.config.Logger)
	h.config.Work = work
	service, err := monitor.New(h.config)
	h.check(err)
	h.Service = service
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = work.Run(ctx) })
	running.Go(func() { _ = service.Run(ctx) })
	h.stop = func() {
		cancel()
		running.Wait()
	}
}

func (h *house) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// inHouse runs a test with a new house in a synctest bubble.
func inHouse(t *testing.T, test func(t *testing.T, h *house), change ...func(c *monitor.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, change...)
		defer func() { h.stop() }()
		test(t, h)
	})
}

// outbound returns an outbound trunk with failover over the given servers.
func outbound(id string, servers ...string) sip.Trunk {
	t := sip.Trunk{
		ID: id, Org: org, Number: callwright.PhoneNumber("+1555000" + id), Direction: sip.Outbound,
		Failover: &failover.Config{Enabled: true},
	}
	for _, host := range servers {
		t.Failover.Servers = append(t.Failover.Servers, failover.Server{Host: host})
	}
	return t
}

// attach inserts and watches a trunk, as sip.Service does.
func (h *house) attach(t sip.Trunk) {
	h.t.Helper()
	h.check(h.store.Do(h.t.Context(), func(ctx context.Context) error {
		return cmp.Or(sipstore.Trunks{Store: h.store}.Insert(ctx, t), h.Watch(ctx, t))
	}))
}

// change updates and watches a trunk, as sip.Service does.
func (h *house) change(t sip.Trunk) {
	h.t.Helper()
	h.check(h.store.Do(h.t.Context(), func(ctx context.Context) error {
		stored, err := h.config.Trunks.Trunk(ctx, t.Org, t.ID)
		t.Version = stored.Version
		return cmp.Or(err, sipstore.Trunks{Store: h.store}.Update(ctx, t), h.Watch(ctx, t))
	}))
}

func (h *house) status(id string) sip.Status {
	h.t.Helper()
	s, err := h.config.Statuses.Status(h.t.Context(), org, id)
	h.check(err)
	return s
}

// wantStates waits until all goroutines are idle, and checks the states of a trunk's servers.
func (h *house) wantStates(id string, want ...health.State) {
	h.t.Helper()
	synctest.Wait()
	var got []health.State
	for _, s := range h.status(id).Servers {
		got = append(got, s.Health.State)
	}
	if !slices.Equal(got, want) {
		h.t.Errorf("after %v the servers of %s are %v, want %v", h.elapsed(), id, got, want)
	}
}

// wait waits at most d until the servers of a trunk have the given states, and fails the test otherwise.
func (h *house) wait(id string, d time.Duration, want ...health.State) {
	h.t.Helper()
	for limit := time.Now().Add(d); time.Now().Before(limit); {
		time.Sleep(time.Second)
		synctest.Wait()
		same := func(s sip.ServerStatus, state health.State) bool { return s.Health.State == state }
		if slices.EqualFunc(h.status(id).Servers, want, same) {
			return
		}
	}
	h.wantStates(id, want...)
}

// waitRaised waits until the Unreachable alert of a trunk is raised, at most 10 minutes.
func (h *house) waitRaised(id string) {
	h.t.Helper()
	time.Sleep(100 * time.Millisecond) // skips the events that happen at full seconds
	for limit := time.Now().Add(10 * time.Minute); !h.status(id).Alerts[alert.Unreachable].Raised; time.Sleep(time.Second) {
		if time.Now().After(limit) {
			h.t.Fatalf("no alert: %+v", h.status(id))
		}
	}
}

var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // start time of synctest's clock

func (h *house) elapsed() time.Duration { return time.Since(begin) }

// wantOrder checks the order in which calls try a trunk's servers.
func (h *house) wantOrder(t sip.Trunk, want ...string) {
	h.t.Helper()
	servers, err := h.Servers(h.t.Context(), t)
	h.check(err)
	var got []string
	for _, s := range servers {
		got = append(got, s.String())
	}
	if !slices.Equal(got, want) {
		h.t.Errorf("calls try %v, want %v", got, want)
	}
}

// wantTold checks the messages since its last call, in any order.
func (h *house) wantTold(want ...string) {
	h.t.Helper()
	synctest.Wait()
	slices.Sort(want)
	if got := h.desk.taken(); got != strings.Join(want, "\n") {
		h.t.Errorf("after %s it was told\n%s\nwant\n%s", h.elapsed(), got, strings.Join(want, "\n"))
	}
}

// wantOne checks that all given trunks show the same health of their first server.
func (h *house) wantOne(ids ...string) {
	h.t.Helper()
	synctest.Wait()
	first := h.status(ids[0])
	for _, id := range ids[1:] {
		s := h.status(id)
		if !reflect.DeepEqual(s.Servers[0].Health, first.Servers[0].Health) {
			h.t.Errorf("after %v %s shows %+v, %s shows %+v", h.elapsed(), id, s.Servers[0].Health, ids[0], first.Servers[0].Health)
		}
	}
}
