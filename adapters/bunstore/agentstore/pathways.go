package agentstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/pathway"
)

// Pathways is a pathway.Store.
type Pathways struct{ DB *bunstore.DB }

func (s Pathways) core() core { return core{s.DB.Core()} }

// InsertPathway adds a pathway.
func (s Pathways) InsertPathway(ctx context.Context, p pathway.Pathway) error {
	p.Revision = 1
	row := s.core().pathwayRow(p)
	return s.core().Insert(ctx, p, &row)
}

// Pathway returns one pathway.
func (s Pathways) Pathway(ctx context.Context, org callwright.OrgID, id string) (pathway.Pathway, error) {
	var row pathwayRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("pathway", idb.NewSelect().Model(&row).Where("id = ?", id).Where("org = ?", org).Scan(ctx))
	})
	if err != nil {
		return pathway.Pathway{}, err
	}
	return s.core().pathway(row)
}

// UpdatePathway replaces a pathway.
func (s Pathways) UpdatePathway(ctx context.Context, p pathway.Pathway) error {
	row := s.core().pathwayRow(p)
	return s.core().Write(ctx, []any{p}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", p.Org)
		return sqldb.Replace(ctx, "pathway", update, p.Revision, findPathway(idb, p.Org, p.ID))
	})
}

func findPathway(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*pathwayRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// DeletePathway deletes a pathway. Its versions and chats go with it.
func (s Pathways) DeletePathway(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*pathwayRow)(nil)).Where("id = ?", id).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("pathway"))
	})
}

// Pathways returns a page of pathways without their drafts.
func (s Pathways) Pathways(ctx context.Context, org callwright.OrgID, l pathway.Listing) ([]pathway.Pathway, error) {
	var rows []pathwayRow
	err := s.core().Read(ctx, []any{org, l.After.ID}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		query := idb.NewSelect().Model(&rows).ExcludeColumn("draft").Where("org = ?", org)
		if !l.After.IsZero() {
			query.Where("(created_at, id) < (?, ?)", l.After.At, l.After.ID)
		}
		return query.Order("created_at DESC", "id DESC").Limit(int64(l.Limit)).Offset(int64(l.Offset)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().pathway)
}

// CountPathways returns the number of an organization's pathways.
func (s Pathways) CountPathways(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, idb.NewSelect().Model((*pathwayRow)(nil)).Where("org = ?", org))
		return err
	})
	return count, err
}

// InsertVersion adds a version.
func (s Pathways) InsertVersion(ctx context.Context, v pathway.Version) error {
	row := s.core().versionRow(v)
	return s.core().insertWithPathway(ctx, v.Org, v.Pathway, v, &row)
}

// insertWithPathway adds a row that belongs to a pathway.
func (db core) insertWithPathway(ctx context.Context, org callwright.OrgID, id string, value, row any) error {
	return db.Do(ctx, func(ctx context.Context) error {
		err := db.Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
			return sqldb.Exists(ctx, "pathway", findPathway(idb, org, id))
		})
		if err != nil {
			return err
		}
		return db.Insert(ctx, value, row)
	})
}

// Version returns one version.
func (s Pathways) Version(
	ctx context.Context, org callwright.OrgID, pathwayID string, number int,
) (pathway.Version, error) {
	row, err := s.findVersion(ctx, org, pathwayID, number, "*")
	if err != nil {
		return pathway.Version{}, err
	}
	return s.core().version(row)
}

// VersionHash returns the hash of one version.
func (s Pathways) VersionHash(ctx context.Context, org callwright.OrgID, pathwayID string, number int) (string, error) {
	row, err := s.findVersion(ctx, org, pathwayID, number, "hash")
	return row.Hash, err
}

// findVersion reads columns of a version.
func (s Pathways) findVersion(
	ctx context.Context, org callwright.OrgID, pathwayID string, number int, columns string,
) (row versionRow, err error) {
	err = s.core().Read(ctx, []any{org, pathwayID}, func(ctx context.Context, idb bun.IDB) error {
		query := idb.NewSelect().Model(&row).Column(columns).
			Where("pathway_id = ?", pathwayID).Where("number = ?", sqldb.Int(number)).Where("org = ?", org)
		return sqldb.Absent("pathway version", query.Scan(ctx))
	})
	return row, err
}

// Versions returns a pathway's versions without their documents.
func (s Pathways) Versions(
	ctx context.Context, org callwright.OrgID, pathwayID string, before, limit int,
) ([]pathway.Version, error) {
	var rows []versionRow
	err := s.core().Read(ctx, []any{org, pathwayID}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		query := idb.NewSelect().Model(&rows).ExcludeColumn("document").
			Where("pathway_id = ?", pathwayID).Where("org = ?", org).Where("NOT archived")
		if before > 0 {
			query.Where("number < ?", sqldb.Int(before))
		}
		return query.Order("number DESC").Limit(int64(limit)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().version)
}

// ArchiveVersion archives a version.
func (s Pathways) ArchiveVersion(ctx context.Context, org callwright.OrgID, pathwayID string, number int) error {
	return s.core().Write(ctx, []any{org, pathwayID}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*versionRow)(nil)).Set("archived = ?", true).
			Where("pathway_id = ?", pathwayID).Where("number = ?", sqldb.Int(number)).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("pathway version"))
	})
}
