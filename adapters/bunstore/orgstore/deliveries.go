package orgstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/delivery"
)

// Deliveries stores the deliveries of webhooks; it implements delivery.Store.
type Deliveries struct{ DB *bunstore.DB }

func (s Deliveries) core() core { return core{s.DB.Core()} }

type deliveryRow struct {
	bun.BaseModel `bun:"table:deliveries,alias:deliveries"`

	Org      string     `bun:"org,pk"`
	ID       string     `bun:"id,pk"`
	Kind     string     `bun:"kind"`
	Subject  string     `bun:"subject"`
	Host     string     `bun:"host"`
	State    string     `bun:"state"`
	Attempts int        `bun:"attempts"`
	Failure  string     `bun:"failure"`
	Since    time.Time  `bun:"since"`
	LastAt   time.Time  `bun:"last_at"`
	NextAt   *time.Time `bun:"next_at"`
}

func (r deliveryRow) delivery() delivery.Delivery {
	return delivery.Delivery{
		Org: callwright.OrgID(r.Org), ID: r.ID, Kind: delivery.MessageKind(r.Kind), Subject: r.Subject, Host: r.Host,
		State: delivery.State(r.State), Attempts: r.Attempts, Failure: r.Failure, Since: r.Since.UTC(), Last: r.LastAt.UTC(),
		Next: sqldb.StoredIfSet(r.NextAt),
	}
}

// StoreDelivery adds a delivery. If the delivery is already stored, StoreDelivery replaces its fields except Since, and adds d.Attempts to
// the stored number of attempts. It also deletes up to 20 deliveries of the organization that began before the given time.
func (s Deliveries) StoreDelivery(ctx context.Context, d delivery.Delivery, before time.Time) error {
	row := deliveryRow{
		Org: string(d.Org), ID: d.ID, Kind: string(d.Kind), Subject: d.Subject, Host: d.Host, State: string(d.State), Attempts: d.Attempts,
		Failure: d.Failure, Since: sqldb.Stored(d.Since), LastAt: sqldb.Stored(d.Last), NextAt: sqldb.StoredIfSet(d.Next),
	}
	return s.core().Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
		insert := idb.NewInsert().Model(&row).On("CONFLICT (org, id) DO UPDATE").Set("attempts = deliveries.attempts + EXCLUDED.attempts")
		for _, column := range []string{"kind", "subject", "host", "state", "failure", "last_at", "next_at"} {
			insert.Set("?0 = EXCLUDED.?0", bun.Ident(column))
		}
		if _, err := insert.Exec(ctx); err != nil {
			return err
		}
		return s.deleteOld(ctx, idb, d.Org, before)
	})
}

// deleteOld deletes up to 20 deliveries of an organization that began before the given time. It skips rows that another transaction has
// locked.
func (s Deliveries) deleteOld(ctx context.Context, idb bun.IDB, org callwright.OrgID, before time.Time) error {
	const atOnce = 20
	old := idb.NewSelect().Model((*deliveryRow)(nil)).Column("id").
		Where("org = ?", org).Where("since < ?", sqldb.Stored(before)).Limit(int64(atOnce))
	old = s.core().SkipLocked(old)
	_, err := idb.NewDelete().Model((*deliveryRow)(nil)).Where("org = ?", org).Where("id IN (?)", old).Exec(ctx)
	return err
}

// FinishDelivery stores the end of a pending delivery. It writes nothing if the delivery is not stored, as for most messages, or no longer
// pending.
func (s Deliveries) FinishDelivery(ctx context.Context, d delivery.Delivery) error {
	err := s.core().Read(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Exists(ctx, "delivery", idb.NewSelect().Model((*deliveryRow)(nil)).Where("org = ?", d.Org).Where("id = ?", d.ID))
	})
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.core().Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model((*deliveryRow)(nil)).Where("org = ?", d.Org).Where("id = ?", d.ID).
			Where("state = ?", delivery.Pending).
			Set("state = ?", d.State).Set("attempts = attempts + ?", d.Attempts).Set("last_at = ?", sqldb.Stored(d.Last)).Set("next_at = NULL")
		if d.Failure != "" {
			update.Set("failure = ?", d.Failure)
		}
		_, err := update.Exec(ctx)
		return err
	})
}

// Deliveries returns a page of an organization's deliveries since a time, newest first. An empty state selects all states.
func (s Deliveries) Deliveries(
	ctx context.Context, org callwright.OrgID, state delivery.State, since time.Time, after callwright.Keyset, limit int,
) ([]delivery.Delivery, error) {
	rows := sqldb.Rows[delivery.Delivery, deliveryRow]{DB: s.DB.Core(), Value: sqldb.Plain(deliveryRow.delivery)}
	return rows.Page(ctx, "since", after, max(limit, 1), []any{org, state}, func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("org = ?", org).Where("since >= ?", sqldb.Stored(since))
		if state != "" {
			q = q.Where("state = ?", state)
		}
		return q
	})
}
