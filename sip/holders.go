package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// ServedElsewhere returns the given numbers that another organization has attached, in either direction. It implements a method of
// porting.Trunks.
func (s *Service) ServedElsewhere(
	ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber,
) (elsewhere []callwright.PhoneNumber, err error) {
	holders, err := s.cfg.Store.Holders(ctx, numbers)
	for _, number := range numbers {
		if holder, held := holders[number]; held && holder != org {
			elsewhere = append(elsewhere, number)
		}
	}
	return elsewhere, err
}

// Holder returns the organization that has attached a number, and its trunks. Callers must show them only to operators. Holder returns
// CodeNotFound if no organization has attached the number.
func (s *Service) Holder(ctx context.Context, number callwright.PhoneNumber) (callwright.OrgID, Record, error) {
	holders, err := s.cfg.Store.Holders(ctx, []callwright.PhoneNumber{number})
	if err != nil {
		return "", Record{}, err
	}
	org, held := holders[number]
	if !held {
		return "", Record{}, callwright.NotFound("trunk")
	}
	r, err := s.record(ctx, org, number)
	return org, r, err
}

// Release detaches a number from an organization, in every direction, on behalf of the operator. It returns the trunks that it deleted.
// Calls to the number are no longer answered. The agent of the number keeps its settings, but no longer answers the number.
func (s *Service) Release(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (r Record, err error) {
	err = s.atomically(ctx, func(ctx context.Context) error {
		if r, err = s.held(ctx, org, number); err != nil {
			return err
		}
		for _, t := range []*Trunk{r.Inbound, r.Outbound} {
			if t != nil {
				if err := s.deleteTrunk(ctx, *t); err != nil {
					return err
				}
			}
		}
		return s.cfg.Numbers.ReleaseInbound(ctx, org, number) // also without a trunk: a ported number may be registered without one
	})
	return r, err
}
