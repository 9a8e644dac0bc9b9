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

// mailKind distinguishes the mails about a letter.
type mailKind string

const (
	mailLetter   mailKind = "letter"   // asks the signer to sign
	mailReminder mailKind = "reminder" // reminds the signer of an unsigned letter
	mailSigned   mailKind = "signed"   // links to a copy of the signed letter
)

// mailArgs contains the arguments of the task that sends a mail about a letter.
type mailArgs struct {
	Request string    `json:"request"`
	Link    int       `json:"link"`
	Kind    mailKind  `json:"kind"`
	Number  int       `json:"number"` // number of the reminder, from 1; 0 for other mails
	At      time.Time `json:"at"`     // time at which the mail was requested; limits the retries
}

// id returns the idempotency key of a mail.
func (a mailArgs) id() string {
	return fmt.Sprintf("%s.loa.%d.%s.%d", a.Request, a.Link, a.Kind, a.Number)
}

// post enqueues a mail with the current link of a letter.
func (s *Service) post(ctx context.Context, l Letter, a mailArgs) error {
	a.Request, a.Link = l.Request, l.Link
	t := callwright.Task{Key: a.id(), Org: l.Org, Unique: true}
	return callwright.TaskKind[mailArgs](taskMail).Enqueue(ctx, s.cfg.Work, t, a)
}

// mail handles the task taskMail. It sends a mail and records the result, unless the mail is no longer wanted.
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

// wanted reports whether a mail must still be sent. A mail that was sent or refused before is not sent again. A mail that asks for a
// signature is sent only while the letter waits, has not expired, and still has the mail's link.
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

// answered reports whether a mail was sent or refused since the last event with one of the given kinds.
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

// record reads the letter of a mail and calls f, if the mail is still wanted. It then stores the letter and the event that f returns, and
// runs the function that f returns in the same transaction.
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

// delivered records that the mail server has accepted a mail. After a reminder it also schedules the next reminder.
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

// returned records that the mail server has permanently refused a mail. It cancels the reminders. If the letter still waits, it also
// reports the letter as undelivered to the port request.
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
				return nil // the request has ended, but its letter is not revoked yet
			}
			return err
		}
	})
}

// retryMail returns the error that causes another attempt, or nil if the mail is given up. The age of the mail limits the attempts. After a
// reminder is given up, retryMail schedules the next one.
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
		return nil // the letter has changed: a reminder that is still due is tried again
	}
	return err
}
