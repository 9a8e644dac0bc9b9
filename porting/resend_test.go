package porting_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// TestResend checks that Resend returns a new link while the letter waits for its signature, and is refused afterwards. It also checks that
// an undelivered letter is recorded once.
func TestResend(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.initiate("00")
		if got, err := h.Undelivered(t.Context(), org, r.ID); err != nil || got.Status().Detail != porting.DetailUndelivered {
			t.Errorf("got %+v, %v", got, err)
		}
		if got, err := h.Undelivered(t.Context(), org, r.ID); err != nil || got.Entries != 2 {
			t.Errorf("noted again: %+v, %v", got, err)
		}
		got, letter, err := h.Resend(t.Context(), org, r.ID)
		if err != nil || got.Status().Detail != porting.DetailSignature || letter.URL.Reveal() != "https://x.example/loa/again/"+r.ID || h.world.resent != 1 {
			t.Errorf("sent again: %+v, %s, %v", got, letter.URL.Reveal(), err)
		}
		if want := "initiated by api, letter_undelivered by mail, letter_resent by api"; h.events(r.ID) != want {
			t.Errorf("the history is %s; want %s", h.events(r.ID), want)
		}
		h.sleep(time.Minute)
		if mails := strings.Join(h.world.letters, "\n"); strings.Count(mails, "the letter cannot be delivered") != 2 {
			t.Errorf("the mails are\n%s", mails)
		}
		if _, err := h.Sign(t.Context(), org, r.ID, porting.Signer, ""); err != nil {
			t.Fatal(err)
		}
		_, _, signed := h.Resend(t.Context(), org, r.ID)
		wantError(t, "signed", signed, callwright.CodeInvalidState, "")
		_, undelivered := h.Undelivered(t.Context(), org, r.ID)
		wantError(t, "undelivered after the signature", undelivered, callwright.CodeInvalidState, "")
		_, _, foreign := h.Resend(t.Context(), "b", r.ID)
		wantError(t, "another organization's", foreign, callwright.CodeNotFound, "")
	})
}

// refusing implements porting.Letters but refuses to resend a letter.
type refusing struct{ porting.Letters }

func (refusing) ResendLetter(context.Context, porting.Request) (porting.Letter, error) {
	return porting.Letter{URL: "https://x.example/secret"}, callwright.Errorf(callwright.CodeTooManyRequests, "often enough")
}

// TestResendRefused checks that a refused Resend returns no link and leaves the request unchanged.
func TestResendRefused(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.initiate("00")
		_, letter, err := h.Resend(t.Context(), org, r.ID)
		wantError(t, "too often", err, callwright.CodeTooManyRequests, "")
		if got := h.after(0, r.ID); got.Entries != 1 || got.Revision != r.Revision || letter.URL != "" {
			t.Errorf("it is %+v, with the letter %q", got, letter.URL.Reveal())
		}
	}, func(c *porting.Config) { c.Letters = refusing{c.Letters} })
}

// TestMaxOpen checks that an organization's open requests are limited, and that a request that ends allows another one.
func TestMaxOpen(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		first := h.initiate("90")
		h.initiate("91")
		_, _, err := h.Initiate(t.Context(), org, draft("92"))
		wantError(t, "the third", err, callwright.CodeTooManyRequests, "")
		if _, _, err := h.Initiate(t.Context(), "b", draft("93")); err != nil {
			t.Errorf("another organization: %v", err)
		}
		if _, err := h.Cancel(t.Context(), org, first.ID); err != nil {
			t.Fatal(err)
		}
		h.initiate("94")
	}, func(c *porting.Config) { c.MaxOpen = 2 })
}

// TestMaxHourly checks that canceled requests count toward the hourly limit, because each has already sent unsolicited mail.
func TestMaxHourly(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for _, digits := range []string{"90", "91"} {
			if _, err := h.Cancel(t.Context(), org, h.initiate(digits).ID); err != nil {
				t.Fatal(err)
			}
			h.sleep(20 * time.Minute)
		}
		_, _, err := h.Initiate(t.Context(), org, draft("92"))
		wantError(t, "the third", err, callwright.CodeTooManyRequests, "")
		if wait, _ := callwright.RetryAfter(err); wait != 20*time.Minute {
			t.Errorf("it asks to wait %s", wait)
		}
		if _, _, err := h.Initiate(t.Context(), "b", draft("93")); err != nil {
			t.Errorf("another organization: %v", err)
		}
		h.sleep(20 * time.Minute)
		h.initiate("94")
	}, func(c *porting.Config) { c.MaxHourly = 2 })
}

