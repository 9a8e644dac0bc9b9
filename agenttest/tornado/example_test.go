package tornado_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/tornado"
)

// shop keeps versions of a pathway, runs its scenario and proposes changes: your own code, in three small types or in one.
type shop struct{ versions []graph.Document }

func (s *shop) Document(_ context.Context, number int) (graph.Document, error) {
	return s.versions[number-1], nil
}

func (s *shop) Fork(_ context.Context, _ int, _ string, d graph.Document) (int, error) {
	s.versions = append(s.versions, d)
	return len(s.versions), nil
}

func (s *shop) Production(context.Context) (int, error) { return 1, nil }

// Run tests whether the greeting names the shop.
func (s *shop) Run(_ context.Context, _ string, version int, scenarios []string, trials int) (map[string]tornado.Tally, error) {
	if strings.Contains(string(s.versions[version-1].Nodes[0]), "North Bicycles") {
		return map[string]tornado.Tally{scenarios[0]: {Passed: trials, Score: 1}}, nil
	}
	return map[string]tornado.Tally{scenarios[0]: {Failed: trials, Node: "greet", Reason: "the shop is not named"}}, nil
}

// Fix would ask a model.
func (s *shop) Fix(_ context.Context, _ string, b tornado.Brief) (tornado.Plan, error) {
	return tornado.Plan{Fixes: []tornado.Fix{{
		Kind: analysis.PromptChange, Node: b.Findings[0].Tally.Node, Description: "Name the shop.",
		Edits: []tornado.Edit{{Op: tornado.SetText, Field: "text", Text: "Hello, this is North Bicycles."}},
	}}}, nil
}

func ExampleSearch() {
	s := &shop{versions: []graph.Document{{Nodes: []json.RawMessage{
		json.RawMessage(`{"id":"greet","type":"Default","data":{"name":"Greet","isStart":true,"text":"Hello."}}`),
	}}}}
	session, err := tornado.Search(context.Background(), tornado.SearchConfig{
		Versions: s, Tests: s, Fixer: s, Session: "1", Base: 1, Scenarios: []tornado.Scenario{{ID: "names the shop"}},
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
