package tornado_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/tornado"
)

// fixing returns a model that answers with the given texts in order, and then repeats the last text.
func fixing(answers ...string) *agentstest.Model {
	m := &agentstest.Model{Called: "fixer"}
	m.Answers = func(context.Context, llm.Question) (string, error) {
		return answers[min(len(m.Questions()), len(answers))-1], nil
	}
	return m
}

// edit is the JSON form of an edit in a model's answer.
type edit struct {
	Op    string  `json:"op"`
	Field *string `json:"field"`
	Text  *string `json:"text"`
	Edge  *string `json:"edge"`
	To    *string `json:"to"`
}

// fixOf returns a fix as JSON, in the format of a model's answer.
func fixOf(kind analysis.Kind, node string, edits ...edit) string {
	raw, err := json.Marshal(map[string]any{
		"type": kind, "target_node": node, "description": "Ask for the time, too.", "edits": edits,
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func proposed(fixes ...string) string {
	return `{"reasoning":"The time is never asked for.","fixes":[` + strings.Join(fixes, ",") + `]}`
}

func setText(field, text string) edit {
	return edit{Op: "set_text", Field: &field, Text: &text}
}

// betterPrompt is a prompt for the start node of desk's pathway. Unlike the original prompt, it also asks for the time.
const betterPrompt = "Ask for the day and the time. Call +1 555 010 0199."

var mended = proposed(fixOf(analysis.PromptChange, "ask", setText("prompt", betterPrompt)))

// brief returns the Fixer's input in iteration 3, with one failing scenario and one rejected plan.
func brief() tornado.Brief {
	return tornado.Brief{
		Document: desk(), Number: 3, Limits: tornado.Limits{Deny: []string{"bye"}},
		Findings: []tornado.Finding{{
			Scenario: "s1", Tally: tornado.Tally{Passed: 1, Failed: 2, Node: "ask", Reason: "the time was not asked for"},
			Analysis: &analysis.Analysis{
				Cause: "ask only wants the day", Fault: analysis.OfAgent, Node: "ask",
				Suggestions: []analysis.Suggestion{{Kind: analysis.PromptChange, Node: "ask", Description: "Ask for both.", Change: "Ask for day and time."}},
			},
		}},
		Rejected: []tornado.Rejection{{
			Plan:   plan(analysis.PromptChange, "ask", tornado.Edit{Op: tornado.SetText, Field: "prompt", Text: "Ask."}),
			Reason: "no failing scenario passes",
		}},
	}
}

// TestFixer checks that a model reads the brief without the addresses of requests, and that Fix returns the model's plan.
func TestFixer(t *testing.T) {
	t.Parallel()
	m := fixing(mended)
	got, err := tornado.NewFixer(m, "a").Fix(t.Context(), "tornado/1/3 plan", brief())
	want := tornado.Plan{Fixes: []tornado.Fix{{
		ID: "fix-1", Kind: analysis.PromptChange, Node: "ask", Description: "Ask for the time, too.",
		Edits: []tornado.Edit{{Op: tornado.SetText, Field: "prompt", Text: betterPrompt}},
	}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	q := m.Questions()[0]
	if q.Org != "a" || q.Task != llm.TaskFix || q.Trial != 3 || q.Temperature == nil || len(q.Messages) != 0 {
		t.Errorf("asked %+v", q)
	}
	for _, known := range []string{
		`{"id":"ask","name":"Ask","type":"Default","may_change":true,"texts":{"prompt":"Ask for the day. Call +1 555 010 0199."},"other":{"isStart":"true"}}`,
		`"id":"bye","name":"Bye","type":"End Call","may_change":false`, `"texts":{"text":"One moment."}`,
		`{"id":"e1","source":"ask","target":"hook","label":"a day is known"}`, `{"id":"e3","source":"hook","target":"bye","always":true}`,
		`"scenario":"s1","passed":1,"failed":2,"node":"ask","reason":"the time was not asked for"`, "ask only wants the day", "Ask for day and time.",
		`"op":"set_text","field":"prompt","text":"Ask."`, "no failing scenario passes", `"limits":{"max_bytes":2048,"max_share":0.2}`,
	} {
		if !strings.Contains(string(q.Evidence), known) {
			t.Errorf("the model does not read %s in %s", known, q.Evidence)
		}
	}
	for _, hidden := range []string{"example.com", "temperature"} {
		if strings.Contains(string(q.Evidence), hidden) {
			t.Errorf("the model reads %s in %s", hidden, q.Evidence)
		}
	}
}

// TestFixerFlow checks that a plan keeps the operations on edges and their arguments, and that an answer without fixes is valid.
func TestFixerFlow(t *testing.T) {
	t.Parallel()
	e1, e2, hook, ask, label := "e1", "e2", "hook", "ask", "a day and a time are known"
	answer := proposed(
		fixOf(analysis.FlowChange, "ask", edit{Op: "set_label", Edge: &e1, Text: &label}, edit{Op: "redirect", Edge: &e2, To: &hook},
			edit{Op: "remove_edge", Edge: &e2}),
		fixOf(analysis.FlowChange, "hook", edit{Op: "add_edge", To: &ask, Text: &label}),
		fixOf(analysis.NodeConfig, "bye", setText("condition", "the caller says goodbye")))
	b := brief()
	b.Limits = tornado.Limits{}
	got, err := tornado.NewFixer(fixing(answer), "a").Fix(t.Context(), "x", b)
	if err != nil || len(got.Fixes) != 3 || got.Fixes[1].Edits[0] != (tornado.Edit{Op: tornado.AddEdge, To: "ask", Text: label}) ||
		got.Fixes[0].Edits[0] != (tornado.Edit{Op: tornado.SetLabel, Edge: "e1", Text: label}) || got.Fixes[0].Edits[1].To != "hook" {
		t.Errorf("got %+v, %v: %v", got, err, errors.Unwrap(err))
	}
	if got, err := tornado.NewFixer(fixing(proposed()), "a").Fix(t.Context(), "x", b); err != nil || len(got.Fixes) != 0 {
		t.Errorf("no idea became %+v, %v", got, err)
	}
}

// TestFixerChecks checks that a model reads the faults of its invalid answer, and that Fix fails after llm.Attempts invalid answers.
func TestFixerChecks(t *testing.T) {
	t.Parallel()
	e1, e3, e9, gone := "e1", "e3", "e9", "gone"
	text := func(text string) string { return fixOf(analysis.PromptChange, "ask", setText("prompt", text)) }
	flow := func(e edit) string { return proposed(fixOf(analysis.FlowChange, "ask", e)) }
	for name, tt := range map[string]struct{ answer, problem string }{
		"nothing":                 {"", "empty"},
		"no JSON":                 {"I would ask for the time.", "not JSON"},
		"two objects":             {mended + mended, "one JSON value"},
		"words before it":         {"Here: " + mended, "not JSON"},
		"cut off":                 {mended[:len(mended)/2], "truncated"},
		"another member":          {strings.Replace(mended, `{"reasoning"`, `{"promote":true,"reasoning"`, 1), "schema"},
		"a member twice":          {strings.Replace(mended, `{"reasoning"`, `{"fixes":[],"reasoning"`, 1), "twice"},
		"an unknown kind":         {strings.Replace(mended, "prompt_change", "rewrite", 1), "schema"},
		"an unknown operation":    {flow(edit{Op: "paint"}), "schema"},
		"another member's text":   {proposed(fixOf(analysis.NodeConfig, "hook", setText("url", "x"))), "schema"},
		"too many fixes":          {proposed(text("a"), text("b"), text("c"), text("d")), "schema"},
		"a fix without edits":     {proposed(fixOf(analysis.PromptChange, "ask")), "schema"},
		"two fixes of a node":     {proposed(text("Ask for a day."), text("Ask for it.")), "one fix for each node"},
		"an unknown node":         {proposed(fixOf(analysis.PromptChange, "gone", setText("prompt", "x"))), "the node \"gone\" does not exist"},
		"a node that is denied":   {proposed(fixOf(analysis.PromptChange, "bye", setText("text", "x"))), "must not be changed"},
		"another kind's member":   {proposed(fixOf(analysis.NodeConfig, "ask", setText("prompt", "x"))), "must not set"},
		"an unknown edge":         {flow(edit{Op: "remove_edge", Edge: &e9}), "one of the ids in edges"},
		"no edge":                 {flow(edit{Op: "remove_edge"}), "the edge \"\" does not exist"},
		"another node's edge":     {flow(edit{Op: "remove_edge", Edge: &e3}), "does not begin"},
		"an unknown end":          {flow(edit{Op: "redirect", Edge: &e1, To: &gone}), "does not exist"},
		"a node out of reach":     {flow(edit{Op: "remove_edge", Edge: &e1}), "must be reachable"},
		"an address":              {proposed(text("Send them to https://evil.example/pay.")), "address"},
		"a number":                {proposed(text("Ask. Call +1 900 555 0100.")), "number"},
		"a key":                   {proposed(text("Say the password: hunter22.")), "key or a password"},
		"a text that is too long": {proposed(text(strings.Repeat("Ask for the day. ", 200))), "more than 2048 bytes"},
		"a text as it is":         {proposed(text("Ask for the day. Call +1 555 010 0199.")), "has this text already"},
		"a rejected plan":         {proposed(text("Ask.")), "rejected before"},
	} {
		m := fixing(tt.answer, mended)
		got, err := tornado.NewFixer(m, "a").Fix(t.Context(), "x", brief())
		if asked := m.Questions(); err != nil || len(got.Fixes) != 1 || len(asked) != 2 || !strings.Contains(asked[1].Problem, tt.problem) {
			t.Errorf("%s: got %+v, %v; asked %d times, with the problem %q", name, got, err, len(asked), asked[len(asked)-1].Problem)
		}
		m = fixing(tt.answer)
		got, err = tornado.NewFixer(m, "a").Fix(t.Context(), "x", brief())
		if llm.ClassOf(err) != llm.ClassInvalid || len(got.Fixes) != 0 || len(m.Questions()) != llm.Attempts {
			t.Errorf("%s for ever: got %+v, %v", name, got, err)
		}
	}
}

// TestFixerWithoutAModel checks the errors for a model that cannot propose changes and for a model that fails.
func TestFixerWithoutAModel(t *testing.T) {
	t.Parallel()
	_, err := tornado.NewFixer(scripted.New(), "a").Fix(t.Context(), "x", brief())
	if llm.ClassOf(err) != llm.ClassUnsupported || !strings.Contains(err.Error(), `the model "scripted" cannot propose changes to pathways`) {
		t.Errorf("got %v", err)
	}
	m := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) {
		return "", &llm.Failure{Class: llm.ClassQuota, Message: "no money"}
	}}
	if got, err := tornado.NewFixer(m, "a").Fix(t.Context(), "x", brief()); llm.ClassOf(err) != llm.ClassQuota || len(got.Fixes) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestScriptedFixes checks that a search can use the scripted model, which answers by its rules.
func TestScriptedFixes(t *testing.T) {
	t.Parallel()
	l := newLab("good", "defect")
	m := scripted.New(
		scripted.Rule{Task: llm.TaskFix, About: "no failing scenario passes", Answer: proposed(fixOf(analysis.PromptChange, "n1", setText("text", "very good")))},
		scripted.Rule{Task: llm.TaskFix, About: "it was not good", Answer: proposed(fixOf(analysis.PromptChange, "n1", setText("text", "worse")))},
	)
	c := l.config()
	c.Fixer = tornado.NewFixer(m, "a")
	got, err := tornado.Search(t.Context(), c)
	if err != nil || got.State != tornado.AllPassed || len(got.Iterations) != 3 || l.textOf(got.Best, "n1") != "very good" {
		t.Errorf("got %+v, %v", got, err)
	}
	c.Fixer = tornado.NewFixer(scripted.New(), "a")
	l = newLab("defect")
	c.Versions, c.Tests, c.Scenarios = l, l, c.Scenarios[:1]
	if got, err := tornado.Search(t.Context(), c); err != nil || got.Stop != tornado.StopModel || !strings.Contains(got.Detail, "configure one that can") {
		t.Errorf("got %+v, %v", got, err)
	}
}

// awkward returns a brief whose pathway has texts that the model reads redacted, clipped or with other line ends.
func awkward() tornado.Brief {
	b := brief()
	b.Rejected = nil
	node := func(data map[string]any) json.RawMessage {
		raw, err := json.Marshal(map[string]any{"id": data["name"], "type": "Default", "data": data})
		if err != nil {
			panic(err)
		}
		return raw
	}
	b.Document = graph.Document{
		Nodes: []json.RawMessage{
			node(map[string]any{"name": "keys", "isStart": true, "prompt": "Ask. password: hunter22", "text": "Hello."}),
			node(map[string]any{"name": "long", "prompt": strings.Repeat("Ask for a day. ", 1000), "condition": "all is known"}),
			node(map[string]any{"name": "lines", "prompt": "Ask for a day.\r\nBe kind.\r\n" + strings.Repeat("Wait.\r\n", 600)}),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id":"a","source":"keys","target":"long","data":{"label":"the token=hunter23 is known"}}`),
			json.RawMessage(`{"id":"b","source":"keys","target":"lines","data":{"label":"else"}}`),
		},
	}
	return b
}

// TestFixerSetsWhatWasRead checks that a model cannot replace a text that it has not read in full, and that texts keep their line ends.
func TestFixerSetsWhatWasRead(t *testing.T) {
	t.Parallel()
	for _, node := range []string{"keys", "long"} {
		m := fixing(proposed(fixOf(analysis.PromptChange, node, setText("prompt", "Ask."))), proposed())
		got, err := tornado.NewFixer(m, "a").Fix(t.Context(), "x", awkward())
		asked := m.Questions()
		if err != nil || len(got.Fixes) != 0 || !strings.Contains(asked[1].Problem, "its full text was not shown") {
			t.Errorf("%s: got %+v, %v, with the problem %q", node, got, err, asked[1].Problem)
		}
		if strings.Contains(string(asked[0].Evidence), "hunter2") {
			t.Errorf("the model reads a password: %s", asked[0].Evidence)
		}
	}
	kind := "Ask for a day.\nBe very kind.\n" + strings.Repeat("Wait.\n", 600)
	m := fixing(proposed(fixOf(analysis.ToneImprovement, "lines", setText("prompt", kind)), fixOf(analysis.ToneImprovement, "keys", setText("text", "Hi."))))
	got, err := tornado.NewFixer(m, "a").Fix(t.Context(), "x", awkward())
	if err != nil || got.Fixes[0].Edits[0].Text != strings.ReplaceAll(kind, "\n", "\r\n") || got.Fixes[1].Edits[0].Text != "Hi." {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestFixerReadsNoMoreThanTheLimits checks that the brief omits the nodes farthest from the faulty nodes, and that a plan cannot change
// omitted nodes.
func TestFixerReadsNoMoreThanTheLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é \"<&>\" ", 2000)
	var b tornado.Brief
	for i := range graph.MaxNodes {
		raw, err := json.Marshal(map[string]any{"id": fmt.Sprint("n", i), "type": "Default", "data": map[string]any{
			"name": long[:36], "isStart": i == 0, "prompt": long[:297], "kb": long[:99],
		}})
		if err != nil {
			t.Fatal(err)
		}
		b.Document.Nodes = append(b.Document.Nodes, raw)
		for _, to := range []int{i + 1, i + 2, i + 3} {
			b.Document.Edges = append(b.Document.Edges, json.RawMessage(fmt.Sprintf(
				`{"id":"e%d-%d","source":"n%d","target":"n%d","data":{"label":%q}}`, i, to, i, to%graph.MaxNodes, long[:45])))
		}
	}
	if n := b.Document.Size(); n > graph.MaxBytes {
		t.Fatalf("the pathway has %d bytes", n)
	}
	for i := range 50 {
		f := tornado.Finding{Scenario: fmt.Sprint("s", i), Tally: tornado.Tally{Failed: 1, Node: "n400", Reason: long}, Analysis: &analysis.Analysis{Cause: long}}
		r := tornado.Rejection{Plan: plan(analysis.PromptChange, fmt.Sprint("n", i)), Reason: long}
		for range 20 {
			f.Analysis.Suggestions = append(f.Analysis.Suggestions, analysis.Suggestion{Description: long, Change: long})
			r.Plan.Fixes[0].Edits = append(r.Plan.Fixes[0].Edits, tornado.Edit{Text: long})
		}
		b.Findings, b.Rejected = append(b.Findings, f), append(b.Rejected, r)
	}
	b.Rejected[49].Reason = "the newest"
	b.Rejected[49].Plan.Fixes[0].Edits = nil
	far, end := "e499-502", "n400"
	m := fixing(
		proposed(fixOf(analysis.FlowChange, "n499", edit{Op: "redirect", Edge: &far, To: &end})),
		proposed(fixOf(analysis.PromptChange, "n499", setText("prompt", "x"))), proposed())
	if got, err := tornado.NewFixer(m, "a").Fix(t.Context(), "x", b); err != nil || len(got.Fixes) != 0 {
		t.Fatalf("got %+v, %v: %v", got, err, errors.Unwrap(err))
	}
	asked := m.Questions()
	if !strings.Contains(asked[1].Problem, "one of the ids in edges") || !strings.Contains(asked[2].Problem, "its full text was not shown") {
		t.Errorf("the problems are %q and %q", asked[1].Problem, asked[2].Problem)
	}
	evidence := string(asked[0].Evidence)
	if len(evidence) > tornado.MaxEvidence {
		t.Errorf("the model reads %d bytes", len(evidence))
	}
	var facts struct {
		Nodes []struct {
			ID    string            `json:"id"`
			Texts map[string]string `json:"texts"`
		} `json:"nodes"`
		Edges []struct {
			Source string `json:"source"`
			Target string `json:"target"`
		} `json:"edges"`
	}
	if err := json.Unmarshal(asked[0].Evidence, &facts); err != nil {
		t.Fatal(err)
	}
	near := []string{"n397", "n398", "n399", "n401", "n402", "n403"}
	if len(facts.Nodes) < 8 || facts.Nodes[0].ID != "n400" || facts.Nodes[0].Texts["prompt"] == "" || !slices.Contains(near, facts.Nodes[1].ID) {
		t.Errorf("the model reads first %.3000s", evidence)
	}
	if e := facts.Edges[0]; e.Source != end && e.Target != end {
		t.Errorf("the model reads first the edge %+v", e)
	}
	if !strings.Contains(evidence, "the newest") || strings.Contains(evidence, `"target_node":"n0"`) {
		t.Error("the model does not read the newest plans")
	}
}
