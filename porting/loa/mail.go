package loa

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// mailKind is the kind of a mail.
type mailKind string

const (
	mailLetter   mailKind = "letter"   // a letter to sign
	mailReminder mailKind = "reminder" // the letter is not signed yet
	mailSigned   mailKind = "signed"   // a copy of the signed letter
)

// mailArgs names a mail.
type mailArgs struct {
	Request string    `json:"request"`
	Link    int       `json:"link"`
	Kind    mailKind  `json:"kind"`
	Number  int       `json:"number"` // of the reminder, from 1 on
	At      time.Time `json:"at"`     // time of its cause
}

// id returns the idempotency key of a mail.
func (a mailArgs) id() string {
	return fmt.Sprintf("%s.loa.%d.%s.%d", a.Request, a.Link, a.Kind, a.Number)
}

// post enqueues a mail about a letter.
func (s *Service) post(ctx context.Context, l Letter, a mailArgs) error {
	a.Request, a.Link = l.Request, l.Link
	t := callwright.Task{Key: a.id(), Org: l.Org, Unique: true}
	return callwright.TaskKind[mailArgs](taskMail).Enqueue(ctx, s.cfg.Work, t, a)
}

// mail is durable work. It sends a mail once, unless the letter has ended or the mail's link was replaced.
func (s *Service) mail(ctx context.Context, t callwright.Task, a mailArgs, _ int) error {
	l, err := s.cfg.Store.Letter(ctx, t.Org, a.Request)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	events, err := s.cfg.Store.Events(ctx, t.Org, a.Request)
	if err != nil {
		return err
	}
	if !a.wanted(l, events, s.cfg.Clock.Now()) {
		return nil
	}
	subject, text := l.notice(a.Kind, s.page(l))
	err = s.cfg.Mailer.SendMail(ctx, a.id(), l.Content.Email, subject, text)
	switch {
	case err == nil:
		return s.delivered(ctx, t.Org, a)
	case errors.Is(err, callwright.ErrForbidden):
		s.cfg.Logger.WarnContext(ctx, "the mail server refuses a mail with a letter", "port_request_id", l.Request, "org", l.Org, "mail", a.id(), "error", err)
		return s.returned(ctx, t.Org, a)
	}
	return s.retryMail(ctx, err, l, a)
}

// wanted reports whether a mail must still be sent: its link is current, and the audit trail does not contain it.
func (a mailArgs) wanted(l Letter, events []Event, now time.Time) bool {
	waits := l.State == Waiting && now.Before(l.SignBy) && l.Link == a.Link
	switch a.Kind {
	case mailLetter:
		return waits && !answered(events, EventCreated, EventResent)
	case mailReminder:
		return waits && l.Reminders == a.Number-1 && !l.DueAt.IsZero() && !l.DueAt.After(now)
	case mailSigned:
		return l.State == Signed && !answered(events, EventSealed)
	}
	return false
}

// answered reports whether a mail was sent or refused since the last event of some kinds.
func answered(events []Event, causes ...EventKind) bool {
	for _, e := range slices.Backward(events) {
		if e.Kind == EventSent || e.Kind == EventReturned {
			return true
		}
		if slices.Contains(causes, e.Kind) {
			return false
		}
	}
	return false
}

// record calls f with the letter of a mail, if the mail is still wanted, and stores the returned event and its work.
func (s *Service) record(
	ctx context.Context, org callwright.OrgID, a mailArgs, f func(l *Letter, now time.Time) (Event, func(context.Context) error),
) error {
	return callwright.Retry(ctx, func(ctx context.Context) error {
		l, err := s.cfg.Store.Letter(ctx, org, a.Request)
		if err != nil {
			return err
		}
		events, err := s.cfg.Store.Events(ctx, org, a.Request)
		if err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		if !a.wanted(l, events, now) {
			return nil
		}
		e, then := f(&l, now)
		return s.store(ctx, &l, nil, l.record(e), then)
	})
}

// delivered records that the mail server has accepted a mail.
func (s *Service) delivered(ctx context.Context, org callwright.OrgID, a mailArgs) error {
	return s.record(ctx, org, a, func(l *Letter, now time.Time) (Event, func(context.Context) error) {
		e := Event{At: now, Kind: EventSent, Email: l.Content.Email, SHA256: l.SHA256}
		switch a.Kind {
		case mailReminder:
			e.Kind = EventReminded
			l.Reminders++
			l.DueAt = nextReminder(*l, now)
		case mailSigned:
			e.SHA256 = l.SignedSHA256
		case mailLetter:
		}
		return e, nil
	})
}

// returned records that the mail server has refused a mail permanently. While the letter waits, its port request shows it. No
// reminder is mailed to such an address.
func (s *Service) returned(ctx context.Context, org callwright.OrgID, a mailArgs) error {
	requests, err := s.attached()
	if err != nil {
		return err
	}
	return s.record(ctx, org, a, func(l *Letter, now time.Time) (Event, func(context.Context) error) {
		l.DueAt = time.Time{}
		e := Event{At: now, Kind: EventReturned, Email: l.Content.Email, SHA256: l.SHA256}
		if l.State == Signed {
			e.SHA256 = l.SignedSHA256
			return e, nil
		}
		return e, func(ctx context.Context) error {
			_, err := requests.Undelivered(ctx, l.Org, l.Request)
			if errors.Is(err, callwright.ErrInvalidState) || errors.Is(err, callwright.ErrNotFound) {
				return nil // the request has ended, and has not revoked its letter yet
			}
			return err
		}
	})
}

// retryMail returns the error that causes another attempt, or nil when the mail is given up. The number of attempts follows from the
// age of the mail. The next reminder follows a mail that is given up.
func (s *Service) retryMail(ctx context.Context, err error, l Letter, a mailArgs) error {
	if ctx.Err() != nil {
		return err
	}
	now := s.cfg.Clock.Now()
	if again := delivery.Redelivery(err, now.Sub(a.At)); again != nil {
		return again
	}
	s.cfg.Logger.WarnContext(ctx, "a mail with a letter is given up", "port_request_id", l.Request, "org", l.Org, "mail", a.id(), "error", err)
	if a.Kind != mailReminder {
		return nil
	}
	l.DueAt = nextReminder(l, now)
	err = s.store(ctx, &l, nil, nil, nil)
	if errors.Is(err, callwright.ErrConflict) {
		return nil // changed meanwhile: a reminder that is still due is tried again
	}
	return err
}
