package porting_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
)

// attempt is an attempt to send a message.
type attempt struct {
	id, to string
	at     time.Time
}

// post implements Mailer, Notifier and Failures. It records every attempt, and may refuse it.
type post struct {
	mu       sync.Mutex
	answer   func(attempt) error // if nil, every attempt succeeds
	attempts []attempt
}

func (p *post) take(id, to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := attempt{id, to, time.Now()}
	p.attempts = append(p.attempts, a)
	if p.answer == nil {
		return nil
	}
	return p.answer(a)
}

func (p *post) SendMail(_ context.Context, id, to, _, _ string) error { return p.take(id, to) }

func (p *post) NotifyPort(_ context.Context, id string, _ porting.Request, _ porting.Entry) error {
	return p.take(id, "webhook")
}

func (p *post) PortFailed(_ context.Context, r porting.Request) error {
	return p.take(r.ID, string(r.Failure.Code))
}

// of returns the attempts to send messages to an address.
func (p *post) of(to string) (all []attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.attempts {
		if a.to == to {
			all = append(all, a)
		}
	}
	return all
}

// mailing returns a function that sets p as the Mailer of a configuration.
func mailing(p *post) func(*porting.Config) { return func(c *porting.Config) { c.Mailer = p } }

// TestRecipients checks that every recipient gets one mail, even if the request names it twice.
func TestRecipients(t *testing.T) {
	t.Parallel()
	p := &post{}
	inHouse(t, func(t *testing.T, h *house) {
		d := draft("00")
		d.Account.NotifyEmails = []string{"Robin@Example.com", "ops@example.com", "OPS@example.com", "robin@example.com", "boss@example.com"}
		r, _, err := h.Initiate(t.Context(), org, d)
		if err != nil {
			t.Fatal(err)
		}
		h.sleep(time.Second)
		for i, to := range []string{"robin@example.com", "ops@example.com", "boss@example.com"} {
			if got := p.of(to); len(got) != 1 || got[0].id != fmt.Sprintf("%s.1.%d", r.ID, i) {
				t.Errorf("%s gets %+v", to, got)
			}
		}
		if len(p.attempts) != 3 {
			t.Errorf("the mails are %+v", p.attempts)
		}
	}, mailing(p))
}

// TestRefusedRecipient checks that mail to a permanently refused address is not retried, and that the other recipients get their mail.
func TestRefusedRecipient(t *testing.T) {
	t.Parallel()
	p := &post{answer: func(a attempt) error {
		if a.to == "robin@example.com" {
			return callwright.Errorf(callwright.CodeForbidden, "no such mailbox")
		}
		return nil
	}}
	inHouse(t, func(t *testing.T, h *house) {
		h.initiate("00")
		h.sleep(2 * day)
		if refused, taken := p.of("robin@example.com"), p.of("ops@example.com"); len(refused) != 1 || len(taken) != 1 {
			t.Errorf("refused %+v, taken %+v", refused, taken)
		}
	}, mailing(p))
}

// schedule lists the times, in seconds since the first, of the attempts to send an undeliverable message.
var schedule = []int{0, 5, 30, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400}

// wantSchedule checks that the attempts happened at the first count times of schedule, all with the same id.
func wantSchedule(t *testing.T, began time.Time, all []attempt, count int) {
	t.Helper()
	var got []int
	for _, a := range all {
		got = append(got, int(a.at.Sub(began).Round(time.Second).Seconds()))
		if a.id != all[0].id {
			t.Errorf("the ids are %s and %s", all[0].id, a.id)
		}
	}
	if !slices.Equal(got, schedule[:count]) {
		t.Errorf("it was sent after %v seconds, want %v", got, schedule[:count])
	}
}

// TestMailServerIsAway checks that a mail is retried by the schedule of delivery.Redeliver until it is accepted, or given up after a day.
func TestMailServerIsAway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		back  time.Duration
		count int
	}{"for long": {3 * day, 11}, "for an hour": {time.Hour, 6}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var back time.Time
			p := &post{answer: func(a attempt) error {
				if a.at.Before(back) {
					return errors.New("connection refused")
				}
				return nil
			}}
			inHouse(t, func(t *testing.T, h *house) {
				began := time.Now()
				back = began.Add(test.back)
				h.initiate("00")
				h.sleep(5 * day)
				for _, to := range []string{"robin@example.com", "ops@example.com"} {
					wantSchedule(t, began, p.of(to), test.count)
				}
			}, mailing(p))
		})
	}
}

// TestWebhookIsAway checks that webhook messages are retried by the same schedule as mails, and are given up immediately if the webhook
// refuses permanently.
func TestWebhookIsAway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		count int
	}{
		"no answer": {errors.New("connection refused"), 11},
		"refused":   {callwright.Errorf(callwright.CodeForbidden, "410"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &post{answer: func(attempt) error { return test.err }}
			deliveries := callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()})
			inHouse(t, func(t *testing.T, h *house) {
				began := time.Now()
				r := h.initiate("00")
				h.sleep(3 * day)
				wantSchedule(t, began, p.of("webhook"), test.count)
				callwrighttest.WantDeliveries(t, deliveries, org, fmt.Sprintf("port %s hooks.example given_up %d", r.ID, test.count))
				if id := p.of("webhook")[0].id; id != r.ID+"/1" {
					t.Errorf("the id is %s", id)
				}
			}, func(c *porting.Config) { c.Notifier, c.Deliveries = p, deliveries })
		})
	}
}

// TestFailuresAreReported checks that every failed request is reported, again after an error, and that requests that end otherwise are not
// reported.
func TestFailuresAreReported(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	p := &post{}
	p.answer = func(a attempt) error {
		if seen[a.id]++; seen[a.id] == 1 {
			return errors.New("the database is away")
		}
		return nil
	}
	inHouse(t, func(t *testing.T, h *house) {
		want := map[string]string{
			h.signed("06").ID: "address_mismatch", h.signed("61").ID: "account_number_mismatch", h.signed("41").ID: "address_mismatch",
			h.signed("63").ID: "gateway_error", h.initiate("00").ID: "signature_expired",
		}
		canceled, declined, ported := h.initiate("97"), h.initiate("98"), h.signed("99", "07")
		if _, err := h.Cancel(t.Context(), org, canceled.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Decline(t.Context(), org, declined.ID, "no"); err != nil {
			t.Fatal(err)
		}
		h.sleep(45 * day)
		for id, code := range want {
			if seen[id] != 2 || !slices.ContainsFunc(p.of(code), func(a attempt) bool { return a.id == id }) {
				t.Errorf("%s was reported %d times; it is %s", code, seen[id], h.after(0, id).State)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("reported were %v, among them perhaps %s, %s or %s", seen, canceled.ID, declined.ID, ported.ID)
		}
	}, func(c *porting.Config) { c.Failures = p })
}

// TestMailsAreQuiet checks that mails contain no account data, PINs, original messages of the carrier or links.
func TestMailsAreQuiet(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		d := draft("00", "41", "06")
		if _, _, err := h.Initiate(t.Context(), org, d); err != nil {
			t.Fatal(err)
		}
		refused := h.signed("61")
		h.sleep(45 * day)
		if len(h.world.letters) < 6 {
			t.Errorf("there are %d mails", len(h.world.letters))
		}
		for _, mail := range h.world.letters {
			for _, secret := range []string{"88231", "4711", "refused at once", "hooks.example", "x.example", "Doe", "Main Street"} {
				if strings.Contains(mail, secret) {
					t.Errorf("a mail about %s tells %q:\n%s", refused.ID, secret, mail)
				}
			}
		}
	})
}
