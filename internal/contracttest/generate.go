package contracttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
)

// Request is a request that a Generator has created.
type Request struct {
	Operation string // id of the operation in the contract
	Method    string
	Path      string // path of the operation, with parameters in braces
	Target    string
	Header    http.Header // Content-Type and header parameters
	Body      string
	Change    string // description of the part that was changed to violate the contract; empty if none
	Streams   bool   // the answer is a stream of server-sent events
}

// Generator creates requests from the schemas of the contract. The same seed results in the same requests.
type Generator struct {
	rand *rand.Rand
	// known returns further values for a parameter, or for a member of a body at any depth, such as ids of existing objects. path is the
	// path of the operation.
	known func(path, operation, in, name string) []string

	path, operation string // of the current request
}

// NewGenerator returns a generator with the given seed. known must not be nil.
func NewGenerator(seed uint64, known func(path, operation, in, name string) []string) *Generator {
	return &Generator{rand: rand.New(rand.NewPCG(seed, 0)), known: known}
}

// object is a JSON object of the contract.
type object = map[string]any

// raw returns the contract as a tree of YAML values.
var raw = sync.OnceValue(func() (tree object) {
	if err := yaml.Unmarshal([]byte(callwright.OpenAPI), &tree); err != nil {
		panic(err)
	}
	return tree
})

// resolved returns the object that value references, or value itself if it is no reference. It returns nil if value is no object.
func resolved(value any) object {
	o, _ := value.(object)
	for ref, ok := o["$ref"].(string); ok; ref, ok = o["$ref"].(string) {
		o = raw()
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			o, _ = o[name].(object)
		}
	}
	return o
}

// Each passes 2n requests for every operation to fn, in the order of paths: n mostly valid requests, and then n requests with one change
// that should make them invalid.
func (g *Generator) Each(n int, fn func(Request)) {
	paths, _ := raw()["paths"].(object)
	for _, path := range names(paths) {
		item, _ := paths[path].(object)
		for _, method := range names(item) {
			op, _ := item[method].(object)
			g.path, g.operation = path, fmt.Sprint(op["operationId"])
			for i := range 2 * n {
				fn(g.request(strings.ToUpper(method), op, i >= n))
			}
		}
	}
}

func names(o object) []string {
	var all []string
	for name := range o {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// streams reports whether an operation answers with server-sent events.
func streams(op object) bool {
	answers, _ := op["responses"].(object)
	content, _ := resolved(answers["200"])["content"].(object)
	return content["text/event-stream"] != nil
}

// request creates a request for an operation. If change is set, it changes one parameter or one part of the body, or adds an unknown query
// parameter if the operation has neither.
func (g *Generator) request(method string, op object, change bool) Request {
	r := Request{Operation: g.operation, Method: method, Path: g.path, Header: http.Header{}, Streams: streams(op)}
	target, query := g.path, url.Values{}
	parameters, _ := op["parameters"].([]any)
	body := resolved(op["requestBody"])
	inBody := change && body != nil && (len(parameters) == 0 || g.rand.IntN(4) > 0)
	changed := -1
	if change && !inBody && len(parameters) > 0 {
		changed = g.rand.IntN(len(parameters))
	}
	for i, p := range parameters {
		p := resolved(p)
		in, name := fmt.Sprint(p["in"]), fmt.Sprint(p["name"])
		if in != "path" && p["required"] != true && i != changed && g.rand.IntN(3) > 0 {
			continue
		}
		value := text(g.named(in, name, resolved(p["schema"])))
		if i == changed {
			value = pick(g, oddTexts)
			r.Change = fmt.Sprintf("%s %s is %.40q", in, name, value)
		}
		switch in {
		case "path":
			target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(value))
		case "query":
			query.Add(name, value)
		case "header":
			r.Header.Set(name, strings.Map(printable, value))
		}
	}
	if change && !inBody && changed < 0 {
		query.Set(pick(g, []string{"colour", "limit", "%"}), "x")
		r.Change = "an unknown parameter"
	}
	r.Target = target
	if len(query) > 0 {
		r.Target += "?" + query.Encode()
	}
	g.fill(&r, body, inBody)
	return r
}

// printable maps characters outside of printable ASCII to -1, so that strings.Map removes them from a header.
func printable(c rune) rune {
	if c < ' ' || c > '~' {
		return -1
	}
	return c
}

// fill creates the body of a request and its Content-Type. If change is set, it changes a JSON body.
func (g *Generator) fill(r *Request, body object, change bool) {
	content, _ := body["content"].(object)
	for _, kind := range names(content) { // the contract lists at most one type
		media, _ := content[kind].(object)
		value := g.value(resolved(media["schema"]), 0)
		r.Header.Set("Content-Type", kind)
		switch kind {
		case "application/json":
			if change {
				value, r.Change = g.changed(value)
			}
			encoded, err := json.Marshal(value)
			if err != nil {
				panic(err)
			}
			r.Body = string(encoded)
			if change && g.rand.IntN(8) == 0 {
				r.Body, r.Change = g.broken(r.Body)
			}
		case "application/x-www-form-urlencoded":
			form := url.Values{}
			members, _ := value.(object)
			for name, v := range members {
				form.Set(name, text(v))
			}
			r.Body = form.Encode()
		case "multipart/form-data":
			r.Header.Set("Content-Type", kind+"; boundary=b")
			members, _ := value.(object)
			for _, name := range names(members) {
				r.Body += fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=%q; filename=\"x\"\r\n\r\n%s\r\n", name, text(members[name]))
			}
			r.Body += "--b--\r\n"
		}
	}
}

// text returns a value in the format of a parameter. Of a list it returns only the first item.
func text(value any) string {
	if list, ok := value.([]any); ok && len(list) > 0 {
		return text(list[0])
	}
	if s, ok := value.(string); ok {
		return s
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}
