package triagestore

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type feedRow struct {
	bun.BaseModel `bun:"table:triage_entries,alias:triage_entries"`

	ID              string    `bun:"id,pk"`
	IssueID         string    `bun:"issue_id"`
	Org             string    `bun:"org"`
	CreatedAt       time.Time `bun:"created_at"`
	Kind            string    `bun:"kind"`
	Type            string    `bun:"type"`
	Detail          string    `bun:"detail"`
	Content         entryJSON `bun:"content,type:jsonb"`
	ArtifactPayload *string   `bun:"artifact_payload"`
}

func newFeedRow(e triage.Entry) feedRow {
	row := feedRow{
		ID: e.ID, IssueID: e.IssueID, Org: string(e.Org), CreatedAt: sqldb.Stored(e.CreatedAt), Kind: string(e.Kind),
		Type: string(e.Type), Detail: e.Detail, Content: entryJSON{
			Actor: actorJSON(e.Actor), Metadata: e.Metadata, FromStatus: e.FromStatus, ToStatus: e.ToStatus,
			Resources:  sqldb.Converted(e.Resources, newResourceJSON),
			Referenced: sqldb.Converted(e.Referenced, func(r triage.IssueRef) issueRefJSON { return issueRefJSON(r) }),
			Session:    (*sessionRefJSON)(e.Session), Artifact: (*artifactJSON)(e.Artifact),
		},
	}
	if e.Artifact != nil {
		row.ArtifactPayload = rawText(e.Artifact.Payload)
	}
	return row
}

func (r feedRow) entry() triage.Entry {
	c := r.Content
	if c.Artifact != nil {
		c.Artifact.Payload = rawJSON(r.ArtifactPayload)
	}
	return triage.Entry{
		ID: r.ID, Org: callwright.OrgID(r.Org), IssueID: r.IssueID, Kind: triage.EntryKind(r.Kind),
		Type: triage.EntryType(r.Type), Actor: triage.Actor(c.Actor), Detail: r.Detail, Metadata: c.Metadata,
		CreatedAt: r.CreatedAt.UTC(), FromStatus: c.FromStatus, ToStatus: c.ToStatus,
		Resources:  sqldb.Converted(c.Resources, func(j resourceJSON) triage.Resource { return triage.Resource(j) }),
		Referenced: sqldb.Converted(c.Referenced, func(j issueRefJSON) triage.IssueRef { return triage.IssueRef(j) }),
		Session:    (*triage.SessionRef)(c.Session), Artifact: (*triage.Artifact)(c.Artifact),
	}
}

// entriesAtOnce is the maximum number of entries that one statement inserts. With the largest texts and artifacts they occupy about 30 MB.
const entriesAtOnce = 100

// AppendEntries adds entries to the feed of an issue, in one transaction. It returns CodeConflict if an id exists, and CodeNotFound if the
// issue is absent.
func (s Store) AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []triage.Entry) error {
	rows := sqldb.Converted(entries, newFeedRow)
	for i := range rows {
		rows[i].Org, rows[i].IssueID = string(org), issue
	}
	return s.DB.Do(ctx, func(ctx context.Context) error {
		for some := range slices.Chunk(rows, entriesAtOnce) {
			err := s.core().Write(ctx, []any{some}, func(ctx context.Context, idb bun.IDB) error {
				_, err := idb.NewInsert().Model(&some).Returning("NULL").Exec(ctx)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Entries returns up to limit entries of a feed before a keyset, newest first. triage.MaxRead bounds the size of the page.
func (s Store) Entries(
	ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int,
) ([]triage.Entry, error) {
	return s.entries(ctx, org, issue, before, limit, func(q *bun.SelectQuery) *bun.SelectQuery {
		if !before.IsZero() {
			q = q.Where("(created_at, id) < (?, ?)", sqldb.Stored(before.At), before.ID)
		}
		return q.Order("created_at DESC", "id DESC")
	})
}

// EntriesAfter returns up to limit entries of a feed after a keyset, oldest first. triage.MaxRead bounds the size of the page.
func (s Store) EntriesAfter(
	ctx context.Context, org callwright.OrgID, issue string, after callwright.Keyset, limit int,
) ([]triage.Entry, error) {
	return s.entries(ctx, org, issue, after, limit, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("(created_at, id) > (?, ?)", sqldb.Stored(after.At), after.ID).Order("created_at", "id")
	})
}

// entries returns the entries that the function choose selects. It checks the organization once, at the issue, and selects entries only by
// their issue, so that PostgreSQL estimates their number correctly. It stops after the entry at which their total size exceeds
// triage.MaxRead, but not before the second entry.
func (s Store) entries(
	ctx context.Context, org callwright.OrgID, issue string, place callwright.Keyset, limit int,
	choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]triage.Entry, error) {
	var entries []triage.Entry
	err := s.core().Read(ctx, []any{org, issue, place}, func(ctx context.Context, idb bun.IDB) error {
		entries = make([]triage.Entry, 0, limit)
		ours := idb.NewSelect().Model((*issueRow)(nil)).ColumnExpr("1").Where("id = ?", issue).Where("org = ?", org)
		query := idb.NewSelect().Model((*feedRow)(nil)).ExcludeColumn("issue_id", "org").Where("issue_id = ?", issue)
		rows, err := choose(query.Where("EXISTS (?)", ours)).Limit(int64(limit)).Rows(ctx)
		if err != nil {
			return err
		}
		defer rows.Close() // an error of Close does not matter: all needed rows are read
		for size := 0; (size <= triage.MaxRead || len(entries) < 2) && rows.Next(); {
			row := feedRow{IssueID: issue, Org: string(org)}
			if err := s.core().ScanRow(ctx, rows, &row); err != nil {
				return err
			}
			e := row.entry()
			entries, size = append(entries, e), size+e.Size()
		}
		return rows.Err()
	})
	return entries, err
}
