package pathway

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
)

// Longest texts of webhook nodes, in characters, as openapi.yaml has them.
const (
	longestURL     = 2048
	longestMethod  = 10
	longestBody    = 65536
	longestPath    = 512
	longestContext = 1000
)

// webhook reads a request, what is taken from its answer, and where that leads.
func (c *compiler) webhook(n *Node, data fields) {
	source := request.Source{
		Method:    data.text("method", longestMethod),
		URL:       data.need("url", longestURL),
		Headers:   c.headers(data),
		Body:      data.text("body", longestBody),
		Timeout:   c.timeout(data),
		Variables: c.response(data),
	}
	n.Request = c.request(data, source)
	c.graph.Facts = append(c.graph.Facts, source.Facts()...)
	list := data.list("responsePathways", mostItems)
	n.Branches = make([]Branch, len(list))
	for i, v := range list {
		c.branch(n, i, entry(data.at("responsePathways"), i), v.Items())
	}
}

// request parses a source. Parsing stops at a fault: the part that has it is left out then, so that the others' are
// found too.
func (c *compiler) request(data fields, source request.Source) *request.Call {
	for range 8 { // more than a source has parts
		call, err := source.Parse()
		if err == nil {
			return call
		}
		var field string
		data.faults(err, func(f string) string {
			field = f
			return requestField(data.of, source, f)
		})
		switch part, _, _ := strings.Cut(field, "["); part {
		case "method":
			source.Method = ""
		case "url":
			source.URL = "https://example.com/"
		case "headers":
			source.Headers = nil
		case "body":
			source.Body = ""
		case "variables":
			source.Variables = nil
		default:
			return nil
		}
	}
	return nil
}

// requestField is the member of a webhook node's data that a field of a source was made of.
func requestField(data tree.Value, source request.Source, field string) string {
	name, rest, _ := strings.Cut(field, "[")
	switch name {
	case "timeout":
		return "timeoutValue"
	case "variables":
		return "responseData" + strings.Replace(strings.TrimPrefix(field, name), ".path", ".data", 1)
	case "headers":
		number, _, _ := strings.Cut(rest, "]")
		headers := data.Get("headers")
		if i, err := strconv.Atoi(number); err == nil && i < len(source.Headers) && headers.Kind == tree.Object {
			return "headers." + source.Headers[i].Name
		}
	}
	return field
}

// placeholder is the name of what is at fault already, for what is parsed further.
const placeholder = "x"

// headers reads an object, or a list of pairs: [name, value] or {key, value}.
func (c *compiler) headers(data fields) []request.Pair {
	const name = "headers"
	v := data.get(name, tree.Object, tree.Array)
	pairs := make([]request.Pair, 0, len(v.Members))
	for i, item := range v.Members {
		if v.Kind == tree.Object {
			pairs = append(pairs, request.Pair{Name: item.Name, Value: c.word(data.at(name)+"."+item.Name, item.Value)})
			continue
		}
		path, known := entry(data.at(name), i), len(c.errs)
		var p request.Pair
		switch parts := item.Items(); {
		case len(parts) == 2:
			p = request.Pair{Name: c.word(path+"[0]", parts[0].Value), Value: c.word(path+"[1]", parts[1].Value)}
		case item.Kind == tree.Object:
			p = request.Pair{Name: c.word(path+".key", item.Get("key")), Value: c.word(path+".value", item.Get("value"))}
		default:
			c.faultf(path, "must be [name, value] or {key, value}")
		}
		if len(c.errs) > known {
			p.Name = placeholder
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// word is a text, or a number or a boolean as a text.
func (c *compiler) word(path string, v tree.Value) string {
	switch v.Kind {
	case tree.String:
		return v.Text()
	case tree.Number, tree.Boolean:
		return v.Raw
	default:
		c.faultf(path, "must be a text, a number or a boolean, not %s", v.Kind)
		return ""
	}
}

// mostSeconds bounds timeoutValue; a request waits request.LongestTimeout at most.
const mostSeconds = 86400

// timeout reads a number of seconds, also as a text; 0 where there is none.
func (c *compiler) timeout(data fields) time.Duration {
	const name = "timeoutValue"
	v := data.get(name, tree.Number, tree.String)
	if v.Kind == tree.Absent || v.Kind == tree.String && v.Text() == "" {
		return 0
	}
	n := v.Float()
	if v.Kind == tree.String {
		var err error
		if n, err = strconv.ParseFloat(strings.TrimSpace(v.Text()), 64); err != nil {
			n = -1
		}
	}
	if !(n >= 0 && n <= mostSeconds) {
		c.faultf(data.at(name), "must be a number of seconds from 0 to %d", mostSeconds)
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// response reads what is taken from an answer.
func (c *compiler) response(data fields) []request.Mapping {
	list := data.list("responseData", mostItems)
	mappings := make([]request.Mapping, len(list))
	for i, v := range list {
		where := entry(data.at("responseData"), i)
		if v.Kind != tree.Object {
			c.faultf(where, "must be an object")
			mappings[i] = request.Mapping{Name: placeholder, Path: "$"}
			continue
		}
		item := fields{c, path{within: where}, v.Value}
		m := request.Mapping{Name: item.text("name", longestID), Path: item.need("data", longestPath)}
		m.Context = item.text("context", longestContext)
		c.variable(item.at, "name", m.Name)
		mappings[i] = m
	}
	return mappings
}

// operators are the spellings of operators that are tolerated beside their own.
var operators = map[string]Operator{"=": OpEqual, "is": OpEqual}

// branch reads [variable, operator, value, {id, name}].
func (c *compiler) branch(n *Node, i int, where string, parts []tree.Member) {
	at := func(item string) string { return where + item }
	if len(parts) != 4 {
		c.faultf(where, "must be [variable, operator, value, {id, name}]")
		return
	}
	b := &n.Branches[i]
	b.Variable = c.word(at("[0]"), parts[0].Value)
	c.variable(at, "[0]", b.Variable)
	operator := strings.ToLower(strings.TrimSpace(c.word(at("[1]"), parts[1].Value)))
	b.Operator = Operator(operator)
	if known, ok := operators[operator]; ok {
		b.Operator = known
	}
	switch b.Operator {
	case OpEqual, OpNotEqual, OpLess, OpLessOrEqual, OpGreater, OpGreaterOrEqual, OpContains, OpNotContains:
	default:
		c.faultf(at("[1]"), "%q is no operator: ==, !=, <, <=, >, >=, contains or !contains", operator)
	}
	b.Value = template.Parse(c.word(at("[2]"), parts[2].Value))
	if parts[3].Kind != tree.Object {
		c.faultf(at("[3]"), "must be {id, name}")
		return
	}
	target := fields{c, path{within: at("[3]")}, parts[3].Value}
	if id := target.need("id", longestID); id != "" {
		c.ways = append(c.ways, openBranch{path: target.at("id"), from: n, branch: i, to: id})
	}
}

// tools reads what the model may call.
func (c *compiler) tools(n *Node, data fields) {
	list := data.list("tools", mostTools)
	if len(list) == 0 {
		return
	}
	raws := make([]json.RawMessage, len(list))
	for i, v := range list {
		raws[i] = json.RawMessage(v.Raw)
	}
	set, err := tool.NewSet(raws)
	if err == nil {
		n.Tools = set
		return
	}
	for i, raw := range raws { // the set names only the first fault
		if _, err := tool.Parse(raw); err != nil {
			fields{c, path{within: entry(data.at("tools"), i)}, list[i].Value}.faults(err, func(field string) string { return field })
		}
	}
	data.faults(err, func(field string) string { return field })
}
