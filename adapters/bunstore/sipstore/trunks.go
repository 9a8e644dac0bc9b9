package sipstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
)

// Trunks stores trunks; it implements sip.Store.
type Trunks struct{ DB *bunstore.DB }

func (s Trunks) core() core { return core{s.DB.Core()} }

func (s Trunks) rows() sqldb.Rows[sip.Trunk, trunkRow] {
	return sqldb.Rows[sip.Trunk, trunkRow]{DB: s.DB.Core(), Kind: "trunk", Row: sqldb.Plain(s.core().trunkRow), Value: s.core().trunk}
}

// Hold locks a number until the transaction finishes. Other transactions that hold the number wait.
func (s Trunks) Hold(ctx context.Context, number callwright.PhoneNumber) error {
	return s.core().Write(ctx, []any{number}, func(ctx context.Context, idb bun.IDB) error {
		return s.core().Alone(ctx, idb, "trunk of "+string(number))
	})
}

// HoldNumbers returns how many numbers an organization has attached. Until the transaction finishes, other transactions that call
// HoldNumbers for the organization wait.
func (s Trunks) HoldNumbers(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Write(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		if err := s.core().Alone(ctx, idb, "numbers of "+string(org)); err != nil {
			return err
		}
		return idb.NewSelect().Model((*trunkRow)(nil)).ColumnExpr("count(DISTINCT number)").Where("org = ?", org).Scan(ctx, &count)
	})
	return count, err
}

// Insert adds a trunk. It returns CodeConflict if the trunk exists, or if another organization has attached the number.
func (s Trunks) Insert(ctx context.Context, t sip.Trunk) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		if err := s.claim(ctx, t); err != nil {
			return err
		}
		return s.rows().Insert(ctx, t)
	})
}

// claim returns CodeConflict if another organization has attached the number. It locks the number until the transaction finishes, because
// no key of the table prevents two organizations from attaching one direction each.
func (s Trunks) claim(ctx context.Context, t sip.Trunk) error {
	if err := s.Hold(ctx, t.Number); err != nil {
		return err
	}
	return s.core().Write(ctx, []any{t}, func(ctx context.Context, idb bun.IDB) error {
		foreign, err := idb.NewSelect().Model((*trunkRow)(nil)).
			Where("number = ?", t.Number).Where("org <> ?", t.Org).Exists(ctx)
		if err == nil && foreign {
			err = callwright.ErrConflict
		}
		return err
	})
}

// Update replaces a trunk. It returns CodeConflict if the stored version differs, and CodeNotFound if the trunk is absent.
func (s Trunks) Update(ctx context.Context, t sip.Trunk) error { return s.rows().Replace(ctx, t) }

// Delete deletes a trunk. It returns CodeConflict if the stored version differs, and CodeNotFound if the trunk is absent.
func (s Trunks) Delete(ctx context.Context, t sip.Trunk) error {
	return s.core().Write(ctx, []any{t}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*trunkRow)(nil)).
			Where("id = ?", t.ID).Where("org = ?", t.Org).Where("version = ?", sqldb.Int(t.Version)).Exec(ctx)
		return sqldb.Outrun(ctx, "trunk", sqldb.Changed(result, err, callwright.ErrConflict), findTrunk(idb, t))
	})
}

func findTrunk(idb bun.IDB, t sip.Trunk) *bun.SelectQuery {
	return idb.NewSelect().Model((*trunkRow)(nil)).Where("id = ?", t.ID).Where("org = ?", t.Org)
}

// Trunk returns the trunk with the given id, or CodeNotFound if it is absent.
func (s Trunks) Trunk(ctx context.Context, org callwright.OrgID, id string) (sip.Trunk, error) {
	return s.rows().Find(ctx, org, id)
}

// List returns the trunks of up to limit numbers of an organization, ordered by number and direction, after the number after.ID.
func (s Trunks) List(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]sip.Trunk, error) {
	return s.rows().Select(ctx, []any{org, after}, func(q *bun.SelectQuery) *bun.SelectQuery {
		numbers := q.NewSelect().Model((*trunkRow)(nil)).Distinct().Column("number").
			Where("org = ?", org).Where("number > ?", after.ID).Order("number").Limit(int64(limit))
		return q.Where("org = ?", org).Where("number IN (?)", numbers).Order("number", "direction")
	})
}

// Trunks returns the trunks of one number: at most one for each direction.
func (s Trunks) Trunks(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) ([]sip.Trunk, error) {
	return s.rows().Select(ctx, []any{org, number}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("number = ?", number).Where("org = ?", org).Order("direction")
	})
}

// Outbound returns up to limit outbound trunks of an organization, ordered by number.
func (s Trunks) Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]sip.Trunk, error) {
	return s.rows().Select(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("direction = ?", sip.Outbound).Order("number").Limit(int64(limit))
	})
}

// Owner returns the trunk with the given number and direction, in any organization, or CodeNotFound if it is absent.
func (s Trunks) Owner(ctx context.Context, number callwright.PhoneNumber, d sip.Direction) (sip.Trunk, error) {
	return s.rows().One(ctx, []any{number, d}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("number = ?", number).Where("direction = ?", d)
	})
}

// Holders returns the organizations that have attached the given numbers, by number. It omits numbers that are not attached.
func (s Trunks) Holders(
	ctx context.Context, numbers []callwright.PhoneNumber,
) (map[callwright.PhoneNumber]callwright.OrgID, error) {
	holders := map[callwright.PhoneNumber]callwright.OrgID{}
	if len(numbers) == 0 {
		return holders, nil
	}
	var rows []struct {
		Org    callwright.OrgID       `bun:"org"`
		Number callwright.PhoneNumber `bun:"number"`
	}
	err := s.core().Read(ctx, []any{numbers}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model((*trunkRow)(nil)).Column("org", "number").Where("number IN (?)", bun.List(numbers)).Scan(ctx, &rows)
	})
	for _, r := range rows {
		holders[r.Number] = r.Org
	}
	return holders, err
}

// Peers returns up to limit trunks of all organizations after an id, ordered by id. It sets only the fields that describe their peers.
func (s Trunks) Peers(ctx context.Context, after string, limit int) ([]sip.Trunk, error) {
	return s.rows().Select(ctx, []any{after}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Column("id", "number", "direction", "endpoint", "options", "failover").Where("id > ?", after).Order("id").Limit(int64(limit))
	})
}
