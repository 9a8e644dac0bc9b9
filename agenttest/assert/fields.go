package assert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// maxErrors is the maximum number of reported errors of one assertion.
const maxErrors = 100

// fields reads the members of a configuration and collects errors. Its methods return the zero value or a default for a member that is
// absent or invalid.
type fields struct {
	errs    callwright.FieldErrors
	members []member // in the order of the JSON
	broken  bool     // the configuration is not an object, so that its members are unknown
	nodes   []string // node ids that were read
}

// member is a member of a configuration.
type member struct {
	name  string
	value any // numbers are json.Number
	read  bool
}

// path returns the error field of a member.
func path(name string) string { return "config." + name }

// item returns the error field of a list item.
func item(name string, i int) string { return path(name) + "[" + strconv.Itoa(i) + "]" }

// rejectf adds an error whose Field is the argument at, unless this field already has an error or maxErrors is reached.
func (f *fields) rejectf(at, format string, args ...any) {
	if len(f.errs) == maxErrors || slices.ContainsFunc(f.errs, func(e *callwright.Error) bool { return e.Field == at }) {
		return
	}
	f.errs = append(f.errs, callwright.Invalid(at, format, args...))
}

// parse reads a JSON object. An empty text counts as an object without members.
func (f *fields) parse(config json.RawMessage) {
	if len(bytes.TrimSpace(config)) == 0 {
		return
	}
	if err := f.object(config); err != nil {
		f.members, f.broken = nil, true
		f.rejectf("config", "%s", err.Error())
	}
}

// object reads the members of a JSON object. Its error is human-readable.
func (f *fields) object(config json.RawMessage) error {
	syntax := errors.New("must be a JSON object")
	switch {
	case len(config) > MaxConfig:
		return errors.New("must have at most " + strconv.Itoa(MaxConfig) + " bytes")
	case !utf8.Valid(config):
		return errors.New("must be valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return syntax
	}
	for d.More() {
		token, err := d.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return syntax
		}
		m := member{name: name}
		if err := d.Decode(&m.value); err != nil {
			return syntax
		}
		if hasNUL(name) || hasNUL(m.value) {
			return errors.New("must not have a NUL character")
		}
		if f.find(name) != nil {
			f.rejectf(shown(name), "must be given only once")
			continue
		}
		f.members = append(f.members, m)
	}
	if _, err := d.Token(); err != nil {
		return syntax
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return syntax
	}
	return nil
}

// shown returns the error field of a member that the client named, truncated to MaxReference.
func shown(name string) string { return path(callwright.Clip(name, MaxReference)) }

// hasNUL reports whether a value contains the NUL character, which databases cannot store.
func hasNUL(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		return slices.ContainsFunc(v, hasNUL)
	case map[string]any:
		for name, inner := range v {
			if hasNUL(name) || hasNUL(inner) {
				return true
			}
		}
	}
	return false
}

