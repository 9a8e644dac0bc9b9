package agentstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

type versionKey struct {
	pathway string
	number  int
}

// Pathways is a pathway.Store.
type Pathways struct{ Store *memstore.Store }

// InsertPathway adds a pathway.
func (s Pathways) InsertPathway(ctx context.Context, p pathway.Pathway) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.pathways[p.ID]; taken {
			return callwright.ErrConflict
		}
		p.Revision = 1
		d.pathways[p.ID] = memory.Clone(p)
		return nil
	})
}

// pathway returns a pathway of an organization.
func (d *data) pathway(org callwright.OrgID, id string) (pathway.Pathway, error) {
	p, ok := d.pathways[id]
	if !ok || p.Org != org {
		return pathway.Pathway{}, callwright.NotFound("pathway")
	}
	return p, nil
}

// Pathway returns one pathway.
func (s Pathways) Pathway(ctx context.Context, org callwright.OrgID, id string) (p pathway.Pathway, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.pathway(org, id)
		p = memory.Clone(found)
		return err
	})
	return p, err
}

// UpdatePathway replaces a pathway.
func (s Pathways) UpdatePathway(ctx context.Context, p pathway.Pathway) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.pathway(p.Org, p.ID)
		if err != nil {
			return err
		}
		if stored.Revision != p.Revision {
			return callwright.ErrConflict
		}
		p.Revision++
		d.pathways[p.ID] = memory.Clone(p)
		return nil
	})
}

// DeletePathway deletes a pathway with its versions and chats.
func (s Pathways) DeletePathway(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.pathway(org, id); err != nil {
			return err
		}
		delete(d.pathways, id)
		for key := range d.versions {
			if key.pathway == id {
				delete(d.versions, key)
			}
		}
		for key, c := range d.chats {
			if c.Pathway == id {
				d.deleteChat(key)
			}
		}
		return nil
	})
}

// Pathways returns a page of pathways without their drafts.
func (s Pathways) Pathways(
	ctx context.Context, org callwright.OrgID, l pathway.Listing,
) (found []pathway.Pathway, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, p := range d.pathways {
			if p.Org == org && (l.After.IsZero() || newer(l.After.At, l.After.ID, p.CreatedAt, p.ID)) {
				p.Draft = graph.Document{}
				found = append(found, p)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b pathway.Pathway) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	from := min(l.Offset, len(found))
	return memory.Clone(found[from:min(from+l.Limit, len(found))]), err
}

// newer reports whether a place in a list is before another one: newer, or of the same time and with a higher id.
func newer(at time.Time, id string, otherAt time.Time, otherID string) bool {
	return cmp.Or(at.Compare(otherAt), cmp.Compare(id, otherID)) > 0
}

// CountPathways returns the number of an organization's pathways.
func (s Pathways) CountPathways(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, p := range d.pathways {
			if p.Org == org {
				count++
			}
		}
		return nil
	})
	return count, err
}

// InsertVersion adds a version.
func (s Pathways) InsertVersion(ctx context.Context, v pathway.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.pathway(v.Org, v.Pathway); err != nil {
			return err
		}
		key := versionKey{v.Pathway, v.Number}
		if _, taken := d.versions[key]; taken {
			return callwright.ErrConflict
		}
		d.versions[key] = memory.Clone(v)
		return nil
	})
}

// version returns a version of an organization's pathway.
func (d *data) version(org callwright.OrgID, key versionKey) (pathway.Version, error) {
	v, ok := d.versions[key]
	if !ok || v.Org != org {
		return pathway.Version{}, callwright.NotFound("pathway version")
	}
	return v, nil
}

// Version returns one version.
func (s Pathways) Version(
	ctx context.Context, org callwright.OrgID, pathwayID string, number int,
) (v pathway.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.version(org, versionKey{pathwayID, number})
		v = memory.Clone(found)
		return err
	})
	return v, err
}

// VersionHash returns the hash of one version.
func (s Pathways) VersionHash(
	ctx context.Context, org callwright.OrgID, pathwayID string, number int,
) (hash string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.version(org, versionKey{pathwayID, number})
		hash = found.Hash
		return err
	})
	return hash, err
}

// Versions returns a pathway's versions without their documents.
func (s Pathways) Versions(
	ctx context.Context, org callwright.OrgID, pathwayID string, before, limit int,
) (found []pathway.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for key, v := range d.versions {
			if key.pathway == pathwayID && v.Org == org && !v.Archived && (before == 0 || key.number < before) {
				v.Document = graph.Document{}
				found = append(found, v)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b pathway.Version) int { return cmp.Compare(b.Number, a.Number) })
	return found[:min(limit, len(found))], err
}

// ArchiveVersion archives a version.
func (s Pathways) ArchiveVersion(ctx context.Context, org callwright.OrgID, pathwayID string, number int) error {
	return with(ctx, s.Store, func(d *data) error {
		key := versionKey{pathwayID, number}
		v, err := d.version(org, key)
		if err != nil {
			return err
		}
		v.Archived = true
		d.versions[key] = v
		return nil
	})
}
