package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Updated is the result of Update. Password is the derived password of the registration, as in Attached; it is empty unless the input
// contains Register.
type Updated struct {
	Trunk    Trunk
	Password callwright.Secret
}

// Update changes one direction of a number. It returns CodeNotFound if the organization has not attached that direction.
func (s *Service) Update(
	ctx context.Context, org callwright.OrgID, number string, in DirectionInput,
) (Updated, error) {
	n, err := s.Number(ctx, org, number)
	if err != nil {
		return Updated{}, err
	}
	if err := checkDirection(in.Type); err != nil {
		return Updated{}, callwright.InField("updates.type", err)
	}
	t, err := s.change(ctx, org, n, in.Type, func(r Record, t Trunk) (Trunk, error) {
		t, err := s.shape(t, in)
		if err == nil {
			t, err = withRegistrar(t, r)
		}
		return t, below("updates", err)
	})
	if err != nil {
		return Updated{}, err
	}
	done := Updated{Trunk: t}
	if in.Register != nil {
		done.Password = t.Options.Register.Password
	}
	return done, nil
}

// change replaces a stored trunk with the result of f, in one transaction. It returns CodeNotFound if the trunk is absent.
func (s *Service) change(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, d Direction,
	f func(Record, Trunk) (Trunk, error),
) (done Trunk, err error) {
	err = s.atomically(ctx, func(ctx context.Context) error {
		r, err := s.held(ctx, org, number)
		if err != nil {
			return err
		}
		old := r.of(d)
		if old == nil {
			return callwright.NotFound("trunk")
		}
		t, err := f(r, *old)
		if err != nil {
			return err
		}
		done, err = s.store(ctx, old, t)
		return err
	})
	return done, err
}

// Detach deletes directions of a number, all or none. It returns CodeNotFound if one of them is not attached. If the inbound direction is
// deleted, the agent of the number keeps its settings, but no longer answers the number.
func (s *Service) Detach(
	ctx context.Context, org callwright.OrgID, number string, directions []Direction,
) (callwright.PhoneNumber, error) {
	n, err := s.Number(ctx, org, number)
	if err != nil {
		return "", err
	}
	if err := checkDirections(directions); err != nil {
		return "", err
	}
	return n, s.atomically(ctx, func(ctx context.Context) error {
		r, err := s.held(ctx, org, n)
		if err != nil {
			return err
		}
		for _, d := range directions {
			t := r.of(d)
			if t == nil {
				return callwright.NotFound(string(d) + " trunk")
			}
			if err := s.deleteTrunk(ctx, *t); err != nil {
				return err
			}
		}
		return nil
	})
}

// Number parses a phone number in an organization's request. Its CodeBadRequest error has the field "phone_number".
func (s *Service) Number(ctx context.Context, org callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	n, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, text)
	return n, callwright.InField("phone_number", err)
}
