package agentstore

import (
	"cmp"
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

type versionKey struct {
	pathway string
	number  int
}

// Pathways stores pathways and their versions; it implements pathway.Store.
type Pathways struct{ Store *memstore.Store }

// InsertPathway adds a pathway. It returns CodeConflict if the id exists.
func (s Pathways) InsertPathway(ctx context.Context, p pathway.Pathway) error {
	return with(ctx, s.Store, func(d *data) error { return d.pathways.Insert(p) })
}

// Pathway returns one pathway, or CodeNotFound if it is absent.
func (s Pathways) Pathway(ctx context.Context, org callwright.OrgID, id string) (pathway.Pathway, error) {
	return read(ctx, s.Store, func(d *data) (pathway.Pathway, error) { return d.pathways.Find(org, id) })
}

// UpdatePathway replaces a pathway. It returns CodeConflict if the stored revision is not p.Revision, and CodeNotFound if the pathway is
// absent.
func (s Pathways) UpdatePathway(ctx context.Context, p pathway.Pathway) error {
	return with(ctx, s.Store, func(d *data) error { return d.pathways.Replace(p) })
}

// DeletePathway deletes a pathway with its versions and chats. It returns CodeNotFound if the pathway is absent.
func (s Pathways) DeletePathway(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.pathways.DeleteExisting(org, id); err != nil {
			return err
		}
		_ = d.versions.DeleteWhere(func(v pathway.Version) bool { return v.Pathway == id })
		for key, c := range d.chats.Rows() {
			if c.Pathway == id {
				d.deleteChat(key)
			}
		}
		return nil
	})
}

// Pathways returns a page of pathways without their drafts.
func (s Pathways) Pathways(ctx context.Context, org callwright.OrgID, l pathway.Listing) ([]pathway.Pathway, error) {
	return read(ctx, s.Store, func(d *data) ([]pathway.Pathway, error) {
		place := func(p pathway.Pathway) callwright.Keyset { return callwright.Keyset{At: p.CreatedAt, ID: p.ID} }
		found := d.pathways.Page(l.After, l.Offset+l.Limit, place, func(p pathway.Pathway) bool { return p.Org == org })
		found = found[min(l.Offset, len(found)):]
		for i := range found {
			found[i].Draft = graph.Document{}
		}
		return found, nil
	})
}

// CountPathways returns the number of an organization's pathways.
func (s Pathways) CountPathways(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.pathways.Count(func(p pathway.Pathway) bool { return p.Org == org })
	})
}

// InsertVersion adds a version of a pathway. It returns CodeNotFound if the pathway is absent, and CodeConflict if the version exists.
func (s Pathways) InsertVersion(ctx context.Context, v pathway.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.pathways.Exists(v.Org, v.Pathway); err != nil {
			return err
		}
		return d.versions.Insert(v)
	})
}

// Version returns one version of a pathway, or CodeNotFound if it is absent.
func (s Pathways) Version(ctx context.Context, org callwright.OrgID, pathwayID string, number int) (pathway.Version, error) {
	return read(ctx, s.Store, func(d *data) (pathway.Version, error) { return d.versions.Find(org, versionKey{pathwayID, number}) })
}

// VersionHash returns the hash of a version without copying its document. It returns CodeNotFound if the organization has no such version.
func (s Pathways) VersionHash(ctx context.Context, org callwright.OrgID, pathwayID string, number int) (string, error) {
	return read(ctx, s.Store, func(d *data) (string, error) {
		found, err := d.versions.Stored(org, versionKey{pathwayID, number})
		return found.Hash, err
	})
}

// Versions returns up to limit of a pathway's versions that are not archived, newest first, without their documents. If before is not 0, it
// returns only versions with a lower number.
func (s Pathways) Versions(
	ctx context.Context, org callwright.OrgID, pathwayID string, before, limit int,
) ([]pathway.Version, error) {
	return read(ctx, s.Store, func(d *data) ([]pathway.Version, error) {
		newest := func(a, b pathway.Version) int { return cmp.Compare(b.Number, a.Number) }
		found := d.versions.Select(limit, newest, func(v pathway.Version) bool {
			return v.Pathway == pathwayID && v.Org == org && !v.Archived && (before == 0 || v.Number < before)
		})
		for i := range found {
			found[i].Document = graph.Document{}
		}
		return found, nil
	})
}

// ArchiveVersion marks a version as archived, so that Versions no longer returns it. It returns CodeNotFound if the organization has no
// such version.
func (s Pathways) ArchiveVersion(ctx context.Context, org callwright.OrgID, pathwayID string, number int) error {
	return with(ctx, s.Store, func(d *data) error {
		key := versionKey{pathwayID, number}
		v, err := d.versions.Stored(org, key)
		if err != nil {
			return err
		}
		v.Archived = true
		d.versions.Set(key, v)
		return nil
	})
}
