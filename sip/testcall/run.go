package testcall

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// The causes with which the context of a call is canceled.
var (
	errStopping = errors.New("the server is stopping")
	errTooLong  = errors.New("the call took longer than a minute")
	errLost     = errors.New("another server of this service has ended the call")
)

const (
	silence        = time.Second           // between the end of the prompt and our BYE
	hangupPatience = 10 * time.Second      // time limit of our BYE
	playCheck      = 20 * time.Millisecond // interval between checks of the playout
)

// run places one call and stores its result. A panic finishes the call as Failed.
func (s *Service) run(ctx context.Context, c Call) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer stop()
	r := &record{service: s, call: c, changed: make(chan struct{}, 1), lost: func() { cancel(errLost) }}
	finish := r.store(ctx)
	status, detail := Failed, callwright.ErrInternal.Message
	defer func() {
		if cause := recover(); cause != nil {
			s.cfg.Logger.ErrorContext(ctx, "a test call panicked", "call_id", c.ID, "panic", cause, "stack", string(debug.Stack()))
		}
		finish(status, detail)
	}()
	status, detail = s.place(ctx, r)
}

// place places the call, plays the prompt after the answer, and hangs up. It returns the result of the call.
func (s *Service) place(ctx context.Context, r *record) (Status, string) {
	leg, err := s.cfg.Line.Place(ctx, Placement{ID: r.call.ID, Org: r.call.Org, Number: r.call.Number, Ring: ring}, r.observe)
	if err != nil {
		return s.unanswered(ctx, r, err)
	}
	defer s.hangup(ctx, r, leg)
	info := leg.Info()
	r.answered(s.cfg.Clock.Now(), strings.Join([]string{info.Codec, info.SRTPSuite, info.TLS}, ", "))
	return Completed, s.playPrompt(ctx, r, leg)
}

// unanswered returns the status and the reason of a call for which Place returned err.
func (s *Service) unanswered(ctx context.Context, r *record, err error) (Status, string) {
	var failure *Failure
	var coded *callwright.Error
	switch {
	case ctx.Err() != nil:
		return Failed, context.Cause(ctx).Error()
	case errors.As(err, &failure):
		detail := failure.Reason
		if failure.Code != 0 {
			detail = strings.TrimSuffix(fmt.Sprintf("SIP %d: %s", failure.Code, detail), ": ")
		}
		if failure.Status == Busy || failure.Status == NoAnswer {
			return failure.Status, detail
		}
		return Failed, detail
	case errors.As(err, &coded):
		return Failed, coded.Message
	}
	s.cfg.Logger.ErrorContext(ctx, "a test call was not placed", "call_id", r.call.ID, "error", err)
	return Failed, callwright.ErrInternal.Message
}

// playPrompt plays the prompt and a second of silence, unless the peer hangs up earlier. It returns the reason why the call ended.
func (s *Service) playPrompt(ctx context.Context, r *record, leg Leg) string {
	talking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		listen(talking, leg)
	}()
	err := s.play(talking, r, leg)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case talking.Err() != nil, over(leg):
		return "the other side has hung up"
	case err != nil:
		s.cfg.Logger.ErrorContext(ctx, "the prompt of a test call was not played", "call_id", r.call.ID, "error", err)
		return "the prompt could not be played"
	}
	return "we have hung up"
}

// hangup ends an answered call. It does nothing if the call has ended.
func (s *Service) hangup(ctx context.Context, r *record, leg Leg) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangupPatience)
	defer cancel()
	if err := leg.Hangup(ending); err != nil {
		s.cfg.Logger.WarnContext(ctx, "a test call was not hung up", "call_id", r.call.ID, "error", err)
	}
}

// listen discards the peer's audio until the call ends.
func listen(ctx context.Context, leg Leg) {
	for {
		if _, err := leg.Read(ctx); err != nil {
			return
		}
	}
}

func over(leg Leg) bool {
	select {
	case <-leg.Done():
		return true
	default:
		return false
	}
}

// play plays the prompt, or the chime if the prompt fails. It waits until the audio is played and for a second of silence.
func (s *Service) play(ctx context.Context, r *record, leg Leg) error {
	samples, err := s.cfg.Prompt.Prompt(ctx, leg.Rate())
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "the prompt of a test call failed", "call_id", r.call.ID, "error", err)
		if samples, err = (Chime{}).Prompt(ctx, leg.Rate()); err != nil {
			return err
		}
	}
	if err := leg.Write(ctx, samples); err != nil {
		return err
	}
	for leg.Queued() > 0 {
		if err := wait(ctx, playCheck); err != nil {
			return err
		}
	}
	r.step("prompt played", "")
	return wait(ctx, silence)
}

// wait waits for d. It returns the error of ctx if ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
