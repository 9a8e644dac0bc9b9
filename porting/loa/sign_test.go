package loa_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// TestLife checks a letter from the request, through the signing page and the signature, to the mailed copy.
func TestLife(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		if h.token() != token {
			t.Error("the mail has another link than the answer")
		}
		v, err := h.Show(t.Context(), token)
		if err != nil || v.Letter.State != loa.Waiting || v.Expired || v.Disclosure != loa.Disclosure || v.Letter.Content.AccountNumber != "****8231" {
			t.Errorf("the page shows %+v, %v", v, err)
		}
		letter, signed, err := h.PDF(t.Context(), token)
		if err != nil || signed || !bytes.Contains(letter, []byte("+14155550101")) || bytes.Contains(letter, []byte("5558")) {
			t.Errorf("the letter is %q, signed %t, %v", letter, signed, err)
		}
		h.sleep(time.Hour)
		v, err = h.Sign(t.Context(), token, h.signature(r))
		if err != nil || v.Letter.State != loa.Signed || v.Letter.EndedAt.IsZero() {
			t.Fatalf("the page shows %+v, %v", v, err)
		}
		h.sleep(time.Second)
		h.want(r, loa.Signed, porting.Submitted, "created/sent/signed/sealed/sent")
		if kinds := h.mailbox.wantOnce(t); kinds != "1.letter.0 1.signed.0" || h.token() != token {
			t.Errorf("mailed %s", kinds)
		}
		h.wantSigned(r, token, letter)
	})
}

// wantSigned checks that the evidence records the signature, that the signed PDF contains the hash of the signature's event, and that the
// request's history contains the hash of the event that seals the PDF.
func (h *house) wantSigned(r porting.Request, token callwright.Secret, letter []byte) {
	h.t.Helper()
	ctx := h.t.Context()
	byLink, signed, err := h.PDF(ctx, token)
	byRequest, also, requestErr := h.LetterPDF(ctx, org, r.ID)
	e, evidenceErr := h.Evidence(ctx, org, r.ID)
	history, historyErr := h.ports.History(ctx, org, r.ID)
	if err := errors.Join(err, requestErr, evidenceErr, historyErr, loa.Verify(e, letter, byLink)); err != nil {
		h.t.Fatal(err)
	}
	if !signed || !also || !bytes.Equal(byLink, byRequest) || !bytes.HasPrefix(byLink, letter) {
		h.t.Errorf("the signed copies are %q and %q", byLink, byRequest)
	}
	sig := e.Events[2]
	want := loa.Event{
		Number: 3, At: sig.At, Kind: loa.EventSigned, Email: "zoe@example.com", SHA256: e.SHA256, Name: "zo\u00eb O\u2019DOE", Title: "Owner",
		Disclosure: loa.Disclosure, Origin: loa.Origin{IP: "192.0.2.7", UserAgent: "Mozilla/5.0 ??"}, Previous: e.Events[1].Hash, Hash: sig.Hash,
	}
	if sig != want || !bytes.Contains(byLink, []byte(sig.Hash)) {
		h.t.Errorf("recorded\n%+v, want\n%+v", sig, want)
	}
	if entry := history[len(history)-1]; entry.Event != porting.Signed || !strings.Contains(entry.Note, e.Events[3].Hash) {
		h.t.Errorf("the history says %+v", entry)
	}
}

// TestShowChangesNothing checks that opening the page and the PDF, as mail scanners do, does not change the letter.
func TestShowChangesNothing(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		before, err := h.Letter(t.Context(), org, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, showErr := h.Show(t.Context(), token)
			_, _, pdfErr := h.PDF(t.Context(), token)
			if err := errors.Join(showErr, pdfErr); err != nil {
				t.Fatal(err)
			}
		}
		after, err := h.Letter(t.Context(), org, r.ID)
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("the letter was %+v, and is %+v, %v", before, after, err)
		}
	})
}

// refuses checks that the letter of a link can be neither signed nor declined, and that the attempts record nothing.
func (h *house) refuses(r porting.Request, token callwright.Secret, code callwright.Code, text string) {
	h.t.Helper()
	before := h.trail(r)
	_, signErr := h.Sign(h.t.Context(), token, h.signature(r))
	_, declineErr := h.Decline(h.t.Context(), token, "no", loa.Origin{})
	for _, err := range []error{signErr, declineErr} {
		if callwright.CodeOf(err) != code || !strings.Contains(callwright.MessageOf(err), text) {
			h.t.Errorf("got %v, want %s that says %q", err, code, text)
		}
	}
	if after := h.trail(r); after != before {
		h.t.Errorf("the trail was %q, and is %q", before, after)
	}
}

