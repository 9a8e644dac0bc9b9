package sip

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
)

// Part is one part of a change. One that is not Set stays as it is; Set with a nil Value, it goes back to the standard.
type Part[T any] struct {
	Set   bool
	Value *T
}

// ConfigChange changes the configuration of one direction of a number.
type ConfigChange struct {
	Number    string
	Direction Direction
	Failover  Part[failover.Config] // outbound only
	Codecs    Part[CodecConfig]
	Alerts    Part[alert.Config]
}

// Configure changes the configuration of a trunk and gives the trunk as it is then. CodeNotFound when the organization
// has not attached that direction; CodeBadRequest with the field of the configuration, as JSON has it, when a part of it
// can't be acted on.
func (s *Service) Configure(ctx context.Context, org callwright.OrgID, c ConfigChange) (Trunk, error) {
	return Trunk{}, callwright.ErrNotImplemented
}
