package agentstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents"
)

// WebAgents stores web agents; it implements agents.WebAgents.
type WebAgents struct{ DB *bunstore.DB }

func (s WebAgents) core() core { return core{s.DB.Core()} }

func (s WebAgents) rows() sqldb.Rows[agents.WebAgent, webAgentRow] {
	return sqldb.Rows[agents.WebAgent, webAgentRow]{
		DB: s.DB.Core(), Kind: "agent", Row: sqldb.Plain(s.core().webAgentRow), Value: s.core().webAgent,
	}
}

type webAgentRow struct {
	bun.BaseModel `bun:"table:web_agents"`

	ID  string `bun:"id,pk"`
	Org string `bun:"org"`
	agentColumns
	VoiceSettings *string        `bun:"voice_settings"` // JSON as text, because JSONB would not preserve its bytes
	Keywords      []string       `bun:"keywords,type:jsonb,nullzero"`
	Metadata      map[string]any `bun:"metadata,type:jsonb,nullzero"`
	CreatedAt     time.Time      `bun:"created_at"`
	UpdatedAt     time.Time      `bun:"updated_at"`
	Version       int64          `bun:"version"`
}

func (db core) webAgentRow(a agents.WebAgent) webAgentRow {
	keywords := a.Agent.Keywords
	a.Agent.Keywords = nil // in its own column, which also stores an empty list
	row := webAgentRow{
		ID: a.ID, Org: string(a.Org), agentColumns: db.agentColumns(webAgentPurpose(a.Org, a.ID), a.Agent),
		Keywords: keywords, Metadata: a.Metadata,
		CreatedAt: sqldb.Stored(a.CreatedAt), UpdatedAt: sqldb.Stored(a.UpdatedAt), Version: a.Version,
	}
	if a.VoiceSettings != nil {
		text := string(a.VoiceSettings)
		row.VoiceSettings = &text
	}
	return row
}

func (db core) webAgent(r webAgentRow) (agents.WebAgent, error) {
	org := callwright.OrgID(r.Org)
	agent, err := db.agent(webAgentPurpose(org, r.ID), r.agentColumns)
	agent.Keywords = r.Keywords
	a := agents.WebAgent{
		ID: r.ID, Org: org, Agent: agent, Metadata: r.Metadata,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Version: r.Version,
	}
	if r.VoiceSettings != nil {
		a.VoiceSettings = json.RawMessage(*r.VoiceSettings)
	}
	return a, err
}

// InsertAgent adds an agent. It returns CodeConflict if the id exists.
func (s WebAgents) InsertAgent(ctx context.Context, a agents.WebAgent) error {
	return s.rows().Insert(ctx, a)
}

// Agent returns one agent, or CodeNotFound if it is absent.
func (s WebAgents) Agent(ctx context.Context, org callwright.OrgID, id string) (agents.WebAgent, error) {
	return s.rows().Find(ctx, org, id)
}

// Agents returns a page of an organization's agents, oldest first. agents.MaxRead bounds the size of the page.
func (s WebAgents) Agents(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]agents.WebAgent, error) {
	return bounded(ctx, s.core(), []any{org, after}, s.core().webAgent, agents.WebAgent.Size,
		func(idb bun.IDB) *bun.SelectQuery {
			q := idb.NewSelect().Model((*webAgentRow)(nil)).Where("org = ?", org).Order("created_at", "id").Limit(int64(limit))
			if !after.IsZero() {
				q = q.Where("(created_at, id) > (?, ?)", after.At, after.ID)
			}
			return q
		})
}

// bounded returns the rows that query selects. It stops after the row at which their total size exceeds agents.MaxRead, but not before the
// second row. It reads row by row to bound its memory.
func bounded[R, T any](
	ctx context.Context, db core, texts []any, convert func(R) (T, error), size func(T) int,
	query func(bun.IDB) *bun.SelectQuery,
) ([]T, error) {
	var found []T
	err := db.Read(ctx, texts, func(ctx context.Context, idb bun.IDB) error {
		found = nil
		rows, err := query(idb).Rows(ctx)
		if err != nil {
			return err
		}
		defer rows.Close() // an error of Close does not matter: all needed rows are read
		for total := 0; (total <= agents.MaxRead || len(found) < 2) && rows.Next(); {
			var row R
			if err := db.ScanRow(ctx, rows, &row); err != nil {
				return err
			}
			item, err := convert(row)
			if err != nil {
				return err
			}
			found, total = append(found, item), total+size(item)
		}
		return rows.Err()
	})
	return found, err
}

// CountAgents returns the number of an organization's agents.
func (s WebAgents) CountAgents(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.rows().Count(ctx, "org = ?", org)
}

// UpdateAgent replaces an agent. It returns CodeConflict if the stored version is not a.Version, and CodeNotFound if the agent is absent.
func (s WebAgents) UpdateAgent(ctx context.Context, a agents.WebAgent) error {
	return s.rows().Replace(ctx, a)
}

// DeleteAgent deletes an agent, or returns CodeNotFound if it is absent.
func (s WebAgents) DeleteAgent(ctx context.Context, org callwright.OrgID, id string) error {
	return s.rows().DeleteExisting(ctx, org, id)
}
