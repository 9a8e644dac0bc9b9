package sip

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// The bounds of a page of the call log.
const (
	standardCalls = 50
	maxCalls      = 500
)

// Calls is the last calls of a number of an organization, newest first: those that began before the call or the time
// (RFC 3339) that before names, from the newest on when it is empty. limit is from 1 to 500, and 0 means 50.
func (s *Service) Calls(
	ctx context.Context, org callwright.OrgID, number, before string, limit int,
) ([]CallRecord, error) {
	n, err := numberOf(number)
	if err != nil {
		return nil, err
	}
	if limit < 0 || limit > maxCalls {
		return nil, callwright.Invalid("limit", "must be from 1 to %d", maxCalls)
	}
	place, err := s.place(ctx, org, before)
	if err != nil {
		return nil, err
	}
	return s.Log.Calls(ctx, org, n, place, cmp.Or(limit, standardCalls))
}

// place is where in the log a page begins.
func (s *Service) place(ctx context.Context, org callwright.OrgID, before string) (callwright.Keyset, error) {
	if before == "" {
		return callwright.Keyset{}, nil
	}
	text := strings.Replace(before, " ", "+", 1) // a plus of a query that was not escaped
	if at, err := time.Parse(time.RFC3339, text); err == nil && at.UTC().Year() > 0 {
		return callwright.Keyset{At: at.UTC()}, nil
	}
	r, _, err := s.Log.Call(ctx, org, before)
	if errors.Is(err, callwright.ErrNotFound) || errors.Is(err, callwright.ErrBadRequest) { // it may be no text at all
		return callwright.Keyset{}, callwright.Invalid("before", "is neither a call of this organization nor an ISO 8601 time")
	}
	return callwright.Keyset{At: r.StartedAt, ID: r.ID}, err
}

// Call is one call's record with its message sequence. CodeNotFound when the organization has none.
func (s *Service) Call(
	ctx context.Context, org callwright.OrgID, id string,
) (CallRecord, []ladder.Event, error) {
	return s.Log.Call(ctx, org, id)
}
