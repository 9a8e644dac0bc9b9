package portingstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
)

type entryRow struct {
	bun.BaseModel `bun:"table:port_history,alias:entry"`

	Request string    `bun:"request_id,pk"`
	Number  int       `bun:"number,pk"`
	Org     string    `bun:"org"`
	At      time.Time `bun:"at"`
	From    string    `bun:"from_state"`
	To      string    `bun:"to_state"`
	Event   string    `bun:"event"`
	Detail  string    `bun:"detail"`
	Actor   string    `bun:"actor"`
	Note    string    `bun:"note"` // sealed note; empty if there is none
}

func notePurpose(org, request string, number int) string {
	return fmt.Sprintf("note of port request:%q:%q:%d", org, request, number)
}

func (db core) entryRow(r porting.Request, e porting.Entry) entryRow {
	row := entryRow{
		Request: r.ID, Number: e.Number, Org: string(r.Org), At: sqldb.Stored(e.At), From: string(e.From), To: string(e.To),
		Event: string(e.Event), Detail: string(e.Detail), Actor: string(e.Actor),
	}
	if e.Note != "" {
		row.Note = db.Keyring.Seal(notePurpose(row.Org, row.Request, row.Number), callwright.Secret(e.Note))
	}
	return row
}

func (db core) entry(row entryRow) (porting.Entry, error) {
	e := porting.Entry{
		Number: row.Number, At: row.At.UTC(), From: porting.State(row.From), To: porting.State(row.To), Event: porting.Event(row.Event),
		Detail: porting.Detail(row.Detail), Actor: porting.Actor(row.Actor),
	}
	if row.Note == "" {
		return e, nil
	}
	note, err := db.Unseal(notePurpose(row.Org, row.Request, row.Number), row.Note)
	e.Note = note.Reveal()
	return e, err
}

// append adds entries to the history of a request.
func (s Requests) append(ctx context.Context, r porting.Request, entries []porting.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	rows := sqldb.Converted(entries, func(e porting.Entry) entryRow { return s.core().entryRow(r, e) })
	return s.core().Write(ctx, []any{rows}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewInsert().Model(&rows).Returning("NULL").Exec(ctx)
		return err
	})
}

// History returns the entries in the history of a request, in order, with their notes decrypted.
func (s Requests) History(ctx context.Context, org callwright.OrgID, id string) ([]porting.Entry, error) {
	var rows []entryRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("request_id = ?", id).Where("org = ?", org).Order("number").Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().entry)
}
