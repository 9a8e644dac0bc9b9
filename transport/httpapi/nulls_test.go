package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// objects calls fn for every object of a value whose schema has properties. It visits all alternatives of a schema, but only the first two
// elements of a list.
func objects(tree, schema object, value any, path string, fn func(path string, names []string, value object)) {
	for _, kind := range []string{"oneOf", "anyOf", "allOf"} {
		alternatives, _ := schema[kind].([]any)
		for _, a := range alternatives {
			objects(tree, resolveIn(tree, a), value, path, fn)
		}
	}
	switch value := value.(type) {
	case []any:
		for i := range min(len(value), 2) {
			objects(tree, resolveIn(tree, schema["items"]), value[i], fmt.Sprintf("%s[%d]", path, i), fn)
		}
	case object:
		properties, _ := schema["properties"].(object)
		names := slices.Sorted(maps.Keys(properties))
		if len(names) > 0 {
			fn(path, names, value)
		}
		for _, name := range names {
			if within, ok := value[name]; ok {
				objects(tree, resolveIn(tree, properties[name]), within, strings.TrimPrefix(path+"."+name, "."), fn)
			}
		}
	}
}

// TestNullIsAbsentInEveryBody sends the examples of all operations with each member null, and without that member. It checks that null is
// refused only if the absence is refused with the same error.
func TestNullIsAbsentInEveryBody(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	tree := contractTree(t)
	sent := 0
	for _, op := range jsonBodies(tree) {
		send := func(body any) (int, string) {
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), op.method, parameters.ReplaceAllString(op.path, "1"), strings.NewReader(string(text)))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", h.key)
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			sent++
			return answer.Code, answer.Body.String()
		}
		for _, example := range bodyExamples(tree, op) {
			objects(tree, op.schema, example, "", func(path string, names []string, value object) {
				for _, name := range names {
					kept, had := value[name]
					value[name] = nil
					code, got := send(example)
					delete(value, name)
					if code == http.StatusBadRequest {
						if without, want := send(example); without != code || got != want {
							t.Errorf("%s with %s.%s null: %d %s\nwithout it: %d %s", op.id, path, name, code, got, without, want)
						}
					}
					if had {
						value[name] = kept
					}
				}
			})
		}
	}
	if sent < 500 {
		t.Errorf("only %d bodies were sent", sent)
	}
}

// bodyExamples returns the contract's examples of an operation's body.
func bodyExamples(tree object, op jsonBody) (all []any) {
	operation := tree["paths"].(object)[op.path].(object)[strings.ToLower(op.method)].(object)
	media := resolveIn(tree, operation["requestBody"])["content"].(object)["application/json"].(object)
	if example, ok := media["example"]; ok {
		all = append(all, example)
	}
	examples, _ := media["examples"].(object)
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		all = append(all, resolveIn(tree, examples[name])["value"])
	}
	return all
}
