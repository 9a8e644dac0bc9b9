package agentstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/pathway"
)

// Chats is a pathway.Chats.
type Chats struct{ DB *bunstore.DB }

func (s Chats) core() core { return core{s.DB.Core()} }

type chatRow struct {
	bun.BaseModel `bun:"table:pathway_chats"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Pathway   string    `bun:"pathway_id"`
	Number    int       `bun:"number"`
	Hash      string    `bun:"hash"`
	State     string    `bun:"state"` // JSON, which JSONB would not keep as it is
	Messages  int       `bun:"messages"`
	BusyUntil time.Time `bun:"busy_until"`
	Completed bool      `bun:"completed"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"` // its Revision
}

func newChatRow(c pathway.Chat) chatRow {
	return chatRow{
		ID: c.ID, Org: string(c.Org), Pathway: c.Pathway, Number: c.Number, Hash: c.Hash, State: string(c.State),
		Messages: c.Messages, BusyUntil: sqldb.Stored(c.BusyUntil), Completed: c.Completed,
		CreatedAt: sqldb.Stored(c.CreatedAt), UpdatedAt: sqldb.Stored(c.UpdatedAt), Version: c.Revision,
	}
}

// InsertChat adds a chat.
func (s Chats) InsertChat(ctx context.Context, c pathway.Chat) error {
	c.Revision = 1
	row := newChatRow(c)
	return s.core().insertWithPathway(ctx, c.Org, c.Pathway, row, &row)
}

// Chat returns one chat.
func (s Chats) Chat(ctx context.Context, org callwright.OrgID, id string) (pathway.Chat, error) {
	var r chatRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("chat", idb.NewSelect().Model(&r).Where("id = ?", id).Where("org = ?", org).Scan(ctx))
	})
	if err != nil {
		return pathway.Chat{}, err
	}
	return pathway.Chat{
		ID: r.ID, Org: callwright.OrgID(r.Org), Pathway: r.Pathway, Number: r.Number, Hash: r.Hash,
		State: json.RawMessage(r.State), Messages: r.Messages, BusyUntil: r.BusyUntil.UTC(), Completed: r.Completed,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Revision: r.Version,
	}, nil
}

// UpdateChat replaces a chat.
func (s Chats) UpdateChat(ctx context.Context, c pathway.Chat) error {
	row := newChatRow(c)
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", c.Org)
		find := idb.NewSelect().Model((*chatRow)(nil)).Where("id = ?", c.ID).Where("org = ?", c.Org)
		return sqldb.Replace(ctx, "chat", update, c.Revision, find)
	})
}

// CountChats returns the number of an organization's chats that are not completed.
func (s Chats) CountChats(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = idb.NewSelect().Model((*chatRow)(nil)).Where("org = ?", org).Where("NOT completed").Count(ctx)
		return err
	})
	return count, err
}

// ForgetChats removes chats that were not changed for long.
func (s Chats) ForgetChats(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.core().Forget(ctx, (*chatRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("updated_at < ?", sqldb.Stored(before)).Order("updated_at").Limit(limit)
	})
}
