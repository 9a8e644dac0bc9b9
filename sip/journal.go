package sip

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

const (
	journalPatience = 2 * time.Second        // for one write
	endTries        = 3                      // for how a call ended, which nobody could tell later
	endPause        = 200 * time.Millisecond // between them, and twice as long each time
	maxRecordText   = 512                    // bytes
)

// Begin writes down that an attempt begins: see Journal.
func (s *Service) Begin(ctx context.Context, r CallRecord) {
	r = s.written(r)
	err := within(ctx, func(ctx context.Context) error { return s.Log.BeginCall(ctx, r) })
	s.lost(ctx, "the beginning of a call is not written down", r, err)
}

// Answered writes down that an attempt is answered: see Journal.
func (s *Service) Answered(ctx context.Context, r CallRecord, at time.Time) {
	err := within(ctx, func(ctx context.Context) error { return s.Log.AnswerCall(ctx, r.Org, r.ID, at) })
	s.lost(ctx, "the answer to a call is not written down", r, err)
}

// End writes down how an attempt ended, and tells the Monitor what it says of the server: see Journal. The steps are a
// ladder.Recorder's, which are clean.
func (s *Service) End(ctx context.Context, r CallRecord, evidence *health.Evidence, steps []ladder.Event) {
	ctx = context.WithoutCancel(ctx)
	if evidence != nil && r.Direction == Outbound {
		e := *evidence
		e.Reason = clean(e.Reason)
		s.Monitor.Observe(ctx, r.Org, r.TrunkID, r.Server, e)
	}
	r = s.written(r)
	if r.EndedAt == nil {
		now := s.Clock.Now()
		r.EndedAt = &now
	}
	var err error
	for try := range endTries {
		if try > 0 {
			<-time.After(endPause << (try - 1))
		}
		if err = within(ctx, func(ctx context.Context) error { return s.end(ctx, r, steps) }); err == nil {
			return
		}
	}
	s.lost(ctx, "the end of a call is not written down", r, err)
}

// end ends a record, and begins it first when its beginning could not be written.
func (s *Service) end(ctx context.Context, r CallRecord, steps []ladder.Event) error {
	err := s.Log.EndCall(ctx, r.Org, r.ID, r.CallEnd, steps)
	if !errors.Is(err, callwright.ErrNotFound) {
		return err
	}
	if err := s.Log.BeginCall(ctx, r); err != nil {
		return err
	}
	return s.Log.EndCall(ctx, r.Org, r.ID, r.CallEnd, steps)
}

// within does f in the time that a call has for it, even when the call itself is over.
func within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalPatience)
	defer cancel()
	return f(ctx)
}

func (s *Service) lost(ctx context.Context, message string, r CallRecord, err error) {
	if err != nil {
		s.Logger.ErrorContext(ctx, message, "call_id", r.ID, "trunk_id", r.TrunkID, "error", err)
	}
}

// written is a record as it is kept: this node's, and with what the peer says made harmless.
func (s *Service) written(r CallRecord) CallRecord {
	r.Node = s.Node
	for _, text := range []*string{&r.From, &r.To, &r.SIPCallID, &r.Status, &r.Reason} {
		*text = clean(*text)
	}
	return r
}

// clean makes UTF-8 without control characters of a text, and no more of it than is kept.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), maxRecordText)], ""))
}
