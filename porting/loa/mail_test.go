package loa_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

func TestReminders(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for days, want := range map[int][]int{30: {2, 7, 28}, 9: {2, 7}, 8: {2, 6}, 5: {2, 3}, 4: {2}, 3: {1}, 2: nil, 1: nil, 0: nil, -1: nil} {
		var got []int
		for _, at := range loa.Reminders(made, made.Add(time.Duration(days)*day)) {
			got = append(got, int(at.Sub(made)/day))
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %d days to sign: after %v days, want %v", days, got, want)
		}
	}
}

// TestReminded checks the days on which a signer is reminded, and that the last reminder contains the same link as the letter.
func TestReminded(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		start := time.Now()
		var days []int
		for seen := 1; time.Since(start) < 29*day; {
			h.sleep(time.Hour)
			if now := len(h.mailbox.all()); now != seen {
				days, seen = append(days, int(time.Since(start)/day)), now
			}
		}
		if !slices.Equal(days, []int{2, 7, 28}) {
			t.Errorf("reminded after %v days", days)
		}
		if h.token() != token {
			t.Error("a reminder has another link")
		}
		if kinds := h.mailbox.wantOnce(t); kinds != "1.letter.0 1.reminder.1 1.reminder.2 1.reminder.3" {
			t.Errorf("mailed %s", kinds)
		}
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent/reminded/reminded/reminded")
	})
}

// TestNotRemindedAtOnce checks that a letter that is resent shortly before a reminder delays the reminder.
func TestNotRemindedAtOnce(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, _ := h.initiated()
		h.sleep(2*day - 2*time.Hour)
		if _, _, err := h.ports.Resend(t.Context(), org, r.ID); err != nil {
			t.Fatal(err)
		}
		h.sleep(2 * day)
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent/resent/sent")
		h.sleep(4 * day)
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent/resent/sent/reminded")
	})
}

// TestRefusedMail checks that mail to a permanently refused address is not retried, and that a resent letter is mailed again.
func TestRefusedMail(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.mailbox.failing(callwright.ErrForbidden)
		r, _ := h.initiated()
		h.sleep(9 * day)
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/returned")
		h.wantEntries(r, "initiated letter_undelivered")
		if n := h.mailbox.attempts(); n != 1 {
			t.Errorf("there were %d attempts", n)
		}
		h.mailbox.failing(nil)
		if _, _, err := h.ports.Resend(t.Context(), org, r.ID); err != nil {
			t.Fatal(err)
		}
		h.sleep(time.Second)
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/returned/resent/sent")
		h.mailbox.failing(callwright.ErrForbidden)
		if _, err := h.Sign(t.Context(), h.token(), h.signature(r)); err != nil {
			t.Fatal(err)
		}
		h.sleep(time.Second)
		h.want(r, loa.Signed, porting.Submitted, "created/returned/resent/sent/signed/sealed/returned")
		h.wantEntries(r, "initiated letter_undelivered letter_resent signed")
	})
}

// TestRefusedReminder checks that a refused reminder is the last, and that the request shows the letter as undelivered.
func TestRefusedReminder(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, _ := h.initiated()
		h.mailbox.failing(callwright.ErrForbidden)
		h.sleep(9 * day)
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent/returned")
		h.wantEntries(r, "initiated letter_undelivered")
		if n := h.mailbox.attempts(); n != 2 {
			t.Errorf("there were %d attempts", n)
		}
	})
}

// wantEntries checks the events in a request's history up to the end of its wait for a signature.
func (h *house) wantEntries(r porting.Request, want string) {
	h.t.Helper()
	history, err := h.ports.History(h.t.Context(), org, r.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	var got []string
	for _, e := range history {
		if e.To == porting.WaitingForSignature || e.From == porting.WaitingForSignature {
			got = append(got, string(e.Event))
		}
	}
	if strings.Join(got, " ") != want {
		h.t.Errorf("the history is %v, want %s", got, want)
	}
}

// TestFailingMail checks the mails and the audit trail after outages of the mail server that are shorter or longer than the retries of a
// mail.
func TestFailingMail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		away  time.Duration
		mails string
		trail string
	}{
		{time.Hour, "1.letter.0", "created/sent"},
		{40 * time.Hour, "1.reminder.1", "created/reminded"},
		{4 * day, "1.reminder.1", "created/reminded"},
	} {
		inHouse(t, func(t *testing.T, h *house) {
			h.mailbox.failing(errors.New("away"))
			r, _ := h.initiated()
			h.sleep(test.away)
			if n := h.mailbox.attempts(); n < 3 || n > 25 {
				t.Errorf("there were %d attempts in %s", n, test.away)
			}
			h.mailbox.failing(nil)
			h.sleep(time.Until(r.CreatedAt.Add(7*day + 12*time.Hour)))
			if test.away < day {
				test.mails, test.trail = test.mails+" 1.reminder.1 1.reminder.2", test.trail+"/reminded/reminded"
			} else if test.away < 2*day {
				test.mails, test.trail = test.mails+" 1.reminder.2", test.trail+"/reminded"
			}
			if kinds := h.mailbox.wantOnce(t); kinds != test.mails {
				t.Errorf("away for %s: mailed %s, want %s", test.away, kinds, test.mails)
			}
			h.want(r, loa.Waiting, porting.WaitingForSignature, test.trail)
		})
	}
}

