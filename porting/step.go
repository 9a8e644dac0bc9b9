package porting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// pollOrders is periodic work. It schedules a step for up to lookBatch due requests, spread over the time until its next run, so that
// gateways do not receive all calls together.
func (s *Service) pollOrders(ctx context.Context, _ callwright.Task, _ int) error {
	now := s.cfg.Clock.Now()
	due, err := s.cfg.Store.DueRequests(ctx, now, lookBatch)
	if err != nil {
		return err
	}
	for i, name := range due {
		err := s.cfg.Work.Enqueue(ctx, callwright.Task{
			Kind: taskStep, Key: name.ID, Org: name.Org, Unique: true, RunAt: now.Add(lookEvery * time.Duration(i) / time.Duration(len(due))),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step handles the task taskStep: it performs the next step of a request, and retries if the request was changed meanwhile.
func (s *Service) step(ctx context.Context, t callwright.Task, _ int) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error { return s.advance(ctx, t.Org, t.Key) })
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// advance performs the next step of a request. It returns CodeConflict if the request was changed meanwhile.
func (s *Service) advance(ctx context.Context, org callwright.OrgID, id string) error {
	r, err := s.cfg.Store.Request(ctx, org, id)
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now()
	switch {
	case r.State == WaitingForSignature && now.Before(r.SignBy):
		return nil
	case r.State == WaitingForSignature:
		return s.expire(ctx, r)
	case r.State.Ended():
		return s.finish(ctx, r)
	}
	g := s.gateway(r.Gateway)
	if g == nil {
		return s.recordUnreachable(ctx, r, errNoGateway)
	}
	if r.Ref == "" {
		if goesOn, err := s.submit(ctx, g, &r); err != nil || !goesOn {
			return err
		}
	}
	if !r.CancelAskedAt.IsZero() && !r.CancelSent {
		if goesOn, err := s.askToCancel(ctx, g, &r); err != nil || !goesOn {
			return err
		}
	}
	return s.compare(ctx, g, r)
}

var errNoGateway = errors.New("the gateway of the request is not configured: name it in Config.Former")

// expire ends a request that was not signed in time, and revokes its letter.
func (s *Service) expire(ctx context.Context, r Request) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		now := s.cfg.Clock.Now()
		r.setNumbers(NumberCanceled, nil)
		r.Failure = &Failure{Code: SignatureTooLate}
		e, err := r.move(SignatureExpired, Timer, now, "")
		if err != nil {
			return err
		}
		if err := s.cfg.Letters.RevokeLetter(ctx, r.Org, r.ID); err != nil {
			return err
		}
		return s.store(ctx, &r, []Entry{e})
	})
}

// submit submits a request to its gateway and stores the order's Ref. goesOn is false if the request has failed or must be retried later.
func (s *Service) submit(ctx context.Context, g Gateway, r *Request) (goesOn bool, err error) {
	now := s.cfg.Clock.Now()
	if r.Sending && now.Sub(r.SignedAt) > AnswerWithin {
		return false, s.reject(ctx, r, Timer, Failure{Code: GatewayError})
	}
	if !r.Sending {
		r.Sending = true
		if err := s.store(ctx, r, nil); err != nil {
			return false, err
		}
	}
	sub := Submission{Order: r.order(), Account: r.Account, Documents: slices.Clone(r.Documents), PINs: map[callwright.PhoneNumber]callwright.Secret{}}
	for _, n := range r.Numbers {
		if n.PIN != "" {
			sub.PINs[n.Number] = n.PIN
		}
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	receipt, err := g.Submit(asking, sub)
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return false, s.reject(ctx, r, Carrier, refusal.Failure)
	}
	if err == nil && (receipt.Ref == "" || len(receipt.Ref) > MaxRef) {
		err = fmt.Errorf("the gateway accepted the order with a reference of %d bytes: it must have 1 to %d", len(receipt.Ref), MaxRef)
	}
	if err != nil {
		return false, s.recordUnreachable(ctx, *r, err)
	}
	r.Ref, r.Misses = receipt.Ref, 0
	return true, s.store(ctx, r, nil)
}

