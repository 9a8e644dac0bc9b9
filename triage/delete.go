package triage

import (
	"context"
	"errors"
	"slices"

	"github.com/callwright/callwright"
)

// Delete deletes an issue permanently, with its feed, comments, flags, attachments, agent sessions, report keys and views. Its number is
// not used again. Every actor of the organization may delete every issue, even a merged one.
//
// Later steps of the issue's agents return CodeNotFound, and its Watchers end. The next report with one of its keys opens a new issue. The
// relations of the deleted issue are deleted, and the related issues record this as TypeRelationRemoved with "deleted" in the Metadata. An
// issue that was merged into the deleted issue stays closed, but is no longer merged. Entries of other feeds that mention the deleted issue
// do not change.
//
// Delete uses its own transactions to retry conflicts, so it must not be called in a transaction. It returns CodeUnavailable if the issue's
// relations keep changing meanwhile.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, by Actor, id string) error {
	if err := by.check(); err != nil {
		return err
	}
	err := callwright.Retry(ctx, func(ctx context.Context) error { return s.delete(ctx, org, by, id) })
	if errors.Is(err, callwright.ErrConflict) {
		return callwright.Errorf(callwright.CodeUnavailable, "the relations of the issue keep changing: try again").Because(err)
	}
	return err
}

// delete attempts Delete once. It returns CodeConflict if another issue was related meanwhile.
func (s *Service) delete(ctx context.Context, org callwright.OrgID, by Actor, id string) error {
	relations, err := s.cfg.Store.RelationsOf(ctx, org, id)
	if err != nil {
		return err
	}
	ids := []string{id}
	for _, r := range relations {
		if other := r.other(id); !slices.Contains(ids, other) {
			ids = append(ids, other)
		}
	}
	var gone Issue
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		all, err := s.hold(ctx, org, by, ids)
		if err != nil {
			return err
		}
		if all[0] == nil {
			return callwright.NotFound("issue")
		}
		gone = all[0].Issue
		if err := s.cutRelations(ctx, gone, ids, all); err != nil {
			return err
		}
		if err := s.cfg.Store.DeleteIssue(ctx, org, id); err != nil {
			return err
		}
		for _, c := range all[1:] {
			if c == nil { // the related issue was deleted meanwhile, with its relations
				continue
			}
			if err := s.write(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.watchers.Wake(ids...)
	s.cfg.Logger.InfoContext(ctx, "issue deleted",
		"org_id", org, "issue_id", id, "triage_id", gone.Name(), "actor_kind", by.Kind, "actor_id", by.ID)
	return nil
}

// cutRelations records in the related issues that an issue is deleted. An issue that was merged into the deleted one is no longer merged.
// The list all holds the locked issues with the given ids. A relation to any other issue causes CodeConflict.
func (s *Service) cutRelations(ctx context.Context, gone Issue, ids []string, all []*change) error {
	relations, err := s.cfg.Store.RelationsOf(ctx, gone.Org, gone.ID)
	if err != nil {
		return err
	}
	for _, r := range relations {
		n := slices.Index(ids, r.other(gone.ID))
		if n < 0 {
			return callwright.Errorf(callwright.CodeConflict, "%s was related to another issue meanwhile", gone.Name())
		}
		c, direction := all[n], "incoming"
		if r.To.ID == gone.ID {
			direction = "outgoing"
		}
		c.Issue.Relations--
		c.addEntry(Entry{
			Type: TypeRelationRemoved, Referenced: []IssueRef{gone.Ref()},
			Metadata: map[string]any{"relation_type": string(r.Type), "direction": direction, "deleted": true},
		})
		if c.Issue.MergedInto == gone.ID {
			c.Issue.MergedInto, c.edited = "", true
		}
	}
	return nil
}
