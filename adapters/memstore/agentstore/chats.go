package agentstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents/pathway"
)

// Chats is a pathway.Chats.
type Chats struct{ Store *memstore.Store }

// InsertChat adds a chat with the logs of its turns.
func (s Chats) InsertChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.pathway(c.Org, c.Pathway); err != nil {
			return err
		}
		if _, taken := d.chats[c.ID]; taken {
			return callwright.ErrConflict
		}
		c.Revision = 1
		d.storeChat(c, logs)
		return nil
	})
}

// storeChat puts a chat in its place, and adds the logs of turns.
func (d *data) storeChat(c pathway.Chat, logs []pathway.Log) {
	d.chats[c.ID] = memory.Clone(c)
	for _, l := range logs {
		d.chatLogs[c.ID] = placed(d.chatLogs[c.ID], l, logNumber)
	}
}

// deleteChat deletes a chat with its logs.
func (d *data) deleteChat(id string) {
	delete(d.chats, id)
	delete(d.chatLogs, id)
}

// chat returns a chat of an organization.
func (d *data) chat(org callwright.OrgID, id string) (pathway.Chat, error) {
	c, ok := d.chats[id]
	if !ok || c.Org != org {
		return pathway.Chat{}, callwright.NotFound("chat")
	}
	return c, nil
}

// Chat returns one chat.
func (s Chats) Chat(ctx context.Context, org callwright.OrgID, id string) (c pathway.Chat, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.chat(org, id)
		c = memory.Clone(found)
		return err
	})
	return c, err
}

// UpdateChat replaces a chat and adds the logs of turns.
func (s Chats) UpdateChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.chat(c.Org, c.ID)
		if err != nil {
			return err
		}
		if stored.Revision != c.Revision {
			return callwright.ErrConflict
		}
		c.Revision++
		d.storeChat(c, logs)
		return nil
	})
}

// CountChats returns the number of an organization's chats that are not completed.
func (s Chats) CountChats(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, c := range d.chats {
			if c.Org == org && !c.Completed {
				count++
			}
		}
		return nil
	})
	return count, err
}

// DeleteOldChats deletes chats that were not changed for long.
func (s Chats) DeleteOldChats(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, c := range d.chats {
			if removed < limit && c.UpdatedAt.Before(before) {
				d.deleteChat(id)
				removed++
			}
		}
		return nil
	})
	return removed, err
}

// ChatLogs returns the last logs of a chat before one of them.
func (s Chats) ChatLogs(ctx context.Context, org callwright.OrgID, id string, before, limit int) (logs []pathway.Log, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		_, err := d.chat(org, id)
		logs = memory.Clone(lastBefore(d.chatLogs[id], logNumber, before, limit))
		return err
	})
	if err != nil {
		return nil, err
	}
	return logs, nil
}

// ChatsOf returns a page of the chats of a pathway without their states.
func (s Chats) ChatsOf(
	ctx context.Context, org callwright.OrgID, pathwayID string, after callwright.Keyset, limit int,
) (found []pathway.Chat, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, c := range d.chats {
			if c.Org == org && c.Pathway == pathwayID && (after.IsZero() || newer(after.At, after.ID, c.CreatedAt, c.ID)) {
				c.State = nil
				found = append(found, c)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b pathway.Chat) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:min(limit, len(found))], err
}
