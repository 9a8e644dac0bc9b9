package agentstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents/persona"
)

// Personas implements persona.Store in memory.
type Personas struct{ Store *memstore.Store }

// InsertPersona adds a persona, or returns CodeConflict if its ID is already stored.
func (s Personas) InsertPersona(ctx context.Context, p persona.Persona) error {
	return with(ctx, s.Store, func(d *data) error { return d.personas.Insert(p) })
}

// persona returns a persona of an organization, or CodeNotFound if the persona is absent or marked as deleted.
func (d *data) persona(org callwright.OrgID, id string) (persona.Persona, error) {
	p, err := d.personas.Find(org, id)
	if !p.DeletedAt.IsZero() {
		return persona.Persona{}, callwright.NotFound("persona")
	}
	return p, err
}

// Persona returns a persona, or CodeNotFound if the persona is absent or marked as deleted.
func (s Personas) Persona(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, error) {
	return read(ctx, s.Store, func(d *data) (persona.Persona, error) { return d.persona(org, id) })
}

// UpdatePersona replaces a persona. It returns CodeNotFound if the persona is absent or marked as deleted, and CodeConflict if its stored
// revision differs.
func (s Personas) UpdatePersona(ctx context.Context, p persona.Persona) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.persona(p.Org, p.ID); err != nil {
			return err
		}
		return d.personas.Replace(p)
	})
}

// HoldPersona returns CodeNotFound if a persona is absent or marked as deleted. It needs no lock, because transactions do not overlap.
func (s Personas) HoldPersona(ctx context.Context, org callwright.OrgID, id string) error {
	_, err := s.Persona(ctx, org, id)
	return err
}

// Personas returns a page of an organization's personas, newest first, without those that are marked as deleted.
func (s Personas) Personas(ctx context.Context, org callwright.OrgID, l persona.Listing) ([]persona.Persona, error) {
	return read(ctx, s.Store, func(d *data) ([]persona.Persona, error) {
		place := func(p persona.Persona) callwright.Keyset { return callwright.Keyset{At: p.CreatedAt, ID: p.ID} }
		found := d.personas.Page(callwright.Keyset{}, l.Offset+l.Limit, place, livesIn(org))
		return found[min(l.Offset, len(found)):], nil
	})
}

func livesIn(org callwright.OrgID) func(persona.Persona) bool {
	return func(p persona.Persona) bool { return p.Org == org && p.DeletedAt.IsZero() }
}

// CountPersonas returns how many personas of an organization are not marked as deleted.
func (s Personas) CountPersonas(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) { return d.personas.Count(livesIn(org)) })
}

// DeleteOldPersonas deletes up to limit personas that were marked as deleted before the given time, and their versions. It returns the
// number of deleted personas.
func (s Personas) DeleteOldPersonas(ctx context.Context, before time.Time, limit int) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		deleted, _ := d.personas.DeleteUpTo(limit, func(p persona.Persona) bool { return !p.DeletedAt.IsZero() && p.DeletedAt.Before(before) })
		return deleted, d.personaVersions.DeleteWhere(func(v persona.Version) bool {
			_, kept := d.personas.Rows()[v.Persona]
			return !kept
		})
	})
}

// InsertVersion adds a version of a persona. It returns CodeNotFound if the persona is absent or marked as deleted, and CodeConflict if the
// version's ID or number is already stored.
func (s Personas) InsertVersion(ctx context.Context, v persona.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.persona(v.Org, v.Persona); err != nil {
			return err
		}
		for _, other := range d.personaVersions.Rows() {
			if other.Persona == v.Persona && other.Number == v.Number {
				return callwright.ErrConflict
			}
		}
		return d.personaVersions.Insert(v)
	})
}

// Version returns a version of a persona, or CodeNotFound if the organization has no such version.
func (s Personas) Version(ctx context.Context, org callwright.OrgID, id string) (persona.Version, error) {
	return read(ctx, s.Store, func(d *data) (persona.Version, error) { return d.personaVersions.Find(org, id) })
}

// draft checks that a draft may be changed. It returns CodeNotFound if the stored version is absent or is not a draft, and CodeConflict if
// its revision differs.
func (d *data) draft(v persona.Version) error {
	if d.personaVersions.Rows()[v.ID].Type != persona.Draft || d.personaVersions.Exists(v.Org, v.ID) != nil {
		return callwright.NotFound("persona draft")
	}
	return d.personaVersions.Check(v)
}

// UpdateDraft replaces a draft. It returns CodeNotFound if the stored version is absent or is not a draft, and CodeConflict if its revision
// differs.
func (s Personas) UpdateDraft(ctx context.Context, v persona.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.draft(v); err != nil {
			return err
		}
		return d.personaVersions.Replace(v)
	})
}

// DeleteDraft deletes a draft. It returns CodeNotFound if the stored version is absent or is not a draft, and CodeConflict if its revision
// differs.
func (s Personas) DeleteDraft(ctx context.Context, v persona.Version) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.draft(v); err != nil {
			return err
		}
		return d.personaVersions.Delete(v.Org, v.ID)
	})
}

// Versions returns up to limit of a persona's versions, newest first. If before is not 0, it returns only versions with a lower number. The
// page ends early when its size exceeds agents.MaxRead.
func (s Personas) Versions(
	ctx context.Context, org callwright.OrgID, id string, before, limit int,
) (found []persona.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, v := range d.personaVersions.Rows() {
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

// VersionsByID returns the organization's versions with the given ids, in the order of ids. It skips unknown ids. The list ends early when
// its size exceeds agents.MaxRead.
func (s Personas) VersionsByID(
	ctx context.Context, org callwright.OrgID, ids []string,
) (found []persona.Version, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, id := range ids {
			if v, ok := d.personaVersions.Rows()[id]; ok && v.Org == org {
				found = append(found, v)
			}
		}
		found = bounded(found, len(found), persona.Version.Size)
		return nil
	})
	return found, err
}
