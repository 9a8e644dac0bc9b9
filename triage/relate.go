package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// Relate relates an issue to another, given by id or name, and reports whether the relation was added. RelatedTo applies in both
// directions. For other types, Relate returns CodeConflict if the reverse relation exists. It returns CodeInvalidState if either issue was
// merged or has MaxRelations relations.
func (s *Service) Relate(
	ctx context.Context, org callwright.OrgID, by Actor, id, related string, t RelationType,
) (r Relation, added bool, err error) {
	if err := checkOneOf("relation_type", t, RelatedTo, Blocks, DuplicateOf); err != nil {
		return Relation{}, false, err
	}
	if related, err = s.idOf(ctx, org, related); err != nil {
		return Relation{}, false, err
	}
	if id == related {
		return Relation{}, false, callwright.Invalid("related_issue_id", "must be another issue")
	}
	_, err = s.changeAll(ctx, org, by, []string{id, related}, func(ctx context.Context, all []*change) error {
		r, added, err = s.relate(ctx, all[0], all[1], t)
		return err
	})
	if err != nil {
		return Relation{}, false, err
	}
	return r, added, nil
}

func (s *Service) relate(ctx context.Context, from, to *change, t RelationType) (r Relation, added bool, err error) {
	if err := bothUnmerged(from, to); err != nil {
		return Relation{}, false, err
	}
	all, err := s.cfg.Store.RelationsOf(ctx, from.Issue.Org, from.Issue.ID)
	if err != nil {
		return Relation{}, false, err
	}
	for _, r := range all {
		switch {
		case r.Type != t:
		case r.To.ID == to.Issue.ID, r.From.ID == to.Issue.ID && t == RelatedTo:
			return r, false, nil
		case r.From.ID == to.Issue.ID:
			return Relation{}, false, callwright.Errorf(callwright.CodeConflict,
				"%s already has this relation to %s in the other direction: remove it first", to.Issue.Name(), from.Issue.Name())
		}
	}
	for _, c := range []*change{from, to} {
		if c.Issue.Relations >= MaxRelations {
			return Relation{}, false, callwright.Errorf(callwright.CodeInvalidState,
				"%s has %d relations, the most that an issue may have: remove one first", c.Issue.Name(), c.Issue.Relations)
		}
		c.Issue.Relations++
	}
	r = Relation{
		ID: s.cfg.IDs.New(), Org: from.Issue.Org, Type: t, From: from.Issue.Ref(), To: to.Issue.Ref(),
		CreatedBy: from.by.ID, CreatedAt: s.cfg.Clock.Now(),
	}
	addRelationEntry(TypeRelationAdded, t, from, to)
	return r, true, s.cfg.Store.InsertRelation(ctx, r)
}

// bothUnmerged returns CodeInvalidState if either issue was merged.
func bothUnmerged(from, to *change) error {
	if err := from.Issue.unmerged(); err != nil {
		return err
	}
	return to.Issue.unmerged()
}

// addRelationEntry adds an entry about a relation to the feeds of both issues.
func addRelationEntry(e EntryType, t RelationType, from, to *change) {
	tell := func(c, other *change, direction string) {
		c.addEntry(Entry{
			Type: e, Referenced: []IssueRef{other.Issue.Ref()},
			Metadata: map[string]any{"relation_type": string(t), "direction": direction},
		})
	}
	tell(from, to, "outgoing")
	tell(to, from, "incoming")
}

// Unrelate deletes a relation of an issue, in either direction. It returns CodeInvalidState if either issue was merged.
func (s *Service) Unrelate(ctx context.Context, org callwright.OrgID, by Actor, id, relation string) error {
	r, err := s.cfg.Store.Relation(ctx, org, id, relation)
	if err != nil {
		return err
	}
	ids := []string{r.From.ID, r.To.ID}
	_, err = s.changeAll(ctx, org, by, ids, func(ctx context.Context, all []*change) error {
		if err := bothUnmerged(all[0], all[1]); err != nil {
			return err
		}
		all[0].Issue.Relations--
		all[1].Issue.Relations--
		addRelationEntry(TypeRelationRemoved, r.Type, all[0], all[1])
		return s.cfg.Store.DeleteRelation(ctx, org, relation)
	})
	return err
}

// Relations returns all relations of an issue, in either direction, oldest first.
func (s *Service) Relations(ctx context.Context, org callwright.OrgID, id string) ([]Relation, error) {
	if _, err := s.cfg.Store.Issue(ctx, org, id); err != nil {
		return nil, err
	}
	return s.cfg.Store.RelationsOf(ctx, org, id)
}
