package loa

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// SendLetter renders the letter of a request and mails its link to the authorized representative. It returns CodeBadRequest if the letter
// cannot show a text of the request; the error names all such texts. It returns CodeConflict if the request already has a letter.
func (s *Service) SendLetter(ctx context.Context, r porting.Request) (porting.Letter, error) {
	now := s.cfg.Clock.Now()
	l := Letter{
		Org: r.Org, Request: r.ID, State: Waiting, Content: contentOf(r, s.cfg.Provider), Link: 1, SignBy: r.SignBy, CreatedAt: now, Revision: 1,
	}
	pdf, err := s.cfg.Renderer.RenderLetter(ctx, Compose(l.Content))
	if err != nil {
		return porting.Letter{}, s.unprintable(ctx, err, l.Content.fields())
	}
	l.SHA256 = hashOf(pdf)
	l.LinkHash = linkHash(s.token(l.Org, l.Request, l.Link))
	l.DueAt = nextReminder(l, now)
	events := l.record(Event{At: now, Kind: EventCreated, Email: l.Content.Email, SHA256: l.SHA256})
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.cfg.Store.InsertLetter(ctx, l, pdf, events...); err != nil {
			return err
		}
		return s.post(ctx, l, mailArgs{Kind: mailLetter, At: now})
	})
	if err != nil {
		return porting.Letter{}, err
	}
	return s.sent(l), nil
}

// unprintable converts a Renderer's CodeBadRequest error to an error for each field that cannot be rendered. It returns other errors
// unchanged, and also the CodeBadRequest error if every field can be rendered.
func (s *Service) unprintable(ctx context.Context, err error, fields []field) error {
	if !errors.Is(err, callwright.ErrBadRequest) {
		return err
	}
	var found callwright.FieldErrors
	for _, f := range fields {
		_, err := s.cfg.Renderer.RenderLetter(ctx, Text{Paragraphs: []string{f.value}})
		if errors.Is(err, callwright.ErrBadRequest) {
			found = append(found, callwright.Invalid(f.name, "%s", callwright.MessageOf(err)))
		}
	}
	if len(found) == 0 {
		return err
	}
	return found
}

// ResendLetter replaces the link to a letter, and mails the new link. It returns CodeTooManyRequests if the letter was resent MaxResends
// times, CodeInvalidState if the letter has ended or expired, CodeConflict if it was changed meanwhile, and CodeNotFound if it is absent.
func (s *Service) ResendLetter(ctx context.Context, r porting.Request) (porting.Letter, error) {
	l, err := s.cfg.Store.Letter(ctx, r.Org, r.ID)
	if err != nil {
		return porting.Letter{}, err
	}
	now := s.cfg.Clock.Now()
	if err := l.open(now); err != nil {
		return porting.Letter{}, err
	}
	if l.Link > MaxResends {
		return porting.Letter{}, callwright.Errorf(callwright.CodeTooManyRequests,
			"the letter was sent again %d times, which is the limit: cancel the port request and make another one", MaxResends)
	}
	l.Link++
	l.LinkHash = linkHash(s.token(l.Org, l.Request, l.Link))
	l.DueAt = nextReminder(l, now)
	events := l.record(Event{At: now, Kind: EventResent, Email: l.Content.Email, SHA256: l.SHA256})
	err = s.store(ctx, &l, nil, events, func(ctx context.Context) error {
		return s.post(ctx, l, mailArgs{Kind: mailLetter, At: now})
	})
	if err != nil {
		return porting.Letter{}, err
	}
	return s.sent(l), nil
}

// RevokeLetter revokes a letter that waits for its signature. It does nothing if the letter has ended or is absent. It returns CodeConflict
// if the letter was changed meanwhile.
func (s *Service) RevokeLetter(ctx context.Context, org callwright.OrgID, request string) error {
	l, err := s.cfg.Store.Letter(ctx, org, request)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && l.State != Waiting {
		return nil
	}
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now()
	l.end(Revoked, now)
	return s.store(ctx, &l, nil, l.record(Event{At: now, Kind: EventRevoked, SHA256: l.SHA256}), nil)
}

// end moves a letter to a final state. Clearing DueAt cancels its reminders.
func (l *Letter) end(s State, now time.Time) { l.State, l.EndedAt, l.DueAt = s, now, time.Time{} }

// expired reports whether a letter's deadline passed before the letter was signed or declined.
func (l Letter) expired(now time.Time) bool {
	return l.State == Waiting && !now.Before(l.SignBy) || l.State == Revoked && !l.EndedAt.Before(l.SignBy)
}

// open returns nil if a letter can be signed or declined. Otherwise it returns CodeInvalidState with a message for the signer.
func (l Letter) open(now time.Time) error {
	text := map[State]string{
		Signed:   "this letter is signed already: there is nothing more to do",
		Declined: "this letter was declined: whoever asked for the port must ask again before it can be signed",
		Revoked:  "this letter is not needed any more: the port was canceled, or the letter was signed on paper",
	}[l.State]
	if l.expired(now) {
		text = "the time to sign this letter ended on " + dated(l.SignBy) + ": whoever asked for the port must ask again"
	}
	if text == "" {
		return nil
	}
	return callwright.Errorf(callwright.CodeInvalidState, "%s", text)
}
