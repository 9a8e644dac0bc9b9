package bunstore

import (
	"context"
	"net/netip"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Trunks is sip.Store.
type Trunks struct{ *DB }

type trunkRow struct {
	bun.BaseModel `bun:"table:trunks"`

	ID           string      `bun:"id,pk"`
	Org          string      `bun:"org"`
	Number       string      `bun:"number"`
	Direction    string      `bun:"direction"`
	Endpoint     string      `bun:"endpoint"`
	Options      optionsJSON `bun:"options,type:jsonb"`
	CallPassword string      `bun:"call_password"` // sealed
	CreatedAt    time.Time   `bun:"created_at"`
	UpdatedAt    time.Time   `bun:"updated_at"`
	Version      int64       `bun:"version"`
}

// optionsJSON is sip.Options without what is secret in them.
type optionsJSON struct {
	AuthMode     sip.AuthMode        `json:"auth_mode,omitempty"`
	CallUsername string              `json:"call_username,omitempty"`
	Port         int                 `json:"port,omitempty"`
	Transport    string              `json:"transport,omitempty"`
	Verify       sip.TLSVerification `json:"verify,omitempty"`
	AllowedIPs   []netip.Prefix      `json:"allowed_ips,omitempty"`
	SecureMedia  *bool               `json:"secure_media,omitempty"`
}

// passwordPurpose binds a sealed password to its trunk.
func passwordPurpose(id string) string { return "trunk:" + id + ":call" }

func (s Trunks) row(t sip.Trunk) trunkRow {
	o := t.Options
	return trunkRow{
		ID: t.ID, Org: string(t.Org), Number: string(t.Number), Direction: string(t.Direction), Endpoint: t.Endpoint,
		Options: optionsJSON{
			AuthMode: o.AuthMode, CallUsername: o.Call.Username, Port: o.Port, Transport: o.Transport, Verify: o.Verify,
			AllowedIPs: o.AllowedIPs, SecureMedia: o.SecureMedia,
		},
		CallPassword: s.Keyring.Seal(passwordPurpose(t.ID), o.Call.Password),
		CreatedAt:    stored(t.CreatedAt), UpdatedAt: stored(t.UpdatedAt), Version: t.Version,
	}
}

func (s Trunks) trunk(r trunkRow) (sip.Trunk, error) {
	password, err := s.open(passwordPurpose(r.ID), r.CallPassword)
	if err != nil {
		return sip.Trunk{}, err
	}
	o := r.Options
	return sip.Trunk{
		ID: r.ID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number),
		Direction: sip.Direction(r.Direction), Endpoint: r.Endpoint,
		Options: sip.Options{
			AuthMode: o.AuthMode, Call: sip.Credentials{Username: o.CallUsername, Password: password},
			Port: o.Port, Transport: o.Transport, Verify: o.Verify, AllowedIPs: o.AllowedIPs, SecureMedia: o.SecureMedia,
		},
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Version: r.Version,
	}, nil
}

// Insert adds a trunk.
func (s Trunks) Insert(ctx context.Context, t sip.Trunk) error {
	t.Version = 1
	row := s.row(t)
	return s.Do(ctx, func(ctx context.Context) error {
		if err := s.claim(ctx, t); err != nil {
			return err
		}
		return s.insert(ctx, t, &row)
	})
}

// claim refuses a number that another organization has. Until the transaction ends nobody else can claim the number: no
// key of the table keeps two organizations from having a direction each.
func (s Trunks) claim(ctx context.Context, t sip.Trunk) error {
	return s.write(ctx, []any{t}, func(idb bun.IDB) error {
		if s.dialect.claim != "" {
			if _, err := idb.ExecContext(ctx, s.dialect.claim, "trunk of "+string(t.Number)); err != nil {
				return err
			}
		}
		foreign, err := idb.NewSelect().Model((*trunkRow)(nil)).
			Where("number = ?", t.Number).Where("org <> ?", t.Org).Exists(ctx)
		if err == nil && foreign {
			err = callwright.ErrConflict
		}
		return err
	})
}

// Update replaces a trunk.
func (s Trunks) Update(ctx context.Context, t sip.Trunk) error {
	row := s.row(t)
	return s.write(ctx, []any{t}, func(idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", t.Org)
		find := idb.NewSelect().Model((*trunkRow)(nil)).Where("id = ?", t.ID).Where("org = ?", t.Org)
		return replace(ctx, "trunk", update, t.Version, find)
	})
}

// Delete removes a trunk.
func (s Trunks) Delete(ctx context.Context, t sip.Trunk) error {
	return s.write(ctx, []any{t}, func(idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*trunkRow)(nil)).
			Where("id = ?", t.ID).Where("org = ?", t.Org).Where("version = ?", t.Version).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 1 {
			return err
		}
		found, err := idb.NewSelect().Model((*trunkRow)(nil)).Where("id = ?", t.ID).Where("org = ?", t.Org).Exists(ctx)
		switch {
		case err != nil:
			return err
		case found:
			return callwright.ErrConflict
		default:
			return callwright.NotFound("trunk")
		}
	})
}

// Trunk is one trunk by its id.
func (s Trunks) Trunk(ctx context.Context, org callwright.OrgID, id string) (sip.Trunk, error) {
	found, err := s.pick(ctx, []any{org, id}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("id = ?", id).Where("org = ?", org)
	})
	if err != nil {
		return sip.Trunk{}, err
	}
	if len(found) == 0 {
		return sip.Trunk{}, callwright.NotFound("trunk")
	}
	return found[0], nil
}

// All is all trunks of an organization.
func (s Trunks) All(ctx context.Context, org callwright.OrgID) ([]sip.Trunk, error) {
	return s.pick(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Order("number", "direction")
	})
}

// Trunks is the trunks of one number.
func (s Trunks) Trunks(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) ([]sip.Trunk, error) {
	return s.pick(ctx, []any{org, number}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("number = ?", number).Where("org = ?", org).Order("direction")
	})
}

// Outbound is an organization's outbound trunks.
func (s Trunks) Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]sip.Trunk, error) {
	return s.pick(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("direction = ?", sip.Outbound).Order("number").Limit(limit)
	})
}

// Owner is the trunk of a number and direction.
func (s Trunks) Owner(ctx context.Context, number callwright.PhoneNumber, d sip.Direction) (sip.Trunk, error) {
	found, err := s.pick(ctx, []any{number, d}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("number = ?", number).Where("direction = ?", d)
	})
	if err != nil {
		return sip.Trunk{}, err
	}
	if len(found) == 0 {
		return sip.Trunk{}, callwright.NotFound("trunk")
	}
	return found[0], nil
}

// pick is the trunks that a query chooses.
func (s Trunks) pick(
	ctx context.Context, inputs []any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]sip.Trunk, error) {
	var rows []trunkRow
	err := s.read(ctx, inputs, func(idb bun.IDB) error {
		rows = nil
		return choose(idb.NewSelect().Model(&rows)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	found := make([]sip.Trunk, 0, len(rows))
	for _, row := range rows {
		t, err := s.trunk(row)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, nil
}
