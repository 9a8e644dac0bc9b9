package loa

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

const day = 24 * time.Hour

// Reminders returns the times at which the signer of a letter is reminded. The last reminder is due 2 days before signBy, if that is after
// created. The others are due 2 and 7 days after created, if they precede the last reminder.
func Reminders(created, signBy time.Time) (times []time.Time) {
	last := signBy.Add(-2 * day)
	for _, t := range []time.Time{created.Add(2 * day), created.Add(7 * day)} {
		if t.Before(last) {
			times = append(times, t)
		}
	}
	if last.After(created) {
		times = append(times, last)
	}
	return times
}

// nextReminder returns the time of the next reminder after a mail about a letter, at least a day after mailed. It returns the zero time if
// no reminder is left.
func nextReminder(l Letter, mailed time.Time) time.Time {
	for _, t := range Reminders(l.CreatedAt, l.SignBy) {
		if t.Sub(mailed) >= day {
			return t
		}
	}
	return time.Time{}
}

// remind is periodic work. It enqueues the mails of the reminders that are due.
func (s *Service) remind(ctx context.Context, _ callwright.Task, _ int) error {
	now := s.cfg.Clock.Now()
	due, err := s.cfg.Store.DueLetters(ctx, now, remindBatch)
	if err != nil {
		return err
	}
	for _, name := range due {
		l, err := s.cfg.Store.Letter(ctx, name.Org, name.ID)
		if errors.Is(err, callwright.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.post(ctx, l, mailArgs{Kind: mailReminder, Number: l.Reminders + 1, At: now}); err != nil {
			return err
		}
	}
	return nil
}
