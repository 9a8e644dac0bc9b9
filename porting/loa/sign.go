package loa

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Show returns the content of the signing page. It changes nothing, because mail scanners also open links. It also returns letters that
// have ended: see Letter.State. It returns CodeNotFound if the link is unknown or was replaced.
func (s *Service) Show(ctx context.Context, token callwright.Secret) (View, error) {
	l, err := s.linked(ctx, token)
	if err != nil {
		return View{}, err
	}
	return l.view(s.cfg.Clock.Now()), nil
}

// linked returns the letter whose current link contains token, or CodeNotFound if no current link contains it.
func (s *Service) linked(ctx context.Context, token callwright.Secret) (Letter, error) {
	l, err := s.cfg.Store.LetterByLink(ctx, linkHash(token.Reveal()))
	if errors.Is(err, callwright.ErrNotFound) {
		return Letter{}, callwright.Errorf(callwright.CodeNotFound, "this link leads to no letter: use the link in the newest mail")
	}
	return l, err
}

func (l Letter) view(now time.Time) View {
	return View{Letter: l, Text: Compose(l.Content), Disclosure: Disclosure, Expired: l.expired(now)}
}

// Sign signs a letter, and submits its port request in the same transaction. Of concurrent calls for a letter exactly one succeeds. Sign
// returns CodeInvalidState if the letter or its request no longer waits for a signature, CodeBadRequest with all invalid fields if the
// signature is invalid, and CodeNotFound if the link is unknown or was replaced.
func (s *Service) Sign(ctx context.Context, token callwright.Secret, sig Signature) (View, error) {
	requests, err := s.attached()
	if err != nil {
		return View{}, err
	}
	return s.decide(ctx, token, func(ctx context.Context, l *Letter, now time.Time) (decision, error) {
		sig, err := sig.checked(*l)
		if err != nil {
			return decision{}, err
		}
		signed, events, err := s.seal(ctx, l, sig, now)
		return decision{signed, events, func(ctx context.Context) error {
			note := fmt.Sprintf("signature: event %d of the letter's audit trail, SHA-256 %s", l.Events, l.Head)
			if _, err := requests.Sign(ctx, l.Org, l.Request, porting.Signer, note); err != nil {
				return pastDeadline(err)
			}
			return s.post(ctx, *l, mailArgs{Kind: mailSigned, At: now})
		}}, err
	})
}

// Decline declines a letter, and cancels its port request in the same transaction. reason may be empty. Decline returns CodeBadRequest if
// reason is longer than MaxReason characters or contains control characters other than line breaks and tabs. Other errors are the same as
// for Sign.
func (s *Service) Decline(ctx context.Context, token callwright.Secret, reason string, from Origin) (View, error) {
	requests, err := s.attached()
	if err != nil {
		return View{}, err
	}
	reason = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(reason, "\ufffd"), "\r\n", "\n"))
	return s.decide(ctx, token, func(_ context.Context, l *Letter, now time.Time) (decision, error) {
		var f faults
		f.addText("reason", strings.NewReplacer("\n", " ", "\t", " ").Replace(reason), MaxReason)
		if err := f.err(); err != nil {
			return decision{}, err
		}
		l.end(Declined, now)
		events := l.record(Event{At: now, Kind: EventDeclined, SHA256: l.SHA256, Origin: from.cleaned(), Reason: reason})
		return decision{nil, events, func(ctx context.Context) error {
			_, err := requests.Decline(ctx, l.Org, l.Request, reason)
			return pastDeadline(err)
		}}, nil
	})
}

// pastDeadline replaces a port request's CodeInvalidState error with a message for the signer. It returns other errors unchanged.
func pastDeadline(err error) error {
	if !errors.Is(err, callwright.ErrInvalidState) {
		return err
	}
	return callwright.Errorf(callwright.CodeInvalidState,
		"the port no longer waits for a signature: it was canceled, or the time to sign has passed").Because(err)
}

