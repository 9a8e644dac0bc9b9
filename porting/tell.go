package porting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// noticeArgs identifies a history entry that is sent to a webhook.
type noticeArgs struct {
	Request string `json:"request"`
	Entry   int    `json:"entry"`
}

// mailArgs identifies a history entry and the recipient of the mail about it.
type mailArgs struct {
	noticeArgs
	Recipient int `json:"recipient"` // index in Account.recipients
}

// recipients returns the addresses that receive mail about a request. It removes duplicates regardless of case, because mail servers ignore
// case.
func (a Account) recipients() []string {
	all := []string{a.Email}
	for _, email := range a.NotifyEmails {
		if !slices.ContainsFunc(all, func(known string) bool { return strings.EqualFold(known, email) }) {
			all = append(all, email)
		}
	}
	return all
}

// enqueueNotices enqueues the messages about new entries: mails, webhook messages, and the report of a failure.
func (s *Service) enqueueNotices(ctx context.Context, r Request, entries []Entry) error {
	for _, e := range entries {
		args := noticeArgs{r.ID, e.Number}
		t := callwright.Task{Key: noticeID(r, e), Org: r.Org, Unique: true}
		if s.cfg.Notifier != nil && r.Webhook != "" {
			if err := callwright.TaskKind[noticeArgs](taskNotify).Enqueue(ctx, s.cfg.Work, t, args); err != nil {
				return err
			}
		}
		if s.cfg.Mailer != nil && e.mailed() {
			for i := range r.Account.recipients() {
				t.Key = fmt.Sprintf("%s/%d", noticeID(r, e), i)
				if err := callwright.TaskKind[mailArgs](taskMail).Enqueue(ctx, s.cfg.Work, t, mailArgs{args, i}); err != nil {
					return err
				}
			}
		}
		if s.cfg.Failures != nil && e.To == Failed {
			err := s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskFailed, Key: r.ID, Org: r.Org, Unique: true})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// noticeID returns the idempotency key of the webhook message about an entry.
func noticeID(r Request, e Entry) string { return fmt.Sprintf("%s/%d", r.ID, e.Number) }

// entry returns a request and one of its history entries. It returns CodeNotFound if the request or the entry is absent.
func (s *Service) entry(ctx context.Context, org callwright.OrgID, a noticeArgs) (Request, Entry, error) {
	r, err := s.cfg.Store.Request(ctx, org, a.Request)
	if err != nil {
		return Request{}, Entry{}, err
	}
	history, err := s.cfg.Store.History(ctx, org, a.Request)
	if err != nil {
		return Request{}, Entry{}, err
	}
	for _, e := range history {
		if e.Number == a.Entry {
			return r, e, nil
		}
	}
	return Request{}, Entry{}, callwright.NotFound("entry of the history")
}

// mail handles the task taskMail: it mails an entry to one recipient.
func (s *Service) mail(ctx context.Context, t callwright.Task, a mailArgs, _ int) error {
	r, e, err := s.entry(ctx, t.Org, a.noticeArgs)
	recipients := r.Account.recipients()
	if s.cfg.Mailer == nil || errors.Is(err, callwright.ErrNotFound) || err == nil && a.Recipient >= len(recipients) {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.cfg.Mailer.SendMail(ctx, fmt.Sprintf("%s.%d.%d", r.ID, e.Number, a.Recipient), recipients[a.Recipient], r.Subject(e), r.Text(e))
	return s.retryNotice(ctx, nil, delivery.Message{}, err, "a mail about a port request is given up", r, e)
}

// notify handles the task taskNotify: it sends an entry to the request's webhook.
func (s *Service) notify(ctx context.Context, t callwright.Task, a noticeArgs, _ int) error {
	r, e, err := s.entry(ctx, t.Org, a)
	if s.cfg.Notifier == nil || errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	m := delivery.Message{Org: r.Org, Kind: delivery.MessagePort, ID: noticeID(r, e), Subject: r.ID, URL: r.Webhook.Reveal()}
	failure, putOff := s.cfg.Deliveries.Send(ctx, m, e.At, func(ctx context.Context) error {
		return s.cfg.Notifier.NotifyPort(ctx, noticeID(r, e), r, e)
	})
	if putOff != nil {
		return putOff
	}
	return s.retryNotice(ctx, s.cfg.Deliveries, m, failure, "a webhook message about a port request is given up", r, e)
}

// retryNotice returns the error that causes another attempt, or nil if the message was delivered or is given up. It logs messages that are
// given up. A mail has no delivery log, so log is nil for mails.
func (s *Service) retryNotice(
	ctx context.Context, log *delivery.Log, m delivery.Message, err error, givenUp string, r Request, e Entry,
) error {
	again := log.Redeliver(ctx, m, err, e.At, s.cfg.Clock.Now())
	if err != nil && again == nil {
		s.cfg.Logger.WarnContext(ctx, givenUp, "port_request_id", r.ID, "entry", e.Number, "org", r.Org, "error", err)
	}
	return again
}

// failed handles the task taskFailed: it reports a failed request to Config.Failures.
func (s *Service) failed(ctx context.Context, t callwright.Task, _ int) error {
	r, err := s.cfg.Store.Request(ctx, t.Org, t.Key)
	if s.cfg.Failures == nil || errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.cfg.Failures.PortFailed(ctx, r)
}
