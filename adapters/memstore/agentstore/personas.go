package agentstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents/persona"
)

// Personas is a persona.Store.
type Personas struct{ Store *memstore.Store }

// InsertPersona adds a persona.
func (s Personas) InsertPersona(ctx context.Context, p persona.Persona) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.personas[p.ID]; taken {
			return callwright.ErrConflict
		}
		p.Revision = 1
		d.personas[p.ID] = memory.Clone(p)
		return nil
	})
}

// persona returns a persona of an organization.
func (d *data) persona(org callwright.OrgID, id string) (persona.Persona, error) {
	p, ok := d.personas[id]
	if !ok || p.Org != org || !p.DeletedAt.IsZero() {
		return persona.Persona{}, callwright.NotFound("persona")
	}
	return p, nil
}

// Persona returns one persona.
func (s Personas) Persona(ctx context.Context, org callwright.OrgID, id string) (p persona.Persona, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.persona(org, id)
		p = memory.Clone(found)
		return err
	})
	return p, err
}

// UpdatePersona replaces a persona.
func (s Personas) UpdatePersona(ctx context.Context, p persona.Persona) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.persona(p.Org, p.ID)
		if err != nil {
			return err
		}
		if stored.Revision != p.Revision {
			return callwright.ErrConflict
		}
		p.Revision++
		d.personas[p.ID] = memory.Clone(p)
		return nil
	})
}

// HoldPersona checks that a persona exists. It needs no lock, because nothing else happens during a transaction.
func (s Personas) HoldPersona(ctx context.Context, org callwright.OrgID, id string) error {
	_, err := s.Persona(ctx, org, id)
	return err
}

// Personas returns a page of personas.
func (s Personas) Personas(
	ctx context.Context, org callwright.OrgID, l persona.Listing,
) (found []persona.Persona, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, p := range d.personas {
			if p.Org == org && p.DeletedAt.IsZero() {
				found = append(found, p)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b persona.Persona) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	from := min(l.Offset, len(found))
	return memory.Clone(found[from:min(from+l.Limit, len(found))]), err
}

// CountPersonas returns the number of an organization's personas.
func (s Personas) CountPersonas(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, p := range d.personas {
			if p.Org == org && p.DeletedAt.IsZero() {
				count++
			}
		}
		return nil
	})
	return count, err
}

// DeleteOldPersonas deletes personas that were deleted long ago.
func (s Personas) DeleteOldPersonas(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, p := range d.personas {
			if removed < limit && !p.DeletedAt.IsZero() && p.DeletedAt.Before(before) {
				delete(d.personas, id)
				removed++
			}
		}
		for id, v := range d.personaVersions {
			if _, kept := d.personas[v.Persona]; !kept {
				delete(d.personaVersions, id)
			}
		}
		return nil
	})
	return removed, err
}

// InsertVersion adds a version.
func (s Personas) InsertVersion(ctx context.Context, v persona.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.persona(v.Org, v.Persona); err != nil {
			return err
		}
		for id, other := range d.personaVersions {
			if id == v.ID || other.Persona == v.Persona && other.Number == v.Number {
				return callwright.ErrConflict
			}
		}
		v.Revision = 1
		d.personaVersions[v.ID] = memory.Clone(v)
		return nil
	})
}

// Version returns one version.
func (s Personas) Version(ctx context.Context, org callwright.OrgID, id string) (v persona.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.personaVersions[id]
		if !ok || found.Org != org {
			return callwright.NotFound("persona version")
		}
		v = memory.Clone(found)
		return nil
	})
	return v, err
}

// draft returns the stored draft that v replaces.
func (d *data) draft(v persona.Version) error {
	stored, ok := d.personaVersions[v.ID]
	switch {
	case !ok || stored.Org != v.Org || stored.Type != persona.Draft:
		return callwright.NotFound("persona draft")
	case stored.Revision != v.Revision:
		return callwright.ErrConflict
	default:
		return nil
	}
}

// UpdateDraft replaces a draft.
func (s Personas) UpdateDraft(ctx context.Context, v persona.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.draft(v); err != nil {
			return err
		}
		v.Revision++
		d.personaVersions[v.ID] = memory.Clone(v)
		return nil
	})
}

// DeleteDraft deletes a draft.
func (s Personas) DeleteDraft(ctx context.Context, v persona.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.draft(v); err != nil {
			return err
		}
		delete(d.personaVersions, v.ID)
		return nil
	})
}

// Versions returns a page of a persona's versions.
func (s Personas) Versions(
	ctx context.Context, org callwright.OrgID, id string, before, limit int,
) (found []persona.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, v := range d.personaVersions {
			if v.Org == org && v.Persona == id && (before == 0 || v.Number < before) {
				found = append(found, v)
			}
		}
		slices.SortFunc(found, func(a, b persona.Version) int { return cmp.Compare(b.Number, a.Number) })
		found = bounded(found, limit, persona.Version.Size)
		return nil
	})
	return found, err
}

// VersionsByID returns versions by their ids.
func (s Personas) VersionsByID(
	ctx context.Context, org callwright.OrgID, ids []string,
) (found []persona.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, id := range ids {
			if v, ok := d.personaVersions[id]; ok && v.Org == org {
				found = append(found, v)
			}
		}
		found = bounded(found, len(found), persona.Version.Size)
		return nil
	})
	return found, err
}
