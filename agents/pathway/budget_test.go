package pathway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// row returns a conversation along n nodes that do not wait for the caller. All of them have the data d.
func row(t *testing.T, n int, d data) *talk {
	t.Helper()
	var all []json.RawMessage
	var edges []string
	for i := range n {
		own := map[string]any{"modelOptions": map[string]any{"skipUserResponse": true}, "isStart": i == 0}
		maps.Copy(own, d)
		all = append(all, node(fmt.Sprint("n", i), graph.NodeDefault, own))
		if i > 0 {
			edges = append(edges, fmt.Sprint("n", i-1, " n", i))
		}
	}
	return newTalk(t, compile(t, all, ways(edges...)))
}

// TestTurnOfManyWords checks that an answer is cut at its maximum length, and that the log reports the cut.
func TestTurnOfManyWords(t *testing.T) {
	t.Parallel()
	c := row(t, 31, data{"text": strings.Repeat("{{a}}", 2000)})
	c.state = pathway.Begin(map[string]any{"a": strings.Repeat("x", 900_000)}, "")
	said, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnStart}, 1<<30)
	if err != nil || len(said) > dialogue.MaxAnswer*11/10 || len(said) < dialogue.MaxAnswer*9/10 {
		t.Errorf("%d bytes are said, %v", len(said), err)
	}
	c.at("n30", "")
	c.logged("error n30: the variables of the turn's texts have reached their limit of 2097152 bytes: the rest is cut off\n"+
		"error n30: the answer has reached its limit of 262144 bytes: the rest is cut off", pathway.LogError)
}

// TestTurnOfManyVariables checks that the size which variables add to the instructions and facts in a turn's requests is bounded.
func TestTurnOfManyVariables(t *testing.T) {
	t.Parallel()
	c := row(t, 31, data{"prompt": strings.Repeat("{{a}}", 2000)})
	for i := range 100 {
		c.agent.Facts = append(c.agent.Facts, request.Fact{Variable: "a", Text: template.Parse(fmt.Sprintf("fact %d {{a}}", i))})
	}
	c.state = pathway.Begin(map[string]any{"a": map[string]any{"b": strings.Repeat("x", 900_000)}}, "")
	if _, err := c.step(t.Context(), conversation.Turn{Kind: conversation.TurnStart}, 1<<30); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, r := range c.model().Requests() {
		size += len(r.Instructions)
		for _, f := range r.Facts {
			size += len(f)
		}
	}
	if size > 3<<20 || size < 1<<20 {
		t.Errorf("the model got %d bytes", size)
	}
}

// TestTurnOfDearAnswers checks that the evaluation of paths has one budget of steps per turn for all its requests. The log must report the
// paths that were given up and the answers that were not read. The next turn has a new budget.
func TestTurnOfDearAnswers(t *testing.T) {
	t.Parallel()
	const path = `$..[?(@.a=="b")]`
	var mappings []map[string]any
	for i := range 32 {
		mappings = append(mappings, map[string]any{"name": fmt.Sprint("v", i), "data": path})
	}
	var all []json.RawMessage
	var edges []string
	for i := range 4 {
		all = append(all, node(fmt.Sprint("n", i), graph.NodeWebhook, data{
			"isStart": i == 0, "url": "https://x.example/", "responseData": mappings,
		}))
		if i > 0 {
			edges = append(edges, fmt.Sprint("n", i-1, " n", i))
		}
	}
	all = append(all, node("wait", graph.NodeDefault, data{"text": "Well?"}))
	c := newTalk(t, compile(t, all, ways(append(edges, "n3 wait", "wait n0")...)))
	answer := "[" + strings.Repeat("{},", 9999) + "{}]"
	c.interpreter.Requests = &agentstest.Requests{Answer: agentstest.JSON(answer)}
	for _, turn := range []conversation.Turn{{Kind: conversation.TurnStart}, {Kind: conversation.TurnSpeech, Text: "Again."}} {
		c.turn(turn, "Well?")
		var faults []string
		for _, e := range c.log.Entries {
			if e.Kind == pathway.LogRequest {
				faults = append(faults, e.Request.Error)
			}
		}
		if len(faults) != 4 {
			t.Fatalf("there are %d requests", len(faults))
		}
		if n := strings.Count(faults[0], ": the path needs too many steps in this answer"); n < 10 || n > 25 {
			t.Errorf("%d of 32 paths are given up", n)
		}
		for _, fault := range faults[1:] {
			if fault != "the answer is not read: it has too many values for the rest of this turn" {
				t.Errorf("a later answer gave %q", fault)
			}
		}
	}
}
