package agentstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/callwrighttest"
)

// RunChatStore tests a pathway.Chats. newStore returns an empty chat store, and the store that holds the chats' pathways.
func RunChatStore(t *testing.T, newStore func(t *testing.T) (pathway.Store, pathway.Chats)) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[pathway.Chats, pathway.Chat]{
		New: func(t *testing.T) pathway.Chats {
			t.Helper()
			pathways, chats := newStore(t)
			insertPathways(t, pathways, aPathway("p1", "a"), aPathway("p2", "another"))
			return chats
		},
		Value: func(_ *testing.T, number int) pathway.Chat {
			c := aChat(fmt.Sprint("c", number))
			c.Number, c.Messages, c.BusyUntil, c.Completed = 3, 42, at.Add(time.Minute), true
			c.State = json.RawMessage(`{"Variables":{"b":[1,null,"\u2603"],"a":1.5},"Node":"x"}`)
			c.UpdatedAt = at.Add(time.Duration(number) * time.Second)
			return c
		},
		Equal:   func(t *testing.T, got, want pathway.Chat) bool { t.Helper(); return sameJSON(t, got, want) },
		Foreign: func(c *pathway.Chat) { c.Org, c.Pathway = "another", "p2" },
		Org:     func(c *pathway.Chat) *callwright.OrgID { return &c.Org },
		Version: func(c *pathway.Chat) *int64 { return &c.Revision },
		Insert:  func(s pathway.Chats, ctx context.Context, c pathway.Chat) error { return s.InsertChat(ctx, c) },
		Find: func(s pathway.Chats, ctx context.Context, c pathway.Chat) (pathway.Chat, error) {
			return s.Chat(ctx, c.Org, c.ID)
		},
		Change: func(c *pathway.Chat, writer int) {
			c.Number, c.Messages, c.BusyUntil, c.Completed = 0, writer, time.Time{}, false
			c.State, c.Hash, c.UpdatedAt = json.RawMessage(`{}`), "g", at.Add(time.Hour)
		},
		Replace: func(s pathway.Chats, ctx context.Context, c pathway.Chat) error { return s.UpdateChat(ctx, c) },
	})
	tests := map[string]func(*testing.T, pathway.Store, pathway.Chats){
		"refuses chats with what is not there": refusesOrphanChat,
		"counts chats that go on":              countsChats,
		"forgets idle chats, a few at a time":  forgetsChats,
		"forgets the chats of a pathway":       forgetsChatsOfPathway,
		"keeps the logs of turns":              keepsChatLogs,
		"pages the logs of turns":              pagesChatLogs,
		"keeps logs with their chat or not":    keepsChatLogsTogether,
		"removes logs with their chats":        removesChatLogs,
		"lists the chats of a pathway":         listsChats,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pathways, chats := newStore(t)
			insertPathways(t, pathways, aPathway("p1", "a"))
			test(t, pathways, chats)
		})
	}
}

func aChat(id string) pathway.Chat {
	return pathway.Chat{
		ID: id, Org: "a", Pathway: "p1", Hash: "h", State: json.RawMessage(`{"Node":"start"}`),
		CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
}

func insertChats(t *testing.T, s pathway.Chats, all ...pathway.Chat) {
	t.Helper()
	for _, c := range all {
		if err := s.InsertChat(t.Context(), c); err != nil {
			t.Fatalf("insert %s: %v", c.ID, err)
		}
	}
}

func wantChat(t *testing.T, s pathway.Chats, want pathway.Chat) {
	t.Helper()
	got, err := s.Chat(t.Context(), want.Org, want.ID)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func refusesOrphanChat(t *testing.T, pathways pathway.Store, s pathway.Chats) {
	insertPathways(t, pathways, aPathway("p2", "b"))
	orphan, foreign := aChat("c1"), aChat("c2")
	orphan.Pathway, foreign.Pathway = "p3", "p2"
	for _, c := range []pathway.Chat{orphan, foreign} {
		if err := s.InsertChat(t.Context(), c); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a chat with %s gave %v, want not found", c.Pathway, err)
		}
	}
}

func wantOpenChats(t *testing.T, s pathway.Chats, org callwright.OrgID, want int) {
	t.Helper()
	if got, err := s.CountChats(t.Context(), org); err != nil || got != want {
		t.Errorf("%s has %d chats that go on, %v; want %d", org, got, err, want)
	}
}

func countsChats(t *testing.T, pathways pathway.Store, s pathway.Chats) {
	insertPathways(t, pathways, aPathway("p2", "a"), aPathway("p3", "b"))
	over, other, foreign := aChat("c2"), aChat("c3"), aChat("c4")
	over.Completed, other.Pathway, foreign.Pathway, foreign.Org = true, "p2", "p3", "b"
	insertChats(t, s, aChat("c1"), over, other, foreign)
	wantOpenChats(t, s, "a", 2)
	wantOpenChats(t, s, "b", 1)
	wantOpenChats(t, s, "c", 0)
	ended := aChat("c1")
	ended.Completed = true
	if err := s.UpdateChat(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	wantOpenChats(t, s, "a", 1)
	if err := pathways.DeletePathway(t.Context(), "a", "p2"); err != nil {
		t.Fatal(err)
	}
	wantOpenChats(t, s, "a", 0)
	wantOpenChats(t, s, "b", 1)
}

func forgetsChats(t *testing.T, pathways pathway.Store, s pathway.Chats) {
	insertPathways(t, pathways, aPathway("p2", "b"))
	const idle = 5
	for i := range idle {
		c := aChat(fmt.Sprint("c", i))
		if i == 0 {
			c.Org, c.Pathway = "b", "p2"
		}
		insertChats(t, s, c)
	}
	fresh := aChat("fresh")
	fresh.UpdatedAt = at.Add(time.Second)
	insertChats(t, s, fresh)
	for _, want := range []int{2, 2, 1, 0} {
		if got, err := s.DeleteOldChats(t.Context(), at.Add(time.Second), 2); err != nil || got != want {
			t.Fatalf("forgot %d, %v; want %d", got, err, want)
		}
	}
	wantChat(t, s, fresh)
	for i := range idle {
		for _, org := range []callwright.OrgID{"a", "b"} {
			if _, err := s.Chat(t.Context(), org, fmt.Sprint("c", i)); !errors.Is(err, callwright.ErrNotFound) {
				t.Errorf("chat %d gave %v", i, err)
			}
		}
	}
}

func forgetsChatsOfPathway(t *testing.T, pathways pathway.Store, s pathway.Chats) {
	insertPathways(t, pathways, aPathway("p2", "a"))
	other := aChat("c2")
	other.Pathway = "p2"
	insertChats(t, s, aChat("c1"), other)
	if err := pathways.DeletePathway(t.Context(), "a", "p1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Chat(t.Context(), "a", "c1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("get gave %v, want not found", err)
	}
	if err := s.UpdateChat(t.Context(), aChat("c1")); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("update gave %v, want not found", err)
	}
	wantChat(t, s, other)
}
