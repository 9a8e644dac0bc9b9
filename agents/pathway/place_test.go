package pathway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestPlaces checks that requests, even concurrent requests, contain their node and their place in the log.
func TestPlaces(t *testing.T) {
	t.Parallel()
	tool := data{
		"name": "look", "description": "Looks", "url": "https://example.com/{{input.at}}",
		"input_schema": data{"type": "object", "properties": data{"at": data{"type": "string"}}},
	}
	hook := data{"url": "https://example.com/hook", "method": "POST"}
	c := newTalk(t, compile(t, nodes(
		node("a", graph.NodeWebhook, data{"isStart": true, "url": "https://example.com/first"}),
		node("b", graph.NodeDefault, data{"prompt": "Look.", "tools": []data{tool}, "modelOptions": data{"skipUserResponse": true}}),
		node("c", graph.NodeWebhook, hook), say("d", nil),
	), ways("a b", "b c", "c d")))
	requests := c.interpreter.Requests.(*agentstest.Requests)
	c.model().Says = func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		look := func(at string) llm.ReplyPart {
			return llm.ReplyPart{Call: &llm.ToolCall{ID: at, Name: "look", Arguments: []byte(`{"at": "` + at + `"}`)}}
		}
		switch len(r.Messages) {
		case 0:
			return []llm.ReplyPart{look("z"), look("y"), look("x")}, nil
		case 4:
			return []llm.ReplyPart{look("a")}, nil
		default:
			return agentstest.Texts("Seen."), nil
		}
	}
	c.begins("Seen. d.")
	var got []string
	for _, r := range requests.Made() {
		got = append(got, fmt.Sprint(r.Place, r.Node, strings.TrimPrefix(r.URL, "https://example.com/")))
	}
	slices.Sort(got)
	if want := []string{"0afirst", "1bz", "2by", "3bx", "4ba", "5chook"}; !slices.Equal(got, want) {
		t.Errorf("the requests are %v, want %v", got, want)
	}
}
