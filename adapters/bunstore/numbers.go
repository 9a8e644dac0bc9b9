package bunstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// Numbers is agents.Store.
type Numbers struct{ *DB }

type numberRow struct {
	bun.BaseModel `bun:"table:inbound_numbers"`

	Org       string    `bun:"org,pk"`
	Number    string    `bun:"number,pk"`
	Agent     agentJSON `bun:"agent,type:jsonb"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"`
}

func newNumberRow(n agents.InboundNumber) numberRow {
	return numberRow{
		Org: string(n.Org), Number: string(n.Number), Agent: agentJSON(n.Agent),
		CreatedAt: stored(n.CreatedAt), UpdatedAt: stored(n.UpdatedAt), Version: n.Version,
	}
}

func (r numberRow) number() agents.InboundNumber {
	return agents.InboundNumber{
		Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number), Agent: call.Agent(r.Agent),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Version: r.Version,
	}
}

// InsertNumber adds a number.
func (s Numbers) InsertNumber(ctx context.Context, n agents.InboundNumber) error {
	n.Version = 1
	row := newNumberRow(n)
	return s.insert(ctx, n, &row)
}

// Number is one number.
func (s Numbers) Number(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (agents.InboundNumber, error) {
	var row numberRow
	err := s.read(ctx, []any{org, number}, func(idb bun.IDB) error {
		query := idb.NewSelect().Model(&row).Where("org = ?", org).Where("number = ?", number)
		return absent("inbound number", query.Scan(ctx))
	})
	if err != nil {
		return agents.InboundNumber{}, err
	}
	return row.number(), nil
}

// Numbers is all numbers of an organization.
func (s Numbers) Numbers(ctx context.Context, org callwright.OrgID) ([]agents.InboundNumber, error) {
	var rows []numberRow
	err := s.read(ctx, []any{org}, func(idb bun.IDB) error {
		return idb.NewSelect().Model(&rows).Where("org = ?", org).Order("number").Scan(ctx)
	})
	found := make([]agents.InboundNumber, 0, len(rows))
	for _, row := range rows {
		found = append(found, row.number())
	}
	return found, err
}

// UpdateNumber replaces a number.
func (s Numbers) UpdateNumber(ctx context.Context, n agents.InboundNumber) error {
	row := newNumberRow(n)
	return s.write(ctx, []any{n}, func(idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK()
		find := idb.NewSelect().Model((*numberRow)(nil)).Where("org = ?", n.Org).Where("number = ?", n.Number)
		return replace(ctx, "inbound number", update, n.Version, find)
	})
}
