package triagestore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// InsertResource attaches a resource to an issue. It returns CodeConflict if the resource is already attached, and CodeNotFound if the
// organization has no such issue.
func (s Store) InsertResource(ctx context.Context, r triage.Resource) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.attached.Rows() {
			if other.IssueID == r.IssueID && other.Type == r.Type && other.ResourceID == r.ResourceID && other.Org == r.Org {
				return callwright.ErrConflict
			}
		}
		return insertPart(d, d.attached, r.Org, r.IssueID, r)
	})
}

func issueOfResource(r triage.Resource) string { return r.IssueID }

// Resource returns an attachment by its id, or CodeNotFound if the issue has no such attachment.
func (s Store) Resource(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Resource, error) {
	return read(ctx, s.Store, func(d *data) (triage.Resource, error) { return findPart(d.attached, org, issue, id, issueOfResource) })
}

// ResourceOf returns an issue's attachment of a resource, or CodeNotFound if the resource is not attached.
func (s Store) ResourceOf(
	ctx context.Context, org callwright.OrgID, issue string, t triage.ResourceType, resourceID string,
) (triage.Resource, error) {
	return read(ctx, s.Store, func(d *data) (triage.Resource, error) {
		return d.attached.First(oldestResource, func(r triage.Resource) bool {
			return r.Org == org && r.IssueID == issue && r.Type == t && r.ResourceID == resourceID
		})
	})
}

func oldestResource(a, b triage.Resource) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// ResourcesOf returns all attachments of an issue, oldest first.
func (s Store) ResourcesOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Resource, error) {
	return read(ctx, s.Store, func(d *data) ([]triage.Resource, error) {
		return d.attached.Select(math.MaxInt, oldestResource, func(r triage.Resource) bool { return r.Org == org && r.IssueID == issue }), nil
	})
}

// DeleteResource deletes an attachment, or returns CodeNotFound if the issue has no such attachment.
func (s Store) DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := findPart(d.attached, org, issue, id, issueOfResource); err != nil {
			return err
		}
		return d.attached.Delete(org, id)
	})
}

// InsertFlag adds a flag. It returns CodeNotFound if the organization has no such issue, and CodeConflict if the flag's ID is already
// stored.
func (s Store) InsertFlag(ctx context.Context, f triage.Flag) error {
	return with(ctx, s.Store, func(d *data) error { return insertPart(d, d.flags, f.Org, f.IssueID, f) })
}

func issueOfFlag(f triage.Flag) string { return f.IssueID }

// Flag returns a flag, or CodeNotFound if the issue has no such flag.
func (s Store) Flag(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Flag, error) {
	return read(ctx, s.Store, func(d *data) (triage.Flag, error) { return findPart(d.flags, org, issue, id, issueOfFlag) })
}

// FlagsOf returns all flags of an issue, oldest first.
func (s Store) FlagsOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Flag, error) {
	return read(ctx, s.Store, func(d *data) ([]triage.Flag, error) {
		oldest := func(a, b triage.Flag) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) }
		return d.flags.Select(math.MaxInt, oldest, func(f triage.Flag) bool { return f.Org == org && f.IssueID == issue }), nil
	})
}

// DeleteFlag deletes a flag, or returns CodeNotFound if the issue has no such flag.
func (s Store) DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := findPart(d.flags, org, issue, id, issueOfFlag); err != nil {
			return err
		}
		return d.flags.Delete(org, id)
	})
}

// InsertRelation adds a relation. It returns CodeNotFound if either issue is absent, and CodeConflict if the issues already have a relation
// of the same type and direction.
func (s Store) InsertRelation(ctx context.Context, r triage.Relation) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.issues.Exists(r.Org, r.From.ID); err != nil {
			return err
		}
		r.From, r.To = triage.IssueRef{ID: r.From.ID}, triage.IssueRef{ID: r.To.ID}
		for _, other := range d.relations.Rows() {
			if other.Type == r.Type && other.From == r.From && other.To == r.To && other.Org == r.Org {
				return callwright.ErrConflict
			}
		}
		return insertPart(d, d.relations, r.Org, r.To.ID, r)
	})
}

// Relation returns a relation of an issue, in either direction. It returns CodeNotFound if the issue has no such relation.
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

// RelationsOf returns all relations of an issue, in either direction, oldest first. From, To and Merged describe the issues as they are
// now.
func (s Store) RelationsOf(
	ctx context.Context, org callwright.OrgID, issue string,
) (found []triage.Relation, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.relations.Rows() {
			if r.Org == org && (r.From.ID == issue || r.To.ID == issue) {
				from, to := d.issues.Rows()[r.From.ID], d.issues.Rows()[r.To.ID]
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

// DeleteRelation deletes a relation, or returns CodeNotFound if the organization has no such relation.
func (s Store) DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		return d.relations.DeleteExisting(org, id)
	})
}
