package agentstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/persona"
)

// Personas is a persona.Store.
type Personas struct{ DB *bunstore.DB }

func (s Personas) core() core { return core{s.DB.Core()} }

// InsertPersona adds a persona.
func (s Personas) InsertPersona(ctx context.Context, p persona.Persona) error {
	p.Revision = 1
	row := newPersonaRow(p)
	return s.core().Insert(ctx, p, &row)
}

func findPersona(idb bun.IDB, model any, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model(model).Where("id = ?", id).Where("org = ?", org).Where("deleted_at IS NULL")
}

// Persona returns one persona.
func (s Personas) Persona(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, error) {
	var row personaRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("persona", findPersona(idb, &row, org, id).Scan(ctx))
	})
	return row.persona(), err
}

// UpdatePersona replaces a persona.
func (s Personas) UpdatePersona(ctx context.Context, p persona.Persona) error {
	row := newPersonaRow(p)
	return s.core().Write(ctx, []any{p}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", p.Org).Where("deleted_at IS NULL")
		return sqldb.Replace(ctx, "persona", update, p.Revision, findPersona(idb, (*personaRow)(nil), p.Org, p.ID))
	})
}

// HoldPersona locks a persona. On SQLite the transaction writes already, and no other one does meanwhile.
func (s Personas) HoldPersona(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		var found string
		held := s.core().ForUpdate(findPersona(idb, (*personaRow)(nil), org, id).Column("id"))
		return sqldb.Absent("persona", held.Scan(ctx, &found))
	})
}

// Personas returns a page of personas.
func (s Personas) Personas(
	ctx context.Context, org callwright.OrgID, l persona.Listing,
) ([]persona.Persona, error) {
	var rows []personaRow
	err := s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("org = ?", org).Where("deleted_at IS NULL").
			Order("created_at DESC", "id DESC").Limit(int64(l.Limit)).Offset(int64(l.Offset)).Scan(ctx)
	})
	return sqldb.Converted(rows, personaRow.persona), err
}

// CountPersonas returns the number of an organization's personas.
func (s Personas) CountPersonas(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, idb.NewSelect().Model((*personaRow)(nil)).Where("org = ?", org).Where("deleted_at IS NULL"))
		return err
	})
	return count, err
}

// DeleteOldPersonas deletes personas that were deleted long ago. Their versions go with them.
func (s Personas) DeleteOldPersonas(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.core().DeleteRows(ctx, (*personaRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("deleted_at < ?", sqldb.Stored(before)).Order("deleted_at").Limit(int64(limit))
	})
}

// InsertVersion adds a version.
func (s Personas) InsertVersion(ctx context.Context, v persona.Version) error {
	v.Revision = 1
	row := s.core().personaVersionRow(v)
	return s.core().Do(ctx, func(ctx context.Context) error {
		err := s.core().Read(ctx, []any{v.Org, v.Persona}, func(ctx context.Context, idb bun.IDB) error {
			return sqldb.Exists(ctx, "persona", findPersona(idb, (*personaRow)(nil), v.Org, v.Persona))
		})
		if err != nil {
			return err
		}
		return s.core().Insert(ctx, v, &row)
	})
}

// Version returns one version.
func (s Personas) Version(ctx context.Context, org callwright.OrgID, id string) (persona.Version, error) {
	var row personaVersionRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		query := idb.NewSelect().Model(&row).Where("id = ?", id).Where("org = ?", org)
		return sqldb.Absent("persona version", query.Scan(ctx))
	})
	if err != nil {
		return persona.Version{}, err
	}
	return s.core().personaVersion(row)
}

func findDraft(idb bun.IDB, v persona.Version) *bun.SelectQuery {
	return idb.NewSelect().Model((*personaVersionRow)(nil)).
		Where("id = ?", v.ID).Where("org = ?", v.Org).Where("type = ?", persona.Draft)
}

// UpdateDraft replaces a draft.
func (s Personas) UpdateDraft(ctx context.Context, v persona.Version) error {
	row := s.core().personaVersionRow(v)
	return s.core().Write(ctx, []any{v}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", v.Org).Where("type = ?", persona.Draft)
		return sqldb.Replace(ctx, "persona draft", update, v.Revision, findDraft(idb, v))
	})
}

// DeleteDraft deletes a draft.
func (s Personas) DeleteDraft(ctx context.Context, v persona.Version) error {
	return s.core().Write(ctx, []any{v.Org, v.ID}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*personaVersionRow)(nil)).Where("id = ?", v.ID).Where("org = ?", v.Org).
			Where("type = ?", persona.Draft).Where("version = ?", sqldb.Int(v.Revision)).Exec(ctx)
		return sqldb.Outrun(ctx, "persona draft", sqldb.Changed(result, err, callwright.ErrConflict), findDraft(idb, v))
	})
}

// Versions returns a page of a persona's versions.
func (s Personas) Versions(
	ctx context.Context, org callwright.OrgID, id string, before, limit int,
) ([]persona.Version, error) {
	return bounded(ctx, s.core(), []any{org, id}, s.core().personaVersion, persona.Version.Size,
		func(idb bun.IDB) *bun.SelectQuery {
			query := idb.NewSelect().Model((*personaVersionRow)(nil)).Where("persona_id = ?", id).Where("org = ?", org)
			if before > 0 {
				query.Where("number < ?", sqldb.Int(before))
			}
			return query.Order("number DESC").Limit(int64(limit))
		})
}

// VersionsByID returns versions by their ids.
func (s Personas) VersionsByID(
	ctx context.Context, org callwright.OrgID, ids []string,
) ([]persona.Version, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return bounded(ctx, s.core(), []any{org, ids}, s.core().personaVersion, persona.Version.Size,
		func(idb bun.IDB) *bun.SelectQuery {
			return idb.NewSelect().Model((*personaVersionRow)(nil)).Where("id IN (?)", bun.List(ids)).Where("org = ?", org)
		})
}
