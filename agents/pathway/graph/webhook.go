package graph

import (
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// webhook contains the members of a webhook node.
type webhook struct {
	call     *request.Call
	facts    []request.Fact
	branches []Branch
	targets  []target
}

// target is the unresolved node to which a branch leads.
type target struct {
	path   string
	branch int
	id     string
}

// parseWebhook reads a webhook's request, the variables to set from its answer, and the branches.
func parseWebhook(data fields) webhook {
	source := request.Source{
		Method:    data.text("method", longestMethod),
		URL:       data.need("url", longestURL),
		Headers:   headers(data),
		Body:      data.text("body", longestBody),
		Timeout:   timeout(data),
		Variables: responseData(data),
	}
	list := data.list("responsePathways", maxItems)
	w := webhook{call: parseRequest(data, source), facts: source.Facts(), branches: make([]Branch, len(list))}
	for i, v := range list {
		w.branch(data, i, v.Items())
	}
	return w
}

// parseRequest parses a source. Because parsing stops at the first error, parseRequest then removes the invalid part and parses again, so
// that errors of other parts are also reported.
func parseRequest(data fields, source request.Source) *request.Call {
	for range 8 { // exceeds the number of parts of a source
		call, err := source.Parse()
		if err == nil {
			return call
		}
		var field string
		data.adopt(err, func(f string) string {
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

// requestField returns the member of a webhook node's data that corresponds to a field of a request.Source.
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

// placeholder replaces an invalid name that was already reported, so that parsing can continue.
const placeholder = "x"

// headers reads the headers, which are an object or a list of pairs: [name, value] or {key, value}.
func headers(data fields) []request.Pair {
	const name = "headers"
	v := data.get(name, tree.Object, tree.Array)
	pairs := make([]request.Pair, 0, len(v.Members))
	for i, item := range v.Members {
		if v.Kind == tree.Object {
			pairs = append(pairs, request.Pair{Name: item.Name, Value: data.word(data.at(name)+"."+item.Name, item.Value)})
			continue
		}
		path, known := Entry(data.at(name), i), len(data.errs.all)
		var p request.Pair
		switch parts := item.Items(); {
		case len(parts) == 2:
			p = request.Pair{Name: data.word(path+"[0]", parts[0].Value), Value: data.word(path+"[1]", parts[1].Value)}
		case item.Kind == tree.Object:
			p = request.Pair{Name: data.word(path+".key", item.Get("key")), Value: data.word(path+".value", item.Get("value"))}
		default:
			data.errs.addf(path, "must be [name, value] or {key, value}")
		}
		if len(data.errs.all) > known {
			p.Name = placeholder
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// maxSeconds bounds timeoutValue in seconds. A request still waits for at most request.LongestTimeout.
const maxSeconds = 86400

// timeout reads timeoutValue, a number of seconds that may be a string. It returns 0 if the member is absent, empty or invalid, and reports
// an invalid one.
func timeout(data fields) time.Duration {
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
	if !(n >= 0 && n <= maxSeconds) {
		data.errorf(name, "must be a number of seconds from 0 to %d", maxSeconds)
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// responseData reads the variables to set from the answer.
func responseData(data fields) []request.Mapping {
	list := data.list("responseData", maxItems)
	mappings := make([]request.Mapping, len(list))
	for i, v := range list {
		at := Entry(data.at("responseData"), i)
		if v.Kind != tree.Object {
			data.errs.addf(at, "must be an object")
			mappings[i] = request.Mapping{Name: placeholder, Path: "$"}
			continue
		}
		item := fields{data.errs, path{within: at}, v.Value}
		m := request.Mapping{Name: item.text("name", longestID), Path: item.need("data", longestPath)}
		m.Context = item.text("context", longestContext)
		item.variable(item.at("name"), m.Name)
		mappings[i] = m
	}
	return mappings
}

// operators maps alternative spellings to operators.
var operators = map[string]Operator{"=": OpEqual, "is": OpEqual}

// branch reads branch i, which is [variable, operator, value, {id, name}].
func (w *webhook) branch(data fields, i int, parts []tree.Member) {
	at := Entry(data.at("responsePathways"), i)
	if len(parts) != 4 {
		data.errs.addf(at, "must be [variable, operator, value, {id, name}]")
		return
	}
	b := &w.branches[i]
	b.Variable = data.word(at+"[0]", parts[0].Value)
	data.variable(at+"[0]", b.Variable)
	operator := strings.ToLower(strings.TrimSpace(data.word(at+"[1]", parts[1].Value)))
	b.Operator = Operator(operator)
	if known, ok := operators[operator]; ok {
		b.Operator = known
	}
	switch b.Operator {
	case OpEqual, OpNotEqual, OpLess, OpLessOrEqual, OpGreater, OpGreaterOrEqual, OpContains, OpNotContains:
	default:
		data.errs.addf(at+"[1]", "must be ==, !=, <, <=, >, >=, contains or !contains")
	}
	b.Value = template.Parse(data.word(at+"[2]", parts[2].Value))
	if parts[3].Kind != tree.Object {
		data.errs.addf(at+"[3]", "must be {id, name}")
		return
	}
	to := fields{data.errs, path{within: at + "[3]"}, parts[3].Value}
	if id := to.need("id", longestID); id != "" {
		w.targets = append(w.targets, target{path: to.at("id"), branch: i, id: id})
	}
}
