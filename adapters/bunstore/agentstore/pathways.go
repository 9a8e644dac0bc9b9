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

func (s Pathways) rows() sqldb.Rows[pathway.Pathway, pathwayRow] { return s.core().pathways() }

func (db core) pathways() sqldb.Rows[pathway.Pathway, pathwayRow] {
	return sqldb.Rows[pathway.Pathway, pathwayRow]{DB: db.DB, Kind: "pathway", Row: sqldb.Plain(db.pathwayRow), Value: db.pathway}
}

func (s Pathways) versions() sqldb.Rows[pathway.Version, versionRow] {
	return sqldb.Rows[pathway.Version, versionRow]{
		DB: s.DB.Core(), Kind: "pathway version", Row: sqldb.Plain(s.core().versionRow), Value: s.core().version,
	}
}

// InsertPathway adds a pathway.
func (s Pathways) InsertPathway(ctx context.Context, p pathway.Pathway) error {
	return s.rows().Insert(ctx, p)
}

// Pathway returns one pathway.
func (s Pathways) Pathway(ctx context.Context, org callwright.OrgID, id string) (pathway.Pathway, error) {
	return s.rows().Find(ctx, org, id)
}

// UpdatePathway replaces a pathway.
func (s Pathways) UpdatePathway(ctx context.Context, p pathway.Pathway) error {
	return s.rows().Replace(ctx, p)
}

// DeletePathway deletes a pathway. Its versions and chats go with it.
func (s Pathways) DeletePathway(ctx context.Context, org callwright.OrgID, id string) error {
	return s.rows().DeleteExisting(ctx, org, id)
}

// Pathways returns a page of pathways without their drafts.
func (s Pathways) Pathways(ctx context.Context, org callwright.OrgID, l pathway.Listing) ([]pathway.Pathway, error) {
	return s.rows().Page(ctx, "created_at", l.After, l.Limit, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.ExcludeColumn("draft").Where("org = ?", org).Offset(int64(l.Offset))
	})
}

// CountPathways returns the number of an organization's pathways.
func (s Pathways) CountPathways(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.rows().Count(ctx, "org = ?", org)
}

// InsertVersion adds a version.
func (s Pathways) InsertVersion(ctx context.Context, v pathway.Version) error {
	return s.core().withPathway(ctx, v.Org, v.Pathway, func(ctx context.Context) error { return s.versions().Insert(ctx, v) })
}

// withPathway adds a row that belongs to a pathway.
func (db core) withPathway(ctx context.Context, org callwright.OrgID, id string, insert func(context.Context) error) error {
	return db.Do(ctx, func(ctx context.Context) error {
		if err := db.pathways().Exists(ctx, org, id); err != nil {
			return err
		}
		return insert(ctx)
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
	return s.versions().Select(ctx, []any{org, pathwayID}, func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.ExcludeColumn("document").Where("pathway_id = ?", pathwayID).Where("org = ?", org).Where("NOT archived")
		if before > 0 {
			q.Where("number < ?", sqldb.Int(before))
		}
		return q.Order("number DESC").Limit(int64(limit))
	})
}

// ArchiveVersion archives a version.
func (s Pathways) ArchiveVersion(ctx context.Context, org callwright.OrgID, pathwayID string, number int) error {
	return s.core().Write(ctx, []any{org, pathwayID}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*versionRow)(nil)).Set("archived = ?", true).
			Where("pathway_id = ?", pathwayID).Where("number = ?", sqldb.Int(number)).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("pathway version"))
	})
}
