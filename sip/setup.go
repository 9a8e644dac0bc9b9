package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Setup is what the owner of a telephone system needs to send calls to us.
type Setup struct {
	Host         string
	Port         int
	Instructions string
	Username     string // that we register with, for a number with AuthRegister; empty: none
}

// Firewall is the addresses and ports of the region that carries an organization's calls.
func (s *Service) Firewall(ctx context.Context, org callwright.OrgID) (Region, error) {
	return Region{}, callwright.ErrNotImplemented
}

// OutboundSetup is what an organization's telephone system needs to send calls to us; number may be empty. CodeNotFound
// for a number that the organization has not attached.
func (s *Service) OutboundSetup(ctx context.Context, org callwright.OrgID, number string) (Setup, error) {
	return Setup{}, callwright.ErrNotImplemented
}
