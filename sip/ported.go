package sip

import (
	"context"
	"errors"
	"net/netip"

	"github.com/callwright/callwright"
)

// AttachPorted attaches a ported number for inbound calls from the given addresses, unless the number has an inbound trunk. It reports
// whether the number now has an inbound trunk. If no addresses are given or the organization has reached its limit of numbers, AttachPorted
// attaches nothing and returns no error. It returns CodeConflict if another organization has attached or reserved the number. It implements
// porting.Trunks.
func (s *Service) AttachPorted(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, from []netip.Prefix,
) (attached bool, err error) {
	if err := s.checkOwner(ctx, org, number); err != nil {
		return false, err
	}
	r, err := s.record(ctx, org, number)
	if err != nil || r.Inbound != nil || len(from) == 0 {
		return r.Inbound != nil, err
	}
	drafts, err := s.drafts(org, []DirectionInput{{Type: Inbound, AllowedIPs: &from}})
	if err != nil {
		return false, err
	}
	err = s.attachNumber(ctx, org, number, drafts, true)
	switch {
	case errors.Is(err, callwright.ErrInvalidState): // attached by a concurrent call
		return true, nil
	case errors.Is(err, callwright.ErrTooManyRequests):
		s.cfg.Logger.WarnContext(ctx, "a ported number is not attached", "org", org, "error", err)
		return false, nil
	}
	return err == nil, err
}
