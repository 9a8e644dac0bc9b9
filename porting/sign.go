package porting

import (
	"context"

	"github.com/callwright/callwright"
)

// errEnded is returned if a request no longer waits for a signature.
var errEnded = callwright.Errorf(callwright.CodeInvalidState, "the port request does not wait for a signature")

// Sign records the signature of a request's letter, and submits the request to the carrier. by is Signer, or Operator for a letter that was
// signed on paper; note describes the signature, for example by its id. Sign returns CodeInvalidState if the request no longer waits for a
// signature, and CodeNotFound if the organization has no such request.
func (s *Service) Sign(ctx context.Context, org callwright.OrgID, id string, by Actor, note string) (Request, error) {
	return s.change(ctx, org, id, func(ctx context.Context, r *Request) ([]Entry, error) {
		now := s.cfg.Clock.Now()
		if r.State == WaitingForSignature && !now.Before(r.SignBy) {
			return nil, errEnded
		}
		r.SignedAt, r.DueAt = now, now
		r.setNumbers(NumberSubmitted, nil)
		e, err := r.move(Signed, by, now, note)
		if err != nil {
			return nil, err
		}
		if by != Signer {
			if err := s.cfg.Letters.RevokeLetter(ctx, org, id); err != nil {
				return nil, err
			}
		}
		return []Entry{e}, s.wake(ctx, *r)
	})
}

// Undelivered records that the letter of a request cannot be delivered. A repeated call changes nothing. It returns the same errors as
// Sign.
func (s *Service) Undelivered(ctx context.Context, org callwright.OrgID, id string) (Request, error) {
	return s.change(ctx, org, id, func(_ context.Context, r *Request) ([]Entry, error) {
		if r.Undelivered {
			return nil, errUnchanged
		}
		r.Undelivered = true
		e, err := r.move(Undelivered, Mail, s.cfg.Clock.Now(), "")
		return []Entry{e}, err
	})
}

// Resend replaces the link to a letter, and mails the new link to the authorized representative. It returns CodeInvalidState if the request
// no longer waits for a signature, CodeTooManyRequests if the letter was resent too often, and CodeNotFound if the organization has no such
// request.
func (s *Service) Resend(ctx context.Context, org callwright.OrgID, id string) (r Request, l Letter, err error) {
	r, err = s.change(ctx, org, id, func(ctx context.Context, r *Request) ([]Entry, error) {
		now := s.cfg.Clock.Now()
		if r.State != WaitingForSignature || !now.Before(r.SignBy) {
			return nil, errEnded
		}
		r.Undelivered = false
		e, err := r.move(Resent, API, now, "")
		if err != nil {
			return nil, err
		}
		l, err = s.cfg.Letters.ResendLetter(ctx, *r)
		return []Entry{e}, err
	})
	if err != nil {
		return Request{}, Letter{}, err
	}
	return r, l, nil
}

// Decline cancels a request whose signer refuses to sign. reason may be empty. It returns the same errors as Sign.
func (s *Service) Decline(ctx context.Context, org callwright.OrgID, id, reason string) (Request, error) {
	return s.change(ctx, org, id, func(_ context.Context, r *Request) ([]Entry, error) {
		if r.State != WaitingForSignature {
			return nil, errEnded
		}
		r.setNumbers(NumberCanceled, nil)
		r.Failure = &Failure{Code: LOADeclined}
		e, err := r.move(Declined, Signer, s.cfg.Clock.Now(), callwright.Clip(reason, MaxRaw))
		return []Entry{e}, err
	})
}