// decision contains the data to be stored after a signer's decision.
type decision struct {
	signed []byte
	events []Event
	then   func(ctx context.Context) error // called in the transaction that stores the letter
}

// decide reads an open letter by its link, calls prepare to end it, and stores the letter and the resulting decision in one transaction. It
// retries after a conflict.
func (s *Service) decide(
	ctx context.Context, token callwright.Secret, prepare func(ctx context.Context, l *Letter, now time.Time) (decision, error),
) (v View, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		l, err := s.linked(ctx, token)
		if err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		if err := l.open(now); err != nil {
			return err
		}
		d, err := prepare(ctx, &l, now)
		if err != nil {
			return err
		}
		if err := s.store(ctx, &l, d.signed, d.events, d.then); err != nil {
			return err
		}
		v = l.view(now)
		return nil
	})
	if err != nil {
		return View{}, err
	}
	return v, nil
}

// seal marks a letter as signed, and renders the signed PDF. The certificate in the PDF contains the hash of the signature event; the next
// event records the hash of the PDF.
func (s *Service) seal(ctx context.Context, l *Letter, sig Signature, now time.Time) (signed []byte, events []Event, err error) {
	events = l.record(Event{
		At: now, Kind: EventSigned, Email: l.Content.Email, SHA256: l.SHA256, Name: sig.Name, Title: sig.Title, Disclosure: Disclosure,
		Origin: sig.Origin,
	})
	signed, err = s.cfg.Renderer.RenderSigned(ctx, Compose(l.Content), Certificate{
		Letter: l.SHA256, Name: sig.Name, Title: sig.Title, Email: l.Content.Email, SignedAt: now, Origin: sig.Origin,
		Disclosure: Disclosure, Trail: l.Head,
	})
	if err != nil {
		return nil, nil, s.unprintable(ctx, err, []field{{"signer_name", sig.Name}, {"signer_title", sig.Title}})
	}
	l.end(Signed, now)
	l.SignedSHA256 = hashOf(signed)
	return signed, append(events, l.record(Event{At: now, Kind: EventSealed, SHA256: l.SignedSHA256})...), nil
}

// checked returns a signature in the form in which it is recorded. It returns an error that lists every invalid field.
func (sig Signature) checked(l Letter) (Signature, error) {
	sig.Name, sig.Title, sig.Origin = tidy(sig.Name), tidy(sig.Title), sig.Origin.cleaned()
	var f faults
	f.addIf(!sig.Consent, "consent", "must be given: agree to sign electronically, or ask for the letter on paper")
	f.addIf(!sig.Authority, "authority", "must be confirmed: only an authorized representative of the account can sign")
	f.addIf(sig.SHA256 != l.SHA256, "letter_sha256", "must be the SHA-256 of the current letter: load the page again")
	f.addIf(!sameName(sig.Name, l.Content.signer()), "signer_name", "must be the name of the authorized representative as the letter shows it")
	f.addText("signer_name", sig.Name, MaxName)
	f.addText("signer_title", sig.Title, MaxTitle)
	return sig, f.err()
}

// cleaned returns an origin whose texts are truncated and contain only printable ASCII, because clients control them.
func (o Origin) cleaned() Origin {
	printable := func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}
	return Origin{
		IP:        callwright.Clip(strings.Map(printable, o.IP), 64),
		UserAgent: callwright.Clip(strings.Map(printable, o.UserAgent), MaxUserAgent),
	}
}

// faults collects the errors of a signer's input.
type faults callwright.FieldErrors

func (f *faults) addIf(wrong bool, field, format string, args ...any) {
	if wrong {
		*f = append(*f, callwright.Invalid(field, format, args...))
	}
}

// addText adds an error about a text that is too long or contains control characters.
func (f *faults) addText(field, text string, most int) {
	f.addIf(callwright.Longer(text, most), field, "must have at most %d characters", most)
	f.addIf(strings.ContainsFunc(text, unicode.IsControl), field, "must not have control characters")
}

func (f faults) err() error { return callwright.FieldErrors(f).OrNil() }
