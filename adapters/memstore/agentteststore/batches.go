package agentteststore

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest/group"
)

// InsertBatch adds a group, or returns CodeConflict if its ID is already stored.
func (s Store) InsertBatch(ctx context.Context, b group.Batch) error {
	return with(ctx, s.Store, func(d *data) error { return d.batches.Insert(b) })
}

// Batch returns a group, or CodeNotFound if the organization has no such group.
func (s Store) Batch(ctx context.Context, org callwright.OrgID, id string) (group.Batch, error) {
	return read(ctx, s.Store, func(d *data) (group.Batch, error) { return d.batches.Find(org, id) })
}

// UpdateBatch replaces a group. It returns CodeNotFound if the organization has no such group, and CodeConflict if the stored revision
// differs.
func (s Store) UpdateBatch(ctx context.Context, b group.Batch) error {
	return with(ctx, s.Store, func(d *data) error { return d.batches.Replace(b) })
}

// AddCounts adds counts, usage and spend to a group's sums, and returns the changed group, or CodeNotFound if it is absent. It increments
// the revision without a check, so that it never returns CodeConflict.
func (s Store) AddCounts(ctx context.Context, org callwright.OrgID, id string, more group.Sums) (b group.Batch, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.batches.Stored(org, id)
		if err != nil {
			return err
		}
		found.Counts = found.Counts.Plus(more.Counts)
		found.Usage, found.Spend = found.Usage.Plus(more.Usage), found.Spend.Plus(more.Spend)
		found.Revision++
		d.batches.Set(id, found)
		b = memory.Clone(found)
		return nil
	})
	return b, err
}

// FindBatches returns a page of the groups that match a filter, newest first, without their scenarios, webhooks, flakes, statistics and
// Over.
func (s Store) FindBatches(
	ctx context.Context, org callwright.OrgID, f group.Filter,
) (found []group.Listed, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, b := range d.batches.Rows() {
			if matches(b, org, f) {
				l := group.Listed{Batch: b, Tested: len(b.Scenarios)}
				l.Scenarios, l.Webhook, l.Over, l.Flakes, l.Statistics = nil, "", 0, nil, nil
				found = append(found, l)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b group.Listed) int { return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID) })
	from := min(f.Offset, len(found))
	return found[from:min(from+f.Limit, len(found))], err
}

// CountBatches returns the number of an organization's groups that match a filter.
func (s Store) CountBatches(ctx context.Context, org callwright.OrgID, f group.Filter) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.batches.Count(func(b group.Batch) bool { return matches(b, org, f) })
	})
}

func matches(b group.Batch, org callwright.OrgID, f group.Filter) bool {
	return b.Org == org && b.Kind == f.Kind &&
		(f.Pathway == "" || f.Pathway == b.Pathway) &&
		(f.Persona == "" || f.Persona == b.Persona) &&
		(f.State == "" || f.State == b.State) &&
		(f.Trigger == "" || f.Trigger == b.Trigger)
}

// BatchesOf returns up to limit groups of kind OneEach that tested a version of a pathway, newest first. It skips groups that a tornado
// session started.
func (s Store) BatchesOf(
	ctx context.Context, org callwright.OrgID, pathway string, version, limit int,
) ([]group.Batch, error) {
	return read(ctx, s.Store, func(d *data) ([]group.Batch, error) {
		newest := func(a, b group.Batch) int { return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID) }
		return d.batches.Select(limit, newest, func(b group.Batch) bool {
			counts := b.Kind == group.OneEach && b.Trigger != group.ByTornado
			return b.Org == org && counts && b.Pathway == pathway && b.Version == version
		}), nil
	})
}