// reject ends a request with failure f, because the carrier has refused it or the gateway has not accepted it in time.
func (s *Service) reject(ctx context.Context, r *Request, by Actor, f Failure) error {
	f.Code, f.Raw = f.Code.Remedy().Code, callwright.Clip(f.Raw, MaxRaw)
	r.setNumbers(NumberRejected, &f)
	r.Failure = &f
	e, err := r.move(Rejected, by, s.cfg.Clock.Now(), "")
	if err != nil {
		return err
	}
	return s.store(ctx, r, []Entry{e})
}

// askToCancel passes a cancellation to the gateway, and records a refusal. goesOn is false if the gateway could not be reached.
func (s *Service) askToCancel(ctx context.Context, g Gateway, r *Request) (goesOn bool, err error) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = g.Cancel(asking, r.order())
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		r.CancelAskedAt, r.CancelAskedBy, r.CancelSent = time.Time{}, "", false
		e, err := r.move(CancelRefused, Carrier, s.cfg.Clock.Now(), string(refusal.Failure.Code.Remedy().Code))
		if err != nil {
			return false, err
		}
		return true, s.store(ctx, r, []Entry{e})
	}
	if err != nil {
		return false, s.recordUnreachable(ctx, *r, err)
	}
	r.CancelSent = true
	return true, s.store(ctx, r, nil)
}

// compare takes a snapshot of the carrier's order, and applies it to the request. It also registers newly ported numbers and schedules the
// next step.
func (s *Service) compare(ctx context.Context, g Gateway, r Request) error {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shot, err := g.Snapshot(asking, r.order())
	if err != nil {
		return s.recordUnreachable(ctx, r, err)
	}
	now := s.cfg.Clock.Now()
	r.Misses = 0
	before := r.Numbers
	entries, err := r.apply(shot, now)
	if err != nil {
		return err
	}
	if late, ok, err := r.recordDelay(now, g.Capabilities().CutOff); err != nil {
		return err
	} else if ok {
		entries = append(entries, late)
	}
	s.register(ctx, &r)
	r.DueAt = s.next(r, now)
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.reserve(ctx, &r, before); err != nil {
			return err
		}
		return s.store(ctx, &r, entries)
	})
}

// recordDelay sets or clears HeldSince. If the request has been held up for ActFor and no cancellation is requested, recordDelay requests
// one, or calls requestCancellation if the request cannot be canceled. The bool reports whether the Entry must be stored.
func (r *Request) recordDelay(now time.Time, cutOff time.Duration) (Entry, bool, error) {
	switch {
	case r.State != InProgress || !r.held():
		r.HeldSince = time.Time{}
		return Entry{}, false, nil
	case r.HeldSince.IsZero():
		r.HeldSince = now
	}
	if now.Sub(r.HeldSince) < ActFor || !r.CancelAskedAt.IsZero() {
		return Entry{}, false, nil
	}
	if _, err := PlanCancel(*r, cutOff, now); err != nil {
		return r.requestCancellation(now)
	}
	r.CancelAskedAt, r.CancelAskedBy = now, Timer
	e, err := r.move(CancelAsked, Timer, now, "")
	return e, err == nil, err
}

// requestCancellation handles a held-up request that cannot be canceled. If one of its numbers is ported, the held-up numbers are rejected
// with their failures, and the request ends when its last number has ended. Otherwise its confirmed date is near, and it continues
// unchanged.
func (r *Request) requestCancellation(now time.Time) (Entry, bool, error) {
	if !slices.Contains(r.numberStates(), NumberPorted) {
		return Entry{}, false, nil
	}
	for i, n := range r.Numbers {
		if !n.State.Ended() && n.Failure != nil && n.Failure.Code.Remedy().Act != ActCarrier {
			r.Numbers[i].State = NumberRejected
		}
	}
	r.HeldSince = time.Time{}
	event, ended := Outcome(r.numberStates())
	if !ended {
		event = Changed
	}
	e, err := r.move(event, Timer, now, "")
	return e, err == nil, err
}

