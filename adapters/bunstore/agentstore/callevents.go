package agentstore

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

type logRow struct {
	bun.BaseModel `bun:"table:call_logs"`

	CallID string `bun:"call_id,pk"`
	Turn   int    `bun:"turn,pk"`
	Log    string `bun:"log"` // logJSON
}

type noticeRow struct {
	bun.BaseModel `bun:"table:call_notices"`

	CallID    string    `bun:"call_id,pk"`
	Seq       int       `bun:"seq,pk"`
	Category  string    `bun:"category"`
	Level     string    `bun:"level"`
	Message   string    `bun:"message"`
	CreatedAt time.Time `bun:"created_at"`
}

func (r logRow) turn() (pathway.Log, error) { return unmarshalLog(r.Turn, r.Log) }

// AppendLog adds the log of a turn, unless the turn already has a log. It accepts text that the databases cannot store, because JSON
// escapes it.
func (s Calls) AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error {
	text, err := marshalLog(l)
	if err != nil {
		return err
	}
	return s.attach(ctx, org, id, nil, &logRow{CallID: id, Turn: l.Turn, Log: text})
}

// attach inserts a row of a call, unless a row with its key exists. It returns CodeNotFound if the call is absent. value is checked for
// text that the databases cannot store.
func (s Calls) attach(ctx context.Context, org callwright.OrgID, id string, value, row any) error {
	return s.core().Write(ctx, []any{org, id, value}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		_, err := idb.NewInsert().Model(row).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		return err
	})
}

// Logs returns the logs of all turns of a call, ordered by turn.
func (s Calls) Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error) {
	return s.logs(ctx, org, id, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("turn") })
}

// LogsBefore returns up to limit logs of a call: the latest before the given turn, ordered by turn. If before is 0, it returns the latest
// logs of the call.
func (s Calls) LogsBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error) {
	logs, err := s.logs(ctx, org, id, lastBefore("turn", before, limit))
	slices.Reverse(logs)
	return logs, err
}

// logs returns the logs of a call that the function choose selects, or CodeNotFound if the call is absent.
func (s Calls) logs(
	ctx context.Context, org callwright.OrgID, id string, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]pathway.Log, error) {
	var rows []logRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		rows = nil
		return choose(idb.NewSelect().Model(&rows).Where("call_id = ?", id)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, logRow.turn)
}

// AppendNotice adds a notice for the webhook, unless a notice with its Seq exists.
func (s Calls) AppendNotice(ctx context.Context, org callwright.OrgID, id string, n call.Notice) error {
	return s.attach(ctx, org, id, n, &noticeRow{
		CallID: id, Seq: n.Seq, Category: string(n.Category), Level: string(n.Level), Message: n.Message,
		CreatedAt: sqldb.Stored(n.CreatedAt),
	})
}

// Notice returns the notice with the given Seq, or CodeNotFound if the call or the notice is absent.
func (s Calls) Notice(ctx context.Context, org callwright.OrgID, id string, seq int) (call.Notice, error) {
	var r noticeRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		return sqldb.Absent("notice", idb.NewSelect().Model(&r).Where("call_id = ?", id).Where("seq = ?", seq).Scan(ctx))
	})
	if err != nil {
		return call.Notice{}, err
	}
	return call.Notice{
		Seq: r.Seq, Category: call.EventCategory(r.Category), Level: call.EventLevel(r.Level), Message: r.Message,
		CreatedAt: r.CreatedAt.UTC(),
	}, nil
}
