package calllog

import (
	"cmp"
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// Limits of the pages of List, and of the result of Attempts.
const (
	defaultPage = 50
	maxPage     = 500
	maxAttempts = 20
)

// List returns a page of a number's records, newest first. If before is empty, it returns the newest page. Otherwise before is the id of a
// record or a time (RFC 3339), and the page contains only older records. For the next page, pass the ID of Next as before. limit must be
// from 0 to 500; 0 means 50.
func (s *Service) List(
	ctx context.Context, org callwright.OrgID, number, before string, limit int,
) (callwright.Page[Record], error) {
	var page callwright.Page[Record]
	n, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, number)
	if err != nil {
		return page, callwright.InField("phone_number", err)
	}
	if limit < 0 || limit > maxPage {
		return page, callwright.Invalid("limit", "must be from 1 to %d", maxPage)
	}
	after, err := s.keyset(ctx, org, before)
	if err != nil {
		return page, err
	}
	limit = cmp.Or(limit, defaultPage)
	page.Items, err = s.cfg.Store.List(ctx, org, n, after, limit)
	if err == nil && len(page.Items) == limit {
		last := page.Items[limit-1]
		page.Next = callwright.Keyset{At: last.StartedAt, ID: last.ID}
	}
	return page, err
}

// keyset converts List's argument before to a keyset. It returns CodeBadRequest if before is neither a time nor the id of a record of the
// organization.
func (s *Service) keyset(ctx context.Context, org callwright.OrgID, before string) (callwright.Keyset, error) {
	if before == "" {
		return callwright.Keyset{}, nil
	}
	if at, _, ok := callwright.ParseTime(before); ok {
		return callwright.Keyset{At: at}, nil
	}
	r, _, err := s.cfg.Store.Get(ctx, org, before)
	if errors.Is(err, callwright.ErrNotFound) || errors.Is(err, callwright.ErrBadRequest) { // ErrBadRequest: not valid UTF-8
		return callwright.Keyset{}, callwright.Invalid("before", "must be the id of a call of this organization, %s", callwright.TimeFormats)
	}
	return callwright.Keyset{At: r.StartedAt, ID: r.ID}, err
}

// Get returns a record and its ladder. It returns CodeNotFound if the organization has no such record.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Record, []ladder.Event, error) {
	return s.cfg.Store.Get(ctx, org, id)
}

// Attempts returns the attempts at a call with their ladders, oldest first, at most 20. It returns none for a call that was never
// attempted. An inbound call has a single record, whose ID is the call's.
func (s *Service) Attempts(ctx context.Context, org callwright.OrgID, callID string) ([]Attempt, error) {
	if callID == "" {
		return nil, nil
	}
	all, err := s.cfg.Store.Attempts(ctx, org, callID, maxAttempts)
	if err != nil || len(all) > 0 {
		return all, err
	}
	r, steps, err := s.cfg.Store.Get(ctx, org, callID)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil, nil
	}
	return []Attempt{{r, steps}}, err
}
