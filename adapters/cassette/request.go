package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// The kinds of requests.
const (
	kindReply  = "reply"
	kindAnswer = "answer"
)

// request is the canonical form of a request to a model, which is compared and written.
type request struct {
	key  string
	text json.RawMessage
}

// request returns the canonical form of an llm.ReplyRequest or an llm.Question, without its organization and with credentials redacted.
func (m *Model) request(kind string, asked any) request {
	fields, _ := canonical(reflect.ValueOf(asked)).(map[string]any)
	delete(fields, "Org")
	if fields["Task"] == nil && kind == kindReply {
		fields["Task"] = string(llm.TaskReply)
	}
	text, err := json.Marshal(m.redactValue(map[string]any{"kind": kind, "by": m.config.Called, "request": fields}))
	if err != nil {
		panic(err) // canonical returns only values that JSON can encode
	}
	return request{keyOf(text), text}
}

func keyOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonical converts a value to JSON types so that values with the same meaning become equal: objects have no order, and structs omit empty
// fields. A field that is added later therefore does not change the keys of existing recordings.
func canonical(v reflect.Value) any {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		return raw(v.Bytes())
	case v.Kind() == reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			field := v.Field(i)
			empty := field.IsZero() || (field.Kind() == reflect.Slice || field.Kind() == reflect.Map) && field.Len() == 0
			if !empty {
				out[v.Type().Field(i).Name] = canonical(field)
			}
		}
		return out
	case v.Kind() == reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = canonical(v.Index(i))
		}
		return out
	case v.Kind() == reflect.String:
		return v.String()
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return raw(text)
}

// raw returns the decoded value of a JSON text, or the text itself if it is not JSON.
func raw(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out any
	if !json.Valid(text) || d.Decode(&out) != nil {
		return string(text)
	}
	return out
}

// nearest describes the recording that differs from a request in the fewest fields, and names up to six of these fields.
func (m *Model) nearest(asked request) string {
	want := paths(asked.text)
	var key string
	var differ []string
	for _, k := range slices.Sorted(maps.Keys(m.kept)) {
		have := paths(m.kept[k].Request)
		var fields []string
		for path := range union(want, have) {
			if want[path] != have[path] {
				fields = append(fields, path)
			}
		}
		if key == "" || len(fields) < len(differ) {
			key, differ = k, fields
		}
	}
	if key == "" {
		return "the cassette is empty"
	}
	slices.Sort(differ)
	const most = 6
	more := ""
	if n := len(differ) - most; n > 0 {
		differ, more = differ[:most], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("the nearest is %s, which differs in %s%s", key[:min(12, len(key))], strings.Join(differ, ", "), more)
}

// union returns the set of keys of both maps.
func union(a, b map[string]string) map[string]bool {
	out := make(map[string]bool, len(a)+len(b))
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

// paths returns the leaf values of a JSON text as text, by their paths, such as request.Messages[2].Text.
func paths(text []byte) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), inner)
			}
		default:
			out[path] = fmt.Sprintf("%T %v", v, v)
		}
	}
	walk("", raw(text))
	return out
}
