package triagestore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type flagRow struct {
	bun.BaseModel `bun:"table:triage_flags"`

	ID           string    `bun:"id,pk"`
	IssueID      string    `bun:"issue_id"`
	Org          string    `bun:"org"`
	CallID       string    `bun:"call_id"`
	Type         string    `bun:"type"`
	Note         string    `bun:"note"`
	NodeID       string    `bun:"node_id"`
	NodeName     string    `bun:"node_name"`
	MessageIndex *int      `bun:"message_index"`
	MessageText  string    `bun:"message_text"`
	CreatedBy    string    `bun:"created_by"`
	CreatedAt    time.Time `bun:"created_at"`
}

func (r flagRow) flag() triage.Flag {
	return triage.Flag{
		ID: r.ID, Org: callwright.OrgID(r.Org), IssueID: r.IssueID, CallID: r.CallID, Type: r.Type, Note: r.Note,
		NodeID: r.NodeID, NodeName: r.NodeName, MessageIndex: r.MessageIndex, MessageText: r.MessageText,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(),
	}
}

func newFlagRow(f triage.Flag) flagRow {
	return flagRow{
		ID: f.ID, IssueID: f.IssueID, Org: string(f.Org), CallID: f.CallID, Type: f.Type, Note: f.Note,
		NodeID: f.NodeID, NodeName: f.NodeName, MessageIndex: f.MessageIndex, MessageText: f.MessageText,
		CreatedBy: f.CreatedBy, CreatedAt: sqldb.Stored(f.CreatedAt),
	}
}

func (s Store) flags() sqldb.Rows[triage.Flag, flagRow] {
	return sqldb.Rows[triage.Flag, flagRow]{
		DB: s.DB.Core(), Kind: "flag", Row: sqldb.Plain(newFlagRow), Value: sqldb.Plain(flagRow.flag), Sealed: true,
	}
}

// InsertFlag adds a flag. It returns CodeConflict if the id exists, and CodeNotFound if its issue is absent.
func (s Store) InsertFlag(ctx context.Context, f triage.Flag) error { return s.flags().Insert(ctx, f) }

// Flag returns one flag of an issue, or CodeNotFound if it is absent.
func (s Store) Flag(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Flag, error) {
	return part(ctx, s.flags(), org, issue, id)
}

// FlagsOf returns all flags of an issue, oldest first.
func (s Store) FlagsOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Flag, error) {
	return parts(ctx, s.flags(), org, issue)
}

// DeleteFlag deletes a flag of an issue, or returns CodeNotFound if it is absent.
func (s Store) DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error {
	return deletePart(ctx, s.flags(), org, issue, id)
}
