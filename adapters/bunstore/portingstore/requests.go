package portingstore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
)

// Requests stores port requests; it implements porting.Store.
type Requests struct{ DB *bunstore.DB }

var _ porting.Store = Requests{}

func (s Requests) core() core { return core{s.DB.Core()} }

func (s Requests) rows() sqldb.Rows[porting.Request, requestRow] {
	return sqldb.Rows[porting.Request, requestRow]{
		DB: s.DB.Core(), Kind: "port request", Row: s.core().requestRow, Value: s.core().request, Sealed: true,
	}
}

// openNumberRow maps a number to the open request that contains it. The state of the number is in the document of the request, so that one
// statement reads a whole request.
type openNumberRow struct {
	bun.BaseModel `bun:"table:port_open_numbers,alias:open_number"`

	Number  string `bun:"number,pk"`
	Request string `bun:"request_id"`
}

// InsertRequest adds a request with the first entries of its history, in one transaction. It returns CodeConflict if the id exists, and
// porting.ErrNumberActive if r is open and another open request contains one of its numbers.
func (s Requests) InsertRequest(ctx context.Context, r porting.Request, entries ...porting.Entry) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		if err := s.rows().Insert(ctx, r); err != nil {
			return err
		}
		if !r.State.Ended() {
			if err := s.claimNumbers(ctx, r); err != nil {
				return err
			}
		}
		return s.append(ctx, r, entries)
	})
}

// claimNumbers claims the numbers of a newly inserted open request. If another open request contains one of them, claimNumbers deletes the
// inserted request and returns porting.ErrNumberActive. On PostgreSQL it waits for transactions that claim or free the same numbers. All
// transactions claim numbers in sorted order, so that they do not deadlock.
func (s Requests) claimNumbers(ctx context.Context, r porting.Request) error {
	rows := sqldb.Converted(r.Numbers, func(n porting.Number) openNumberRow { return openNumberRow{Number: string(n.Number), Request: r.ID} })
	slices.SortFunc(rows, func(a, b openNumberRow) int { return strings.Compare(a.Number, b.Number) })
	rows = slices.CompactFunc(rows, func(a, b openNumberRow) bool { return a.Number == b.Number })
	if len(rows) == 0 {
		return nil
	}
	return s.core().Write(ctx, []any{rows}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewInsert().Model(&rows).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		if err != nil {
			return err
		}
		if stored, err := result.RowsAffected(); err != nil || int(stored) == len(rows) {
			return err
		}
		// The caller's transaction may continue after the error, so the inserted request must not stay.
		if _, err := idb.NewDelete().Model((*requestRow)(nil)).Where("id = ?", r.ID).Exec(ctx); err != nil {
			return err
		}
		return porting.ErrNumberActive
	})
}

func findRequest(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*requestRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// Request returns one request, or CodeNotFound if it is absent.
func (s Requests) Request(ctx context.Context, org callwright.OrgID, id string) (porting.Request, error) {
	return s.rows().Find(ctx, org, id)
}

// RequestByRef returns the request whose order has the given reference at a gateway, or CodeNotFound if there is none.
func (s Requests) RequestByRef(ctx context.Context, gateway, ref string) (porting.Request, error) {
	return s.rows().One(ctx, []any{gateway, ref}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("gateway = ?", gateway).Where("ref = ?", ref).Where(ordered)
	})
}

// UpdateRequest replaces a request and adds entries to its history, in one transaction. If r has ended, it frees the numbers for other
// requests. It returns CodeConflict if the stored revision is not r.Revision, CodeInvalidState if the stored request has already ended and
// r has not, and CodeNotFound if the request is absent.
func (s Requests) UpdateRequest(ctx context.Context, r porting.Request, entries ...porting.Entry) error {
	row, err := s.core().requestRow(r)
	if err != nil {
		return err
	}
	return s.DB.Do(ctx, func(ctx context.Context) error {
		err := s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
			update := idb.NewUpdate().Model(&row).ExcludeColumn(fixed...).WherePK().Where("org = ?", r.Org)
			if !r.State.Ended() {
				update = update.Where(open)
			}
			err := sqldb.Replace(ctx, "port request", update, r.Revision, findRequest(idb, r.Org, r.ID))
			if errors.Is(err, callwright.ErrConflict) {
				return whyUnchanged(ctx, idb, r)
			}
			if err != nil || !r.State.Ended() {
				return err
			}
			_, err = idb.NewDelete().Model((*openNumberRow)(nil)).Where("request_id = ?", r.ID).Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
		return s.append(ctx, r, entries)
	})
}

// whyUnchanged explains why an update of an existing request changed nothing. It returns CodeInvalidState if the request has ended, and
// CodeConflict if its version differs.
func whyUnchanged(ctx context.Context, idb bun.IDB, r porting.Request) error {
	same, err := findRequest(idb, r.Org, r.ID).Where("version = ?", sqldb.Int(r.Revision)).Exists(ctx)
	switch {
	case err != nil:
		return err
	case same:
		return callwright.ErrInvalidState
	}
	return callwright.ErrConflict
}
