// Package contracttest checks that a server returns only the error statuses and codes that openapi.yaml lists for each operation. Tests
// wrap a server in Handler, or use Transport in a client. They fail at every answer that Check rejects. The package also generates requests
// from the contract's schemas.
package contracttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
)

// Operation is an operation of the contract with its documented errors.
type Operation struct {
	ID       string
	Method   string
	Segments []string         // segments of the path; a parameter is in braces
	Errors   map[int][]string // error codes in the examples of each documented status
}

// document holds the parts of openapi.yaml that this package reads.
type document struct {
	Paths      map[string]map[string]operation `yaml:"paths"`
	Components struct {
		Responses map[string]response `yaml:"responses"`
	} `yaml:"components"`
}

type operation struct {
	ID        string              `yaml:"operationId"`
	Responses map[string]response `yaml:"responses"`
}

type response struct {
	Ref     string `yaml:"$ref"`
	Content map[string]struct {
		Examples map[string]struct {
			Value map[string]any `yaml:"value"`
		} `yaml:"examples"`
	} `yaml:"content"`
}

var contract = sync.OnceValue(func() (d document) {
	if err := yaml.Unmarshal([]byte(callwright.OpenAPI), &d); err != nil {
		panic(err)
	}
	return d
})

// Operations returns every operation of the contract.
var Operations = sync.OnceValue(func() []Operation {
	d := contract()
	var all []Operation
	for path, methods := range d.Paths {
		for method, op := range methods {
			o := Operation{op.ID, strings.ToUpper(method), strings.Split(path, "/"), map[int][]string{}}
			for text, r := range op.Responses {
				if status, err := strconv.Atoi(text); err == nil && status >= http.StatusBadRequest {
					o.Errors[status] = d.codes(r)
				}
			}
			all = append(all, o)
		}
	}
	return all
})

// codes returns the error codes in the examples of a response.
func (d document) codes(r response) []string {
	if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
		r = d.Components.Responses[name]
	}
	var codes []string
	for _, media := range r.Content {
		for _, example := range media.Examples {
			codes = append(codes, codeOf(example.Value))
		}
	}
	return codes
}

// codeOf returns the code of an error body, or "". All entries of an error body have the same code.
func codeOf(body map[string]any) string {
	code, _ := firstEntry(body)["error"].(string)
	return code
}

// firstEntry returns the first entry of an error body, or nil if there is none.
func firstEntry(body map[string]any) map[string]any {
	list, _ := body["errors"].([]any)
	if len(list) == 0 {
		return nil
	}
	entry, _ := list[0].(map[string]any)
	return entry
}

// Find returns the operation for a request, and whether there is one. If several operations match, Find prefers a fixed segment to a
// parameter, at the first segment in which their paths differ.
func Find(method, path string) (Operation, bool) {
	var best Operation
	for _, o := range Operations() {
		if o.Method == method && o.fits(strings.Split(path, "/")) && (best.ID == "" || o.before(best)) {
			best = o
		}
	}
	return best, best.ID != ""
}

func (o Operation) fits(path []string) bool {
	return slices.EqualFunc(o.Segments, path, func(segment, given string) bool {
		return segment == given || strings.HasPrefix(segment, "{") && given != ""
	})
}

func (o Operation) before(other Operation) bool {
	for i, segment := range o.Segments {
		if segment != other.Segments[i] {
			return !strings.HasPrefix(segment, "{")
		}
	}
	return false
}

// Check returns an error if the contract does not list the status of an answer, or lists the status only with other error codes. It accepts
// every status below 400, and 500 and 501, which the default response covers. Requests without an operation pass, too. Check also records
// the errors, for Unseen and UnseenByOperation.
func Check(r *http.Request, status int, body []byte) error {
	if status < http.StatusBadRequest {
		return nil
	}
	var value map[string]any
	_ = json.Unmarshal(body, &value) // value stays nil if the body is an HTML page
	o, ok := Find(r.Method, r.URL.EscapedPath())
	seen.Store(shown(value), true)
	seen.Store(o.ID+" "+shown(value), true)
	if !ok || status == http.StatusInternalServerError || status == http.StatusNotImplemented {
		return nil
	}
	codes, named := o.Errors[status]
	if !named {
		return fmt.Errorf("%s answers %d, which the contract does not name: %s", o.ID, status, body)
	}
	if code := codeOf(value); len(codes) > 0 && !slices.Contains(codes, code) {
		return fmt.Errorf("%s answers %d %s; the contract names %v for this status", o.ID, status, code, codes)
	}
	return nil
}
