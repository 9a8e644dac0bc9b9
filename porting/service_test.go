package porting_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

func TestPorts(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.world.untold = 2
		r := h.initiate("00", "99")
		if r.State != porting.WaitingForSignature || r.Numbers[0].PIN != "4711" || r.TargetDate != r.CreatedAt.Truncate(day).AddDate(0, 0, 7) {
			t.Errorf("got %+v", r)
		}
		if r = h.after(3*day, r.ID); r.State != porting.WaitingForSignature {
			t.Errorf("nobody has signed, and it is %s", r.State)
		}
		if _, err := h.Sign(t.Context(), org, r.ID, porting.Signer, ""); err != nil {
			t.Fatal(err)
		}
		if r = h.after(time.Minute, r.ID); r.State != porting.Submitted || r.Ref == "" {
			t.Errorf("after a minute it is %s with the order %q", r.State, r.Ref)
		}
		if r = h.after(2*day, r.ID); r.Status().Detail != porting.DetailConfirmed {
			t.Errorf("after two days it waits for %q", r.Status().Detail)
		}
		r = h.after(10*day, r.ID)
		h.wantEnd(r, porting.Completed, porting.NumberPorted, porting.NumberPorted)
		want := "initiated by api, signed by signer, accepted by carrier, changed by carrier, ported by carrier"
		if got := h.events(r.ID); got != want {
			t.Errorf("the history is %s; want %s", got, want)
		}
		if n := h.world.inbound["+14155550100"]; n != 1 || r.Numbers[0].Inbound != porting.Registered || h.world.inbound["+14155550199"] != 1 {
			t.Errorf("the numbers are registered %v", h.world.inbound)
		}
		if _, _, err := h.Initiate(t.Context(), org, draft("00")); err != nil {
			t.Errorf("a number of a request that has ended is not free: %v", err)
		}
	})
}

// TestEveryRejection checks that every failure code with which the simulated carrier rejects a number fails the request, and that mails
// state the reason.
func TestEveryRejection(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		ids := map[porting.FailureCode]string{}
		for i, m := range porting.Remedies() {
			ids[m.Code] = h.signed(fmt.Sprintf("%02d", i+1)).ID
		}
		h.sleep(5 * day)
		for code, id := range ids {
			r := h.after(0, id)
			h.wantEnd(r, porting.Failed, porting.NumberRejected)
			if r.Failure == nil || r.Failure.Code != code || r.Numbers[0].Failure.Code != code {
				t.Errorf("%s: it has failed because of %+v", code, r.Failure)
			}
			for _, to := range []string{"robin@example.com", "ops@example.com"} {
				if !h.world.mailed(to, r.ID, ": failed", "Why: "+code.Remedy().Text) {
					t.Errorf("%s: %s has no mail that says why", code, to)
				}
			}
		}
	})
}

// TestOddCarriers tests the behavior of the simulated carrier for magic numbers.
func TestOddCarriers(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		partly, moved, silent := h.signed("00", "06"), h.signed("40"), h.signed("42")
		puzzling, refused, lost, never, held := h.signed("60"), h.signed("61"), h.signed("62"), h.signed("63"), h.signed("41")
		h.wantEnd(h.after(20*day, partly.ID), porting.Completed, porting.NumberPorted, porting.NumberRejected)
		if d := h.after(0, partly.ID).Status().Detail; d != porting.DetailPartly {
			t.Errorf("a part is ported, and the detail is %q", d)
		}
		for _, r := range []porting.Request{moved, silent, puzzling, lost} {
			h.wantEnd(h.after(0, r.ID), porting.Completed, porting.NumberPorted)
		}
		r := h.after(0, refused.ID)
		if h.wantEnd(r, porting.Failed, porting.NumberRejected); r.Failure.Code != porting.AccountNumberMismatch {
			t.Errorf("it was refused because of %+v", r.Failure)
		}
		if r := h.after(0, never.ID); r.State != porting.Submitted || r.Status().Detail != porting.DetailQueued || r.Misses < 20 {
			t.Errorf("without an answer it is %s, %s after %d attempts", r.State, r.Status().Detail, r.Misses)
		}
		if r := h.after(0, held.ID); r.State != porting.InProgress || r.Status().Detail != porting.DetailAction {
			t.Errorf("what is held up is %s, %s", r.State, r.Status().Detail)
		}
		r = h.after(20*day, never.ID)
		if h.wantEnd(r, porting.Failed, porting.NumberRejected); r.Failure.Code != porting.GatewayError {
			t.Errorf("without an answer it has failed because of %+v", r.Failure)
		}
		r = h.after(0, held.ID)
		if h.wantEnd(r, porting.Failed, porting.NumberRejected); r.Failure.Code != porting.AddressMismatch {
			t.Errorf("nobody has acted, and it has failed because of %+v", r.Failure)
		}
		want := "initiated by api, signed by signer, accepted by carrier, changed by carrier, cancel_asked by timer, rejected by carrier"
		if got := h.events(held.ID); got != want {
			t.Errorf("the history is %s; want %s", got, want)
		}
	})
}

