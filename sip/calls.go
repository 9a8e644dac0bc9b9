package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// Calls is the last calls of a number of an organization, newest first: those that began before the call or the time
// (RFC 3339) that before names, from the newest on when it is empty. limit is from 1 to 500, and 0 means 50.
func (s *Service) Calls(
	ctx context.Context, org callwright.OrgID, number, before string, limit int,
) ([]CallRecord, error) {
	return nil, callwright.ErrNotImplemented
}

// Call is one call's record with its message sequence. CodeNotFound when the organization has none.
func (s *Service) Call(
	ctx context.Context, org callwright.OrgID, id string,
) (CallRecord, []ladder.Event, error) {
	return CallRecord{}, nil, callwright.ErrNotImplemented
}

// Begin writes down that an attempt begins: see Journal.
func (s *Service) Begin(ctx context.Context, r CallRecord) {}

// Answered writes down that an attempt is answered: see Journal.
func (s *Service) Answered(ctx context.Context, r CallRecord, at time.Time) {}

// End writes down how an attempt ended, and tells the Monitor: see Journal.
func (s *Service) End(ctx context.Context, r CallRecord, evidence *health.Evidence, steps []ladder.Event) {
}

// Run says every two seconds that this node lives, and closes the records of nodes that don't, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
