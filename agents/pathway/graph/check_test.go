package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestFaults checks that each fault is reported at its path, and that no other fault is reported.
func TestFaults(t *testing.T) {
	t.Parallel()
	const start = `{"id":"a","type":"Default","data":{"isStart":true,"text":"x"}}`
	const end = `{"id":"b","type":"End Call"}`
	const edge = `{"id":"1","source":"a","target":"b","data":{"label":"go"}}`
	webhook := func(data string) graph.Document { return oneNode("Webhook", `"url":"https://example.com",`+data) }
	text := func(data string) graph.Document { return oneNode("Default", `"text":"x",`+data) }
	branch := func(rest string) graph.Document { return webhook(`"responsePathways":[` + rest + `]`) }
	long := strings.Repeat("é", 40000)
	const noTransfer = "nodes[0].data.transferNumber: must be an E.164 phone number such as +15551234567, or a SIP URI"
	const noName = "must be a variable name: a letter or _, then letters, digits, _, . and -, at most 128 characters"

	for name, c := range map[string]struct {
		d    graph.Document
		want []string
	}{
		"no start": {documentOf([]string{end}, nil), []string{"nodes: must have one start node: set isStart in the data of one node"}},
		"two starts": {documentOf([]string{start, `{"id":"b","type":"End Call","data":{"isStart":true}}`}, []string{edge}),
			[]string{`nodes[1].data.isStart: must be true for one node only: node "a" is the start`}},
		"no id": {documentOf([]string{start, `{"type":"End Call"}`}, nil),
			[]string{`nodes[1].id: is required`, `nodes[1]: must be reachable: no edge and no branch leads to node ""`}},
		"same id": {documentOf([]string{start, start[:9] + `,"type":"End Call"}`}, nil),
			[]string{`nodes[1].id: must be unique: nodes[0] has the id "a" too`, `nodes[1]: must be reachable: no edge and no branch leads to node "a"`}},
		"long id":      {documentOf([]string{strings.Replace(start, `"a"`, `"`+strings.Repeat("a", 129)+`"`, 1)}, nil), []string{"nodes[0].id: must have at most 128 characters"}},
		"id of 128":    {documentOf([]string{strings.Replace(start, `"a"`, `"`+strings.Repeat("é", 128)+`"`, 1)}, nil), nil},
		"no type":      {documentOf([]string{`{"id":"a","data":{"isStart":true}}`}, nil), []string{"nodes[0].type: is required"}},
		"unknown type": {oneNode("default", ""), []string{`nodes[0].type: must be Default, End Call, Transfer Call, Knowledge Base, Webhook, Wait for Response or Press Button, not "default"`}},
		"SMS":          {oneNode("SMS", ""), []string{`nodes[0].type: must be Default, End Call, Transfer Call, Knowledge Base, Webhook, Wait for Response or Press Button, not "SMS"`}},
		"Custom Code":  {oneNode("Custom Code", ""), []string{`nodes[0].type: must be Default, End Call, Transfer Call, Knowledge Base, Webhook, Wait for Response or Press Button, not "Custom Code"`}},
		"Transfer Pathway": {oneNode("Transfer Pathway", ""),
			[]string{`nodes[0].type: must be Default, End Call, Transfer Call, Knowledge Base, Webhook, Wait for Response or Press Button, not "Transfer Pathway"`}},
		"Scheduling": {oneNode("Scheduling", ""), []string{`nodes[0].type: must be Default, End Call, Transfer Call, Knowledge Base, Webhook, Wait for Response or Press Button, not "Scheduling"`}},

		"no JSON":         {documentOf([]string{start, `{"id":`}, []string{`{`, `1 2`}), []string{"nodes[1]: must be JSON: syntax error at byte 6", "edges[0]: must be JSON: syntax error at byte 1", "edges[1]: must be JSON: syntax error at byte 2"}},
		"NUL":             {text(`"more":["\u0000"]`), []string{"nodes[0]: must not have a NUL character"}},
		"not UTF-8":       {text("\"more\":\"\xff\""), []string{"nodes[0]: must be valid UTF-8"}},
		"deep":            {text(`"more":` + strings.Repeat("[", 200) + strings.Repeat("]", 200)), []string{"nodes[0]: must have at most 100 nested levels"}},
		"list as a node":  {documentOf([]string{start, `[]`, `"x"`, `null`}, nil), []string{"nodes[1]: must be an object", "nodes[2]: must be an object", "nodes[3]: must be an object"}},
		"list as an edge": {documentOf([]string{start}, []string{`[]`, `null`}), []string{"edges[0]: must be an object", "edges[1]: must be an object"}},
		"wrong kinds": {documentOf([]string{`{"id":5,"type":[],"data":7}`}, nil),
			[]string{"nodes[0].id: must be a string, not a number", "nodes[0].data: must be an object, not a number", "nodes[0].type: must be a string, not an array",
				"nodes: must have one start node: set isStart in the data of one node"}},
		"wrong kinds of data": {text(`"name":{},"isGlobal":1,"tag":"t","modelOptions":[],"extractVars":{},"extractVarSettings":true,"tools":"x","prompt":false`), []string{
			"nodes[0].data.name: must be a string, not an object", "nodes[0].data.tag: must be an object, not a string",
			"nodes[0].data.prompt: must be a string, not a boolean", "nodes[0].data.extractVarSettings: must be an object, not a boolean",
			"nodes[0].data.extractVars: must be an array, not an object", "nodes[0].data.tools: must be an array, not a string",
			"nodes[0].data.modelOptions: must be an object, not an array", "nodes[0].data.isGlobal: must be a boolean, not a number"}},
		"wrong kinds of an edge": {documentOf([]string{start, end}, []string{edge, `{"id":"2","source":"a","target":true,"data":{"alwaysPick":"yes","label":[]}}`, `{"id":"3","source":"a","target":"b","data":[],"label":"x"}`}), []string{
			"edges[1].target: must be a string, not a boolean", "edges[1].data.label: must be a string, not an array", "edges[1].data.alwaysPick: must be a boolean, not a string",
			"edges[2].data: must be an object, not an array", "edges[2].data.label: is required: say when to take the edge, or set alwaysPick"}},

		"nothing to say": {oneNode("Default", `"prompt":" ","text":""`), []string{"nodes[0].data.prompt: is required: a Default node needs a prompt or a text"}},
		"long texts": {text(`"name":"` + long[:402] + `","prompt":"` + long + `","condition":"` + long[:16002] + `","tag":{"name":"` + long[:202] + `"}`), []string{
			"nodes[0].data.name: must have at most 200 characters", "nodes[0].data.tag.name: must have at most 100 characters",
			"nodes[0].data.prompt: must have at most 32768 characters", "nodes[0].data.condition: must have at most 8000 characters"}},
		"temperature":         {text(`"modelOptions":{"newTemperature":2.1,"temperature":1}`), []string{"nodes[0].data.modelOptions.newTemperature: must be from 0 to 2"}},
		"model":               {text(`"modelOptions":{"modelType":5,"temperature":"hot"}`), []string{"nodes[0].data.modelOptions.modelType: must be a string, not a number", "nodes[0].data.modelOptions.temperature: must be a number, not a string"}},
		"global without when": {text(`"isGlobal":true`), []string{"nodes[0].data.globalLabel: is required for a global node: say when to go there"}},
		"settings of all": {documentOf([]string{start, `{"globalConfig":{}}`, `{"globalConfig":{"globalPrompt":5},"id":"x"}`, `{"globalConfig":"x"}`}, nil), []string{
			"nodes[2].globalConfig: must be in a separate entry, without id", "nodes[2].globalConfig.globalPrompt: must be a string, not a number",
			"nodes[3].globalConfig: must be in one entry only"}},

		"variables to find out": {text(`"extractVars":[["1x","string"],["x","date"],5,{"type":"string"},["y",7],[],["z"],{"name":"z"}]`), []string{
			"nodes[0].data.extractVars[0][0]: " + noName, `nodes[0].data.extractVars[1][1]: must be string, integer, number or boolean`,
			"nodes[0].data.extractVars[2]: must be [name, type, description], or an object with these members", "nodes[0].data.extractVars[3].name: is required",
			"nodes[0].data.extractVars[4][1]: must be a string, not a number", "nodes[0].data.extractVars[5][0]: is required",
			`nodes[0].data.extractVars[7]: must be unique: another entry has the variable "z"`}},
		"long variable": {text(`"extractVars":[["` + strings.Repeat("a", 129) + `"]]`), []string{"nodes[0].data.extractVars[0][0]: " + noName}},
		"too many variables": {text(`"extractVars":[` + strings.TrimSuffix(strings.Repeat(`["x"],`, 101), ",") + `]`),
			[]string{"nodes[0].data.extractVars: must have at most 100 items"}},

		"no number":         {oneNode("Transfer Call", `"transferNumber":"call me"`), []string{noTransfer}},
		"national number":   {oneNode("Transfer Call", `"transferNumber":"0301234567"`), []string{"nodes[0].data.transferNumber: must begin with + and the country code, such as +14155550108"}},
		"two readings":      {oneNode("Transfer Call", `"transferNumber":"4155550123"`), []string{"nodes[0].data.transferNumber: is ambiguous: must begin with + and the country code: +14155550123 for a number of North America (+4155550123 is not a valid number)"}},
		"another scheme":    {oneNode("Transfer Call", `"transferNumber":"http://x"`), []string{noTransfer}},
		"address of blanks": {oneNode("Transfer Call", `"transferNumber":"sip:a b@c"`), []string{noTransfer}},
		"no digits":         {oneNode("Press Button", ""), []string{"nodes[0].data.digits: is required"}},
		"letters":           {oneNode("Press Button", `"digits":"12E"`), []string{"nodes[0].data.digits: must have only 0-9, A-D, *, # and w, which pauses for half a second"}},
		"no knowledge": {oneNode("Knowledge Base", `"prompt":"x","kb":" "`),
			[]string{"nodes[0].data.kb: is required: a Knowledge Base node needs a text in kb or a knowledge base in kbTool"}},

		"no address": {oneNode("Webhook", ""), []string{"nodes[0].data.url: is required"}},
		"all of a request": {oneNode("Webhook", `"url":"ftp://x","method":"BREW","headers":{"Host":"x","X-A":"1"},"body":"{","timeoutValue":"soon","responseData":[{"name":"ok","data":"$.a"},{"name":"b","data":"a"}]`), []string{
			"nodes[0].data.timeoutValue: must be a number of seconds from 0 to 86400", "nodes[0].data.method: must be one of GET, POST, PUT, PATCH, DELETE",
			"nodes[0].data.url: must begin with https:// or http://", "nodes[0].data.headers.Host: must not be Host, which the server sets itself",
			"nodes[0].data.body: must be JSON, in which variables stand inside strings or replace whole values",
			"nodes[0].data.responseData[1].data: must be a JSONPath of at most 512 characters that begins with $, such as $.user.id"}},
		"headers": {webhook(`"headers":[["a"],{"key":"b"},"c",["d",null],["e f","x"]]`), []string{
			"nodes[0].data.headers[0]: must be [name, value] or {key, value}", "nodes[0].data.headers[1].value: is required, and must be a string, a number or a boolean",
			"nodes[0].data.headers[2]: must be [name, value] or {key, value}", "nodes[0].data.headers[3][1]: must be a string, a number or a boolean, not null",
			"nodes[0].data.headers[4].name: must be a header name: 1 to 256 letters, digits and characters of !#$%&'*+-.^_`|~"}},
		"many answers": {webhook(`"responseData":[` + strings.TrimSuffix(strings.Repeat(`{"name":"a","data":"$.a"},`, 65), ",") + `],"headers":[` + strings.TrimSuffix(strings.Repeat(`["a","b"],`, 65), ",") + `]`),
			[]string{"nodes[0].data.headers: ", "nodes[0].data.responseData: "}},
		"timeouts": {webhook(`"timeoutValue":-1`), []string{"nodes[0].data.timeoutValue: must be a number of seconds from 0 to 86400"}},
		"NaN":      {webhook(`"timeoutValue":"NaN"`), []string{"nodes[0].data.timeoutValue: must be a number of seconds from 0 to 86400"}},
		"answers": {webhook(`"responseData":[5,{"name":"","data":"$.a"},{"name":"a b","data":"$.b"},{"name":"c"},{"name":"d","data":"$.d","context":[]}]`), []string{
			"nodes[0].data.responseData[0]: must be an object", "nodes[0].data.responseData[1].name: is required", "nodes[0].data.responseData[2].name: " + noName,
			"nodes[0].data.responseData[3].data: is required", "nodes[0].data.responseData[4].context: must be a string, not an array"}},
		"branches": {branch(`["a","==",1],["a b","==",1,{"id":"a"}],["a","like",1,{"id":"a"}],["a","==",[],{"id":"a"}],["a","==",1,"a"],["a","==",1,{"id":"x"}],["a","==",1,{}]`), []string{
			"nodes[0].data.responsePathways[0]: must be [variable, operator, value, {id, name}]", "nodes[0].data.responsePathways[1][0]: " + noName,
			`nodes[0].data.responsePathways[2][1]: must be ==, !=, <, <=, >, >=, contains or !contains`,
			"nodes[0].data.responsePathways[3][2]: must be a string, a number or a boolean, not an array", "nodes[0].data.responsePathways[4][3]: must be {id, name}",
			"nodes[0].data.responsePathways[6][3].id: is required", `nodes[0].data.responsePathways[5][3].id: must be the id of a node: no node has the id "x"`}},
		"tools": {text(`"tools":["tool-1",{"name":"a","description":"d","url":"nowhere"}]`), []string{"nodes[0].data.tools[0]: ", "nodes[0].data.tools[1].url: "}},
		"tools of one name": {text(`"tools":[{"name":"a","description":"d","url":"https://x.com"},{"name":"a","description":"d","url":"https://x.com"}]`),
			[]string{"nodes[0].data.tools[1].name: must be unique: another tool has this name"}},

		"dangling":             {documentOf([]string{start}, []string{edge}), []string{`edges[0].target: must be the id of a node: no node has the id "b"`}},
		"dangling source":      {documentOf([]string{start, end}, []string{edge, `{"id":"2","source":"x","target":"b","label":"l"}`}), []string{`edges[1].source: must be the id of a node: no node has the id "x"`}},
		"edges without ids":    {documentOf([]string{start, end}, []string{edge, `{"label":"x"}`, edge}), []string{"edges[1].id: is required", "edges[1].source: is required", "edges[1].target: is required", `edges[2].id: must be unique: edges[0] has the id "1" too`}},
		"edges without labels": {documentOf([]string{start, end}, []string{`{"id":"1","source":"a","target":"b"}`}), []string{"edges[0].data.label: is required: say when to take the edge, or set alwaysPick"}},
		"long label":           {documentOf([]string{start, end}, []string{`{"id":"1","source":"a","target":"b","label":"` + long[:2002] + `","description":"` + long[:8002] + `","data":{"alwaysPick":true}}`}), []string{"edges[0].data.label: must have at most 1000 characters", "edges[0].data.description: must have at most 4000 characters"}},
		"two always": {documentOf([]string{start, end}, []string{`{"id":"1","source":"a","target":"b","data":{"alwaysPick":true}}`, `{"id":"2","source":"a","target":"b","data":{"alwaysPick":true}}`}),
			[]string{`edges[1].data.alwaysPick: must be true for one edge of node "a" only`}},
		"after the end": {documentOf([]string{start, end}, []string{edge, `{"id":"2","source":"b","target":"a","label":"l"}`}), []string{`edges[1].source: must not be an End Call node: "b" ends the call`}},
		"nothing leads there": {documentOf([]string{start, end, `{"id":"c","type":"Wait for Response"}`, `{"id":"d","type":"End Call"}`}, []string{edge, `{"id":"2","source":"c","target":"d","label":"l"}`}),
			[]string{`nodes[2]: must be reachable: no edge and no branch leads to node "c"`, `nodes[3]: must be reachable: no edge and no branch leads to node "d"`}},
		"global leads there": {documentOf([]string{start, `{"id":"b","type":"Default","data":{"isGlobal":true,"globalLabel":"x","text":"x"}}`, `{"id":"c","type":"End Call"}`}, []string{`{"id":"2","source":"b","target":"c","label":"l"}`}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := faultsOf(t, c.d)
			for i := range max(len(got), len(c.want)) {
				switch {
				case i >= len(got):
					t.Errorf("missing: %s", c.want[i])
				case i >= len(c.want):
					t.Errorf("too much: %s", got[i])
				case got[i].Error() != c.want[i] && (!strings.HasSuffix(c.want[i], ": ") || !strings.HasPrefix(got[i].Error(), c.want[i])):
					t.Errorf("fault %d is %s\nwant %s", i, got[i], c.want[i])
				}
			}
		})
	}
}

// TestManyFaults checks that the number of reported faults is limited, and that the last error mentions the rest.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	var d graph.Document
	for i := range 300 {
		d.Nodes = append(d.Nodes, json.RawMessage(fmt.Sprintf(`{"id":"n%d","type":"x"}`, i)))
	}
	got := faultsOf(t, d)
	if len(got) != 101 || got[99].Field != "nodes[99].type" || got[100].Error() != "the pathway has more errors: only the first 100 are listed" {
		t.Errorf("%d faults, the last %v", len(got), got[len(got)-1])
	}
}