// shows checks the state and the expiry that Show returns, and that the PDF is readable.
func (h *house) shows(token callwright.Secret, state loa.State, expired bool) {
	h.t.Helper()
	v, err := h.Show(h.t.Context(), token)
	if err != nil || v.Letter.State != state || v.Expired != expired {
		h.t.Errorf("it is shown as %s (expired %t), %v; want %s (expired %t)", v.Letter.State, v.Expired, err, state, expired)
	}
	if _, _, err := h.PDF(h.t.Context(), token); err != nil {
		h.t.Error(err)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end     func(h *house, r porting.Request, token callwright.Secret) error
		letter  loa.State
		request porting.State
		expired bool
		trail   string
		text    string
	}{
		"signed": {func(h *house, r porting.Request, token callwright.Secret) error {
			_, err := h.Sign(h.t.Context(), token, h.signature(r))
			return err
		}, loa.Signed, porting.Submitted, false, "created/sent/signed/sealed/sent", "signed already"},
		"declined": {func(h *house, _ porting.Request, token callwright.Secret) error {
			_, err := h.Decline(h.t.Context(), token, " Not mine.\r\nAsk Robin. ", loa.Origin{IP: "192.0.2.7"})
			return err
		}, loa.Declined, porting.Canceled, false, "created/sent/declined", "was declined"},
		"canceled": {func(h *house, r porting.Request, _ callwright.Secret) error {
			_, err := h.ports.Cancel(h.t.Context(), org, r.ID)
			return err
		}, loa.Revoked, porting.Canceled, false, "created/sent/revoked", "not needed any more"},
		"signed on paper": {func(h *house, r porting.Request, _ callwright.Secret) error {
			_, err := h.ports.Sign(h.t.Context(), org, r.ID, porting.Operator, "scan 7")
			return err
		}, loa.Revoked, porting.Submitted, false, "created/sent/revoked", "not needed any more"},
		"expired": {func(h *house, _ porting.Request, _ callwright.Secret) error {
			h.sleep(30 * day)
			return nil
		}, loa.Revoked, porting.Failed, true, "created/sent/reminded/reminded/reminded/revoked", "ended on 31 January 2000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				r, token := h.initiated()
				if err := test.end(h, r, token); err != nil {
					t.Fatal(err)
				}
				h.sleep(5 * time.Second)
				h.want(r, test.letter, test.request, test.trail)
				h.shows(token, test.letter, test.expired)
				h.refuses(r, token, callwright.CodeInvalidState, test.text)
				if err := h.RevokeLetter(t.Context(), org, r.ID); err != nil {
					t.Error(err)
				}
				h.want(r, test.letter, test.request, test.trail)
			})
		})
	}
}

// TestDeclineReason checks that an invalid reason is refused, and that the evidence and the request's history record a valid one.
func TestDeclineReason(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		for name, reason := range map[string]string{"long": strings.Repeat("\u00fc", loa.MaxReason+1), "control characters": "no\x07"} {
			_, err := h.Decline(t.Context(), token, reason, loa.Origin{})
			wantError(t, name, err, callwright.CodeBadRequest, "reason")
		}
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent")
		if _, err := h.Decline(t.Context(), token, " Not mine.\r\nAsk Robin.\xff ", loa.Origin{IP: "192.0.2.7"}); err != nil {
			t.Fatal(err)
		}
		e, err := h.Evidence(t.Context(), org, r.ID)
		history, historyErr := h.ports.History(t.Context(), org, r.ID)
		if err := errors.Join(err, historyErr); err != nil {
			t.Fatal(err)
		}
		const want = "Not mine.\nAsk Robin.\ufffd"
		if e.Events[2].Reason != want || e.Events[2].Origin.IP != "192.0.2.7" || history[len(history)-1].Note != want {
			t.Errorf("recorded %+v and %+v", e.Events[2], history[len(history)-1])
		}
	})
}

// ahead is a clock that runs ahead of the system clock by a duration.
type ahead time.Duration

func (a ahead) Now() time.Time { return callwright.SystemClock{}.Now().Add(time.Duration(a)) }

// TestExpiredBeforeTheRequest checks that an expired letter cannot be signed, even if the clock of the port request is behind.
func TestExpiredBeforeTheRequest(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		h.shows(token, loa.Waiting, true)
		h.refuses(r, token, callwright.CodeInvalidState, "ended on")
		_, _, err := h.ports.Resend(t.Context(), org, r.ID)
		wantError(t, "sent again", err, callwright.CodeInvalidState, "")
		h.sleep(day)
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created")
	}, func(c *loa.Config) { c.Clock = ahead(31 * day) })
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, token := h.initiated()
		for _, test := range []struct {
			field  string
			change func(*loa.Signature)
		}{
			{"consent", func(s *loa.Signature) { s.Consent = false }},
			{"authority", func(s *loa.Signature) { s.Authority = false }},
			{"letter_sha256", func(s *loa.Signature) { s.SHA256 = "" }},
			{"letter_sha256", func(s *loa.Signature) { s.SHA256 = strings.Repeat("0", 64) }},
			{"signer_name", func(s *loa.Signature) { s.Name = "" }},
			{"signer_name", func(s *loa.Signature) { s.Name = "Zo\u00eb Doe" }},
			{"signer_name", func(s *loa.Signature) { s.Name += "\x00" }},
			{"signer_title", func(s *loa.Signature) { s.Title = strings.Repeat("\u00fc", loa.MaxTitle+1) }},
			{"signer_title", func(s *loa.Signature) { s.Title = "Own\x1ber" }},
			{"signer_title", func(s *loa.Signature) { s.Title = "\u793e\u9577" }},
		} {
			sig := h.signature(r)
			test.change(&sig)
			_, err := h.Sign(t.Context(), token, sig)
			wantError(t, test.field, err, callwright.CodeBadRequest, test.field)
		}
		_, err := h.Sign(t.Context(), token, loa.Signature{})
		if all, ok := errors.AsType[callwright.FieldErrors](err); !ok || len(all) != 4 {
			t.Errorf("an empty signature gave %v", err)
		}
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent")
		if _, err := h.Sign(t.Context(), token, h.signature(r)); err != nil {
			t.Error(err)
		}
	})
}

