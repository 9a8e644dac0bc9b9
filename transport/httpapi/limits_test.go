package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// limited is a member or a parameter with one limit: a value just inside the limit, and a value just outside.
type limited struct {
	path            []string // "[]" is the first item of a list
	inside, outside any
}

// limitsOf returns the limits of a schema and of the schemas nested in it, to a depth of 6. It omits members without effect, and lengths of
// more than 200,000 characters.
func limitsOf(path []string, schema *base.Schema, depth int) (all []limited) {
	if depth > 6 || schema.Extensions.GetOrZero("x-no-effect") != nil { // x-no-effect: values are ignored
		return nil
	}
	add := func(inside, outside any) { all = append(all, limited{slices.Clone(path), inside, outside}) }
	step := 1.0
	if !slices.Contains(schema.Type, "integer") {
		step = 0.001
	}
	if schema.Maximum != nil && len(schema.Enum) == 0 {
		add(*schema.Maximum, *schema.Maximum+step)
	}
	if schema.Minimum != nil {
		add(*schema.Minimum, *schema.Minimum-step)
	}
	const largest = 200_000 // characters; twice as many bytes fit into a body
	if schema.MaxLength != nil && *schema.MaxLength <= largest {
		// Each character is two bytes, so that a server that counts bytes refuses the value inside the limit.
		add(strings.Repeat("ä", int(*schema.MaxLength)), strings.Repeat("ä", int(*schema.MaxLength)+1))
	}
	for _, nested := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		all = append(all, limitsOf(path, nested.Schema(), depth+1)...)
	}
	for name, property := range schema.Properties.FromOldest() {
		all = append(all, limitsOf(append(slices.Clone(path), name), property.Schema(), depth+1)...)
	}
	if schema.Items != nil && schema.Items.IsA() {
		all = append(all, limitsOf(append(slices.Clone(path), "[]"), schema.Items.A.Schema(), depth+1)...)
	}
	return all
}

// with returns a copy of a JSON value in which the value at path is leaf. ok is false if the parent of path does not exist.
func with(value any, path []string, leaf any) (changed any, ok bool) {
	if len(path) == 0 {
		return leaf, true
	}
	switch v := value.(type) {
	case map[string]any:
		inner, given := v[path[0]]
		if !given && len(path) > 1 {
			return nil, false
		}
		if inner, ok = with(inner, path[1:], leaf); !ok {
			return nil, false
		}
		changed := map[string]any{path[0]: inner}
		for name, other := range v {
			if name != path[0] {
				changed[name] = other
			}
		}
		return changed, true
	case []any:
		if path[0] != "[]" || len(v) == 0 {
			return nil, false
		}
		inner, ok := with(v[0], path[1:], leaf)
		return append([]any{inner}, v[1:]...), ok
	}
	return nil, false
}

// dotted formats a path as errors do.
func dotted(path []string) string {
	text := strings.Join(path, ".")
	return strings.ReplaceAll(text, ".[]", "[0]")
}

// aboutALimit matches messages about a limit, but not about the format of a text.
var aboutALimit = regexp.MustCompile(`[0-9] (character|byte)|at most|at least|from [0-9]|longer|shorter|length|greater|less|number of`)

// refusedFor returns the message of an answer's error about a path, or an empty text if there is none.
func refusedFor(answer *httptest.ResponseRecorder, path string) string {
	var body struct {
		Errors []struct {
			Message string `json:"message"`
			Path    string `json:"path"`
		} `json:"errors"`
		Failed map[string]string `json:"failed_updates"`
	}
	_ = json.Unmarshal(answer.Body.Bytes(), &body)
	for _, e := range body.Errors {
		if e.Path == path {
			return e.Message
		}
	}
	return body.Failed[path]
}

// TestLimitsOfTheContractAreThoseOfTheServer sends a value on each side of every limit in the contract. The server must refuse the value
// outside, and must not refuse the value inside for its size.
func TestLimitsOfTheContractAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	every(func(method, path string, op *v3.Operation) {
		if !built()[op.OperationId] {
			return
		}
		t.Run(op.OperationId, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			h.Handler = h.unchecked
			target := h.realPath(path)
			for _, p := range op.Parameters {
				if p.In == "query" {
					h.checkLimits(limitsOf([]string{p.Name}, p.Schema.Schema(), 0), func(l limited, value any) *http.Request {
						r := plain(t, h, method, target, op)
						query := r.URL.Query()
						text := fmt.Sprint(value)
						if number, ok := value.(float64); ok {
							text = strconv.FormatFloat(number, 'f', -1, 64)
						}
						query.Set(l.path[0], text)
						r.URL.RawQuery = query.Encode()
						return r
					})
				}
			}
			if op.RequestBody == nil || op.RequestBody.Content.GetOrZero("application/json") == nil {
				return
			}
			example := plain(t, h, method, target, op)
			var body any
			if err := json.NewDecoder(example.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			limits := limitsOf(nil, op.RequestBody.Content.GetOrZero("application/json").Schema.Schema(), 0)
			h.checkLimits(limits, func(l limited, value any) *http.Request {
				changed, ok := with(body, l.path, value)
				if !ok {
					return nil
				}
				r := plain(t, h, method, target, op)
				text := must(json.Marshal(changed))
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				return r
			})
		})
	})
}

// checkLimits makes a request with the value on each side of each limit, and checks the answers. It skips limits beyond 1e15.
func (h *house) checkLimits(limits []limited, request func(l limited, value any) *http.Request) {
	h.t.Helper()
	for _, l := range limits {
		if length, ok := l.inside.(float64); ok && length == math.Trunc(length) && math.Abs(length) > 1e15 {
			continue
		}
		path := dotted(l.path)
		if r := request(l, l.inside); r != nil {
			if text := refusedFor(answerTo(h, r), path); aboutALimit.MatchString(text) {
				h.t.Errorf("%s: %.60v is within the limits of the contract, and is refused: %s", path, l.inside, text)
			}
		}
		if r := request(l, l.outside); r != nil {
			if answer := answerTo(h, r); answer.Code != http.StatusBadRequest {
				h.t.Errorf("%s: %.60v is outside of the limits of the contract, and is answered %d %.200s", path, l.outside, answer.Code, answer.Body)
			}
		}
	}
}

// realPath attaches ourNumber, and replaces the first parameter of some paths with the id of a new object or with ourNumber. It returns
// other paths unchanged.
func (h *house) realPath(path string) string {
	h.t.Helper()
	h.attach()
	switch {
	case strings.HasPrefix(path, "/v1/triage/issues/{id}"):
		path = strings.ReplaceAll(path, "{id}", h.issue())
	case strings.HasPrefix(path, "/v1/pathway/{id}"):
		path = strings.ReplaceAll(path, "{id}", h.drawn())
	case strings.HasPrefix(path, "/v1/agents/{agent_id}"):
		agent, _ := at(h.t, h.want(201, "POST", "/v1/agents", `{"prompt":"x"}`), "agent", "agent_id").(string)
		path = strings.ReplaceAll(path, "{agent_id}", agent)
	case strings.HasPrefix(path, "/v1/inbound/"):
		path = strings.ReplaceAll(path, "{phone_number}", ourNumber[1:])
	}
	return path
}
