package triagestore

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

// Store stores issues; it implements triage.Store. Rows that belong to an issue have a foreign key to the issue's id and organization: an
// insert returns CodeNotFound if the issue is absent.
type Store struct{ DB *bunstore.DB }

func (s Store) core() core { return core{s.DB.Core()} }

type counterRow struct {
	bun.BaseModel `bun:"table:triage_counters"`

	Org    string `bun:"org,pk"`
	Number int    `bun:"number"`
}

// NextNumber returns the next issue number of an organization. Other transactions that request a number wait until this transaction
// finishes.
func (s Store) NextNumber(ctx context.Context, org callwright.OrgID) (number int, err error) {
	row := counterRow{Org: string(org), Number: triage.FirstNumber}
	err = s.core().Write(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		return idb.NewInsert().Model(&row).On("CONFLICT (org) DO UPDATE").Set("number = ?TableAlias.number + 1").
			Returning("number").Scan(ctx, &number)
	})
	return number, err
}

func (s Store) issues() sqldb.Rows[triage.Issue, issueRow] {
	return sqldb.Rows[triage.Issue, issueRow]{
		DB: s.DB.Core(), Kind: "issue", Row: sqldb.Plain(newIssueRow), Value: sqldb.Plain(issueRow.issue), Sealed: true,
	}
}

// InsertIssue adds an issue with version 1. It returns CodeConflict if the id or number exists.
func (s Store) InsertIssue(ctx context.Context, i triage.Issue) error {
	i.Version = 1
	return s.issues().Insert(ctx, i)
}

// Issue returns one issue, or CodeNotFound if it is absent.
func (s Store) Issue(ctx context.Context, org callwright.OrgID, id string) (triage.Issue, error) {
	return s.issue(ctx, org, "id", id, func(q *bun.SelectQuery) *bun.SelectQuery { return q })
}

// IssueNumbered returns the issue with the given number, or CodeNotFound if it is absent.
func (s Store) IssueNumbered(ctx context.Context, org callwright.OrgID, number int) (triage.Issue, error) {
	return s.issue(ctx, org, "number", number, func(q *bun.SelectQuery) *bun.SelectQuery { return q })
}

// Hold returns an issue and locks it until the transaction finishes. It returns CodeNotFound if the issue is absent.
func (s Store) Hold(ctx context.Context, org callwright.OrgID, id string) (triage.Issue, error) {
	return s.issue(ctx, org, "id", id, s.core().ForUpdate)
}

// issue returns the issue with the given value in a unique column, or CodeNotFound if it is absent. choose may add a lock to the query.
func (s Store) issue(
	ctx context.Context, org callwright.OrgID, column string, value any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) (triage.Issue, error) {
	return s.issues().One(ctx, []any{org, value}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return choose(q.ExcludeColumn(searched...).Where("? = ?", bun.Ident(column), value).Where("org = ?", org))
	})
}

// UpdateIssue replaces the changeable columns of an issue. It returns CodeConflict if the stored revision is not i.Revision, and
// CodeNotFound if the issue is absent. It writes the description, which may be long, only if i.Version differs from the stored version.
func (s Store) UpdateIssue(ctx context.Context, i triage.Issue) error {
	row := newIssueRow(i)
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		update := func() *bun.UpdateQuery {
			return idb.NewUpdate().Model(&row).ExcludeColumn(insertedOnly...).WherePK().Where("org = ?", i.Org)
		}
		same := update().ExcludeColumn("description", "search_text").Value("version", "version + 1").
			Where("edits = ?", sqldb.Int(i.Version)).Where("version = ?", sqldb.Int(i.Revision))
		result, err := same.Exec(ctx)
		if err = sqldb.Changed(result, err, callwright.ErrConflict); !errors.Is(err, callwright.ErrConflict) {
			return err
		}
		find := idb.NewSelect().Model((*issueRow)(nil)).Where("id = ?", i.ID).Where("org = ?", i.Org)
		return sqldb.Replace(ctx, "issue", update(), i.Revision, find)
	})
}
