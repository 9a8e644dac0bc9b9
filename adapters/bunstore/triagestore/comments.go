package triagestore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type commentRow struct {
	bun.BaseModel `bun:"table:triage_comments"`

	ID        string    `bun:"id,pk"`
	IssueID   string    `bun:"issue_id"`
	Org       string    `bun:"org"`
	Author    actorJSON `bun:"author,type:jsonb"`
	Detail    string    `bun:"detail"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Deleted   bool      `bun:"deleted"`
	Version   int64     `bun:"version"` // its Revision
}

func newCommentRow(c triage.Comment) commentRow {
	return commentRow{
		ID: c.ID, IssueID: c.IssueID, Org: string(c.Org), Author: actorJSON(c.Author), Detail: c.Detail,
		CreatedAt: sqldb.Stored(c.CreatedAt), UpdatedAt: sqldb.Stored(c.UpdatedAt), Deleted: c.Deleted, Version: c.Revision,
	}
}

func (r commentRow) comment() triage.Comment {
	return triage.Comment{
		ID: r.ID, Org: callwright.OrgID(r.Org), IssueID: r.IssueID, Author: triage.Actor(r.Author), Detail: r.Detail,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Deleted: r.Deleted, Revision: r.Version,
	}
}

// InsertComment adds a comment.
func (s Store) InsertComment(ctx context.Context, c triage.Comment) error {
	c.Revision = 1
	row := newCommentRow(c)
	return s.core().Insert(ctx, row, &row)
}

// Comment returns one comment.
func (s Store) Comment(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Comment, error) {
	var r commentRow
	if err := s.part(ctx, "comment", &r, org, issue, id); err != nil {
		return triage.Comment{}, err
	}
	return r.comment(), nil
}

// RevisedComments returns the given comments that were edited or deleted.
func (s Store) RevisedComments(
	ctx context.Context, org callwright.OrgID, issue string, ids []string, most int,
) ([]triage.Comment, error) {
	var rows []commentRow
	err := s.core().Read(ctx, []any{org, issue, ids}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).ExcludeColumn("detail").ColumnExpr("substr(detail, 1, ?) AS detail", most).
			Where("id IN (?)", bun.List(ids)).Where("issue_id = ?", issue).Where("org = ?", org).Where("version > 1").Scan(ctx)
	})
	return sqldb.Converted(rows, commentRow.comment), err
}

// UpdateComment replaces the columns of a comment that can change.
func (s Store) UpdateComment(ctx context.Context, c triage.Comment) error {
	row := newCommentRow(c)
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).ExcludeColumn("id", "issue_id", "org", "author", "created_at").
			WherePK().Where("org = ?", c.Org)
		find := idb.NewSelect().Model((*commentRow)(nil)).Where("id = ?", c.ID).Where("org = ?", c.Org)
		return sqldb.Replace(ctx, "comment", update, c.Revision, find)
	})
}
