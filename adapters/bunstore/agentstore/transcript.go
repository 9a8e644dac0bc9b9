package agentstore

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// entryRow is a line of a transcript. A row with the Seq 0 is the line that the agent is speaking: it belongs to no transcript.
type entryRow struct {
	bun.BaseModel `bun:"table:transcript_entries"`

	CallID       string        `bun:"call_id,pk"`
	Seq          int           `bun:"seq,pk"`
	Speaker      string        `bun:"speaker"`
	Text         string        `bun:"text"`
	Start        time.Duration `bun:"start_ns"`
	End          time.Duration `bun:"end_ns"`
	Interrupted  bool          `bun:"interrupted"`
	Unrecognized string        `bun:"unrecognized"`
	Latency      latencyJSON   `bun:"latency,type:jsonb"`
	Holds        []holdJSON    `bun:"holds,type:jsonb,nullzero"`
	Turn         int           `bun:"turn"`
	Waited       *waitJSON     `bun:"waited,type:jsonb"`
	Expected     *expectedJSON `bun:"expected,type:jsonb"`
	Begun        []begunJSON   `bun:"begun,type:jsonb,nullzero"`
	CreatedAt    time.Time     `bun:"created_at"`
}

func (r entryRow) entry() call.Entry {
	e := call.Entry{
		Seq: r.Seq, Speaker: call.Speaker(r.Speaker), Text: r.Text, Start: r.Start, End: r.End,
		Interrupted: r.Interrupted, Unrecognized: conversation.Unrecognized(r.Unrecognized), Latency: conversation.Latency(r.Latency), Turn: r.Turn, CreatedAt: r.CreatedAt.UTC(),
	}
	for _, h := range r.Holds {
		e.Holds = append(e.Holds, conversation.Hold(h))
	}
	if r.Waited != nil {
		e.Waited, e.WaitedFor = r.Waited.Length, r.Waited.Why
	}
	if r.Expected != nil {
		e.Expected = conversation.Expected(*r.Expected)
	}
	for _, b := range r.Begun {
		e.Begun = append(e.Begun, conversation.Begun(b))
	}
	return e
}

// rowOf returns the row of a line.
func rowOf(id string, e call.Entry) *entryRow {
	row := &entryRow{
		CallID: id, Seq: e.Seq, Speaker: string(e.Speaker), Text: e.Text, Start: e.Start, End: e.End,
		Interrupted: e.Interrupted, Unrecognized: string(e.Unrecognized), Latency: latencyJSON(e.Latency), Turn: e.Turn, CreatedAt: sqldb.Stored(e.CreatedAt),
	}
	for _, h := range e.Holds {
		row.Holds = append(row.Holds, holdJSON(h))
	}
	if w := (waitJSON{e.Waited, e.WaitedFor}); w != (waitJSON{}) {
		row.Waited = &w
	}
	if x := expectedJSON(e.Expected); x != (expectedJSON{}) {
		row.Expected = &x
	}
	for _, b := range e.Begun {
		row.Begun = append(row.Begun, begunJSON(b))
	}
	return row
}

// Append adds a line to a transcript, unless a line with its Seq exists, and deletes the line that the agent is speaking if the new line is
// the agent's. It returns CodeNotFound if the call is absent.
func (s Calls) Append(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	return s.core().Write(ctx, []any{org, id, e}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		if e.Speaker == call.SpeakerAssistant {
			_, err := idb.NewDelete().Model((*entryRow)(nil)).Where("call_id = ?", id).Where("seq = 0").Exec(ctx)
			if err != nil {
				return err
			}
		}
		_, err := idb.NewInsert().Model(rowOf(id, e)).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		return err
	})
}

