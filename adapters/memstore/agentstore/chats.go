package agentstore

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents/pathway"
)

// Chats stores chats; it implements pathway.Chats.
type Chats struct{ Store *memstore.Store }

// InsertChat adds a chat and the logs of its turns. It returns CodeNotFound if the pathway is absent, and CodeConflict if the id exists.
func (s Chats) InsertChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.pathways.Exists(c.Org, c.Pathway); err != nil {
			return err
		}
		return d.storeLogs(c.ID, logs, d.chats.Insert(c))
	})
}

// storeLogs adds logs to a chat. err is the result of storing the chat: if it is not nil, storeLogs adds no logs and returns err.
func (d *data) storeLogs(id string, logs []pathway.Log, err error) error {
	if err != nil {
		return err
	}
	for _, l := range logs {
		d.chatLogs.Set(id, placed(d.chatLogs.Rows()[id], l, logNumber))
	}
	return nil
}

// deleteChat deletes a chat and its logs.
func (d *data) deleteChat(id string) {
	d.chats.Table.Delete(id)
	d.chatLogs.Delete(id)
}

// Chat returns one chat, or CodeNotFound if it is absent.
func (s Chats) Chat(ctx context.Context, org callwright.OrgID, id string) (pathway.Chat, error) {
	return read(ctx, s.Store, func(d *data) (pathway.Chat, error) { return d.chats.Find(org, id) })
}

// UpdateChat replaces a chat and adds the logs of turns. It returns CodeConflict if the stored revision is not c.Revision, and CodeNotFound
// if the chat is absent. After an error it has added no logs.
func (s Chats) UpdateChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return with(ctx, s.Store, func(d *data) error { return d.storeLogs(c.ID, logs, d.chats.Replace(c)) })
}

// CountChats returns the number of an organization's chats that are not completed.
func (s Chats) CountChats(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.chats.Count(func(c pathway.Chat) bool { return c.Org == org && !c.Completed })
	})
}

// DeleteOldChats deletes up to limit chats that were last updated before the given time, and returns how many it deleted.
func (s Chats) DeleteOldChats(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, c := range d.chats.Rows() {
			if removed < limit && c.UpdatedAt.Before(before) {
				d.deleteChat(id)
				removed++
			}
		}
		return nil
	})
	return removed, err
}

// ChatLogs returns up to limit logs of a chat, sorted by Turn: the last logs whose Turn is less than the argument before. If before is 0,
// it returns the last logs of the chat. It returns CodeNotFound if the chat is absent.
func (s Chats) ChatLogs(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error) {
	return read(ctx, s.Store, func(d *data) ([]pathway.Log, error) {
		if err := d.chats.Exists(org, id); err != nil {
			return nil, err
		}
		return memory.Clone(lastBefore(d.chatLogs.Rows()[id], logNumber, before, limit)), nil
	})
}

// ChatsOf returns a page of the chats of a pathway, without their states.
func (s Chats) ChatsOf(
	ctx context.Context, org callwright.OrgID, pathwayID string, after callwright.Keyset, limit int,
) ([]pathway.Chat, error) {
	return read(ctx, s.Store, func(d *data) ([]pathway.Chat, error) {
		place := func(c pathway.Chat) callwright.Keyset { return callwright.Keyset{At: c.CreatedAt, ID: c.ID} }
		found := d.chats.Page(after, limit, place, func(c pathway.Chat) bool { return c.Org == org && c.Pathway == pathwayID })
		for i := range found {
			found[i].State = nil
		}
		return found, nil
	})
}
