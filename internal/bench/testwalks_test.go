package bench_test

import (
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// walk is a pathway with ten lines of a caller, and ten assertions that pass with them. A judge evaluates two of the assertions.
type walk struct {
	name     string
	document graph.Document
	lines    []string
	rules    []rule
}

type rule struct {
	kind   assert.Type
	config string
}

// walks returns a walk on which the model answers one question in each turn, and a walk through a node of every type, on which the model
// answers up to four.
func walks() []walk { return []walk{plainWalk(), fullWalk()} }

// testTurns is the number of the caller's turns in a walk.
const testTurns = 10

// judged lists the two assertions that a judge evaluates.
var judged = []rule{
	{assert.LLMJudge, `{"prompt":"The agent asks for one thing at a time."}`},
	{assert.LLMJudge, `{"prompt":"The agent is kind."}`},
}

// plainWalk returns a walk through ten nodes. At each node the model chooses between the next node and a complaint.
func plainWalk() walk {
	w := walk{name: "plain", rules: append(judged[:2:2], []rule{
		{assert.RegexMatch, `{"pattern":"question (\\d+) of","role":"assistant","min_matches":9}`},
		{assert.RegexMatch, `{"pattern":"\\b(refund|lawyer)\\b","flags":"i","negate":true}`},
		{assert.StringCheck, `{"value":"question 9 OF 10"}`},
		{assert.VariableExtracted, `{"variable":"name","operator":"equals","value":"Ada"}`},
		{assert.NodeReached, `{"node_id":"n9"}`},
		{assert.NodesVisited, `{"node_ids":["n1","n5","n9"],"in_order":true}`},
		{assert.StringCheck, `{"value":"I am sorry","operator":"not_contains","target":"transcript"}`},
		{assert.TraversalMatch, `{"reference_path":["n0","n1","n2","n3","n4","n5","n6","n7","n8","n9"],"mode":"exact"}`},
	}...)}
	node := func(id, data string) {
		w.document.Nodes = append(w.document.Nodes, fmt.Appendf(nil, `{"id":%q,"type":"Default","data":%s}`, id, data))
	}
	way := func(from, to, label string) {
		w.document.Edges = append(w.document.Edges, fmt.Appendf(nil, `{"id":%q,"source":%q,"target":%q,"data":{"label":%q}}`, from+to, from, to, label))
	}
	for i := range 10 {
		id := fmt.Sprint("n", i)
		node(id, fmt.Sprintf(`{"name":"Question %d","isStart":%t,"text":"Thank you, {{name}}. This is question %[1]d of 10: which day suits you?"}`, i, i == 0))
		way(id, "complaint", `the caller says "complaint"`)
		if i < 9 {
			way(id, fmt.Sprint("n", i+1), fmt.Sprintf(`the caller says "day %d"`, i))
		}
		w.lines = append(w.lines, fmt.Sprintf("I think that day %d of the month would be best for me.", i))
	}
	node("complaint", `{"name":"Complaint","text":"I am sorry."}`)
	return w
}

// fullWalk returns a walk that books two inspections, through a pathway with a node of every type.
func fullWalk() walk {
	return walk{name: "full", document: agentstest.EveryNode(""), lines: []string{
		"What does it cost?", "Tuesday, please.", "When are you open?", "In the afternoon.", "I am ready.", "How much is it again?",
		"I bring two.", "I would like another day.", "On Thursday, please.", "In the morning.",
	}, rules: append(judged[:2:2], []rule{
		{assert.RegexMatch, `{"pattern":"(thirty|forty) dollars","role":"assistant","min_matches":2}`},
		{assert.RegexMatch, `{"pattern":"\\b(refund|lawyer)\\b","flags":"i","negate":true}`},
		{assert.StringCheck, `{"value":"you come on tuesday"}`},
		{assert.VariableExtracted, `{"variable":"day","operator":"equals","value":"Thursday"}`},
		{assert.NodeReached, `{"node_id":"confirm"}`},
		{assert.NodesVisited, `{"node_ids":["welcome","slots","confirm"],"in_order":true}`},
		{assert.WebhookTriggered, `{"url":"https://example.com/slots","method":"POST","request_body":{"day":"Thursday"}}`},
		{assert.TraversalMatch, `{"reference_path":["welcome","day","cost","day","slots","time","questions","time","calendar","bicycles",` +
			`"cost","bicycles","tones","confirm","day","slots","time","calendar"]}`},
	}...)}
}

// scenario returns a scenario that replays the walk on a pathway.
func (w walk) scenario(pathway string) scenario.Scenario {
	sc := scenario.Scenario{
		Org: testedOrg, Pathway: pathway, Kind: scenario.Replay, Enabled: true, MaxTurns: testTurns, RequestData: map[string]any{"name": "Ada"},
		Webhooks: []scenario.WebhookMock{{Node: "slots", Body: json.RawMessage(`{"free": 1}`)}},
	}
	for _, line := range w.lines {
		sc.Messages = append(sc.Messages, scenario.Message{Role: llm.RoleCaller, Text: line})
	}
	for i, r := range w.rules {
		sc.Assertions = append(sc.Assertions, assert.Assertion{
			ID: fmt.Sprint("a", i), Type: r.kind, Config: json.RawMessage(r.config), Required: true, Weight: 1,
		})
	}
	return sc
}
