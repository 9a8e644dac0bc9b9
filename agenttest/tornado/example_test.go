package tornado_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/tornado"
)

// shop stores versions of a pathway and runs its scenario. Your own code may implement the two ports with two types or with one.
type shop struct{ versions []graph.Document }

func (s *shop) Document(_ context.Context, number int) (graph.Document, error) {
	return s.versions[number-1], nil
}

func (s *shop) Fork(_ context.Context, _ int, _ string, d graph.Document) (int, error) {
	s.versions = append(s.versions, d)
	return len(s.versions), nil
}

func (s *shop) Production(context.Context) (int, error) { return 1, nil }

// Run passes the scenario if the version's first node names the shop.
func (s *shop) Run(_ context.Context, _ string, version int, scenarios []string, trials int) (map[string]tornado.Tally, error) {
	if strings.Contains(string(s.versions[version-1].Nodes[0]), "North Bicycles") {
		return map[string]tornado.Tally{scenarios[0]: {Passed: trials, Score: 1}}, nil
	}
	return map[string]tornado.Tally{scenarios[0]: {Failed: trials, Node: "greet", Reason: "the shop is not named"}}, nil
}

// model replaces a language model. A program may use any llm.Model, such as the models of adapters/openai.
var model = scripted.New(scripted.Rule{Task: llm.TaskFix, About: "the shop is not named", Answer: `{
	"reasoning": "The greeting does not say which shop it is.",
	"fixes": [{"type": "prompt_change", "target_node": "greet", "description": "Name the shop.", "edits": [
		{"op": "set_text", "field": "text", "text": "Hello, this is North Bicycles.", "edge": null, "to": null}]}]}`})

func ExampleSearch() {
	s := &shop{versions: []graph.Document{{Nodes: []json.RawMessage{
		json.RawMessage(`{"id":"greet","type":"Default","data":{"name":"Greet","isStart":true,"text":"Hello."}}`),
	}}}}
	session, err := tornado.Search(context.Background(), tornado.SearchConfig{
		Versions: s, Tests: s, Fixer: tornado.NewFixer(model, "acme"), Session: "1", Base: 1, Scenarios: []tornado.Scenario{{ID: "names the shop"}},
	})
	fmt.Println(session.State, session.Best, err)
	for _, it := range session.Iterations {
		fmt.Println(it.Number, it.Version, it.Outcome, it.Passed)
	}
	// Output:
	// COMPLETED_ALL_PASSED 2 <nil>
	// 0 1 baseline []
	// 1 2 accepted [names the shop]
}
