package triagestore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type relationRow struct {
	bun.BaseModel `bun:"table:triage_relations,alias:triage_relations"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Type      string    `bun:"type"`
	FromID    string    `bun:"from_id"`
	ToID      string    `bun:"to_id"`
	CreatedBy string    `bun:"created_by"`
	CreatedAt time.Time `bun:"created_at"`

	From *issueRow `bun:"rel:belongs-to,join:from_id=id"`
	To   *issueRow `bun:"rel:belongs-to,join:to_id=id"`
}

func (r relationRow) relation() triage.Relation {
	return triage.Relation{
		ID: r.ID, Org: callwright.OrgID(r.Org), Type: triage.RelationType(r.Type), From: r.From.issue().Ref(),
		To: r.To.issue().Ref(), Merged: r.From.MergedInto != "" || r.To.MergedInto != "", CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(),
	}
}

// InsertRelation adds a relation.
func (s Store) InsertRelation(ctx context.Context, r triage.Relation) error {
	row := relationRow{
		ID: r.ID, Org: string(r.Org), Type: string(r.Type), FromID: r.From.ID, ToID: r.To.ID, CreatedBy: r.CreatedBy,
		CreatedAt: sqldb.Stored(r.CreatedAt),
	}
	return s.core().Insert(ctx, row, &row)
}

// Relation returns one relation of an issue.
func (s Store) Relation(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Relation, error) {
	found, err := s.relations(ctx, org, issue, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("triage_relations.id = ?", id)
	}, id)
	if err != nil {
		return triage.Relation{}, err
	}
	if len(found) == 0 {
		return triage.Relation{}, callwright.NotFound("relation")
	}
	return found[0], nil
}

// RelationsOf returns all relations of an issue.
func (s Store) RelationsOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Relation, error) {
	return s.relations(ctx, org, issue, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Order("triage_relations.created_at", "triage_relations.id")
	})
}

// relations returns the relations of an issue that a query selects.
func (s Store) relations(
	ctx context.Context, org callwright.OrgID, issue string, choose func(*bun.SelectQuery) *bun.SelectQuery, inputs ...any,
) ([]triage.Relation, error) {
	var rows []relationRow
	columns := func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Column("id", "number", "title", "status", "merged_into")
	}
	err := s.core().Read(ctx, append(inputs, org, issue), func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		query := idb.NewSelect().Model(&rows).Relation("From", columns).Relation("To", columns).
			Where("triage_relations.org = ?", org).
			Where("(triage_relations.from_id = ?0 OR triage_relations.to_id = ?0)", issue)
		return choose(query).Scan(ctx)
	})
	return sqldb.Converted(rows, relationRow.relation), err
}

// DeleteRelation deletes a relation.
func (s Store) DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*relationRow)(nil)).Where("id = ?", id).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("relation"))
	})
}