// TestWebhookIsChecked checks that Initiate refuses a forbidden URL, and any URL if no Notifier is configured.
func TestWebhookIsChecked(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]callwright.Secret{
		"inside": "https://127.0.0.1/", "long": hook + callwright.Secret(strings.Repeat("x", 2048)), "two lines": hook + "\n",
	} {
		inHouse(t, func(t *testing.T, h *house) {
			d := draft("00")
			d.Webhook = url
			_, _, err := h.Initiate(t.Context(), org, d)
			wantError(t, name, err, callwright.CodeBadRequest, "webhook_url")
		})
	}
	inHouse(t, func(t *testing.T, h *house) {
		_, _, err := h.Initiate(t.Context(), org, draft("00"))
		wantError(t, "nothing calls it", err, callwright.CodeBadRequest, "webhook_url")
		if all, ok := errors.AsType[callwright.FieldErrors](err); !ok || len(all) != 1 {
			t.Errorf("got %v", err)
		}
		d := draft("00")
		d.Webhook = ""
		if _, _, err := h.Initiate(t.Context(), org, d); err != nil {
			t.Errorf("without a webhook: %v", err)
		}
	}, func(c *porting.Config) { c.Notifier = nil })
}

// TestHeldUpInPart checks that a partly ported request completes after 30 days with its held-up number rejected.
func TestHeldUpInPart(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.signed("00", "41") // the first number is ported, the second is held up
		if got := h.after(25*day, r.ID); got.State != porting.InProgress || got.Status().Detail != porting.DetailAction || got.Numbers[0].State != porting.NumberPorted {
			t.Errorf("after 25 days it is %s, %s", got.State, h.events(r.ID))
		}
		got := h.after(10*day, r.ID)
		h.wantEnd(got, porting.Completed, porting.NumberPorted, porting.NumberRejected)
		if got.Status().Detail != porting.DetailPartly || got.Numbers[1].Failure.Code != porting.AddressMismatch || !strings.HasSuffix(h.events(r.ID), "ported by timer") {
			t.Errorf("it is %+v after %s", got, h.events(r.ID))
		}
	})
}

// TestGiveUp checks that numbers are rejected only if a party other than the carrier holds them up and another number is ported. If no
// number is ported, the request is to be canceled, unless its confirmed date is near. The history records both.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	held := porting.Number{Number: "+14155550101", State: porting.NumberInProgress, Failure: &porting.Failure{Code: porting.PINInvalid}}
	for name, test := range map[string]struct {
		others []porting.Number
		state  porting.State
		number porting.NumberState
		event  porting.Event
	}{
		"the others are ported": {[]porting.Number{{State: porting.NumberPorted}}, porting.Completed, porting.NumberRejected, porting.Ported},
		"one goes on": {
			[]porting.Number{{State: porting.NumberPorted}, {State: porting.NumberInProgress, Failure: &porting.Failure{Code: porting.CarrierUnresponsive}}},
			porting.InProgress, porting.NumberRejected, porting.Changed,
		},
		"none is ported": {[]porting.Number{{State: porting.NumberConfirmed, FOC: noon.Add(time.Hour)}}, porting.InProgress, porting.NumberInProgress, ""},
		"none is ported, far": {
			[]porting.Number{{State: porting.NumberConfirmed, FOC: noon.Add(9 * day)}}, porting.InProgress, porting.NumberInProgress, porting.CancelAsked,
		},
	} {
		r := porting.Request{ID: "r", State: porting.InProgress, Ref: "o", HeldSince: noon.Add(-30 * day), Numbers: append([]porting.Number{held}, test.others...)}
		e, told, err := porting.TooLate(&r, noon, 2*day)
		if err != nil || told != (test.event != "") || e.Event != test.event || r.State != test.state || r.Numbers[0].State != test.number {
			t.Errorf("%s: got %+v, %t, %v; the request is %s with %s", name, e, told, err, r.State, r.Numbers[0].State)
		}
		if told && e.Actor != porting.Timer {
			t.Errorf("%s: caused by %s", name, e.Actor)
		}
		if test.event == porting.Changed && r.Status().Detail == porting.DetailAction {
			t.Errorf("%s: it still waits for somebody", name)
		}
	}
}
