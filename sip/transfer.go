package sip

import (
	"cmp"
	"context"
	"errors"

	"github.com/callwright/callwright"
)

// TransferPolicy limits the targets to which the peer of a trunk's call may transfer us (REFER, RFC 3515). We call the target at the
// organization's cost.
type TransferPolicy string

// The transfer policies of a trunk.
const (
	TransferOff          TransferPolicy = "off"          // no transfers
	TransferOrganization TransferPolicy = "organization" // only to numbers that the organization has attached; the default
	TransferAny          TransferPolicy = "any"          // to any number
)

func (p TransferPolicy) valid() bool {
	return p == TransferOff || p == TransferOrganization || p == TransferAny
}

// Transfer returns the route to the number to which the peer of a call over route r transfers us. It implements Transfers.
//
// The caller of the new call is the number of the transferred call or, if that has no outbound trunk, the organization's only outbound
// number.
func (s *Service) Transfer(ctx context.Context, r Route, to callwright.PhoneNumber) (Route, error) {
	switch {
	case r.Transfers == TransferAny:
	case r.Transfers != TransferOrganization:
		return Route{}, refuseTransfer("the trunk's transfer_policy is off")
	default:
		own, err := s.cfg.Store.Trunks(ctx, r.Org, to)
		if err != nil {
			return Route{}, err
		}
		if len(own) == 0 {
			return Route{}, refuseTransfer("the trunk's transfer_policy is organization, and the number is not attached to the organization")
		}
	}
	if to == r.Number {
		return Route{}, refuseTransfer("the call is with this number already")
	}
	route, err := s.Outbound(ctx, r.Org, r.Number)
	if err == nil || !errors.Is(err, callwright.ErrBadRequest) && !errors.Is(err, callwright.ErrNotFound) {
		return route, err
	}
	only, err := s.Caller(ctx, r.Org, "")
	if errors.Is(err, callwright.ErrBadRequest) {
		return Route{}, refuseTransfer("the number of this call, or exactly one other number, must be attached for outbound calls")
	}
	if err != nil {
		return Route{}, err
	}
	return s.Outbound(ctx, r.Org, only)
}

func refuseTransfer(why string) error { return callwright.Errorf(callwright.CodeForbidden, "%s", why) }

// transfers returns the transfer policy of a trunk, with the default applied.
func (o Options) transfers() TransferPolicy { return cmp.Or(o.Transfers, TransferOrganization) }
