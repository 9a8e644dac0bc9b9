package agentstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

type entryRow struct {
	bun.BaseModel `bun:"table:transcript_entries"`

	CallID      string        `bun:"call_id,pk"`
	Seq         int           `bun:"seq,pk"`
	Speaker     string        `bun:"speaker"`
	Text        string        `bun:"text"`
	Start       time.Duration `bun:"start_ns"`
	End         time.Duration `bun:"end_ns"`
	Interrupted bool          `bun:"interrupted"`
	Latency     latencyJSON   `bun:"latency,type:jsonb"`
	CreatedAt   time.Time     `bun:"created_at"`
}

// Append adds a line to a transcript.
func (s Calls) Append(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	row := entryRow{
		CallID: id, Seq: e.Seq, Speaker: string(e.Speaker), Text: e.Text, Start: e.Start, End: e.End,
		Interrupted: e.Interrupted, Latency: latencyJSON(e.Latency), CreatedAt: sqldb.Stored(e.CreatedAt),
	}
	return s.attach(ctx, org, id, e, &row)
}

// Transcript returns a call's lines.
func (s Calls) Transcript(ctx context.Context, org callwright.OrgID, id string) ([]call.Entry, error) {
	var rows []entryRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		rows = nil
		return idb.NewSelect().Model(&rows).Where("call_id = ?", id).Order("seq").Scan(ctx)
	})
	lines := make([]call.Entry, 0, len(rows))
	for _, r := range rows {
		lines = append(lines, call.Entry{
			Seq: r.Seq, Speaker: call.Speaker(r.Speaker), Text: r.Text, Start: r.Start, End: r.End,
			Interrupted: r.Interrupted, Latency: conversation.Latency(r.Latency), CreatedAt: r.CreatedAt.UTC(),
		})
	}
	return lines, err
}