// TestNoMailAfterTheEnd checks that no mail is sent for a letter that ends while the mail server is unavailable, before its first mail
// could be sent.
func TestNoMailAfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *house, r porting.Request, token callwright.Secret) error{
		"declined": func(h *house, _ porting.Request, token callwright.Secret) error {
			_, err := h.Decline(h.t.Context(), token, "", loa.Origin{})
			return err
		},
		"canceled": func(h *house, r porting.Request, _ callwright.Secret) error {
			_, err := h.ports.Cancel(h.t.Context(), org, r.ID)
			return err
		},
		"expired": func(h *house, _ porting.Request, _ callwright.Secret) error {
			h.sleep(30 * day)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				h.mailbox.failing(errors.New("away"))
				r, token := h.initiated()
				if err := end(h, r, token); err != nil {
					t.Fatal(err)
				}
				h.mailbox.failing(nil)
				h.sleep(3 * day)
				if mails := h.mailbox.all(); len(mails) > 0 {
					t.Errorf("mailed %+v", mails)
				}
			})
		})
	}
}

// TestReplacedLink checks that only the new link is mailed if a letter is resent before its first mail is accepted.
func TestReplacedLink(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.mailbox.failing(errors.New("away"))
		r, _ := h.initiated()
		if _, _, err := h.ports.Resend(t.Context(), org, r.ID); err != nil {
			t.Fatal(err)
		}
		h.sleep(time.Second) // the mail with the new link also fails, and is retried after the first mail
		h.mailbox.failing(nil)
		h.sleep(day)
		if kinds := h.mailbox.wantOnce(t); kinds != "2.letter.0" {
			t.Errorf("mailed %s", kinds)
		}
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/resent/sent")
	})
}

// forgetful is a Store whose UpdateLetter fails while down is set.
type forgetful struct {
	loa.Store

	down *atomic.Bool
}

func (f forgetful) UpdateLetter(ctx context.Context, l loa.Letter, signed []byte, events ...loa.Event) error {
	if f.down.Load() {
		return callwright.ErrUnavailable
	}
	return f.Store.UpdateLetter(ctx, l, signed, events...)
}

// TestCrashAfterMail checks that a mail whose sending could not be recorded is sent again with the same id, and recorded once.
func TestCrashAfterMail(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	inHouse(t, func(t *testing.T, h *house) {
		r, _ := h.initiated()
		synctest.Wait()
		down.Store(false)
		h.sleep(time.Minute)
		mails := h.mailbox.all()
		if len(mails) < 2 || slices.ContainsFunc(mails, func(m mailed) bool { return m != mails[0] }) {
			t.Errorf("mailed %+v", mails)
		}
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent")
	}, func(c *loa.Config) { c.Store = forgetful{c.Store, &down} })
}

// TestMailTexts checks that the mails name the signer, the business, the numbers, the request and the link, and that they contain no PIN,
// account number or street.
func TestMailTexts(t *testing.T) {
	random := regexp.MustCompile(`[0-9a-zA-Z_-]{32,}`) // ids, tokens and digests, which contain any digits
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		h.sleep(3 * day)
		if _, err := h.Sign(t.Context(), token, h.signature(r)); err != nil {
			t.Fatal(err)
		}
		h.sleep(time.Second)
		mails := h.mailbox.all()
		if len(mails) != 3 {
			t.Fatalf("mailed %+v", mails)
		}
		for i, m := range mails {
			want := []string{"Zo\u00eb O'Doe", "Acme Bakery", "+14155550100", "+14155550101", r.ID, token.Reveal()}
			if i < 2 {
				want = append(want, "31 January 2000, 00:00 UTC", "decline", "ignore this mail")
			}
			for _, text := range want {
				if !strings.Contains(m.text, text) {
					t.Errorf("mail %d does not say %q:\n%s", i, text, m.text)
				}
			}
			fixed := random.ReplaceAllString(m.text+m.subject, "")
			for _, secret := range []string{"4711", "5558", "8231", "Main Street"} {
				if strings.Contains(fixed, secret) {
					t.Errorf("mail %d says %q:\n%s", i, secret, m.text)
				}
			}
			if m.to != "zoe@example.com" || !strings.HasSuffix(m.subject, "2 phone numbers") || strings.ContainsAny(m.subject, "\r\n") {
				t.Errorf("mail %d is to %s, about %q", i, m.to, m.subject)
			}
		}
	})
}