func TestSignatureExpires(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(9*day, h.initiate("00").ID)
		h.wantEnd(r, porting.Failed, porting.NumberCanceled)
		if r.Failure == nil || r.Failure.Code != porting.SignatureTooLate || len(h.world.revoked) != 1 {
			t.Errorf("it has failed because of %+v; the letters %v are revoked", r.Failure, h.world.revoked)
		}
		_, err := h.Sign(t.Context(), org, r.ID, porting.Signer, "")
		wantError(t, "to sign too late", err, callwright.CodeInvalidState, "")
	})
}

func TestDecline(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.initiate("00")
		if _, err := h.Decline(t.Context(), org, r.ID, "not me"); err != nil {
			t.Fatal(err)
		}
		r = h.after(time.Minute, r.ID)
		h.wantEnd(r, porting.Canceled, porting.NumberCanceled)
		for name, f := range map[string]func() error{
			"sign":    func() error { _, err := h.Sign(t.Context(), org, r.ID, porting.Signer, ""); return err },
			"decline": func() error { _, err := h.Decline(t.Context(), org, r.ID, ""); return err },
		} {
			wantError(t, name, f(), callwright.CodeInvalidState, "")
		}
	})
}

// TestActors checks that Sign accepts only the signer and the operator as actors.
func TestActors(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.initiate("00")
		_, err := h.Sign(t.Context(), org, r.ID, porting.API, "")
		wantError(t, "the organization", err, callwright.CodeForbidden, "")
		if _, err := h.Sign(t.Context(), org, r.ID, porting.Operator, "on paper"); err != nil || len(h.world.revoked) != 1 {
			t.Errorf("the operator: %v; the letters %v are revoked", err, h.world.revoked)
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		offers := func(id string, want bool) {
			t.Helper()
			if r, err := h.Get(t.Context(), org, id); err != nil || h.CanCancel(r) != want {
				t.Errorf("it is %v that %s can be canceled, %v", !want, r.State, err)
			}
		}
		cancel := func(id string) porting.Request {
			t.Helper()
			r, err := h.Cancel(t.Context(), org, id)
			if err != nil {
				t.Fatal(err)
			}
			offers(id, false)
			return r
		}
		early := h.initiate("00")
		offers(early.ID, true)
		h.wantEnd(h.after(0, cancel(early.ID).ID), porting.Canceled, porting.NumberCanceled)
		if r := cancel(early.ID); r.State != porting.Canceled || r.Entries != 2 {
			t.Errorf("canceled again: %+v", r)
		}
		agreed, kept, hurried := h.signed("00"), h.signed("50"), h.signed("51")
		h.sleep(2 * day)
		for _, r := range []porting.Request{agreed, kept, hurried} {
			offers(r.ID, true)
			asked := cancel(r.ID)
			if again := cancel(r.ID); asked.State != porting.InProgress || asked.CancelAskedAt.IsZero() || again.Entries != asked.Entries {
				t.Errorf("asked: %+v, again %+v", asked, again)
			}
		}
		h.wantEnd(h.after(3*time.Hour, agreed.ID), porting.Canceled, porting.NumberCanceled)
		h.wantEnd(h.after(0, hurried.ID), porting.Completed, porting.NumberPorted)
		if r := h.after(0, kept.ID); r.State != porting.InProgress || !r.CancelAskedAt.IsZero() {
			t.Errorf("the carrier refuses: %+v", r)
		}
		offers(kept.ID, true)
		h.sleep(4 * day)
		offers(kept.ID, false)
		_, err := h.Cancel(t.Context(), org, kept.ID)
		wantError(t, "near its date", err, callwright.CodeInvalidState, "")
		h.wantEnd(h.after(2*day, kept.ID), porting.Completed, porting.NumberPorted)
		for _, id := range []string{kept.ID, hurried.ID} {
			_, err := h.Cancel(t.Context(), org, id)
			wantError(t, "completed", err, callwright.CodeInvalidState, "")
		}
		_, foreign := h.Cancel(t.Context(), "b", agreed.ID)
		wantError(t, "another organization's", foreign, callwright.CodeNotFound, "")
	})
}

