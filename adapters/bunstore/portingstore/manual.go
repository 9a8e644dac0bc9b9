package portingstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

// ManualOrders stores the orders of the manual gateway; it implements manual.Store.
type ManualOrders struct{ DB *bunstore.DB }

var _ manual.Store = ManualOrders{}

func (s ManualOrders) rows() sqldb.Rows[manual.Order, manualRow] {
	db := core{s.DB.Core()}
	return sqldb.Rows[manual.Order, manualRow]{
		DB: db.DB, Kind: "order", Row: db.manualRow, Value: db.manualOrder, Fixed: []string{"ref", "key", "created_at"},
	}
}

type manualRow struct {
	bun.BaseModel `bun:"table:port_manual_orders,alias:manual_order"`

	Ref       string    `bun:"ref,pk"`
	Key       string    `bun:"key"`
	Open      bool      `bun:"open"` // the order of at least one number has not ended
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"`  // manual.Order.Revision
	Document  string    `bun:"document"` // sealed manualJSON
}

// manualJSON is the sealed part of an order. It contains secrets as plain text: see requestJSON.
type manualJSON struct {
	Order         porting.Order
	Account       accountJSON
	PINs          map[callwright.PhoneNumber]string
	Documents     []string
	Numbers       []porting.NumberSnapshot
	CancelAskedAt time.Time
	CancelRefused bool
}

func newManualJSON(o manual.Order) manualJSON {
	s := o.Submission
	s.TargetDate, s.SignedAt, s.CancelAskedAt = sqldb.Stored(s.TargetDate), sqldb.Stored(s.SignedAt), sqldb.Stored(s.CancelAskedAt)
	j := manualJSON{
		Order: s.Order, Account: accountJSON{s.Account, s.Account.AccountNumber.Reveal()}, Documents: s.Documents,
		Numbers: sqldb.Converted(o.Numbers, func(n porting.NumberSnapshot) porting.NumberSnapshot {
			n.FOC, n.PortedAt = sqldb.Stored(n.FOC), sqldb.Stored(n.PortedAt)
			return n
		}),
		CancelAskedAt: sqldb.Stored(o.CancelAskedAt), CancelRefused: o.CancelRefused,
	}
	for number, pin := range s.PINs {
		if j.PINs == nil {
			j.PINs = map[callwright.PhoneNumber]string{}
		}
		j.PINs[number] = pin.Reveal()
	}
	return j
}

func (j manualJSON) submission() porting.Submission {
	s := porting.Submission{Order: j.Order, Account: j.Account.account(), Documents: j.Documents}
	for number, pin := range j.PINs {
		if s.PINs == nil {
			s.PINs = map[callwright.PhoneNumber]callwright.Secret{}
		}
		s.PINs[number] = callwright.Secret(pin)
	}
	return s
}

// manualPurpose returns the purpose of Keyring.Seal that binds a sealed document to its order. Orders belong to no organization.
func manualPurpose(ref string) string { return purpose("manual order", "", ref) }

func (db core) manualRow(o manual.Order) (row manualRow, err error) {
	row = manualRow{
		Ref: o.Ref, Key: o.Key, Open: !o.Ended(), CreatedAt: sqldb.Stored(o.CreatedAt), UpdatedAt: sqldb.Stored(o.UpdatedAt),
		Version: o.Revision,
	}
	row.Document, err = db.seal(manualPurpose(o.Ref), newManualJSON(o))
	return row, err
}

func (db core) manualOrder(row manualRow) (manual.Order, error) {
	var document manualJSON
	if err := db.unseal(manualPurpose(row.Ref), row.Document, &document); err != nil {
		return manual.Order{}, err
	}
	return manual.Order{
		Ref: row.Ref, Key: row.Key, Submission: document.submission(), Numbers: document.Numbers, CancelAskedAt: document.CancelAskedAt,
		CancelRefused: document.CancelRefused, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), Revision: row.Version,
	}, nil
}

// InsertOrder adds an order. It returns CodeConflict if the order exists.
func (s ManualOrders) InsertOrder(ctx context.Context, o manual.Order) error {
	return s.rows().Insert(ctx, o)
}

// Order returns one order, or CodeNotFound if it is absent.
func (s ManualOrders) Order(ctx context.Context, ref string) (manual.Order, error) {
	return s.rows().Find(ctx, "", ref)
}

// UpdateOrder replaces an order. It returns CodeConflict if the stored revision is not o.Revision, and CodeNotFound if the order is absent.
func (s ManualOrders) UpdateOrder(ctx context.Context, o manual.Order) error {
	return s.rows().Replace(ctx, o)
}

// Orders returns a page of orders, oldest first. If open is true, it omits orders that have ended.
func (s ManualOrders) Orders(ctx context.Context, open bool, after callwright.Keyset, limit int) ([]manual.Order, error) {
	return s.rows().Select(ctx, []any{after}, func(q *bun.SelectQuery) *bun.SelectQuery {
		if open {
			q = q.Where("open")
		}
		if !after.IsZero() {
			q = q.Where("(created_at, ref) > (?, ?)", sqldb.Stored(after.At), after.ID)
		}
		return q.Order("created_at", "ref").Limit(int64(limit))
	})
}
