package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// documentOf returns a document of entries written as JSON.
func documentOf(nodes, edges []string) graph.Document {
	var d graph.Document
	for _, n := range nodes {
		d.Nodes = append(d.Nodes, json.RawMessage(n))
	}
	for _, e := range edges {
		d.Edges = append(d.Edges, json.RawMessage(e))
	}
	return d
}

// compiled compiles a document, and checks that it has no faults.
func compiled(t *testing.T, d graph.Document) *graph.Graph {
	t.Helper()
	g, err := graph.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// faultsOf returns the faults that Compile finds in a document. It checks that an error has CodeBadRequest and that no graph is returned.
func faultsOf(t *testing.T, d graph.Document) callwright.FieldErrors {
	t.Helper()
	g, err := graph.Compile(d)
	if err == nil {
		return nil
	}
	all, ok := errors.AsType[callwright.FieldErrors](err)
	if !ok || g != nil || callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Fatalf("the error is %T %v, the graph %v", err, err, g)
	}
	return all
}

// oneNode returns a document of one node, which is the start, with a type and further members of its data.
func oneNode(kind, data string) graph.Document {
	if data != "" {
		data = "," + data
	}
	return documentOf([]string{fmt.Sprintf(`{"id":"a","type":%q,"data":{"isStart":true%s}}`, kind, data)}, nil)
}

// TestCompile checks that the graph contains everything that a document specifies.
func TestCompile(t *testing.T) {
	t.Parallel()
	g := compiled(t, documentOf([]string{
		`{"globalConfig":{"globalPrompt":"Be {{mood}}."}}`,
		`{"id":"a","type":"Default","position":{"x":1,"y":2},"data":{"name":"First","isStart":true,"prompt":"Greet {{name}}.",
		  "condition":"greeted","tag":{"name":"hello","color":"red"},"modelOptions":{"modelType":"small","temperature":0.5,
		  "skipUserResponse":true,"disableSilenceRepeat":true,"block_interruptions":true},"extractVarSettings":{"ignorePrevious":true}}}`,
		`{"id":"b","type":"Knowledge Base","data":{"text":"T","kb":"All about it.","isGlobal":true,"globalLabel":"a question",
		  "globalDescription":"any","enableGlobalAutoReturn":true}}`,
		`{"id":"c","type":"Transfer Call","data":{"transferNumber":" 15550100123 "}}`,
		`{"id":"d","type":"Press Button","data":{"digits":"1w2#"}}`,
		`{"id":"e","type":"End Call"}`,
		`{"id":"f","type":"Wait for Response","data":{"kbTool":5}}`,
		`{"id":"g","type":"Knowledge Base","data":{"kbTool":"base-1","name":null}}`,
	}, []string{
		`{"id":"1","source":"a","target":"c","data":{"label":"to c","description":"more","isHighlighted":true}}`,
		`{"id":"2","source":"a","target":"d","label":"to d","description":"less","data":{"label":"old"}}`,
		`{"id":"3","source":"a","target":"e","data":{"alwaysPick":true}}`,
		`{"id":"4","source":"d","target":"f","label":"to f","type":"custom"}`,
		`{"id":"5","source":"d","target":"g","description":"to g","data":null}`,
	}))
	a := g.Node("a")
	if g.Start != a || g.Prompt.Text() != "Be {{mood}}." || len(g.Nodes) != 7 || g.Node("x") != nil || len(g.Hash) != 64 {
		t.Errorf("the graph is %+v", g)
	}
	if a.Name != "First" || a.Type != graph.NodeDefault || a.Tag != "hello" || a.Prompt.Text() != "Greet {{name}}." || a.Text != nil ||
		a.Condition.Text() != "greeted" || !a.Skip || !a.QuietSilence || a.Model != "small" || *a.Temperature != 0.5 || !a.Refresh || a.Global ||
		a.BargeIn != (conversation.BargeIn{Level: conversation.NeverInterrupted}) {
		t.Errorf("a is %+v", a)
	}
	b := g.Node("b")
	if len(g.Globals) != 1 || g.Globals[0] != b || !b.Global || b.Label.Text() != "a question" || b.Description.Text() != "any" ||
		!b.AutoReturn || b.Knowledge != "All about it." || b.Text.Text() != "T" || b.Temperature != nil || b.Tools != nil {
		t.Errorf("b is %+v", b)
	}
	if to, digits, base := g.Node("c").TransferTo.Text(), g.Node("d").Digits.Text(), g.Node("g").KnowledgeBase; to != "+15550100123" ||
		digits != "1w2#" || base != "base-1" {
		t.Errorf("the number is %s, the digits %s, the base %s", to, digits, base)
	}
	var edges []string
	for _, n := range []string{"a", "d"} {
		for _, e := range g.Node(n).Edges {
			label, description := "", ""
			if e.Label != nil {
				label = e.Label.Text()
			}
			if e.Description != nil {
				description = e.Description.Text()
			}
			edges = append(edges, fmt.Sprintf("%s %s %q %q %v", e.ID, e.To.ID, label, description, e.Always))
		}
	}
	want := []string{`1 c "to c" "more" false`, `2 d "to d" "less" false`, `3 e "" "" true`, `4 f "to f" "" false`, `5 g "" "to g" false`}
	if !slices.Equal(edges, want) {
		t.Errorf("the edges are %q", edges)
	}
}

