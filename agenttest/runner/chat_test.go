package runner_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestLikeAChat executes a pathway with a node of every type in a test and in a chat, with the same words. It checks that both say the
// same, visit the same nodes and collect the same variables. pathway.Service supplies the versions.
func TestLikeAChat(t *testing.T) {
	t.Parallel()
	const answer = `{"free": 1, "bicycles": 2}`
	store := memstore.New()
	service, err := pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
		Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{Answer: agentstest.JSON(answer)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := service.Create(t.Context(), "a", pathway.Draft{Name: "Every node"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := service.StoreVersion(t.Context(), "a", p.ID, "1", agentstest.EveryNode(""))
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{Versions: service})
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string][]string{
		"to the end": {"tuesday", "what does it cost", "in the afternoon", "ready", "two", "that is all"},
		"a person":   {"thursday", "when are you open", "", "I want a person"},
		"lost":       {"hm", "", "what?", " ", "", "and now"},
	} {
		variables := map[string]any{"caller": "Ada", "amount": 2.5}
		chat, err := service.StartChat(t.Context(), "a", pathway.ChatRequest{
			Pathway: p.ID, Version: &pathway.Selector{Number: v.Number}, Variables: variables,
		})
		if err != nil {
			t.Fatal(err)
		}
		session, err := r.Start(t.Context(), engine.SessionSpec{
			Org: "a", Pathway: p.ID, Version: v.Number, Variables: variables, Model: scripted.New(),
			Webhooks: []scenario.WebhookMock{{Body: []byte(answer)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var visited []string
		for i, text := range append([]string{""}, words...) {
			if i > 0 {
				if chat, err = service.Say(t.Context(), "a", chat.Chat.ID, text); err != nil {
					t.Fatal(err)
				}
			}
			turn, err := session.Reply(t.Context(), engine.CallerTurn{Text: text})
			if err != nil {
				t.Fatal(err)
			}
			visited = append(visited, turn.Visits...)
			if got, want := turn.Text, strings.Join(chat.Replies, " "); got != want {
				t.Errorf("%s: %q is answered with %q, in a chat with %q", name, text, got, want)
			}
			if !slices.Equal(visited, chat.State.Visited) || turn.Node != chat.Node.ID || turn.Ended != chat.State.Over {
				t.Errorf("%s: after %q it has visited %v, and the chat %v", name, text, visited, chat.State.Visited)
			}
			if !reflect.DeepEqual(turn.Variables, chat.State.Variables) {
				t.Errorf("%s: after %q the variables are %v, in a chat %v", name, text, turn.Variables, chat.State.Variables)
			}
			if turn.Ended {
				break
			}
		}
		t.Logf("%s: %v", name, visited)
	}
}