// TestWithdraw checks that Withdraw cancels like Cancel, and that the history names the operator.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		wantLast := func(r porting.Request, event porting.Event) {
			t.Helper()
			history, err := h.History(t.Context(), org, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			last := history[len(history)-1]
			if last.Event != event || last.Actor != porting.Operator || last.Note != "not their number" {
				t.Errorf("the history ends with %+v", last)
			}
		}
		early, late := h.initiate("02"), h.signed("00")
		for _, note := range []string{"", " ", "a\u202eb", strings.Repeat("x", porting.MaxRaw+1)} {
			_, err := h.Withdraw(t.Context(), org, early.ID, note)
			wantError(t, "a note", err, callwright.CodeBadRequest, "note")
		}
		_, err := h.Withdraw(t.Context(), "b", early.ID, "not their number")
		wantError(t, "of another organization", err, callwright.CodeNotFound, "")
		for range 2 {
			r, err := h.Withdraw(t.Context(), org, early.ID, "not their number")
			if err != nil || r.Entries != 2 {
				t.Fatalf("got %+v, %v", r, err)
			}
		}
		h.wantEnd(h.after(0, early.ID), porting.Canceled, porting.NumberCanceled)
		wantLast(early, porting.CancelAsked)
		if len(h.world.revoked) != 1 {
			t.Errorf("the letters %v are revoked", h.world.revoked)
		}
		h.initiate("02") // fails the test if the number is not free
		h.sleep(2 * day)
		asked, err := h.Withdraw(t.Context(), org, late.ID, "not their number")
		if err != nil || asked.State != porting.InProgress || asked.CancelAskedAt.IsZero() || asked.CancelAskedBy != porting.Operator {
			t.Fatalf("got %+v, %v", asked, err)
		}
		wantLast(late, porting.CancelAsked)
		h.wantEnd(h.after(3*time.Hour, late.ID), porting.Canceled, porting.NumberCanceled)
	})
}

// TestRegistration checks that a failed registration is retried, and that a number of another organization is reported to the operator.
func TestRegistration(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.world.failures = []error{errors.New("away"), errors.New("away"), errors.New("away")}
		late := h.after(12*day, h.signed("00").ID)
		h.wantEnd(late, porting.Completed, porting.NumberPorted)
		if late.Numbers[0].Inbound != porting.Registered || h.world.inbound["+14155550100"] != 1 {
			t.Errorf("got %+v", late.Numbers[0])
		}
		h.world.failures = []error{callwright.ErrConflict}
		raced := h.after(12*day, h.signed("97").ID)
		h.wantEnd(raced, porting.Completed, porting.NumberPorted)
		if raced.Numbers[0].Inbound != porting.Registered {
			t.Errorf("two steps have registered a number at once: %+v", raced.Numbers[0])
		}
		h.world.failures = []error{callwright.ErrConflict, callwright.ErrConflict}
		taken := h.after(12*day, h.signed("98").ID)
		if n := taken.Numbers[0]; taken.State != porting.Completed || n.Inbound != porting.RegistrationTaken ||
			n.Failure == nil || n.Failure.Code != porting.RegistrationConflict {
			t.Errorf("got %+v", taken)
		}
	})
}

func TestHistoryAndList(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		var ids []string
		for i := range 3 {
			ids = append(ids, h.initiate(fmt.Sprintf("9%d", i)).ID)
			h.sleep(time.Second)
		}
		first, err := h.List(t.Context(), org, porting.Filter{Limit: 2})
		if err != nil || len(first.Items) != 2 || first.Items[0].ID != ids[2] || first.Next.ID != ids[1] {
			t.Fatalf("got %+v, %v", first, err)
		}
		rest, err := h.List(t.Context(), org, porting.Filter{Limit: 2, After: first.Next})
		if err != nil || len(rest.Items) != 1 || rest.Items[0].ID != ids[0] || !rest.Next.IsZero() {
			t.Errorf("got %+v, %v", rest, err)
		}
		_, getErr := h.Get(t.Context(), "b", ids[0])
		_, historyErr := h.History(t.Context(), "b", ids[0])
		wantError(t, "get", getErr, callwright.CodeNotFound, "")
		wantError(t, "history", historyErr, callwright.CodeNotFound, "")
	})
}

// TestOpen checks the order of Open's result when more requests exist than Open reads: first the requests that are held up or wait for a
// signature, then those whose gateway does not answer, then the newest.
func TestOpen(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		add := func(i int, change func(*porting.Request)) {
			t.Helper()
			r := porting.Request{ID: fmt.Sprintf("r%02d", i), Org: org, State: porting.InProgress, CreatedAt: time.Now().Add(time.Duration(i) * time.Minute)}
			change(&r)
			if err := h.store.InsertRequest(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		add(0, func(r *porting.Request) { r.HeldSince = time.Now() })
		add(1, func(r *porting.Request) { r.State = porting.WaitingForSignature })
		for i := range 60 {
			add(i+2, func(*porting.Request) {})
		}
		add(62, func(r *porting.Request) { r.State = porting.Completed })
		add(63, func(r *porting.Request) { r.Org = "b" })
		add(40, func(r *porting.Request) { r.ID, r.Misses = "unreachable", 100 }) // its gateway does not answer
		for limit, want := range map[int][]string{
			1: {"r00"}, 2: {"r00", "r01"}, 5: {"r00", "r01", "unreachable", "r61", "r60"},
		} {
			found, err := h.Open(t.Context(), org, limit)
			var got []string
			for _, r := range found {
				got = append(got, r.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("at most %d: got %v, %v; want %v", limit, got, err, want)
			}
		}
		if found, err := h.Open(t.Context(), org, 0); err != nil || len(found) != 50 {
			t.Errorf("got %d, %v", len(found), err)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := porting.New(porting.Config{}); err == nil {
		t.Error("a service without ports was made")
	}
}