// TestCompileBargeIn checks the BargeIn that Compile derives from a node's options. Compile accepts any values, because earlier releases
// have stored them; Check refuses those that the contract does not allow.
func TestCompileBargeIn(t *testing.T) {
	t.Parallel()
	level := conversation.InterruptibilityOf
	for options, test := range map[string]struct {
		want    conversation.BargeIn
		refused string
	}{
		`{}`:                       {},
		`{"interruptibility":0}`:   {conversation.BargeIn{Level: level(0)}, ""},
		`{"interruptibility":4}`:   {conversation.BargeIn{Level: level(4)}, ""},
		`{"interruptibility":9}`:   {conversation.BargeIn{Level: level(4)}, "interruptibility: must be from 0 to 4"},
		`{"interruptibility":-1}`:  {conversation.BargeIn{Level: level(0)}, "interruptibility: must be from 0 to 4"},
		`{"interruptibility":1.5}`: {conversation.BargeIn{Level: level(1)}, "interruptibility: must be an integer"},
		`{"interruptibility":"3"}`: {conversation.BargeIn{}, "interruptibility: must be a number, not a string"},
		`{"interruptibility":3,"block_interruptions":true}`:      {conversation.BargeIn{Level: level(0)}, ""},
		`{"interruptibility":3,"block_interruptions":false}`:     {conversation.BargeIn{Level: level(3)}, ""},
		`{"block_interruptions":1}`:                              {conversation.BargeIn{}, "block_interruptions: must be a boolean, not a number"},
		`{"interruptionThreshold":350.5,"interruptibility":1}`:   {conversation.BargeIn{Level: level(1), Threshold: 350500 * time.Microsecond}, ""},
		`{"interruptionThreshold":0}`:                            {conversation.BargeIn{Threshold: time.Microsecond}, ""},
		`{"interruptionThreshold":1e9}`:                          {conversation.BargeIn{Threshold: 10 * time.Second}, "interruptionThreshold: must be from 0 to 10000"},
		`{"interruptionThreshold":"soon","interruptibility":[]}`: {conversation.BargeIn{}, "interruptibility: must be a number, not an array"},
	} {
		d := oneNode("Default", `"text":"x","modelOptions":`+options)
		if got := compiled(t, d).Start.BargeIn; got != test.want {
			t.Errorf("%s: got %+v, want %+v", options, got, test.want)
		}
		_, err := graph.Check(d)
		if text := fmt.Sprint(err); (err != nil) != (test.refused != "") || err != nil && !strings.Contains(text, "nodes[0].data.modelOptions."+test.refused) {
			t.Errorf("%s: Check returns %v, want %q", options, err, test.refused)
		}
	}
}

// TestCompileWaits checks the waits for the caller that Compile derives from a node's options, and which options Check refuses.
func TestCompileWaits(t *testing.T) {
	t.Parallel()
	for options, test := range map[string]struct {
		least, longest time.Duration
		refused        string
	}{
		`{}`:                            {0, 0, ""},
		`{"min_endpointing_delay":100}`: {100 * time.Millisecond, 0, ""},
		`{"max_endpointing_delay":10000,"min_endpointing_delay":450.5}`: {450500 * time.Microsecond, 10 * time.Second, ""},
		`{"min_endpointing_delay":99}`:                                  {100 * time.Millisecond, 0, "min_endpointing_delay: must be from 100 to 10000"},
		`{"max_endpointing_delay":1e9}`:                                 {0, 10 * time.Second, "max_endpointing_delay: must be from 100 to 10000"},
		`{"max_endpointing_delay":"long"}`:                              {0, 0, "max_endpointing_delay: must be a number, not a string"},
	} {
		d := oneNode("Default", `"text":"x","modelOptions":`+options)
		g := compiled(t, d)
		if got := g.Start; got.LeastWait != test.least || got.LongestWait != test.longest || g.Waits != (test.least+test.longest > 0) {
			t.Errorf("%s: got %s, %s, waits: %t", options, got.LeastWait, got.LongestWait, g.Waits)
		}
		_, err := graph.Check(d)
		if text := fmt.Sprint(err); (err != nil) != (test.refused != "") || err != nil && !strings.Contains(text, "nodes[0].data.modelOptions."+test.refused) {
			t.Errorf("%s: Check returns %v, want %q", options, err, test.refused)
		}
	}
}

