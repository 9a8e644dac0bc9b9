package agentstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/pathway"
)

// Chats stores chats with pathways; it implements pathway.Chats.
type Chats struct{ DB *bunstore.DB }

func (s Chats) core() core { return core{s.DB.Core()} }

func (s Chats) rows() sqldb.Rows[pathway.Chat, chatRow] {
	return sqldb.Rows[pathway.Chat, chatRow]{
		DB: s.DB.Core(), Kind: "chat", Row: sqldb.Plain(newChatRow), Value: sqldb.Plain(chatRow.chat), Sealed: true,
	}
}

type chatRow struct {
	bun.BaseModel `bun:"table:pathway_chats"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Pathway   string    `bun:"pathway_id"`
	Number    int       `bun:"number"`
	Hash      string    `bun:"hash"`
	State     string    `bun:"state"` // JSON as text, because JSONB would not preserve its bytes
	Messages  int       `bun:"messages"`
	BusyUntil time.Time `bun:"busy_until"`
	Completed bool      `bun:"completed"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"` // pathway.Chat.Revision
}

func newChatRow(c pathway.Chat) chatRow {
	return chatRow{
		ID: c.ID, Org: string(c.Org), Pathway: c.Pathway, Number: c.Number, Hash: c.Hash, State: string(c.State),
		Messages: c.Messages, BusyUntil: sqldb.Stored(c.BusyUntil), Completed: c.Completed,
		CreatedAt: sqldb.Stored(c.CreatedAt), UpdatedAt: sqldb.Stored(c.UpdatedAt), Version: c.Revision,
	}
}

func (r chatRow) chat() pathway.Chat {
	return pathway.Chat{
		ID: r.ID, Org: callwright.OrgID(r.Org), Pathway: r.Pathway, Number: r.Number, Hash: r.Hash,
		State: json.RawMessage(r.State), Messages: r.Messages, BusyUntil: r.BusyUntil.UTC(), Completed: r.Completed,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Revision: r.Version,
	}
}

type chatLogRow struct {
	bun.BaseModel `bun:"table:pathway_chat_logs"`

	ChatID string `bun:"chat_id,pk"`
	Turn   int    `bun:"turn,pk"`
	Log    string `bun:"log"` // logJSON
}

func (r chatLogRow) turn() (pathway.Log, error) { return unmarshalLog(r.Turn, r.Log) }

// InsertChat adds a chat with the logs of its turns in one transaction. It returns CodeNotFound if the pathway is absent, and CodeConflict
// if the id exists.
func (s Chats) InsertChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return s.withLogs(ctx, c, logs, func(ctx context.Context) error {
		return s.core().withPathway(ctx, c.Org, c.Pathway, func(ctx context.Context) error { return s.rows().Insert(ctx, c) })
	})
}

// withLogs calls the function write, which stores the chat c, and inserts the logs of its turns. Both happen in one transaction, unless
// there are no logs.
func (s Chats) withLogs(ctx context.Context, c pathway.Chat, logs []pathway.Log, write func(context.Context) error) error {
	if len(logs) == 0 {
		return write(ctx)
	}
	rows, err := sqldb.ConvertedAll(logs, func(l pathway.Log) (chatLogRow, error) {
		text, err := marshalLog(l)
		return chatLogRow{ChatID: c.ID, Turn: l.Turn, Log: text}, err
	})
	if err != nil {
		return err
	}
	return s.core().Do(ctx, func(ctx context.Context) error {
		if err := write(ctx); err != nil {
			return err
		}
		return s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
			_, err := idb.NewInsert().Model(&rows).Returning("NULL").Exec(ctx)
			return err
		})
	})
}

// Chat returns one chat, or CodeNotFound if it is absent.
func (s Chats) Chat(ctx context.Context, org callwright.OrgID, id string) (pathway.Chat, error) {
	return s.rows().Find(ctx, org, id)
}

// UpdateChat replaces a chat and adds the logs of its new turns, in one transaction. It returns CodeConflict if the stored revision is not
// c.Revision, and CodeNotFound if the chat is absent.
func (s Chats) UpdateChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return s.withLogs(ctx, c, logs, func(ctx context.Context) error { return s.rows().Replace(ctx, c) })
}

func findChat(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*chatRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// CountChats returns the number of an organization's chats that are not completed.
func (s Chats) CountChats(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.rows().Count(ctx, "org = ? AND NOT completed", org)
}

// DeleteOldChats deletes up to limit chats that were last changed before the given time, and returns how many it deleted.
func (s Chats) DeleteOldChats(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.core().DeleteRows(ctx, (*chatRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("updated_at < ?", sqldb.Stored(before)).Order("updated_at").Limit(int64(limit))
	})
}

// ChatLogs returns up to limit logs of a chat: the latest before the given turn, ordered by turn. If before is 0, it returns the latest
// logs of the chat. It returns CodeNotFound if the chat is absent.
func (s Chats) ChatLogs(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error) {
	var rows []chatLogRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		if err := sqldb.Exists(ctx, "chat", findChat(idb, org, id)); err != nil {
			return err
		}
		rows = nil
		return lastBefore("turn", before, limit)(idb.NewSelect().Model(&rows).Where("chat_id = ?", id)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(rows)
	return sqldb.ConvertedAll(rows, chatLogRow.turn)
}

// ChatsOf returns a page of a pathway's chats, newest first, without their states.
func (s Chats) ChatsOf(
	ctx context.Context, org callwright.OrgID, pathwayID string, after callwright.Keyset, limit int,
) ([]pathway.Chat, error) {
	found, err := s.rows().Page(ctx, "created_at", after, limit, []any{org, pathwayID}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.ExcludeColumn("state").Where("pathway_id = ?", pathwayID).Where("org = ?", org)
	})
	for i := range found {
		found[i].State = nil
	}
	return found, err
}
