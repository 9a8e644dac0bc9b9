package sip

import (
	"context"
	"errors"
	"net/netip"

	"github.com/callwright/callwright"
)

// AttachPorted attaches a ported number for inbound calls from some addresses, unless it has an inbound trunk. It implements porting.Trunks.
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
	if errors.Is(err, callwright.ErrInvalidState) { // it was attached meanwhile
		err = nil
	}
	return err == nil, err
}