// find returns a member, or nil if it is absent.
func (f *fields) find(name string) *member {
	i := slices.IndexFunc(f.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return &f.members[i]
}

// refuseUnread adds an error for each member that was not read.
func (f *fields) refuseUnread() {
	for _, m := range f.members {
		if !m.read {
			f.rejectf(shown(m.name), "is unknown for this type of assertion")
		}
	}
}

// has reports whether a member is present.
func (f *fields) has(name string) bool { return f.find(name) != nil }

// get returns the value of a member and marks it as read. known is false if the member is absent.
func (f *fields) get(name string) (value any, known bool) {
	m := f.find(name)
	if m == nil {
		return nil, false
	}
	m.read = true
	return m.value, true
}

// require adds an error if a member is absent.
func (f *fields) require(name string) {
	if !f.broken && !f.has(name) {
		f.rejectf(path(name), "is required")
	}
}

// forbid adds an error if a member is present although it has no effect here: it is probably a mistake.
func (f *fields) forbid(name, reason string) {
	if _, known := f.get(name); known {
		f.rejectf(path(name), "%s", reason)
	}
}

// text returns the string of a member. It adds an error if the member is not a string, or if it is longer than the given number of
// characters.
func (f *fields) text(name string, longest int) string {
	v, known := f.get(name)
	if !known {
		return ""
	}
	return f.textAt(path(name), v, longest)
}

// textAt returns v as a string. It adds an error whose Field is the argument at if v is not a string, or if v is longer than the given
// number of characters.
func (f *fields) textAt(at string, v any, longest int) string {
	text, isText := v.(string)
	switch {
	case !isText:
		f.rejectf(at, "must be a string, not %s", kindOf(v))
		return ""
	case callwright.Longer(text, longest):
		f.rejectf(at, "must have at most %d characters", longest)
		return ""
	}
	return text
}

// word returns a string. It adds an error if the member is present and empty.
func (f *fields) word(name string, longest int) string {
	text := f.text(name, longest)
	if text == "" && f.has(name) {
		f.rejectf(path(name), "must not be empty")
	}
	return text
}

// prompt returns a required string, and adds an error if the string is blank.
func (f *fields) prompt(name string, longest int) string {
	f.require(name)
	text := f.text(name, longest)
	if strings.TrimSpace(text) == "" && f.has(name) {
		f.rejectf(path(name), "must not be empty")
	}
	return text
}

// node returns the id of a node, and records it in f.nodes.
func (f *fields) node(name string) string {
	id := f.word(name, MaxReference)
	if id != "" {
		f.nodes = append(f.nodes, id)
	}
	return id
}

// words returns a list of non-empty strings.
func (f *fields) words(name string, least, most, longest int) []string {
	items := f.list(name, least, most)
	words := make([]string, len(items))
	for i, v := range items {
		if words[i] = f.textAt(item(name, i), v, longest); words[i] == "" {
			f.rejectf(item(name, i), "must not be empty")
		}
	}
	return words
}

// nodeList returns a list of node ids, and records them in f.nodes.
func (f *fields) nodeList(name string, least, most int) []string {
	ids := f.words(name, least, most, MaxReference)
	f.nodes = append(f.nodes, ids...)
	return ids
}

// list returns an array. It adds an error if the number of items is below the argument least or above the argument most.
func (f *fields) list(name string, least, most int) []any {
	v, known := f.get(name)
	if !known {
		return nil
	}
	items, isList := v.([]any)
	switch {
	case !isList:
		f.rejectf(path(name), "must be an array, not %s", kindOf(v))
		return nil
	case len(items) < least:
		f.rejectf(path(name), "must have at least %s", plural(least, "item"))
		return nil
	case len(items) > most:
		f.rejectf(path(name), "must have at most %d items", most)
		return nil
	}
	return items
}

// choice returns a string that must be one of a list. If the member is absent or invalid, it returns the first string of the list.
func choice[S ~string](f *fields, name string, of ...S) S {
	v, known := f.get(name)
	if !known {
		return of[0]
	}
	text, isText := v.(string)
	if !isText || !slices.Contains(of, S(text)) {
		f.rejectf(path(name), "must be one of %s", listed(of))
		return of[0]
	}
	return S(text)
}

// flag returns a boolean. If the member is absent, it returns the argument absent; if the member is invalid, it returns false.
func (f *fields) flag(name string, absent bool) bool {
	v, known := f.get(name)
	if !known {
		return absent
	}
	flag, isFlag := v.(bool)
	if !isFlag {
		f.rejectf(path(name), "must be a boolean, not %s", kindOf(v))
	}
	return flag
}

// number returns a number. It adds an error if the number is below low or above high. If the member is missing or invalid, it returns the
// argument absent.
func (f *fields) number(name string, absent, low, high float64) float64 {
	v, known := f.get(name)
	if !known {
		return absent
	}
	n, isNumber := v.(json.Number)
	if !isNumber {
		f.rejectf(path(name), "must be a number, not %s", kindOf(v))
		return absent
	}
	x, err := n.Float64()
	if err != nil || math.IsNaN(x) || x < low || x > high {
		f.rejectf(path(name), "must be from %v to %v", low, high)
		return absent
	}
	return x
}

// whole returns an integer. It adds an error if the integer is below low or above high. If the member is missing or invalid, it returns the
// argument absent.
func (f *fields) whole(name string, absent, low, high int) int {
	known := len(f.errs)
	x := f.number(name, float64(absent), float64(low), float64(high))
	if len(f.errs) == known && x != math.Trunc(x) {
		f.rejectf(path(name), "must be an integer")
		return absent
	}
	return int(x)
}

// scalar returns v if it is a string, a number or a boolean. Else it adds an error whose Field is the argument at. Strings longer than
// MaxValue and too large numbers also cause errors.
func (f *fields) scalar(at string, v any) any {
	switch v := plain(v).(type) {
	case string:
		return f.textAt(at, v, MaxValue)
	case int64, float64, bool:
		return v
	case json.Number:
		f.rejectf(at, "must be a number within the range of a 64-bit floating-point number")
	default:
		f.rejectf(at, "must be a string, a number or a boolean, not %s", kindOf(v))
	}
	return nil
}

// kindOf returns the type of a JSON value for error messages, with an article.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
