package contracttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Member is a parameter of an operation, or a member of a request body.
type Member struct {
	Operation string
	In        string // path, query, header or body
	Path      string // name of a parameter, or path of a member with [] for each list, such as tools[].headers
	Marked    bool   // marked as secret (writeOnly, format password, x-secret), itself or by a parent
}

// String returns the operation, In and Path, separated by spaces.
func (m Member) String() string { return m.Operation + " " + m.In + " " + m.Path }

// Secrets returns the parameters and members that the contract marks as secrets. A marked object counts as one member.
func Secrets() (marked []Member) {
	for _, m := range requested() {
		if m.Marked {
			marked = append(marked, m)
		}
	}
	return marked
}

// secretWords lists words that occur in the names of secret members, and of members whose objects often contain secrets.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "token", "key", "keys", "authorization", "auth", "credential", "credentials", "pin",
	"private", "url", "urls", "link", "webhook", "headers", "header", "cookie", "query", "smtp",
}

// Unmarked returns the parameters and members whose name contains one of secretWords, but which are not marked as secrets.
func Unmarked() (suspects []Member) {
	for _, m := range requested() {
		name := strings.TrimSuffix(m.Path[strings.LastIndexByte(m.Path, '.')+1:], "[]")
		if !m.Marked && slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(secretWords, w) }) {
			suspects = append(suspects, m)
		}
	}
	return suspects
}

// wordsOf splits a name such as apiKey, api_key or Api-Key into words in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// requested returns the parameters of all operations, and the members of their bodies, that accept free text, or that are marked. Of an
// unmarked container, it returns only the members.
func requested() (all []Member) {
	paths, _ := raw()["paths"].(object)
	for _, path := range names(paths) {
		item, _ := paths[path].(object)
		for _, method := range names(item) {
			op, _ := item[method].(object)
			found := map[Member]bool{}
			leaf := func(in string) func(string, bool) {
				return func(at string, marked bool) { found[Member{fmt.Sprint(op["operationId"]), in, at, marked}] = true }
			}
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				p := resolved(p)
				visit(p["schema"], fmt.Sprint(p["name"]), isSecret(p["schema"]) || p["x-secret"] == true, 0, leaf(fmt.Sprint(p["in"])))
			}
			content, _ := resolved(op["requestBody"])["content"].(object)
			for _, kind := range names(content) {
				media, _ := content[kind].(object)
				visit(media["schema"], "", false, 0, leaf("body"))
			}
			all = slices.AppendSeq(all, func(yield func(Member) bool) {
				for m := range found {
					if !yield(m) {
						return
					}
				}
			})
		}
	}
	slices.SortFunc(all, func(a, b Member) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// isSecret reports whether a schema, or the schema that it references, is marked as secret.
func isSecret(schema any) bool {
	own, _ := schema.(object)
	for _, s := range []object{own, resolved(schema)} {
		if s["writeOnly"] == true || s["format"] == "password" || s["x-secret"] == true {
			return true
		}
	}
	return false
}

// visit calls leaf for each member of a schema that accepts free text. For a marked schema, and beyond the maximum depth, it calls leaf
// once and does not descend. The argument at is the path to the schema.
func visit(schema any, at string, marked bool, depth int, leaf func(at string, marked bool)) {
	s := resolved(schema)
	marked = marked || isSecret(schema)
	if marked || depth > 3*maxNesting {
		leaf(at, marked)
		return
	}
	variants := 0
	for _, how := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[how].([]any)
		for _, variant := range list {
			variants++
			visit(variant, at, false, depth+1, leaf)
		}
	}
	properties, _ := s["properties"].(object)
	for _, name := range names(properties) {
		visit(properties[name], strings.TrimPrefix(at+"."+name, "."), false, depth+1, leaf)
	}
	items := resolved(s["items"])
	if items != nil {
		visit(s["items"], at+"[]", false, depth+1, leaf)
	}
	if more := resolved(s["additionalProperties"]); more != nil {
		visit(more, at+".*", false, depth+1, leaf)
	}
	if variants == 0 && len(properties) == 0 && len(items) == 0 && takesText(s) && at != "" {
		leaf(at, false)
	}
}

// takesText reports whether a schema can accept free text. It returns false for a schema that lists its values, or that allows a boolean or
// a number.
func takesText(s object) bool {
	if s["enum"] != nil || s["const"] != nil {
		return false
	}
	kinds, ok := s["type"].([]any)
	if !ok {
		kinds = []any{s["type"]}
	}
	return !slices.ContainsFunc(kinds, func(kind any) bool {
		return kind == "boolean" || kind == "integer" || kind == "number"
	})
}

// WithoutSecrets returns the body of an answer in which the members that the contract marks with x-secret are null, because the answer may
// contain these secrets. It does not change writeOnly members, because no answer may contain them. It does not change the body of an error.
func WithoutSecrets(operation string, status int, body []byte) []byte {
	var value any
	if status >= http.StatusBadRequest || json.Unmarshal(body, &value) != nil {
		return body
	}
	paths, _ := raw()["paths"].(object)
	for _, path := range names(paths) {
		item, _ := paths[path].(object)
		for _, method := range names(item) {
			op, _ := item[method].(object)
			if op["operationId"] != operation {
				continue
			}
			responses, _ := op["responses"].(object)
			content, _ := resolved(responses[fmt.Sprint(status)])["content"].(object)
			media, _ := content["application/json"].(object)
			left, _ := json.Marshal(without(media["schema"], value, 0)) //nolint:errchkjson // it was JSON
			return left
		}
	}
	return body
}

// without replaces the values that a schema marks with x-secret by nil.
func without(schema, value any, depth int) any {
	s := resolved(schema)
	own, _ := schema.(object)
	if s == nil || depth > 3*maxNesting {
		return value
	}
	if s["x-secret"] == true || own["x-secret"] == true {
		return nil
	}
	for _, how := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[how].([]any)
		for _, variant := range list {
			if resolved(variant)["x-secret"] == true {
				if _, isObject := value.(object); !isObject {
					continue // the marked variant is an object, so it does not describe this value
				}
			}
			value = without(variant, value, depth+1)
		}
	}
	switch value := value.(type) {
	case object:
		properties, _ := s["properties"].(object)
		for name, member := range value {
			if property, named := properties[name]; named {
				value[name] = without(property, member, depth+1)
			} else if more := s["additionalProperties"]; more != nil {
				value[name] = without(more, member, depth+1)
			}
		}
	case []any:
		for i, item := range value {
			value[i] = without(s["items"], item, depth+1)
		}
	}
	return value
}
