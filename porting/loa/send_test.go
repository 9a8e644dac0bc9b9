package loa_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
)

func TestNew(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	whole := func() loa.Config {
		return loa.Config{Provider: "Acme Telecom",
			Store: portingstore.Letters{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil), Mailer: new(mailbox),
			Renderer: loatest.Plain{}, Key: key, URL: func(token string) string { return token },
		}
	}
	if _, err := loa.New(whole()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*loa.Config){
		"store": func(c *loa.Config) { c.Store = nil }, "atomic": func(c *loa.Config) { c.Atomic = nil },
		"work": func(c *loa.Config) { c.Work = nil }, "mailer": func(c *loa.Config) { c.Mailer = nil },
		"renderer": func(c *loa.Config) { c.Renderer = nil }, "key": func(c *loa.Config) { c.Key = key[:loa.MinKey-1] },
		"URL": func(c *loa.Config) { c.URL = nil },
	} {
		c := whole()
		change(&c)
		if _, err := loa.New(c); err == nil {
			t.Errorf("made without %s", name)
		}
	}
}

// TestNotAttached checks that Sign and Decline return CodeUnavailable before Attach is called.
func TestNotAttached(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	s, err := loa.New(loa.Config{Provider: "Acme Telecom",
		Store: portingstore.Letters{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil), Mailer: new(mailbox),
		Renderer: loatest.Plain{}, Key: key, URL: func(token string) string { return token },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, signErr := s.Sign(t.Context(), "token", loa.Signature{})
	_, declineErr := s.Decline(t.Context(), "token", "", loa.Origin{})
	for name, err := range map[string]error{"sign": signErr, "decline": declineErr} {
		wantError(t, name, err, callwright.CodeUnavailable, "")
	}
}

// TestUnprintable checks that the error names every field that a letter cannot show, and that no request is stored.
func TestUnprintable(t *testing.T) {
	t.Parallel()
	const account = "losing_carrier_information."
	inHouse(t, func(t *testing.T, h *house) {
		d := draft("00")
		d.Account.LastName, d.Account.Address.Street2 = "\u738b", "\u5ba4 2"
		_, _, err := h.ports.Initiate(t.Context(), org, d)
		all, ok := errors.AsType[callwright.FieldErrors](err)
		if !ok || len(all) != 2 || all[0].Field != account+"last_name" || all[1].Field != account+"address.street2" || all[0].Code != callwright.CodeBadRequest {
			t.Errorf("got %v", err)
		}
		page, err := h.ports.List(t.Context(), org, porting.Filter{})
		if err != nil || len(page.Items) > 0 {
			t.Errorf("there are %d requests, %v", len(page.Items), err)
		}
		h.sleep(time.Second)
		if h.mailbox.attempts() > 0 {
			t.Error("a mail was sent")
		}
	})
}

// broken is a Renderer whose RenderLetter always fails.
type broken struct{ loa.Renderer }

var errBroken = errors.New("no memory")

func (broken) RenderLetter(context.Context, loa.Text) ([]byte, error) { return nil, errBroken }

func TestBrokenRenderer(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		if _, _, err := h.ports.Initiate(t.Context(), org, draft("00")); !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	}, func(c *loa.Config) { c.Renderer = broken{} })
}

// TestResends checks that a letter can be resent MaxResends times, each time with a new link.
func TestResends(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, first := h.initiated()
		links := map[callwright.Secret]bool{first: true}
		for range loa.MaxResends {
			if _, _, err := h.ports.Resend(t.Context(), org, r.ID); err != nil {
				t.Fatal(err)
			}
			h.sleep(time.Second)
			links[h.token()] = true
		}
		_, _, err := h.ports.Resend(t.Context(), org, r.ID)
		wantError(t, "one more", err, callwright.CodeTooManyRequests, "")
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent/resent/sent/resent/sent/resent/sent/resent/sent/resent/sent")
		if len(links) != loa.MaxResends+1 {
			t.Errorf("there were %d links", len(links))
		}
		if _, err := h.Sign(t.Context(), h.token(), h.signature(r)); err != nil {
			t.Error(err)
		}
		_, err = h.ResendLetter(t.Context(), r)
		wantError(t, "a signed letter", err, callwright.CodeInvalidState, "")
		_, err = h.ResendLetter(t.Context(), porting.Request{Org: "b", ID: r.ID})
		wantError(t, "another organization's", err, callwright.CodeNotFound, "")
	})
}

// TestAbsent checks that another organization can neither read nor revoke a letter.
func TestAbsent(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r, _ := h.initiated()
		_, letterErr := h.Letter(t.Context(), "b", r.ID)
		_, _, pdfErr := h.LetterPDF(t.Context(), "b", r.ID)
		_, evidenceErr := h.Evidence(t.Context(), "b", r.ID)
		for name, err := range map[string]error{"letter": letterErr, "PDF": pdfErr, "evidence": evidenceErr} {
			wantError(t, name, err, callwright.CodeNotFound, "")
		}
		if err := h.RevokeLetter(t.Context(), "b", r.ID); err != nil {
			t.Error(err)
		}
		data, signed, err := h.LetterPDF(t.Context(), org, r.ID)
		if err != nil || signed || len(data) == 0 {
			t.Errorf("got %q, signed %t, %v", data, signed, err)
		}
		h.want(r, loa.Waiting, porting.WaitingForSignature, "created/sent")
	})
}
