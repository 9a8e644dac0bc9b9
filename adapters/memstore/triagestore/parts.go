package triagestore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/triage"
)

// InsertResource attaches a resource.
func (s Store) InsertResource(ctx context.Context, r triage.Resource) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.issue(r.Org, r.IssueID); err != nil {
			return err
		}
		for id, other := range d.attached {
			if id == r.ID ||
				other.IssueID == r.IssueID && other.Type == r.Type && other.ResourceID == r.ResourceID {
				return callwright.ErrConflict
			}
		}
		d.attached[r.ID] = memory.Clone(r)
		return nil
	})
}

// attachment returns a resource that is attached to an organization's issue.
func (d *data) attachment(org callwright.OrgID, issue, id string) (triage.Resource, error) {
	r, ok := d.attached[id]
	if !ok || r.Org != org || r.IssueID != issue {
		return triage.Resource{}, callwright.NotFound("resource")
	}
	return r, nil
}

// Resource returns one attachment.
func (s Store) Resource(ctx context.Context, org callwright.OrgID, issue, id string) (r triage.Resource, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.attachment(org, issue, id)
		r = memory.Clone(found)
		return err
	})
	return r, err
}

// ResourceOf returns the attachment of a resource.
func (s Store) ResourceOf(
	ctx context.Context, org callwright.OrgID, issue string, t triage.ResourceType, resourceID string,
) (triage.Resource, error) {
	all, err := s.ResourcesOf(ctx, org, issue)
	if err != nil {
		return triage.Resource{}, err
	}
	n := slices.IndexFunc(all, func(r triage.Resource) bool { return r.Type == t && r.ResourceID == resourceID })
	if n < 0 {
		return triage.Resource{}, callwright.NotFound("resource")
	}
	return all[n], nil
}

// ResourcesOf returns all attachments of an issue.
func (s Store) ResourcesOf(
	ctx context.Context, org callwright.OrgID, issue string,
) (found []triage.Resource, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.attached {
			if r.Org == org && r.IssueID == issue {
				found = append(found, memory.Clone(r))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b triage.Resource) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// DeleteResource deletes an attachment.
func (s Store) DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.attachment(org, issue, id); err != nil {
			return err
		}
		delete(d.attached, id)
		return nil
	})
}

// InsertFlag adds a flag.
func (s Store) InsertFlag(ctx context.Context, f triage.Flag) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.issue(f.Org, f.IssueID); err != nil {
			return err
		}
		if _, taken := d.flags[f.ID]; taken {
			return callwright.ErrConflict
		}
		d.flags[f.ID] = memory.Clone(f)
		return nil
	})
}

// flag returns a flag of an organization's issue.
func (d *data) flag(org callwright.OrgID, issue, id string) (triage.Flag, error) {
	f, ok := d.flags[id]
	if !ok || f.Org != org || f.IssueID != issue {
		return triage.Flag{}, callwright.NotFound("flag")
	}
	return f, nil
}

// Flag returns one flag.
func (s Store) Flag(ctx context.Context, org callwright.OrgID, issue, id string) (f triage.Flag, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.flag(org, issue, id)
		f = memory.Clone(found)
		return err
	})
	return f, err
}

// FlagsOf returns all flags of an issue.
func (s Store) FlagsOf(ctx context.Context, org callwright.OrgID, issue string) (found []triage.Flag, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, f := range d.flags {
			if f.Org == org && f.IssueID == issue {
				found = append(found, memory.Clone(f))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b triage.Flag) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// DeleteFlag deletes a flag.
func (s Store) DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.flag(org, issue, id); err != nil {
			return err
		}
		delete(d.flags, id)
		return nil
	})
}

// InsertRelation adds a relation.
func (s Store) InsertRelation(ctx context.Context, r triage.Relation) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, issue := range []string{r.From.ID, r.To.ID} {
			if _, err := d.issue(r.Org, issue); err != nil {
				return err
			}
		}
		r.From, r.To = triage.IssueRef{ID: r.From.ID}, triage.IssueRef{ID: r.To.ID}
		for id, other := range d.relations {
			if id == r.ID || other.Type == r.Type && other.From == r.From && other.To == r.To {
				return callwright.ErrConflict
			}
		}
		d.relations[r.ID] = r
		return nil
	})
}

// Relation returns one relation of an issue.
func (s Store) Relation(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Relation, error) {
	all, err := s.RelationsOf(ctx, org, issue)
	if err != nil {
		return triage.Relation{}, err
	}
	n := slices.IndexFunc(all, func(r triage.Relation) bool { return r.ID == id })
	if n < 0 {
		return triage.Relation{}, callwright.NotFound("relation")
	}
	return all[n], nil
}

// RelationsOf returns all relations of an issue, with the issues as they stand.
func (s Store) RelationsOf(
	ctx context.Context, org callwright.OrgID, issue string,
) (found []triage.Relation, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.relations {
			if r.Org == org && (r.From.ID == issue || r.To.ID == issue) {
				from, to := d.issues[r.From.ID], d.issues[r.To.ID]
				r.From, r.To, r.Merged = from.Ref(), to.Ref(), from.MergedInto != "" || to.MergedInto != ""
				found = append(found, r)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b triage.Relation) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// DeleteRelation deletes a relation.
func (s Store) DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if r, ok := d.relations[id]; !ok || r.Org != org {
			return callwright.NotFound("relation")
		}
		delete(d.relations, id)
		return nil
	})
}
