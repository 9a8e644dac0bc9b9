package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// chat is a chat with the pathway of graphOf.
type chat struct {
	id    string
	turns []string // the caller's words in the answered turns
	cut   string   // the last words sent, if they got no answer
}

// chatter is a writer that begins chats and takes turns in them.
type chatter struct {
	pathway string
	now     *chat
	parked  []*chat // chats with a turn of a killed server: busy until its claim expires
	n       int
}

// turnsEach is the number of turns of a chat.
const turnsEach = 6

// tell continues the previous chat, then begins a new chat and takes its turns.
func (c *chatter) tell(ctx context.Context, g *target) bool {
	if c.now != nil && !c.talk(ctx, g) {
		return false
	}
	a, ok := g.write(ctx, request{op: "createPathwayChat", target: "/v1/pathway/chat/create", body: fmt.Sprintf(`{"pathway_id":%q}`, c.pathway)})
	if !ok {
		return false
	}
	var begun struct {
		Data struct {
			ID string `json:"chat_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &begun); err != nil {
		g.t.Error(err)
		return false
	}
	c.now = &chat{id: begun.Data.ID}
	return c.talk(ctx, g)
}

// talk takes turns in the current chat until the chat contains turnsEach turns or is busy. It returns false if the server was killed.
func (c *chatter) talk(ctx context.Context, g *target) bool {
	for c.now != nil {
		c.n++
		said := fmt.Sprint("turn ", c.n)
		busy, ok := c.now.say(ctx, g, said)
		if !ok {
			if c.now.cut != "" { // with two unanswered turns, too many outcomes would be valid
				c.now = nil
				return false
			}
			c.now.cut = said
			return false
		}
		if busy {
			c.parked = append(c.parked, c.now)
		}
		if busy || len(c.now.turns) >= turnsEach {
			c.now = nil
		}
	}
	return true
}

// say takes a turn and checks the history, which must contain every answered turn once and the unanswered turn at most once. busy means
// that a killed server still claims a turn of the chat. ok is false if the server was killed.
func (c *chat) say(ctx context.Context, g *target, said string) (busy, ok bool) {
	a, ok := g.write(ctx, request{
		op: "sendPathwayChatMessage", target: "/v1/pathway/chat/" + c.id, body: fmt.Sprintf(`{"message":%q}`, said),
	}, http.StatusConflict)
	if !ok {
		return false, false
	}
	if a.status == http.StatusConflict {
		if c.cut == "" {
			g.t.Errorf("the chat %s is busy without a turn: %s", c.id, a.body)
		}
		return true, true
	}
	var state struct {
		Data struct {
			History []struct {
				Role    string `json:"role"`
				Content string `json:"content"`
			} `json:"chat_history"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &state); err != nil {
		g.t.Error(err)
		return false, false
	}
	var got []string
	for _, m := range state.Data.History {
		got = append(got, m.Role+": "+m.Content)
	}
	without, with := append(slices.Clone(c.turns), said), append(slices.Clone(c.turns), c.cut, said)
	switch {
	case slices.Equal(got, history(without)):
		c.turns = without
	case c.cut != "" && slices.Equal(got, history(with)):
		c.turns = with
	default:
		g.t.Errorf("the history of the chat %s is %q after %q, with %q sent and not answered", c.id, got, c.turns, c.cut)
	}
	c.cut = ""
	return false, true
}

// history returns the expected history of a chat with these turns.
func history(turns []string) []string {
	all := []string{"assistant: Go on."}
	for i, said := range turns {
		all = append(all, "user: "+said, "assistant: "+[]string{"One.", "Two."}[i%2])
	}
	return all
}

// check takes a turn in each parked chat with the method say, which also checks the history unless the chat is still busy.
func (c *chatter) check(t *testing.T, g *target) {
	t.Helper()
	still := 0
	for _, parked := range c.parked {
		busy, ok := parked.say(t.Context(), g, "the last turn")
		if !ok {
			t.Fatal("no answer")
		}
		if busy {
			still++
		}
	}
	t.Logf("of %d chats that were cut within a turn, %d are still busy", len(c.parked), still)
}
