package portingstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// Letters stores letters of authorization; it implements loa.Store.
type Letters struct{ DB *bunstore.DB }

var _ loa.Store = Letters{}

func (s Letters) core() core { return core{s.DB.Core()} }

func (s Letters) rows() sqldb.Rows[loa.Letter, letterRow] {
	return sqldb.Rows[loa.Letter, letterRow]{
		DB: s.DB.Core(), Kind: "letter", Row: s.core().letterRow, Value: s.core().letter, Sealed: true,
		Fixed: []string{"request_id", "org", "created_at"},
	}
}

// InsertLetter adds a letter with its unsigned PDF and events, in one transaction. It returns CodeConflict if the request already has a
// letter.
func (s Letters) InsertLetter(ctx context.Context, l loa.Letter, pdf []byte, events ...loa.Event) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		if err := s.rows().Insert(ctx, l); err != nil {
			return err
		}
		return s.store(ctx, l, pdf, false, events)
	})
}

// store stores the signed or unsigned PDF, unless it is nil, and appends events to the audit trail.
func (s Letters) store(ctx context.Context, l loa.Letter, pdf []byte, signed bool, events []loa.Event) error {
	return s.core().Write(ctx, []any{l.Request}, func(ctx context.Context, idb bun.IDB) error {
		if pdf != nil {
			row := letterPDFRow{Request: l.Request, Signed: signed, Org: string(l.Org)}
			row.PDF = s.core().Keyring.Seal(pdfPurpose(row.Org, row.Request, signed), callwright.Secret(pdf))
			insert := idb.NewInsert().Model(&row).On("CONFLICT (request_id, signed) DO UPDATE").Set("pdf = EXCLUDED.pdf").Returning("NULL")
			if _, err := insert.Exec(ctx); err != nil {
				return err
			}
		}
		if len(events) == 0 {
			return nil
		}
		rows := make([]letterEventRow, len(events))
		for i, e := range events {
			var err error
			if rows[i], err = s.core().letterEventRow(l, e); err != nil {
				return err
			}
		}
		_, err := idb.NewInsert().Model(&rows).Returning("NULL").Exec(ctx)
		return err
	})
}

// Letter returns the letter of a request, or CodeNotFound if it is absent.
func (s Letters) Letter(ctx context.Context, org callwright.OrgID, request string) (loa.Letter, error) {
	return s.rows().Find(ctx, org, request)
}

// LetterByLink returns the letter whose link has the given hash, or CodeNotFound if it is absent.
func (s Letters) LetterByLink(ctx context.Context, hash string) (loa.Letter, error) {
	return s.rows().One(ctx, []any{hash}, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("link_hash = ?", hash) })
}

// UpdateLetter replaces a letter, stores its signed PDF unless that is nil, and appends events, in one transaction. It returns CodeConflict
// if the stored revision is not l.Revision, and CodeNotFound if the letter is absent.
func (s Letters) UpdateLetter(ctx context.Context, l loa.Letter, signed []byte, events ...loa.Event) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		if err := s.rows().Replace(ctx, l); err != nil {
			return err
		}
		return s.store(ctx, l, signed, true, events)
	})
}

// PDF returns the signed or unsigned PDF of a letter, or CodeNotFound if it is absent.
func (s Letters) PDF(ctx context.Context, org callwright.OrgID, request string, signed bool) ([]byte, error) {
	var row letterPDFRow
	err := s.core().Read(ctx, []any{org, request}, func(ctx context.Context, idb bun.IDB) error {
		q := idb.NewSelect().Model(&row).Where("request_id = ?", request).Where("signed = ?", signed).Where("org = ?", org)
		return sqldb.Absent("letter", q.Scan(ctx))
	})
	if err != nil {
		return nil, err
	}
	pdf, err := s.core().Unseal(pdfPurpose(row.Org, row.Request, row.Signed), row.PDF)
	return []byte(pdf.Reveal()), err
}

// Events returns the audit trail of a letter, in order.
func (s Letters) Events(ctx context.Context, org callwright.OrgID, request string) ([]loa.Event, error) {
	var rows []letterEventRow
	err := s.core().Read(ctx, []any{org, request}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("request_id = ?", request).Where("org = ?", org).Order("number").Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().letterEvent)
}

// DueLetters returns the names of up to limit requests whose letters are due at the given time, in the order of the letters' due times. It
// reads only an index.
func (s Letters) DueLetters(ctx context.Context, now time.Time, limit int) (names []porting.Name, err error) {
	if limit <= 0 {
		return nil, nil
	}
	var rows []letterRow
	err = s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Column("org", "request_id").Where("due_at <= ?", sqldb.Stored(now)).
			Order("due_at", "request_id").Limit(int64(limit)).Scan(ctx)
	})
	return sqldb.Converted(rows, func(r letterRow) porting.Name { return porting.Name{Org: callwright.OrgID(r.Org), ID: r.Request} }), err
}
