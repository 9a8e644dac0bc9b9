package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// AttachedNumber is a number with a trunk.
type AttachedNumber struct {
	Number     callwright.PhoneNumber
	Directions []Direction // inbound first
	Endpoint   string      // of the outbound trunk; empty: none
	Health     health.State
}

// NumberHealth is how a number's trunks are. A number without an outbound trunk is Unchecked.
type NumberHealth struct {
	Number       callwright.PhoneNumber
	State        health.State    // the best of the servers', as outsiders see it
	CheckedAt    *time.Time      // the last word from or about any server; nil: none yet
	ResponseTime *time.Duration  // of the active server's last answered probe; nil: none
	Uptime       *float64        // percent of the last days, by time; nil: not known
	Average, P95 *time.Duration  // of the last answered probes; nil: none
	Verify       TLSVerification // how the servers' certificates are checked; empty: no outbound trunk
	Servers      []ServerHealth  // in the order of priority
	Registration *Registration   // of the inbound trunk, with AuthRegister; nil: none
}

// ServerHealth is how one server of a trunk is.
type ServerHealth struct {
	Server       failover.Server
	State        health.State // as outsiders see it
	Since        time.Time    // of the state; zero: it was never checked
	CheckedAt    *time.Time
	ResponseTime *time.Duration
	Reason       string // what it answered last, or what went wrong; empty: never checked
	Active       bool   // calls go to it first
}

// Numbers is all of an organization's numbers with a trunk, in order.
func (s *Service) Numbers(ctx context.Context, org callwright.OrgID) ([]AttachedNumber, error) {
	return nil, callwright.ErrNotImplemented
}

// Health is how a number's trunks are. CodeNotFound when the organization has not attached it.
func (s *Service) Health(ctx context.Context, org callwright.OrgID, number string) (NumberHealth, error) {
	return NumberHealth{}, callwright.ErrNotImplemented
}
