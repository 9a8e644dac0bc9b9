package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Updated is a trunk as it is now. Password is that of Attached; empty when no register credentials were given.
type Updated struct {
	Trunk    Trunk
	Password callwright.Secret
}

// Update changes one direction of a number. CodeNotFound when the organization has not attached it.
func (s *Service) Update(
	ctx context.Context, org callwright.OrgID, number string, in DirectionInput,
) (Updated, error) {
	return Updated{}, callwright.ErrNotImplemented
}

// Detach removes directions of a number. When one of them is not attached it is CodeNotFound, and nothing is removed.
func (s *Service) Detach(
	ctx context.Context, org callwright.OrgID, number string, directions []Direction,
) (callwright.PhoneNumber, error) {
	return "", callwright.ErrNotImplemented
}