// Speak stores the line that the agent is speaking. It returns CodeNotFound if the call is absent.
func (s Calls) Speak(ctx context.Context, org callwright.OrgID, id string, e call.Entry) error {
	e.Seq = 0
	return s.core().Write(ctx, []any{org, id, e}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		query := idb.NewInsert().Model(rowOf(id, e)).On("CONFLICT (call_id, seq) DO UPDATE")
		for _, column := range []string{"speaker", "text", "start_ns", "end_ns", "interrupted", "unrecognized", "latency", "holds", "turn", "waited", "expected", "begun", "created_at"} {
			query = query.Set("? = EXCLUDED.?", bun.Ident(column), bun.Ident(column))
		}
		_, err := query.Returning("NULL").Exec(ctx)
		return err
	})
}

// Spoken returns the line that the agent is speaking, and false if there is none. It returns CodeNotFound if the call is absent.
func (s Calls) Spoken(ctx context.Context, org callwright.OrgID, id string) (e call.Entry, ok bool, err error) {
	lines, err := s.entries(ctx, org, id, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("seq = 0") })
	if err != nil || len(lines) == 0 {
		return call.Entry{}, false, err
	}
	return lines[0], true, nil
}

// Transcript returns all lines of a call, ordered by Seq.
func (s Calls) Transcript(ctx context.Context, org callwright.OrgID, id string) ([]call.Entry, error) {
	return s.lines(ctx, org, id, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("seq") })
}

// TranscriptBefore returns up to limit lines of a call, ordered by Seq: the last lines whose Seq is less than the argument before. If
// before is 0, it returns the last lines of the call.
func (s Calls) TranscriptBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]call.Entry, error) {
	lines, err := s.lines(ctx, org, id, lastBefore("seq", before, limit))
	slices.Reverse(lines)
	return lines, err
}

// lastBefore selects up to limit rows whose number in the column is less than the argument before: those with the highest numbers, in
// descending order. If before is 0, all rows qualify.
func lastBefore(column string, before, limit int) func(q *bun.SelectQuery) *bun.SelectQuery {
	return func(q *bun.SelectQuery) *bun.SelectQuery {
		if before > 0 {
			q = q.Where("? < ?", bun.Ident(column), before)
		}
		return q.OrderExpr("? DESC", bun.Ident(column)).Limit(int64(limit))
	}
}

// lines returns the lines of a transcript that the function choose selects, or CodeNotFound if the call is absent.
func (s Calls) lines(
	ctx context.Context, org callwright.OrgID, id string, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]call.Entry, error) {
	return s.entries(ctx, org, id, func(q *bun.SelectQuery) *bun.SelectQuery { return choose(q.Where("seq > 0")) })
}

// entries returns the rows of a call that the function choose selects, or CodeNotFound if the call is absent.
func (s Calls) entries(
	ctx context.Context, org callwright.OrgID, id string, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]call.Entry, error) {
	var rows []entryRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "call", findCall(idb, org, id)); err != nil {
			return err
		}
		rows = nil
		return choose(idb.NewSelect().Model(&rows).Where("call_id = ?", id)).Scan(ctx)
	})
	lines := make([]call.Entry, 0, len(rows))
	for _, r := range rows {
		lines = append(lines, r.entry())
	}
	return lines, err
}

// LinesAt returns the lines at the given places, by place. It omits absent lines, and the lines of other organizations' calls.
func (s Calls) LinesAt(ctx context.Context, org callwright.OrgID, places []call.LinePlace) (map[call.LinePlace]call.Entry, error) {
	var rows []entryRow
	err := s.core().Read(ctx, []any{org, places}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		wanted := make([]bun.TupleValues, len(places))
		for i, p := range places {
			wanted[i] = bun.Tuple([]any{p.Call, p.Seq})
		}
		ours := idb.NewSelect().Model((*callRow)(nil)).ColumnExpr("1").Where("id = entry_row.call_id").Where("org = ?", org)
		return idb.NewSelect().Model(&rows).Where("(call_id, seq) IN (VALUES ?)", bun.List(wanted)).Where("seq > 0").Where("EXISTS (?)", ours).Scan(ctx)
	})
	found := make(map[call.LinePlace]call.Entry, len(rows))
	for _, r := range rows {
		found[call.LinePlace{Call: r.CallID, Seq: r.Seq}] = r.entry()
	}
	return found, err
}
