package proof_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/proof"
)

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
	for range 2 { // the client may repeat a request whose response was lost
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
	for range 20 { // concurrent guesses must all count
		guessing.Go(func() { _, _ = h.Verify(t.Context(), "a", asked, other(right)) })
	}
	guessing.Wait()
	for range proof.MaxTries { // in case some concurrent guesses ended with a conflict
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
	h.only()
	if p, err := h.Get(t.Context(), "a", asked); err != nil || p.State != proof.StateExpired {
		t.Errorf("it is %+v, %v", p, err)
	}
}

// TestStepsCallOnce checks that a task that runs concurrently on several nodes, and then again, makes a single call.
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
	h.only()
}

// TestKilledStepDoesNotCallAgain checks that a repeated task does not call if the node died between storing the call and dialing.
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

// TestOperatorsNumberCalls checks that Config.From is the caller, and that it must be attached outbound.
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