// TestNodeSettings checks the settings that a node reports for the record of a call.
func TestNodeSettings(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]map[string]float64{
		`{}`: nil,
		`{"modelName":"base","skipUserResponse":true}`:                 nil,
		`{"block_interruptions":true,"interruptionThreshold":300}`:     {"interruptibility": 0},
		`{"interruptibility":1}`:                                       {"interruptibility": 1, "interruption_threshold": 500},
		`{"interruptibility":1,"interruptionThreshold":350.5}`:         {"interruptibility": 1, "interruption_threshold": 350.5},
		`{"interruptionThreshold":300}`:                                {"interruption_threshold": 300},
		`{"min_endpointing_delay":450.5,"max_endpointing_delay":2000}`: {"min_endpointing_delay": 450.5, "max_endpointing_delay": 2000},
	} {
		if got := compiled(t, oneNode("Default", `"text":"x","modelOptions":`+options)).Start.Settings(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, not %v", options, got, want)
		}
	}
}

// TestCompileExtractVars checks every form of an entry of extractVars.
func TestCompileExtractVars(t *testing.T) {
	t.Parallel()
	got := compiled(t, oneNode("Default", `"text":"x","extractVars":[["day","string","The day"],["n","integer"],["ok","boolean","yes?",true],
		{"name":"price","type":"number","description":"how much","more":1},{"name":"note"},["a.b-c_9",null,null]]`)).Start.Extract
	want := []llm.Field{
		{Name: "day", Type: llm.FieldString, Description: "The day"}, {Name: "n", Type: llm.FieldInteger},
		{Name: "ok", Type: llm.FieldBoolean, Description: "yes?"}, {Name: "price", Type: llm.FieldNumber, Description: "how much"},
		{Name: "note", Type: llm.FieldString}, {Name: "a.b-c_9", Type: llm.FieldString},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the variables are %+v", got)
	}
}

// TestCompileWebhook checks every form of the headers and the timeout of a webhook node.
func TestCompileWebhook(t *testing.T) {
	t.Parallel()
	const rest = `"url":"https://example.com/{{id}}","method":"post","body":"{\"a\":\"{{b}}\"}",
		"responseData":[{"name":"user","data":"$.user.id","context":"who"}]`
	headers := []request.Pair{{Name: "X-A", Value: "1"}, {Name: "Authorization", Value: "Bearer {{key}}"}}
	for name, c := range map[string]struct {
		data    string
		headers []request.Pair
		timeout time.Duration
	}{
		"object":         {`"headers":{"X-A":1,"Authorization":"Bearer {{key}}"},"timeoutValue":2.5`, headers, 2500 * time.Millisecond},
		"pairs":          {`"headers":[["X-A","1"],["Authorization","Bearer {{key}}"]],"timeoutValue":" 3 "`, headers, 3 * time.Second},
		"keys":           {`"headers":[{"key":"X-A","value":"1"},["Authorization","Bearer {{key}}"]],"timeoutValue":""`, headers, request.DefaultTimeout},
		"nothing":        {`"headers":null`, nil, request.DefaultTimeout},
		"long timeout":   {`"headers":{},"timeoutValue":"3600"`, nil, request.LongestTimeout},
		"empty timeout":  {`"headers":[],"timeoutValue":0`, nil, request.DefaultTimeout},
		"unknown member": {`"retries":{"a":[]}`, nil, request.DefaultTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compiled(t, oneNode("Webhook", rest+","+c.data)).Start.Request.Source()
			want := request.Source{
				Method: "POST", URL: "https://example.com/{{id}}", Headers: c.headers, Body: `{"a":"{{b}}"}`, Timeout: c.timeout,
				Variables: []request.Mapping{{Name: "user", Path: "$.user.id", Context: "who"}},
			}
			if len(s.Headers) == 0 {
				s.Headers = nil
			}
			if !reflect.DeepEqual(s, want) {
				t.Errorf("the request is %+v", s)
			}
		})
	}
}

