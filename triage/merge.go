package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// Merge closes an issue as a duplicate of another, and returns the closed issue. The argument into is the id or the name of the other
// issue. If the other issue is deleted later, the closed issue stays closed but is no longer merged. Open sessions of the closed issue are
// canceled, and its reports move to the other issue. The other issue receives the missing attachments up to its limit, and its entry counts
// the rest as "not_attached". Flags and comments stay.
//
// Merge returns CodeBadRequest for the issue itself, CodeInvalidState if either issue was merged, and CodeConflict if the other issue is a
// duplicate of this one.
func (s *Service) Merge(ctx context.Context, org callwright.OrgID, by Actor, id, into string) (Issue, error) {
	into, err := s.idOf(ctx, org, into)
	if err != nil {
		return Issue{}, err
	}
	if id == into {
		return Issue{}, callwright.Invalid("into", "must be another issue")
	}
	all, err := s.changeAll(ctx, org, by, []string{id, into}, func(ctx context.Context, all []*change) error {
		return s.merge(ctx, all[0], all[1])
	})
	if err != nil {
		return Issue{}, err
	}
	return all[0].Issue, nil
}

func (s *Service) merge(ctx context.Context, from, to *change) error {
	if err := bothUnmerged(from, to); err != nil {
		return err
	}
	before := from.Issue.Status
	after, err := before.Move(EventMerge)
	if err != nil {
		return err
	}
	if err := s.stopSessions(ctx, from, "The issue was merged into "+to.Issue.Name()+"."); err != nil {
		return err
	}
	if err := s.relateDuplicate(ctx, from, to); err != nil {
		return err
	}
	if err := s.cfg.Store.MoveReports(ctx, from.Issue.Org, from.Issue.ID, to.Issue.ID); err != nil {
		return err
	}
	brought, left, err := s.bringResources(ctx, from, to)
	if err != nil {
		return err
	}
	from.Issue.Status, from.Issue.MergedInto, from.edited = after, to.Issue.ID, true
	ended := Entry{
		Type: TypeMerged, Metadata: map[string]any{"merged_into": to.Issue.ID}, Referenced: []IssueRef{to.Issue.Ref()},
	}
	if before != after {
		ended.FromStatus, ended.ToStatus = before, after
	}
	from.addEntry(ended)
	goesOn := Entry{
		Type: TypeMerged, Metadata: map[string]any{"merged_from": from.Issue.ID}, Referenced: []IssueRef{from.Issue.Ref()},
		Resources: brought[:min(len(brought), MaxShown)],
	}
	if left > 0 {
		goesOn.Metadata["not_attached"] = left
	}
	to.addEntry(goesOn)
	return nil
}

// stopSessions cancels all open sessions of an issue. The reason, why, becomes the Detail of their last entries.
func (s *Service) stopSessions(ctx context.Context, c *change, why string) error {
	sessions, err := s.cfg.Store.SessionsOf(ctx, c.Issue.Org, c.Issue.ID)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		stop := Step{Type: TypeSessionStopped, Status: SessionCancelled, Detail: why}
		if err := s.advance(ctx, c, &session, c.by, stop); err != nil {
			return err
		}
	}
	return nil
}

// relateDuplicate relates an issue to another as its duplicate, unless that relation exists. MaxRelations does not apply. It returns
// CodeConflict if the reverse relation exists.
func (s *Service) relateDuplicate(ctx context.Context, from, to *change) error {
	relations, err := s.cfg.Store.RelationsOf(ctx, from.Issue.Org, from.Issue.ID)
	if err != nil {
		return err
	}
	for _, r := range relations {
		switch {
		case r.Type != DuplicateOf:
		case r.To.ID == to.Issue.ID:
			return nil
		case r.From.ID == to.Issue.ID:
			return callwright.Errorf(callwright.CodeConflict, "%s is a duplicate of %s: remove that relation first", to.Issue.Name(), from.Issue.Name())
		}
	}
	from.Issue.Relations++
	to.Issue.Relations++
	return s.cfg.Store.InsertRelation(ctx, Relation{
		ID: s.cfg.IDs.New(), Org: from.Issue.Org, Type: DuplicateOf, From: IssueRef{ID: from.Issue.ID}, To: IssueRef{ID: to.Issue.ID},
		CreatedBy: from.by.ID, CreatedAt: s.cfg.Clock.Now(),
	})
}

// bringResources attaches the resources of one issue to another issue, if the latter lacks them, up to MaxResources. It returns the new
// attachments, and the number of resources beyond the limit.
func (s *Service) bringResources(ctx context.Context, from, to *change) (brought []Resource, left int, err error) {
	theirs, err := s.cfg.Store.ResourcesOf(ctx, from.Issue.Org, from.Issue.ID)
	if err != nil {
		return nil, 0, err
	}
	own, err := s.cfg.Store.ResourcesOf(ctx, to.Issue.Org, to.Issue.ID)
	if err != nil {
		return nil, 0, err
	}
	type key struct {
		t  ResourceType
		id string
	}
	has := map[key]bool{}
	for _, r := range own {
		has[key{r.Type, r.ResourceID}] = true
	}
	for _, r := range theirs {
		switch {
		case has[key{r.Type, r.ResourceID}]:
			continue
		case to.Issue.Resources >= MaxResources:
			left++
			continue
		}
		r.ID, r.IssueID, r.AttachedBy, r.CreatedAt = s.cfg.IDs.New(), to.Issue.ID, to.by.ID, s.cfg.Clock.Now()
		if err := s.cfg.Store.InsertResource(ctx, r); err != nil {
			return nil, 0, err
		}
		to.Issue.Resources++
		brought = append(brought, r)
	}
	return brought, left, nil
}
