package sipstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
)

// Registrations stores the registrations of trunks; it implements sip.Registrations.
type Registrations struct{ DB *bunstore.DB }

func (s Registrations) rows() sqldb.Rows[sip.Registration, registrationRow] {
	return sqldb.Rows[sip.Registration, registrationRow]{
		DB: s.DB.Core(), Kind: "registration", Row: sqldb.Plain(newRegistrationRow), Value: sqldb.Plain(registrationRow.registration), Fixed: []string{"node"},
	}
}

type registrationRow struct {
	bun.BaseModel `bun:"table:trunk_registrations"`

	TrunkID   string    `bun:"trunk_id,pk"`
	Org       string    `bun:"org"`
	Number    string    `bun:"number"`
	State     string    `bun:"state"`
	Since     time.Time `bun:"since"`
	ExpiresAt time.Time `bun:"expires_at,nullzero"`
	Failures  int       `bun:"failures"`
	Reason    string    `bun:"reason"`
	NextAt    time.Time `bun:"next_at"`
	Node      string    `bun:"node"`
	Version   int64     `bun:"version"`
}

func newRegistrationRow(r sip.Registration) registrationRow {
	return registrationRow{
		TrunkID: r.TrunkID, Org: string(r.Org), Number: string(r.Number), State: string(r.State), Since: sqldb.Stored(r.Since),
		ExpiresAt: sqldb.Stored(r.ExpiresAt), Failures: r.Failures, Reason: r.Reason, NextAt: sqldb.Stored(r.NextAt), Version: r.Version,
	}
}

func (r registrationRow) registration() sip.Registration {
	return sip.Registration{
		TrunkID: r.TrunkID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number),
		State: sip.RegistrationState(r.State), Since: r.Since.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
		Failures: r.Failures, Reason: r.Reason, NextAt: r.NextAt.UTC(), Version: r.Version,
	}
}

// StoreRegistration stores a registration. Version 0 replaces any stored registration of the organization's trunk. For any other version,
// StoreRegistration returns CodeConflict if the stored version differs, and CodeNotFound if no registration is stored.
func (s Registrations) StoreRegistration(ctx context.Context, r sip.Registration) error {
	return s.rows().Store(ctx, r)
}

// Registration returns the registration of a trunk, or CodeNotFound if it is absent.
func (s Registrations) Registration(ctx context.Context, org callwright.OrgID, trunkID string) (sip.Registration, error) {
	return s.rows().Find(ctx, org, trunkID)
}

// DeleteRegistration deletes the registration of a trunk. It returns nil if the registration is absent.
func (s Registrations) DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error {
	return s.rows().Delete(ctx, org, trunkID)
}

// ClaimRegistrations claims up to limit registrations for a node, and returns them. It selects the node's own registrations that are due at
// the given time, and all registrations without a node.
func (s Registrations) ClaimRegistrations(
	ctx context.Context, node string, now time.Time, limit int,
) ([]sip.Registration, error) {
	var rows []registrationRow
	err := s.DB.Core().Write(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		due := idb.NewSelect().Model((*registrationRow)(nil)).Column("trunk_id").
			Where("(node = ? AND next_at <= ?)", node, sqldb.Stored(now)).WhereOr("node = ''").
			Order("next_at").Limit(int64(limit))
		return core{s.DB.Core()}.claim(ctx, idb.NewUpdate().Model(&rows).Set("node = ?", node), due)
	})
	return sqldb.Converted(rows, registrationRow.registration), err
}

// RegistrationsOf returns the ids of the trunks whose registrations the node holds.
func (s Registrations) RegistrationsOf(ctx context.Context, node string) (trunkIDs []string, err error) {
	err = s.DB.Core().Read(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		trunkIDs = nil
		return idb.NewSelect().Model((*registrationRow)(nil)).Column("trunk_id").Where("node = ?", node).Scan(ctx, &trunkIDs)
	})
	return trunkIDs, err
}

// RegistrationNodes returns the nodes that hold registrations.
func (s Registrations) RegistrationNodes(ctx context.Context) (nodes []string, err error) {
	err = s.DB.Core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		nodes = nil
		return idb.NewSelect().Model((*registrationRow)(nil)).Distinct().Column("node").Where("node > ''").Scan(ctx, &nodes)
	})
	return nodes, err
}

// ReleaseRegistrations releases all registrations that the node holds.
func (s Registrations) ReleaseRegistrations(ctx context.Context, node string) error {
	return s.DB.Core().Write(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewUpdate().Model((*registrationRow)(nil)).Set("node = ''").Where("node = ?", node).Exec(ctx)
		return err
	})
}