func TestLinks(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, first := h.initiated()
		if len(first.Reveal()) != 43 {
			t.Errorf("a token has %d characters", len(first.Reveal()))
		}
		for _, guess := range []callwright.Secret{"", "x", first[:42], first + "A", callwright.Secret(strings.Repeat("A", 43)), callwright.Secret(strings.ToUpper(first.Reveal()))} {
			h.refuses(r, guess, callwright.CodeNotFound, "this link leads to no letter")
		}
		l, err := h.Letter(t.Context(), org, r.ID)
		if err != nil || strings.Contains(fmt.Sprintf("%+v", l), first.Reveal()) {
			t.Errorf("the letter is stored as %+v, %v", l, err)
		}
		h.refuses(r, callwright.Secret(l.LinkHash), callwright.CodeNotFound, "this link leads to no letter")
		_, again, err := h.ports.Resend(t.Context(), org, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		h.sleep(time.Second)
		second := h.token()
		if again.URL.Reveal() != "https://x.example/loa/"+second.Reveal() || second == first {
			t.Error("the mail has the former link, or another one than the answer")
		}
		h.refuses(r, first, callwright.CodeNotFound, "this link leads to no letter")
		for _, f := range []func() error{
			func() error { _, err := h.Show(t.Context(), first); return err },
			func() error { _, _, err := h.PDF(t.Context(), first); return err },
		} {
			wantError(t, "a link that was replaced", f(), callwright.CodeNotFound, "")
		}
		if _, err := h.Sign(t.Context(), second, h.signature(r)); err != nil {
			t.Error(err)
		}
		h.sleep(time.Second)
		h.want(r, loa.Signed, porting.Submitted, "created/sent/resent/sent/signed/sealed/sent")
	})
}

// TestTokens checks that different links have different tokens, and that every service with the same key derives the same token.
func TestTokens(t *testing.T) {
	t.Parallel()
	tokens := map[string]string{}
	for _, link := range []struct {
		key     callwright.Secret
		org     callwright.OrgID
		request string
	}{{key, "a", "r1"}, {key, "a", "r11"}, {key, "ar", "1"}, {key, "b", "r1"}, {key + "x", "a", "r1"}} {
		for range 2 {
			inHouse(t, func(t *testing.T, h *house) {
				l, err := h.SendLetter(t.Context(), porting.Request{Org: link.org, ID: link.request, SignBy: time.Now().Add(9 * day)})
				name := fmt.Sprintf("%s %s %s", link.key.Reveal(), link.org, link.request)
				if other, seen := tokens[l.URL.Reveal()]; err != nil || seen && other != name {
					t.Errorf("%s has the link of %s, %v", name, other, err)
				}
				tokens[l.URL.Reveal()] = name
			}, func(c *loa.Config) { c.Key = link.key })
		}
	}
	if len(tokens) != 5 {
		t.Errorf("there are %d tokens", len(tokens))
	}
}

// failing implements Requests with methods that all return the same error.
type failing struct{ error }

func (f failing) Sign(context.Context, callwright.OrgID, string, porting.Actor, string) (porting.Request, error) {
	return porting.Request{}, f.error
}

func (f failing) Decline(context.Context, callwright.OrgID, string, string) (porting.Request, error) {
	return porting.Request{}, f.error
}

func (f failing) Undelivered(context.Context, callwright.OrgID, string) (porting.Request, error) {
	return porting.Request{}, f.error
}

// TestRequestsFail checks that a failure of the port request leaves the letter unchanged, and that it can be signed afterwards.
func TestRequestsFail(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{errors.New("away"), callwright.ErrConflict, callwright.ErrInvalidState, callwright.ErrNotFound} {
		inHouse(t, func(t *testing.T, h *house) {
			r, token := h.initiated()
			h.Attach(failing{cause})
			_, signErr := h.Sign(t.Context(), token, h.signature(r))
			_, declineErr := h.Decline(t.Context(), token, "", loa.Origin{})
			for _, err := range []error{signErr, declineErr} {
				if callwright.CodeOf(err) != callwright.CodeOf(cause) {
					t.Errorf("%v gave %v", cause, err)
				}
			}
			h.sleep(time.Second)
			h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent")
			if kinds := h.mailbox.wantOnce(t); kinds != "1.letter.0" {
				t.Errorf("mailed %s", kinds)
			}
			h.Attach(h.ports)
			if _, err := h.Sign(t.Context(), token, h.signature(r)); err != nil {
				t.Error(err)
			}
		})
	}
}
