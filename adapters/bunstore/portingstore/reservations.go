package portingstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
)

// reservationRow maps a reserved number to the organization that reserved it.
type reservationRow struct {
	bun.BaseModel `bun:"table:port_reservations,alias:reservation"`

	Number  string    `bun:"number,pk"`
	Org     string    `bun:"org"`
	Request string    `bun:"request_id"`
	Since   time.Time `bun:"since"`
}

func (r reservationRow) reservation() porting.Reservation {
	return porting.Reservation{Number: callwright.PhoneNumber(r.Number), Org: callwright.OrgID(r.Org), Request: r.Request, Since: r.Since.UTC()}
}

// Reserve stores a reservation, and replaces an earlier one of the same organization. It returns CodeConflict if another organization has
// reserved the number.
func (s Requests) Reserve(ctx context.Context, r porting.Reservation) error {
	row := reservationRow{Number: string(r.Number), Org: string(r.Org), Request: r.Request, Since: sqldb.Stored(r.Since)}
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewInsert().Model(&row).On("CONFLICT (number) DO UPDATE").Where("?TableAlias.org = EXCLUDED.org").
			Set("request_id = EXCLUDED.request_id").Set("since = EXCLUDED.since").Returning("NULL").Exec(ctx)
		return sqldb.Changed(result, err, callwright.ErrConflict)
	})
}

// Reserved returns the reservations of the given numbers, in no particular order.
func (s Requests) Reserved(ctx context.Context, numbers []callwright.PhoneNumber) ([]porting.Reservation, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	var rows []reservationRow
	err := s.core().Read(ctx, []any{numbers}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("number IN (?)", bun.List(numbers)).Scan(ctx)
	})
	return sqldb.Converted(rows, reservationRow.reservation), err
}

// Unreserve deletes the reservation of a number. It returns CodeNotFound if the organization has not reserved the number.
func (s Requests) Unreserve(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	return s.core().Write(ctx, []any{org, number}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*reservationRow)(nil)).Where("number = ?", number).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("reservation"))
	})
}
