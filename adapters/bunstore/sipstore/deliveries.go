package sipstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
)

type deliveryRow struct {
	bun.BaseModel `bun:"table:alert_deliveries"`

	ID        string       `bun:"id,pk"`
	Org       string       `bun:"org"`
	Number    string       `bun:"number"`
	TrunkID   string       `bun:"trunk_id"`
	State     string       `bun:"state"`
	CreatedAt time.Time    `bun:"created_at"`
	Document  deliveryJSON `bun:"document,type:jsonb"`
}

// deliveryJSON holds the fields that no query searches.
type deliveryJSON struct {
	Direction sip.Direction `json:"direction"`
	Kind      alert.Kind    `json:"kind"`
	Resolved  bool          `json:"resolved,omitempty"`
	Channel   alert.Channel `json:"channel"`
	To        string        `json:"to,omitempty"`
	Attempts  int           `json:"attempts,omitempty"`
	Error     string        `json:"error,omitempty"`
	DoneAt    *time.Time    `json:"done_at,omitempty"`
}

func newDeliveryRow(d sip.Delivery) deliveryRow {
	return deliveryRow{
		ID: d.ID, Org: string(d.Org), Number: string(d.Number), TrunkID: d.TrunkID, State: string(d.State), CreatedAt: sqldb.Stored(d.CreatedAt),
		Document: deliveryJSON{d.Direction, d.Kind, d.Resolved, d.Channel, d.To, d.Attempts, d.Error, d.DoneAt},
	}
}

func (r deliveryRow) delivery() sip.Delivery {
	d := r.Document
	return sip.Delivery{
		ID: r.ID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number), TrunkID: r.TrunkID, State: sip.DeliveryState(r.State),
		CreatedAt: sqldb.Stored(r.CreatedAt), Direction: d.Direction, Kind: d.Kind, Resolved: d.Resolved, Channel: d.Channel, To: d.To,
		Attempts: d.Attempts, Error: d.Error, DoneAt: sqldb.StoredIfSet(d.DoneAt),
	}
}

// Deliveries stores the deliveries of alerts; it implements sip.Deliveries.
type Deliveries struct{ DB *bunstore.DB }

func (s Deliveries) rows() sqldb.Rows[sip.Delivery, deliveryRow] {
	return sqldb.Rows[sip.Delivery, deliveryRow]{DB: s.DB.Core(), Row: sqldb.Plain(newDeliveryRow), Value: sqldb.Plain(deliveryRow.delivery)}
}

// AddDelivery adds a delivery, unless its id exists. It also deletes older deliveries of the trunk, up to 100, so that only the given
// number of newest deliveries stays.
func (s Deliveries) AddDelivery(ctx context.Context, d sip.Delivery, keep int) error {
	const most = 100 // maximum per call, because an earlier release may have kept more
	row := newDeliveryRow(d)
	return s.rows().DB.Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
		if _, err := idb.NewInsert().Model(&row).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx); err != nil {
			return err
		}
		old := idb.NewSelect().Model((*deliveryRow)(nil)).Column("id").
			Where("org = ?", d.Org).Where("number = ?", d.Number).Where("trunk_id = ?", d.TrunkID).
			Order("created_at DESC", "id DESC").Limit(int64(most)).Offset(int64(keep))
		_, err := idb.NewDelete().Model((*deliveryRow)(nil)).Where("id IN (?)", old).Exec(ctx)
		return err
	})
}

// ReportDelivery replaces a pending delivery. It leaves a delivery in any other state unchanged.
func (s Deliveries) ReportDelivery(ctx context.Context, d sip.Delivery) error {
	row := newDeliveryRow(d)
	return s.rows().DB.Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", d.Org).Where("state = ?", sip.DeliveryPending).Exec(ctx)
		return err
	})
}

// DeliveriesOf returns a page of the deliveries of a number, newest first.
func (s Deliveries) DeliveriesOf(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int,
) ([]sip.Delivery, error) {
	return s.rows().Page(ctx, "created_at", after, limit, []any{org, number}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("number = ?", number)
	})
}

// DeleteDeliveries deletes the deliveries of a trunk.
func (s Deliveries) DeleteDeliveries(ctx context.Context, t sip.Trunk) error {
	return s.rows().DeleteWhere(ctx, "org = ? AND number = ? AND trunk_id = ?", t.Org, t.Number, t.ID)
}

// DeleteOldDeliveries deletes up to limit deliveries that were created before the given time, and returns how many it deleted.
func (s Deliveries) DeleteOldDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.rows().DeleteUpTo(ctx, limit, "created_at < ?", sqldb.Stored(before))
}
