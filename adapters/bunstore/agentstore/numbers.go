package agentstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
)

// Numbers stores inbound numbers with their agents; it implements agents.NumberStore.
type Numbers struct{ DB *bunstore.DB }

func (s Numbers) core() core { return core{s.DB.Core()} }

func (s Numbers) rows() sqldb.Rows[agents.InboundNumber, numberRow] {
	return sqldb.Rows[agents.InboundNumber, numberRow]{
		DB: s.DB.Core(), Kind: "inbound number", Row: sqldb.Plain(s.core().numberRow), Value: s.core().number,
	}
}

type numberRow struct {
	bun.BaseModel `bun:"table:inbound_numbers"`

	Org    string `bun:"org,pk"`
	Number string `bun:"number,pk"`
	agentColumns
	PersonaID string    `bun:"persona_id,nullzero"`
	Released  bool      `bun:"released"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"`

	Refused map[agents.Setting]string `bun:"refused,type:jsonb,nullzero"`
}

func (db core) numberRow(n agents.InboundNumber) numberRow {
	return numberRow{
		Org: string(n.Org), Number: string(n.Number),
		agentColumns: db.agentColumns(numberAgentPurpose(n.Org, n.Number), n.Agent),
		PersonaID:    n.Agent.PersonaID, Released: n.Released,
		CreatedAt: sqldb.Stored(n.CreatedAt), UpdatedAt: sqldb.Stored(n.UpdatedAt), Version: n.Version, Refused: n.Refused,
	}
}

func (db core) number(r numberRow) (agents.InboundNumber, error) {
	org, number := callwright.OrgID(r.Org), callwright.PhoneNumber(r.Number)
	agent, err := db.agent(numberAgentPurpose(org, number), r.agentColumns)
	return agents.InboundNumber{
		Org: org, Number: number, Agent: agent, Released: r.Released,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Version: r.Version, Refused: r.Refused,
	}, err
}

// InsertNumber adds a number. It returns CodeConflict if the organization already has the number, even if it is released.
func (s Numbers) InsertNumber(ctx context.Context, n agents.InboundNumber) error {
	return s.rows().Insert(ctx, n)
}

// Number returns one number, even if it is released, or CodeNotFound if it is absent.
func (s Numbers) Number(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.InboundNumber, error) {
	return s.rows().Find(ctx, org, string(number))
}

// Numbers returns a page of an organization's unreleased numbers, in ascending order. agents.MaxRead bounds the size of the page.
func (s Numbers) Numbers(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]agents.InboundNumber, error) {
	return bounded(ctx, s.core(), []any{org, after}, s.core().number, agents.InboundNumber.Size,
		func(idb bun.IDB) *bun.SelectQuery {
			return idb.NewSelect().Model((*numberRow)(nil)).Where("org = ?", org).Where("number > ?", after.ID).Where("NOT released").
				Order("number").Limit(int64(limit))
		})
}

// NumbersOf returns the unreleased numbers of each persona, in ascending order, at most persona.MaxNumbers for each.
func (s Numbers) NumbersOf(
	ctx context.Context, org callwright.OrgID, personas []string,
) (map[string][]callwright.PhoneNumber, error) {
	found := map[string][]callwright.PhoneNumber{}
	if len(personas) == 0 {
		return found, nil
	}
	var rows []struct {
		PersonaID string `bun:"persona_id"`
		Number    string `bun:"number"`
	}
	err := s.core().Read(ctx, []any{org, personas}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		ranked := idb.NewSelect().Model((*numberRow)(nil)).Column("persona_id", "number").
			ColumnExpr("row_number() OVER (PARTITION BY persona_id ORDER BY number) AS place").
			Where("org = ?", org).Where("persona_id IN (?)", bun.List(personas)).Where("NOT released")
		return idb.NewSelect().TableExpr("(?) AS ranked", ranked).Column("persona_id", "number").
			Where("place <= ?", persona.MaxNumbers).OrderExpr("persona_id, number").Scan(ctx, &rows)
	})
	for _, r := range rows {
		found[r.PersonaID] = append(found[r.PersonaID], callwright.PhoneNumber(r.Number))
	}
	return found, err
}

// UpdateNumber replaces a number. It returns CodeConflict if the stored version is not n.Version, and CodeNotFound if the number is absent.
func (s Numbers) UpdateNumber(ctx context.Context, n agents.InboundNumber) error {
	return s.rows().Replace(ctx, n)
}
