package porting

import (
	"context"

	"github.com/callwright/callwright"
)

// errEnded is the error of a signature for a request that does not wait for one.
var errEnded = callwright.Errorf(callwright.CodeInvalidState, "the port request does not wait for a signature")

// Sign submits a request whose letter was signed. by is Signer, or Operator for a letter that was signed on paper; note describes
// the signature, for example its id. CodeInvalidState: the request no longer waits for a signature. CodeNotFound: it is absent.
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

// Undelivered records that the letter of a request cannot be delivered. A repeated call changes nothing. Errors are as of Sign.
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

// Resend replaces the link to a letter, and mails the new one to the authorized representative. CodeInvalidState: the request no
// longer waits for a signature. CodeTooManyRequests: the letter was resent too often. CodeNotFound: it is absent.
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

// Decline cancels a request whose signer refuses to sign. reason may be empty. Errors are as of Sign.
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
