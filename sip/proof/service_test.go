package proof_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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

// house is a service with fakes around it.
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
		work: &work{handlers: map[string]callwright.Handler{}}, phone: &phone{},
	}
	h.config = proof.Config{
		Store: h.store, Atomic: memory, Work: h.work, Trunks: h.trunks, Announcer: h.phone, Clock: h.clock,
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

// close waits for the calls.
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

// trunks knows one number that calls.
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

// work keeps tasks for the test to run.
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

// run runs a task again, and returns its error.
func (h *house) run(i int) error {
	task := h.work.tasks[i]
	return h.work.handlers[task.Kind](h.t.Context(), task, 1)
}

// phone notes who is called.
type phone struct {
	mu    sync.Mutex
	calls []proof.Announcement
	err   error
	ring  chan struct{} // closed when calls end; nil: at once
}

func (f *phone) Announce(ctx context.Context, a proof.Announcement) error {
	f.mu.Lock()
	f.calls = append(f.calls, a)
	f.mu.Unlock()
	if f.ring != nil {
		select {
		case <-f.ring:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.err
}

// call returns the only call, as soon as there is one.
func (h *house) call() proof.Announcement {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		h.phone.mu.Lock()
		calls := slices.Clone(h.phone.calls)
		h.phone.mu.Unlock()
		if len(calls) == 1 {
			return calls[0]
		}
		if len(calls) > 1 || time.Now().After(deadline) {
			h.t.Fatalf("there were %d calls, want one", len(calls))
		}
	}
}

// code returns the digits that were read out in a call, and wants them twice.
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

// other returns another code.
func other(code string) string { return strings.Map(func(r rune) rune { return '0' + (r-'0'+1)%10 }, code) }

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
	yes, err := proof.Proven{Store: h.store, Clock: h.clock}.Proven(h.t.Context(), org, asked)
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

// store fails as its test says.
type store struct {
	proof.Store
	written error // of an Update that has written
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

func TestProve(t *testing.T) {
	t.Parallel()
	h := open(t)
	if p := h.request(); p.State != proof.StateWaiting || p.Number != asked {
		t.Errorf("requested: %+v", p)
	}
	_, err := h.Verify(t.Context(), "a", asked, "123456")
	wantError(t, "before the call", err, callwright.CodeInvalidState, "")
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	call := h.call()
	if call.Org != "a" || call.From != from || call.To != asked {
		t.Errorf("the call is %+v", call)
	}
	right := code(t, call)
	for _, text := range []string{"12345", "1234567", "12345x", ""} {
		_, err := h.Verify(t.Context(), "a", asked, text)
		wantError(t, text, err, callwright.CodeBadRequest, "code")
	}
	_, err = h.Verify(t.Context(), "a", asked, other(right))
	wantError(t, "wrong", err, callwright.CodeBadRequest, "code")
	if p, err := h.Get(t.Context(), "a", asked); err != nil || p.Tries != 1 || p.State != proof.StateCalled {
		t.Errorf("after a wrong code: %+v, %v", p, err)
	}
	_, err = h.Verify(t.Context(), "b", asked, right)
	wantError(t, "another organization", err, callwright.CodeNotFound, "")
	if h.proven("a") {
		t.Error("it is proven without the code")
	}
	for range 2 { // the answer to the first may have been lost
		if p, err := h.Verify(t.Context(), "a", asked, right[:3]+" "+right[3:]); err != nil || p.State != proof.StateProven {
			t.Errorf("proven: %+v, %v", p, err)
		}
	}
	if !h.proven("a") || h.proven("b") {
		t.Errorf("proven by a: %t, by b: %t", h.proven("a"), h.proven("b"))
	}
	for _, hash := range h.store.hashes {
		if strings.Contains(hash, right) && len(hash) < 64 || len(hash) != 64 {
			t.Errorf("the code is kept as %q", hash)
		}
	}
	h.clock.pass(proof.Validity)
	if h.proven("a") {
		t.Error("a proof is good for ever")
	}
}

func TestFiveWrongCodes(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.request()
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	right := code(t, h.call())
	var guessing sync.WaitGroup
	for range 20 { // at once: each counts
		guessing.Go(func() { _, _ = h.Verify(t.Context(), "a", asked, other(right)) })
	}
	guessing.Wait()
	for range proof.MaxTries { // in case that concurrent ones gave up in a conflict
		_, _ = h.Verify(t.Context(), "a", asked, other(right))
	}
	_, err := h.Verify(t.Context(), "a", asked, right)
	wantError(t, "the right one", err, callwright.CodeInvalidState, "")
	if p, err := h.Get(t.Context(), "a", asked); err != nil || p.State != proof.StateFailed || p.Tries != proof.MaxTries {
		t.Errorf("it is %+v, %v", p, err)
	}
}

func TestCodeExpires(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.request()
	h.clock.pass(proof.CodeLife - time.Second)
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	right := code(t, h.call())
	h.clock.pass(proof.CodeLife)
	_, err := h.Verify(t.Context(), "a", asked, right)
	wantError(t, "late", err, callwright.CodeInvalidState, "")
	h.request()
	h.clock.pass(proof.CodeLife)
	if err := h.run(1); err != nil {
		t.Fatal(err)
	}
	h.close()
	h.call() // no second one
	if p, err := h.Get(t.Context(), "a", asked); err != nil || p.State != proof.StateExpired {
		t.Errorf("it is %+v, %v", p, err)
	}
}

// TestStepsCallOnce runs the step of a proof on several nodes at once, and again.
func TestStepsCallOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.request()
	var nodes sync.WaitGroup
	for range 8 {
		nodes.Go(func() {
			if err := h.run(0); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	if err := h.run(0); err != nil {
		t.Error(err)
	}
	h.close()
	h.call()
}

// TestKilledStepDoesNotCallAgain loses the answer of the store, as a node does that dies before it dials.
func TestKilledStepDoesNotCallAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.request()
	h.store.written = errors.New("killed")
	if err := h.run(0); err == nil {
		t.Fatal("the step has not failed")
	}
	h.store.written = nil
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	h.close()
	if len(h.phone.calls) != 0 {
		t.Errorf("there were %d calls", len(h.phone.calls))
	}
}

func TestLaterRequestReplaces(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.request()
	h.clock.pass(time.Second)
	h.request()
	for i := range 2 {
		if err := h.run(i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Verify(t.Context(), "a", asked, code(t, h.call())); err != nil {
		t.Error(err)
	}
}

func TestCallInVain(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.phone.err = callwright.Errorf(callwright.CodeUnavailable, "the callee is busy")
	h.request()
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	h.call()
	h.close()
	p, err := h.Get(t.Context(), "a", asked)
	if err != nil || p.State != proof.StateFailed || p.Reason != "the callee is busy" {
		t.Errorf("it is %+v, %v", p, err)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	var ready error
	h := open(t, func(c *proof.Config) { c.Ready = func() error { return ready } })
	h.trunks.needs = false
	_, err := h.Request(t.Context(), "a", asked)
	wantError(t, "no need", err, callwright.CodeInvalidState, "phone_number")
	h.trunks.needs, h.trunks.err = true, callwright.ErrConflict
	_, err = h.Request(t.Context(), "a", asked)
	wantError(t, "not available", err, callwright.CodeConflict, "")
	ready, h.trunks.err = callwright.ErrUnavailable, nil
	_, err = h.Request(t.Context(), "a", asked)
	wantError(t, "no voice", err, callwright.CodeUnavailable, "")
	ready, h.trunks.caller = nil, ""
	_, err = h.Request(t.Context(), "a", asked)
	wantError(t, "no trunk", err, callwright.CodeInvalidState, "")
	_, err = h.Request(t.Context(), "a", "hello")
	wantError(t, "no number", err, callwright.CodeBadRequest, "phone_number")
	if len(h.work.tasks) > 0 {
		t.Errorf("they cause %+v", h.work.tasks)
	}
	h.trunks.caller = from
	for range proof.MaxOfNumber {
		h.clock.pass(time.Second)
		h.request()
	}
	_, err = h.Request(t.Context(), "b", asked)
	wantError(t, "too many", err, callwright.CodeTooManyRequests, "")
	if wait, _ := callwright.RetryAfter(err); wait != time.Hour-(proof.MaxOfNumber-1)*time.Second {
		t.Errorf("retry after %v", wait)
	}
	h.clock.pass(time.Hour)
	h.request()
}

// TestOperatorsNumberCalls has the operator name the number that calls.
func TestOperatorsNumberCalls(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *proof.Config) { c.From = "+14155550111" })
	_, err := h.Request(t.Context(), "a", asked)
	wantError(t, "not attached", err, callwright.CodeUnavailable, "")
	h.trunks.record = sip.Record{Outbound: &sip.Trunk{}}
	h.request()
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	if call := h.call(); call.Org != "operator" || call.From != "+14155550111" || call.To != asked {
		t.Errorf("the call is %+v", call)
	}
}

func TestCloseCutsCalls(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.phone.ring = make(chan struct{})
	h.request()
	if err := h.run(0); err != nil {
		t.Fatal(err)
	}
	h.call()
	h.close()
	if p, err := h.Get(t.Context(), "a", asked); err != nil || p.State != proof.StateFailed || p.Reason != "the call was cut" {
		t.Errorf("it is %+v, %v", p, err)
	}
	h.clock.pass(time.Second)
	h.request()
	wantError(t, "after the end", h.run(1), callwright.CodeUnavailable, "")
}

func TestForget(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.request()
	h.clock.pass(2*proof.Validity + time.Second)
	if err := h.work.handlers["sip.proof.forget"](t.Context(), callwright.Task{}, 1); err != nil {
		t.Fatal(err)
	}
	_, err := h.Get(t.Context(), "a", asked)
	wantError(t, "forgotten", err, callwright.CodeNotFound, "")
}

func TestConfig(t *testing.T) {
	t.Parallel()
	whole := open(t).config
	for _, field := range []string{"Store", "Atomic", "Work", "Trunks", "Announcer", "Key"} {
		c := whole
		reflect.ValueOf(&c).Elem().FieldByName(field).SetZero()
		if _, err := proof.New(c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}