// TestCompileBranches checks every spelling of an operator with every type of value.
func TestCompileBranches(t *testing.T) {
	t.Parallel()
	var list, want []string
	for spelling, operator := range map[string]graph.Operator{
		"==": "==", "=": "==", "is": "==", "IS ": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "contains": "contains",
		"Contains": "contains", "!contains": "!contains",
	} {
		for value, text := range map[string]string{`"a {{b}}"`: "a {{b}}", `5`: "5", `1.50`: "1.50", `true`: "true", `""`: ""} {
			list = append(list, fmt.Sprintf(`["v",%q,%s,{"id":"b","name":"B"}]`, spelling, value))
			want = append(want, fmt.Sprintf("v %s %q b", operator, text))
		}
	}
	d := oneNode("Webhook", `"url":"https://example.com","responsePathways":[`+strings.Join(list, ",")+`]`)
	d.Nodes = append(d.Nodes, json.RawMessage(`{"id":"b","type":"End Call"}`))
	var got []string
	for _, b := range compiled(t, d).Start.Branches {
		got = append(got, fmt.Sprintf("%s %s %q %s", b.Variable, b.Operator, b.Value.Text(), b.To.ID))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the branches are\n%q\nwant\n%q", got, want)
	}
}

// TestCompileTransferNumbers checks the permitted forms of transferNumber: E.164 numbers, SIP URIs and texts with variables.
func TestCompileTransferNumbers(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"+15550100123": "+15550100123", "15550100123": "+15550100123", "sip:desk@example.com": "sip:desk@example.com",
		"SIPS:desk@example.com;transport=tcp": "SIPS:desk@example.com;transport=tcp", "{{desk}}": "{{desk}}", "sip:{{desk}}@x": "sip:{{desk}}@x",
	} {
		if got := compiled(t, oneNode("Transfer Call", fmt.Sprintf(`"transferNumber":%q`, number))).Start.TransferTo.Text(); got != want {
			t.Errorf("%s becomes %s", number, got)
		}
	}
	if to := compiled(t, oneNode("Transfer Call", `"transferNumber":""`)).Start.TransferTo; to != nil {
		t.Errorf("no number becomes %q", to.Text())
	}
}

// TestCompileCircles checks that graphs with endless cycles compile, because the interpreter ends such turns.
func TestCompileCircles(t *testing.T) {
	t.Parallel()
	compiled(t, documentOf([]string{`{"id":"a","type":"Default","data":{"isStart":true,"text":"x"}}`, `{"id":"b","type":"Default","data":{"text":"x"}}`},
		[]string{`{"id":"1","source":"a","target":"b","data":{"alwaysPick":true}}`, `{"id":"2","source":"b","target":"a","data":{"alwaysPick":true}}`,
			`{"id":"3","source":"a","target":"a","data":{"label":"again"}}`}))
}

// TestCompileLimits checks that the largest permitted documents compile, and that larger documents and the empty document have exactly one
// fault.
func TestCompileLimits(t *testing.T) {
	t.Parallel()
	compiled(t, largeDocument(graph.MaxNodes, graph.MaxEdges))
	for want, d := range map[string]graph.Document{
		"nodes: must have at most 500 items":                                   largeDocument(graph.MaxNodes+1, 0),
		"edges: must have at most 2000 items":                                  largeDocument(3, graph.MaxEdges+1),
		"the pathway must have at most 1048576 bytes":                          oneNode("Default", `"x":"`+strings.Repeat("y", graph.MaxBytes)+`"`),
		"nodes: must have one start node: set isStart in the data of one node": {},
	} {
		if got := faultsOf(t, d).Error(); got != want {
			t.Errorf("the faults are %s\nwant %s", got, want)
		}
	}
}

// TestEveryNodeCompiles checks that a document and its normalized form compile to graphs with the same hash.
func TestEveryNodeCompiles(t *testing.T) {
	t.Parallel()
	d := agentstest.EveryNode("")
	if a, b := compiled(t, d).Hash, compiled(t, d.Normalize()).Hash; a != b {
		t.Errorf("the hash %s becomes %s", a, b)
	}
}
