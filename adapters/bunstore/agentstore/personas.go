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

// Personas stores personas and their versions; it implements persona.Store.
type Personas struct{ DB *bunstore.DB }

func (s Personas) core() core { return core{s.DB.Core()} }

func (s Personas) rows() sqldb.Rows[persona.Persona, personaRow] {
	return sqldb.Rows[persona.Persona, personaRow]{
		DB: s.DB.Core(), Kind: "persona", Row: sqldb.Plain(newPersonaRow), Value: sqldb.Plain(personaRow.persona), Where: "deleted_at IS NULL",
	}
}

func (s Personas) versions() sqldb.Rows[persona.Version, personaVersionRow] {
	return sqldb.Rows[persona.Version, personaVersionRow]{
		DB: s.DB.Core(), Kind: "persona version", Row: sqldb.Plain(s.core().personaVersionRow), Value: s.core().personaVersion,
	}
}

// InsertPersona adds a persona. It returns CodeConflict if the id exists.
func (s Personas) InsertPersona(ctx context.Context, p persona.Persona) error {
	return s.rows().Insert(ctx, p)
}

// Persona returns one persona, or CodeNotFound if it is absent.
func (s Personas) Persona(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, error) {
	return s.rows().Find(ctx, org, id)
}

// UpdatePersona replaces a persona. It returns CodeConflict if the stored revision is not p.Revision, and CodeNotFound if the persona is
// absent or deleted.
func (s Personas) UpdatePersona(ctx context.Context, p persona.Persona) error {
	return s.rows().Replace(ctx, p)
}

// HoldPersona locks a persona until the transaction finishes, or returns CodeNotFound if it is absent. SQLite needs no lock, because only
// one transaction writes at a time.
func (s Personas) HoldPersona(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		var found string
		held := s.core().ForUpdate(idb.NewSelect().Model((*personaRow)(nil)).Column("id").
			Where("id = ?", id).Where("org = ?", org).Where("deleted_at IS NULL"))
		return sqldb.Absent("persona", held.Scan(ctx, &found))
	})
}

// Personas returns a page of an organization's personas, newest first, without deleted ones.
func (s Personas) Personas(ctx context.Context, org callwright.OrgID, l persona.Listing) ([]persona.Persona, error) {
	return s.rows().Page(ctx, "created_at", callwright.Keyset{}, l.Limit, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("deleted_at IS NULL").Offset(int64(l.Offset))
	})
}

// CountPersonas returns the number of an organization's personas, without deleted ones.
func (s Personas) CountPersonas(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.rows().Count(ctx, "org = ? AND deleted_at IS NULL", org)
}

// DeleteOldPersonas deletes the rows of up to limit personas that were marked as deleted before the given time, with their versions. It
// returns the number of these personas.
func (s Personas) DeleteOldPersonas(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.core().DeleteRows(ctx, (*personaRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("deleted_at < ?", sqldb.Stored(before)).Order("deleted_at").Limit(int64(limit))
	})
}

// InsertVersion adds a version. It returns CodeNotFound if the persona is absent, and CodeConflict if the version exists.
func (s Personas) InsertVersion(ctx context.Context, v persona.Version) error {
	return s.core().Do(ctx, func(ctx context.Context) error {
		if err := s.rows().Exists(ctx, v.Org, v.Persona); err != nil {
			return err
		}
		return s.versions().Insert(ctx, v)
	})
}

// Version returns one version with its content, or CodeNotFound if it is absent.
func (s Personas) Version(ctx context.Context, org callwright.OrgID, id string) (persona.Version, error) {
	return s.versions().Find(ctx, org, id)
}

func findDraft(idb bun.IDB, v persona.Version) *bun.SelectQuery {
	return idb.NewSelect().Model((*personaVersionRow)(nil)).
		Where("id = ?", v.ID).Where("org = ?", v.Org).Where("type = ?", persona.Draft)
}

// UpdateDraft replaces a draft. It returns CodeConflict if the stored revision is not v.Revision, and CodeNotFound if v is not a draft.
func (s Personas) UpdateDraft(ctx context.Context, v persona.Version) error {
	drafts := s.versions()
	drafts.Kind, drafts.Where = "persona draft", "type = 'draft'"
	return drafts.Replace(ctx, v)
}

// DeleteDraft deletes a draft. It returns CodeConflict if the stored revision is not v.Revision, and CodeNotFound if v is not a draft.
func (s Personas) DeleteDraft(ctx context.Context, v persona.Version) error {
	return s.core().Write(ctx, []any{v.Org, v.ID}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*personaVersionRow)(nil)).Where("id = ?", v.ID).Where("org = ?", v.Org).
			Where("type = ?", persona.Draft).Where("version = ?", sqldb.Int(v.Revision)).Exec(ctx)
		return sqldb.Outrun(ctx, "persona draft", sqldb.Changed(result, err, callwright.ErrConflict), findDraft(idb, v))
	})
}

// Versions returns up to limit versions of a persona below a number, in descending order. If before is 0, it starts with the highest
// number. agents.MaxRead bounds the size of the page.
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

// VersionsByID returns the versions with the given ids, in no particular order and without absent ones. agents.MaxRead bounds the size of
// the result.
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
