package agentstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/pathway"
)

// Pathways stores pathways and their versions; it implements pathway.Store.
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

// InsertPathway adds a pathway. It returns CodeConflict if the id exists.
func (s Pathways) InsertPathway(ctx context.Context, p pathway.Pathway) error {
	return s.rows().Insert(ctx, p)
}

// Pathway returns one pathway with its draft, or CodeNotFound if it is absent.
func (s Pathways) Pathway(ctx context.Context, org callwright.OrgID, id string) (pathway.Pathway, error) {
	return s.rows().Find(ctx, org, id)
}

// UpdatePathway replaces a pathway. It returns CodeConflict if the stored revision is not p.Revision, and CodeNotFound if the pathway is
// absent.
func (s Pathways) UpdatePathway(ctx context.Context, p pathway.Pathway) error {
	return s.rows().Replace(ctx, p)
}

// DeletePathway deletes a pathway with its versions and chats, or returns CodeNotFound if it is absent.
func (s Pathways) DeletePathway(ctx context.Context, org callwright.OrgID, id string) error {
	return s.rows().DeleteExisting(ctx, org, id)
}

// Pathways returns a page of an organization's pathways, newest first, without their drafts.
func (s Pathways) Pathways(ctx context.Context, org callwright.OrgID, l pathway.Listing) ([]pathway.Pathway, error) {
	return s.rows().Page(ctx, "created_at", l.After, l.Limit, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.ExcludeColumn("draft").Where("org = ?", org).Offset(int64(l.Offset))
	})
}

// CountPathways returns the number of an organization's pathways.
func (s Pathways) CountPathways(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.rows().Count(ctx, "org = ?", org)
}

// InsertVersion adds a version. It returns CodeNotFound if the pathway is absent, and CodeConflict if the number exists.
func (s Pathways) InsertVersion(ctx context.Context, v pathway.Version) error {
	return s.core().withPathway(ctx, v.Org, v.Pathway, func(ctx context.Context) error { return s.versions().Insert(ctx, v) })
}

// withPathway calls the function insert in a transaction if the pathway exists, and otherwise returns CodeNotFound.
func (db core) withPathway(ctx context.Context, org callwright.OrgID, id string, insert func(context.Context) error) error {
	return db.Do(ctx, func(ctx context.Context) error {
		if err := db.pathways().Exists(ctx, org, id); err != nil {
			return err
		}
		return insert(ctx)
	})
}

// Version returns one version with its document, even if it is archived, or CodeNotFound if it is absent.
func (s Pathways) Version(
	ctx context.Context, org callwright.OrgID, pathwayID string, number int,
) (pathway.Version, error) {
	row, err := s.findVersion(ctx, org, pathwayID, number, "*")
	if err != nil {
		return pathway.Version{}, err
	}
	return s.core().version(row)
}

// VersionHash returns the hash of a version without reading its document.
func (s Pathways) VersionHash(ctx context.Context, org callwright.OrgID, pathwayID string, number int) (string, error) {
	row, err := s.findVersion(ctx, org, pathwayID, number, "hash")
	return row.Hash, err
}

// findVersion reads the given columns of a version, or returns CodeNotFound if it is absent.
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

// Versions returns up to limit unarchived versions below a number, in descending order, without their documents. If before is 0, it starts
// with the highest number.
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

// ArchiveVersion marks a version as archived, or returns CodeNotFound if it is absent.
func (s Pathways) ArchiveVersion(ctx context.Context, org callwright.OrgID, pathwayID string, number int) error {
	return s.core().Write(ctx, []any{org, pathwayID}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*versionRow)(nil)).Set("archived = ?", true).
			Where("pathway_id = ?", pathwayID).Where("number = ?", sqldb.Int(number)).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("pathway version"))
	})
}
