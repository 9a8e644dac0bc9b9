package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
)

// object is an object of the contract, or of a body.
type object = map[string]any

// contractTree decodes openapi.yaml into maps and lists.
func contractTree(t *testing.T) (tree object) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(callwright.OpenAPI), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// resolveIn follows the references of a node, and returns the object that they lead to.
func resolveIn(tree object, node any) object {
	o, _ := node.(object)
	for ref, ok := o["$ref"].(string); ok; ref, ok = o["$ref"].(string) {
		var at any = tree
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(object)[name]
		}
		o, _ = at.(object)
	}
	return o
}

// jsonBody is an operation with a JSON body, and the schema of the body.
type jsonBody struct {
	id, method, path string
	schema           object
}

// jsonBodies returns the operations with a JSON body, sorted by id.
func jsonBodies(tree object) (all []jsonBody) {
	for path, item := range tree["paths"].(object) {
		for method, op := range item.(object) {
			op, _ := op.(object)
			content, _ := resolveIn(tree, op["requestBody"])["content"].(object)
			if media, ok := content["application/json"].(object); ok {
				all = append(all, jsonBody{fmt.Sprint(op["operationId"]), strings.ToUpper(method), path, resolveIn(tree, media["schema"])})
			}
		}
	}
	slices.SortFunc(all, func(a, b jsonBody) int { return strings.Compare(a.id, b.id) })
	return all
}

// eachMember calls fn for every member of a schema and of the schemas nested in it. It treats the alternatives of a schema as one object,
// and enters a recursive schema only once.
func eachMember(tree, schema object, path string, around []string, fn func(path string, member object)) {
	for _, kind := range []string{"oneOf", "anyOf", "allOf"} {
		alternatives, _ := schema[kind].([]any)
		for _, a := range alternatives {
			eachMember(tree, resolveIn(tree, a), path, around, fn)
		}
	}
	if items, ok := schema["items"]; ok {
		eachMember(tree, resolveIn(tree, items), path+"[]", around, fn)
	}
	properties, _ := schema["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		member, ref := resolveIn(tree, properties[name]), fmt.Sprint(properties[name])
		at := strings.TrimPrefix(path+"."+name, ".")
		fn(at, member)
		if !slices.Contains(around, ref) {
			eachMember(tree, member, at, append(around, ref), fn)
		}
	}
}

var memberRow = regexp.MustCompile("(?m)^\\| `([a-zA-Z]+)` \\| `([a-z_.\\[\\]]+)` \\| (.+) \\| (ignored|refused) \\| (.+) \\|$")

// TestMembersWithoutEffectAreDocumented checks that the tables of docs/compatibility.md list the same members without effect as
// openapi.yaml, and that the page names each call member that has effect.
func TestMembersWithoutEffectAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range memberRow.FindAllStringSubmatch(string(text), -1) {
		listed[strings.Join(row[1:], " | ")] = true
	}
	_, rest, _ := strings.Cut(string(text), "## Members of a call that have effect")
	rest, _, _ = strings.Cut(rest, "\nTwo of them")
	var effective []string
	for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(rest, -1) {
		effective = append(effective, name[1])
	}
	tree := contractTree(t)
	for _, op := range jsonBodies(tree) {
		var ignores bool
		eachMember(tree, op.schema, "", nil, func(path string, member object) {
			effect, ok := member["x-no-effect"].(object)
			if !ok {
				if top := !strings.ContainsAny(path, ".["); op.id == "createCall" && top && !slices.Contains(effective, path) {
					t.Errorf("docs/compatibility.md does not say that %s of a call has effect", path)
				}
				return
			}
			values := []string{}
			nothing, _ := effect["nothing"].([]any)
			for _, value := range nothing {
				value, _ := json.Marshal(value)
				values = append(values, "`"+string(value)+"`")
			}
			if len(values) == 0 {
				values = []string{"nothing"}
			}
			ignores = ignores || effect["otherwise"] == "ignored"
			if slices.Contains(effective, path) && op.id == "createCall" {
				t.Errorf("docs/compatibility.md says that %s has effect", path)
			}
			row := fmt.Sprintf("%s | %s | %s | %s | %s", op.id, path, strings.Join(values, ", "), effect["otherwise"], effect["reason"])
			if !listed[row] {
				t.Errorf("docs/compatibility.md lacks | %s |", row)
			}
			delete(listed, row)
		})
		if ignores && !namesIgnored(tree, op) {
			t.Errorf("%s ignores members, and its answer has no `ignored`", op.id)
		}
	}
	for row := range listed {
		t.Errorf("docs/compatibility.md lists what the contract has not: | %s |", row)
	}
}

// namesIgnored reports whether a successful answer of an operation has a member `ignored`.
func namesIgnored(tree object, op jsonBody) bool {
	operation := tree["paths"].(object)[op.path].(object)[strings.ToLower(op.method)].(object)
	for status, answer := range operation["responses"].(object) {
		content, _ := resolveIn(tree, answer)["content"].(object)
		media, _ := content["application/json"].(object)
		properties, _ := resolveIn(tree, media["schema"])["properties"].(object)
		if strings.HasPrefix(status, "2") && properties["ignored"] != nil {
			return true
		}
	}
	return false
}
