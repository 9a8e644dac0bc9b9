package calllog

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// AttemptObserver receives the events of every call attempt in order; Service implements it. Its methods return no errors, because a
// failing log must not stop a call: the caller runs them concurrently with the call, and the observer logs failures.
type AttemptObserver interface {
	// Begin is called for an outgoing call when its server is connected or known to be unreachable, and for an incoming call when its trunk
	// is known.
	Begin(ctx context.Context, r Record)
	// Answered is called when the call is answered, with the time of the answer.
	Answered(ctx context.Context, r Record, at time.Time)
	// Finish is called once, when the attempt has ended and its resources are freed. evidence is nil if the attempt reveals nothing about
	// the server, because the server was not tried or the attempt was canceled before a response.
	Finish(ctx context.Context, r Record, evidence *health.Evidence, steps []ladder.Event)
}

const (
	writeTimeout = 2 * time.Second        // of each write
	endTries     = 3                      // attempts to write the end, which cannot be recovered later
	endBackoff   = 200 * time.Millisecond // wait after the first attempt; doubles after the next
	maxText      = 512                    // in bytes
)

// Begin stores a new record of an attempt. It implements AttemptObserver.
func (s *Service) Begin(ctx context.Context, r Record) {
	r = s.cleaned(r)
	err := within(ctx, func(ctx context.Context) error { return s.cfg.Store.Begin(ctx, r) })
	s.logFailure(ctx, "the beginning of an attempt was not written", r, err)
}

// Answered stores the time at which an attempt was answered. It implements AttemptObserver.
func (s *Service) Answered(ctx context.Context, r Record, at time.Time) {
	err := within(ctx, func(ctx context.Context) error { return s.cfg.Store.Answer(ctx, r.Org, r.ID, at) })
	s.logFailure(ctx, "the answer of an attempt was not written", r, err)
}

// Finish stores the end of an attempt, with retries, and passes the evidence of an outgoing call to the Monitor. It implements
// AttemptObserver. The steps must come from a ladder.Recorder, which cleans their texts.
func (s *Service) Finish(ctx context.Context, r Record, evidence *health.Evidence, steps []ladder.Event) {
	ctx = context.WithoutCancel(ctx)
	if evidence != nil && r.Direction == sip.Outbound {
		e := *evidence
		e.Reason = clean(e.Reason)
		s.cfg.Monitor.Observe(ctx, r.Org, r.TrunkID, r.Server, e)
	}
	r = s.cleaned(r)
	if r.EndedAt == nil {
		now := s.cfg.Clock.Now()
		r.EndedAt = &now
	}
	var err error
	for try := range endTries {
		if try > 0 {
			<-time.After(endBackoff << (try - 1))
		}
		if err = within(ctx, func(ctx context.Context) error { return s.finishAttempt(ctx, r, steps) }); err == nil {
			return
		}
	}
	s.logFailure(ctx, "the end of an attempt was not written", r, err)
}

// finishAttempt ends a record. If Begin could not store the record, finishAttempt adds it first.
func (s *Service) finishAttempt(ctx context.Context, r Record, steps []ladder.Event) error {
	err := s.cfg.Store.Finish(ctx, r.Org, r.ID, r.End, steps)
	if !errors.Is(err, callwright.ErrNotFound) {
		return err
	}
	if err := s.cfg.Store.Begin(ctx, r); err != nil {
		return err
	}
	return s.cfg.Store.Finish(ctx, r.Org, r.ID, r.End, steps)
}

// within calls f with a timeout of writeTimeout. It ignores the end of ctx, because a call may be over before it is stored.
func within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return f(ctx)
}

func (s *Service) logFailure(ctx context.Context, message string, r Record, err error) {
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, message, "call_id", r.ID, "trunk_id", r.TrunkID, "error", err)
	}
}

// cleaned returns a record in the form in which it is stored: with this node's name, and with the peer's texts cleaned.
func (s *Service) cleaned(r Record) Record {
	r.Node = s.cfg.Node
	for _, text := range []*string{&r.From, &r.To, &r.SIPCallID, &r.Status, &r.Reason} {
		*text = clean(*text)
	}
	return r
}

// clean returns the first maxText bytes of a text, without control characters and invalid UTF-8.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
}
