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

func newRelationRow(r triage.Relation) relationRow {
	return relationRow{
		ID: r.ID, Org: string(r.Org), Type: string(r.Type), FromID: r.From.ID, ToID: r.To.ID, CreatedBy: r.CreatedBy,
		CreatedAt: sqldb.Stored(r.CreatedAt),
	}
}

func (s Store) relations() sqldb.Rows[triage.Relation, relationRow] {
	return sqldb.Rows[triage.Relation, relationRow]{
		DB: s.DB.Core(), Kind: "relation", Row: sqldb.Plain(newRelationRow), Value: sqldb.Plain(relationRow.relation), Sealed: true,
	}
}

// InsertRelation adds a relation. It returns CodeConflict if the relation exists, and CodeNotFound if one of its issues is absent.
func (s Store) InsertRelation(ctx context.Context, r triage.Relation) error {
	return s.relations().Insert(ctx, r)
}

// Relation returns one relation of an issue, in either direction, or CodeNotFound if it is absent.
func (s Store) Relation(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Relation, error) {
	return s.relations().One(ctx, []any{org, issue, id}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return ofIssue(q, org, issue).Where("triage_relations.id = ?", id)
	})
}

// RelationsOf returns all relations of an issue, in both directions, oldest first.
func (s Store) RelationsOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Relation, error) {
	return s.relations().Select(ctx, []any{org, issue}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return ofIssue(q, org, issue).Order("triage_relations.created_at", "triage_relations.id")
	})
}

// ofIssue restricts a query to the relations of an issue, and also reads the displayed columns of both issues.
func ofIssue(q *bun.SelectQuery, org callwright.OrgID, issue string) *bun.SelectQuery {
	columns := func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Column("id", "number", "title", "status", "merged_into")
	}
	return q.Relation("From", columns).Relation("To", columns).Where("triage_relations.org = ?", org).
		Where("(triage_relations.from_id = ?0 OR triage_relations.to_id = ?0)", issue)
}

// DeleteRelation deletes a relation, or returns CodeNotFound if it is absent.
func (s Store) DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error {
	return s.relations().DeleteExisting(ctx, org, id)
}
