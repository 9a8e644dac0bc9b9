package proof_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/proof"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	asked = "+14155550100"
	from  = "+14155550199"
)

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// house contains a service and the fakes that it depends on.
type house struct {
	*proof.Service
	t      *testing.T
	store  *store
	trunks *trunks
	clock  *clock
	work   *work
	phone  *phone
	config proof.Config
}

func open(t *testing.T, change ...func(*proof.Config)) *house {
	t.Helper()
	memory := memstore.New()
	h := &house{
		t: t, store: &store{Store: sipstore.Proofs{Store: memory}}, trunks: &trunks{needs: true, caller: from}, clock: &clock{now: start},
		work: &work{handlers: map[string]callwright.Handler{}}, phone: &phone{rang: make(chan struct{}, 10)},
	}
	h.config = proof.Config{
		Store: h.store, Atomic: memory, Work: h.work, Trunks: h.trunks, Announcer: h.phone, Runtime: callwright.Runtime{Clock: h.clock},
		Key: callwright.Secret(strings.Repeat("k", 32)),
	}
	for _, f := range change {
		f(&h.config)
	}
	var err error
	if h.Service, err = proof.New(h.config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

// close closes the service, and so cuts its calls and waits until they have ended.
func (h *house) close() {
	if err := h.Close(context.Background()); err != nil {
		h.t.Error(err)
	}
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// trunks is a proof.Trunks whose answers a test sets. Without a caller, ProofCaller fails.
type trunks struct {
	needs  bool
	caller callwright.PhoneNumber
	err    error
	record sip.Record
}

func (*trunks) Number(_ context.Context, _ callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	n, err := callwright.ParsePhoneNumber(text)
	return n, callwright.InField("phone_number", err)
}

func (f *trunks) NeedsProof(context.Context, callwright.OrgID, callwright.PhoneNumber) (bool, error) {
	return f.needs, f.err
}

func (f *trunks) ProofCaller(context.Context, callwright.OrgID, callwright.PhoneNumber) (callwright.PhoneNumber, error) {
	if f.caller == "" {
		return "", callwright.Errorf(callwright.CodeInvalidState, "attach a number for outbound calls first")
	}
	return f.caller, nil
}

func (f *trunks) Holder(context.Context, callwright.PhoneNumber) (callwright.OrgID, sip.Record, error) {
	return "operator", f.record, nil
}

// work is a callwright.Work that records tasks, so that a test can run them.
type work struct {
	callwright.Work
	handlers map[string]callwright.Handler
	tasks    []callwright.Task
}

func (w *work) Handle(_ callwright.Queue, kind string, h callwright.Handler) { w.handlers[kind] = h }

func (w *work) Every(_ callwright.Queue, kind string, _ time.Duration, h callwright.Handler) {
	w.handlers[kind] = h
}

func (w *work) Enqueue(_ context.Context, t callwright.Task) error {
	w.tasks = append(w.tasks, t)
	return nil
}

// run runs the recorded task with the given index, and returns its error. A task can be run repeatedly.
func (h *house) run(i int) error {
	task := h.work.tasks[i]
	return h.work.handlers[task.Kind](h.t.Context(), task, 1)
}

// phone is an Announcer that records announcements.
type phone struct {
	mu    sync.Mutex
	calls []proof.Announcement
	rang  chan struct{} // receives a value for each call
	err   error
	ring  chan struct{} // calls end when it is closed; if nil, calls end immediately
}

func (f *phone) Announce(ctx context.Context, a proof.Announcement) error {
	f.mu.Lock()
	f.calls = append(f.calls, a)
	f.mu.Unlock()
	f.rang <- struct{}{}
	if f.ring != nil {
		select {
		case <-f.ring:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.err
}

// call waits for a call and returns its announcement. It stops the test if there is no call within a minute, or if there were several
// calls.
func (h *house) call() proof.Announcement {
	h.t.Helper()
	select {
	case <-h.phone.rang:
	case <-time.After(time.Minute):
		h.t.Fatal("there was no call")
	}
	h.only()
	return h.phone.calls[0]
}

// only checks that there was exactly one call.
func (h *house) only() {
	h.t.Helper()
	h.phone.mu.Lock()
	defer h.phone.mu.Unlock()
	if n := len(h.phone.calls); n != 1 {
		h.t.Fatalf("there were %d calls, want one", n)
	}
}

// code returns the code of an announcement, and checks that it is read out twice.
func code(t *testing.T, a proof.Announcement) string {
	t.Helper()
	names := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	var heard strings.Builder
	for _, part := range a.Parts {
		if digit := slices.Index(names, part); digit >= 0 {
			fmt.Fprint(&heard, digit)
		}
	}
	text := heard.String()
	if len(text) != 12 || text[:6] != text[6:] {
		t.Fatalf("heard %q in %q", text, a.Parts)
	}
	return text[:6]
}

// other returns a wrong code: each digit of the right one is incremented.
func other(code string) string {
	return strings.Map(func(r rune) rune { return '0' + (r-'0'+1)%10 }, code)
}

func (h *house) request() proof.Proof {
	h.t.Helper()
	p, err := h.Request(h.t.Context(), "a", asked)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) proven(org callwright.OrgID) bool {
	h.t.Helper()
	yes, err := proof.Proven{Store: h.store, Runtime: callwright.Runtime{Clock: h.clock}}.Proven(h.t.Context(), org, asked)
	if err != nil {
		h.t.Fatal(err)
	}
	return yes
}

func wantError(t *testing.T, what string, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || e.Field != field {
		t.Errorf("%s: got %v, want %s about %q", what, err, code, field)
	}
}

// store records the hashes of updated proofs, and returns the error that a test sets.
type store struct {
	proof.Store
	written error // error that Update returns after a successful write
	mu      sync.Mutex
	hashes  []string
}

func (s *store) Update(ctx context.Context, p proof.Proof) error {
	s.mu.Lock()
	s.hashes = append(s.hashes, p.Hash)
	s.mu.Unlock()
	if err := s.Store.Update(ctx, p); err != nil {
		return err
	}
	return s.written
}
