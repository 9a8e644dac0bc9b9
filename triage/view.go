package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// View records that a viewer, the id of a person, has seen the whole feed of an issue. A person who writes an entry has seen the feed too,
// without View.
func (s *Service) View(ctx context.Context, org callwright.OrgID, viewer, id string) error {
	if err := requireText("viewer", viewer, maxID); err != nil {
		return err
	}
	i, err := s.cfg.Store.Issue(ctx, org, id)
	if err != nil {
		return err
	}
	return s.cfg.Store.MarkSeen(ctx, org, viewer, id, i.LastActivityAt)
}

// Unread reports, by issue id, whether the feed contains entries that a viewer has not seen.
func (s *Service) Unread(ctx context.Context, org callwright.OrgID, viewer string, issues []Issue) (map[string]bool, error) {
	if err := requireText("viewer", viewer, maxID); err != nil {
		return nil, err
	}
	ids := make([]string, len(issues))
	for n, i := range issues {
		ids[n] = i.ID
	}
	seen, err := s.cfg.Store.Seen(ctx, org, viewer, ids)
	if err != nil {
		return nil, err
	}
	unread := make(map[string]bool, len(issues))
	for _, i := range issues {
		unread[i.ID] = i.LastActivityAt.After(seen[i.ID])
	}
	return unread, nil
}