// register registers ported numbers for inbound calls, and attaches them to a trunk. It marks a number of another organization as foreign.
// After any other failure, the next step retries.
func (s *Service) register(ctx context.Context, r *Request) {
	for i := range r.Numbers {
		n := &r.Numbers[i]
		if !n.awaitsCalls() {
			continue
		}
		attached, err := s.connect(ctx, *r, n.Number)
		if errors.Is(err, callwright.ErrConflict) { // another step of this request may have caused the conflict
			attached, err = s.connect(ctx, *r, n.Number)
		}
		switch {
		case err == nil && attached:
			n.Inbound = Registered
		case err == nil:
			n.Inbound = WaitsForTrunk
		case errors.Is(err, callwright.ErrConflict):
			n.markForeign()
			s.cfg.Logger.ErrorContext(ctx, "a ported number is registered by another organization", "port_request_id", r.ID, "org", r.Org)
		default:
			s.cfg.Logger.ErrorContext(ctx, "a ported number cannot be registered yet", "port_request_id", r.ID, "org", r.Org, "error", err)
		}
	}
}

// connect registers a ported number for inbound calls and attaches a trunk. It reports whether the number can receive calls now.
func (s *Service) connect(ctx context.Context, r Request, number callwright.PhoneNumber) (attached bool, err error) {
	if err := s.cfg.Inbound.RegisterInbound(ctx, r.Org, number); err != nil || s.cfg.Trunks == nil {
		return err == nil, err
	}
	from := r.CallsFrom
	if len(from) == 0 {
		from = s.cfg.CallsFrom
	}
	return s.cfg.Trunks.AttachPorted(ctx, r.Org, number, from)
}

// awaitsCalls reports whether a ported number still has to be registered or attached to a trunk. It returns false for numbers that are
// released or belong to another organization.
func (n Number) awaitsCalls() bool {
	return n.State == NumberPorted && (n.Inbound == NotRegistered || n.Inbound == WaitsForTrunk)
}

// finish registers the ported numbers of an ended request that do not receive calls yet.
func (s *Service) finish(ctx context.Context, r Request) error {
	if r.DueAt.IsZero() {
		return nil
	}
	s.register(ctx, &r)
	r.DueAt = s.next(r, s.cfg.Clock.Now())
	return s.store(ctx, &r, nil)
}

// recordUnreachable records a failed attempt to reach a gateway, and schedules the next one with backoff. Failed attempts never end a
// request here.
func (s *Service) recordUnreachable(ctx context.Context, r Request, cause error) error {
	if err := ctx.Err(); err != nil {
		return err // the worker is stopping
	}
	r.Misses++
	rest := min(longestRest, lookEvery<<min(r.Misses-1, 10))
	r.DueAt = s.cfg.Clock.Now().Add(spread(rest))
	log := s.cfg.Logger.WarnContext
	if r.Misses >= alarmAfter {
		log = s.cfg.Logger.ErrorContext
	}
	log(ctx, "a port request could not be advanced and is tried again", "port_request_id", r.ID, "org", r.Org,
		"gateway", r.Gateway, "attempts", r.Misses, "error", cause)
	return s.store(ctx, &r, nil)
}

// next returns the time of a request's next step, or the zero time if the request needs none.
func (s *Service) next(r Request, now time.Time) time.Time {
	foc := r.FOC()
	switch {
	case r.State.Ended() && slices.ContainsFunc(r.Numbers, Number.awaitsCalls):
		waits := now.Sub(r.EndedAt) / 4 // check less often the longer the trunk is missing
		return now.Add(spread(min(max(waits, lookEvery), longestWait)))
	case r.State.Ended():
		return time.Time{}
	case !r.CancelAskedAt.IsZero() && !r.CancelSent:
		return now
	}
	every := s.cfg.PollEvery
	if !r.CancelAskedAt.IsZero() || !foc.IsZero() && foc.Sub(now) < systemDay {
		every = s.cfg.PollNear
	}
	if g := s.gateway(r.Gateway); g != nil && g.Capabilities().PollEvery > 0 {
		every = min(every, g.Capabilities().PollEvery)
	}
	return now.Add(spread(every))
}

// spread varies a duration randomly by up to a fifth, and truncates it to microseconds.
func spread(d time.Duration) time.Duration {
	d = d*4/5 + rand.N(max(1, d*2/5)) //nolint:gosec // spreads load, hides nothing
	return d.Truncate(time.Microsecond)
}
