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
	Version   int64     `bun:"version"` // triage.Comment.Revision
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

func (s Store) comments() sqldb.Rows[triage.Comment, commentRow] {
	return sqldb.Rows[triage.Comment, commentRow]{
		DB: s.DB.Core(), Kind: "comment", Row: sqldb.Plain(newCommentRow), Value: sqldb.Plain(commentRow.comment), Sealed: true,
		Fixed: []string{"id", "issue_id", "org", "author", "created_at"},
	}
}

// InsertComment adds a comment. It returns CodeConflict if the id exists.
func (s Store) InsertComment(ctx context.Context, c triage.Comment) error {
	return s.comments().Insert(ctx, c)
}

// Comment returns one comment of an issue, or CodeNotFound if it is absent.
func (s Store) Comment(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Comment, error) {
	return part(ctx, s.comments(), org, issue, id)
}

// RevisedComments returns the comments with the given ids that were edited or deleted. It truncates each text to the given number of
// characters.
func (s Store) RevisedComments(
	ctx context.Context, org callwright.OrgID, issue string, ids []string, most int,
) ([]triage.Comment, error) {
	return s.comments().Select(ctx, []any{org, issue, ids}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.ExcludeColumn("detail").ColumnExpr("substr(detail, 1, ?) AS detail", most).
			Where("id IN (?)", bun.List(ids)).Where("issue_id = ?", issue).Where("org = ?", org).Where("version > 1")
	})
}

// UpdateComment replaces the changeable columns of a comment. It returns CodeConflict if the stored revision is not c.Revision, and
// CodeNotFound if the comment is absent.
func (s Store) UpdateComment(ctx context.Context, c triage.Comment) error {
	return s.comments().Replace(ctx, c)
}
