package agentstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// aChatLog returns the log of a turn with every field set.
func aChatLog(turn int) pathway.Log {
	const odd = "it's \x00 \u2028 <&>"
	return pathway.Log{
		Turn: turn, Node: "day", Heard: odd, Said: "Which day?", Usage: llm.Usage{Input: 7, Output: 3}, ModelCalls: 2, Withdrawn: pathway.Withdrawn{Answers: 1, ModelCalls: 1}, Models: []llm.Use{{Model: "small", Requests: 2, Usage: llm.Usage{Input: 7, Output: 3}}}, Duration: time.Second,
		Entries: []pathway.LogEntry{
			{Kind: pathway.LogDecision, Node: "a", Name: "A", Chosen: "day", Edge: "e", Tag: "t", Text: odd, At: at},
			{Kind: pathway.LogVariables, Variables: map[string]any{odd: []any{1.5, nil, odd}}, At: at},
			{Kind: pathway.LogRequest, At: at, Request: &request.Log{
				Name: "hook", Method: "POST", URL: "https://x.example/", Status: 200, Body: json.RawMessage(`{"a":"\u0000"}`),
				Duration: time.Minute, Variables: map[string]any{"n": 1.5}, Error: odd,
			}},
		},
	}
}

// wantChatLogs checks that ChatLogs, called with the given arguments before and limit, returns the logs of the given turns, or no logs if
// turns is empty.
func wantChatLogs(t *testing.T, s pathway.Chats, id string, before, limit int, turns ...int) {
	t.Helper()
	got, err := s.ChatLogs(t.Context(), "a", id, before, limit)
	want := make([]pathway.Log, 0, len(turns))
	for _, n := range turns {
		want = append(want, aChatLog(n))
	}
	if err != nil || len(got) != len(want) || len(want) > 0 && !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// keepsChatLogs checks that given and returned logs share no memory with stored logs, and that ChatLogs returns none for a chat without
// logs, as earlier releases stored it. For an absent chat, or a chat of another organization, ChatLogs must return CodeNotFound.
func keepsChatLogs(t *testing.T, _ pathway.Store, s pathway.Chats) {
	insertChats(t, s, aChat("c1"), aChat("c2"))
	wantChatLogs(t, s, "c1", 0, 10)
	given := aChatLog(5)
	if err := s.UpdateChat(t.Context(), aChat("c1"), given); err != nil {
		t.Fatal(err)
	}
	copy(given.Entries[2].Request.Body, "spoilt")
	for range 2 {
		wantChatLogs(t, s, "c1", 0, 10, 5)
		got, err := s.ChatLogs(t.Context(), "a", "c1", 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		got[0].Entries[0].Text = "spoilt"
	}
	wantChatLogs(t, s, "c2", 0, 10)
	for _, key := range [][2]string{{"b", "c1"}, {"a", "c3"}} {
		if _, err := s.ChatLogs(t.Context(), callwright.OrgID(key[0]), key[1], 0, 10); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%v gave %v, want not found", key, err)
		}
	}
}

func pagesChatLogs(t *testing.T, _ pathway.Store, s pathway.Chats) {
	if err := s.InsertChat(t.Context(), aChat("c1"), aChatLog(1), aChatLog(2), aChatLog(3)); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateChat(t.Context(), aChat("c1"), aChatLog(10)); err != nil {
		t.Fatal(err)
	}
	wantChatLogs(t, s, "c1", 0, 10, 1, 2, 3, 10)
	wantChatLogs(t, s, "c1", 0, 2, 3, 10)
	wantChatLogs(t, s, "c1", 10, 2, 2, 3)
	wantChatLogs(t, s, "c1", 3, 2, 1, 2)
	wantChatLogs(t, s, "c1", 1, 2)
}

// keepsChatLogsTogether checks that a refused insert or update of a chat stores no log.
func keepsChatLogsTogether(t *testing.T, _ pathway.Store, s pathway.Chats) {
	if err := s.InsertChat(t.Context(), aChat("c1"), aChatLog(1)); err != nil {
		t.Fatal(err)
	}
	late, foreign, orphan := aChat("c1"), aChat("c1"), aChat("c2")
	late.Revision, foreign.Org, orphan.Pathway = 7, "b", "p9"
	for name, err := range map[string]error{
		"update late": s.UpdateChat(t.Context(), late, aChatLog(2)), "update foreign": s.UpdateChat(t.Context(), foreign, aChatLog(2)),
		"insert twice": s.InsertChat(t.Context(), aChat("c1"), aChatLog(2)), "insert orphan": s.InsertChat(t.Context(), orphan, aChatLog(2)),
	} {
		if !errors.Is(err, callwright.ErrConflict) && !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v", name, err)
		}
	}
	wantChatLogs(t, s, "c1", 0, 10, 1)
	insertChats(t, s, aChat("c2"))
	wantChatLogs(t, s, "c2", 0, 10)
}

// removesChatLogs checks that a new chat with the id of a deleted chat has no logs of the deleted chat.
func removesChatLogs(t *testing.T, pathways pathway.Store, s pathway.Chats) {
	for _, remove := range []func() error{
		func() error { _, err := s.DeleteOldChats(t.Context(), at.Add(time.Second), 10); return err },
		func() error { return pathways.DeletePathway(t.Context(), "a", "p1") },
	} {
		if err := s.InsertChat(t.Context(), aChat("c1"), aChatLog(1)); err != nil {
			t.Fatal(err)
		}
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ChatLogs(t.Context(), "a", "c1", 0, 10); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("got %v, want not found", err)
		}
	}
	insertPathways(t, pathways, aPathway("p1", "a"))
	insertChats(t, s, aChat("c1"))
	wantChatLogs(t, s, "c1", 0, 10)
}

func listsChats(t *testing.T, pathways pathway.Store, s pathway.Chats) {
	insertPathways(t, pathways, aPathway("p2", "a"))
	other := aChat("other")
	other.Pathway = "p2"
	insertChats(t, s, other)
	var want []string // newest first; equal times in descending order of ids
	for i := range 5 {
		c := aChat(fmt.Sprint("c", i))
		c.CreatedAt = at.Add(time.Duration(i/2) * time.Second)
		insertChats(t, s, c)
		want = append([]string{c.ID}, want...)
	}
	var got []string
	for after := (callwright.Keyset{}); ; {
		found, err := s.ChatsOf(t.Context(), "a", "p1", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			whole := aChat(c.ID)
			whole.State, whole.CreatedAt = nil, c.CreatedAt
			if !sameJSON(t, c, whole) {
				t.Errorf("got %+v, want %+v", c, whole)
			}
			got = append(got, c.ID)
		}
		if len(found) < 2 {
			break
		}
		after = callwright.Keyset{At: found[1].CreatedAt, ID: found[1].ID}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, key := range [][2]string{{"b", "p1"}, {"a", "p9"}} {
		if found, err := s.ChatsOf(t.Context(), callwright.OrgID(key[0]), key[1], callwright.Keyset{}, 2); err != nil || len(found) > 0 {
			t.Errorf("%v gave %+v, %v", key, found, err)
		}
	}
}
