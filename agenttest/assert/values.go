package assert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
)

// plain returns a value with its numbers as int64 if they are integers that fit, else as float64. A number that is too large
// for both stays a json.Number. Lists and objects of the argument do not change.
func plain(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	}
	return value
}

// equal compares JSON values. Numbers compare by value, so 5 equals 5.0.
func equal(a, b any) bool {
	a, b = plain(a), plain(b)
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case int64, float64, json.Number:
		return equalNumbers(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && all(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && len(a) == len(b) && within(a, b, equal)
	default:
		return false
	}
}

// subset reports whether an object contains at least the members of another one, recursively. Arrays must have the same length. All
// other values must be equal.
func subset(want, have any) bool {
	switch want := want.(type) {
	case []any:
		have, ok := have.([]any)
		return ok && all(want, have, subset)
	case map[string]any:
		have, ok := have.(map[string]any)
		return ok && within(want, have, subset)
	default:
		return equal(want, have)
	}
}

// all reports whether two lists match, item by item.
func all(a, b []any, alike func(a, b any) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !alike(a[i], b[i]) {
			return false
		}
	}
	return true
}

// within reports whether an object contains the members of another one, with matching values.
func within(a, b map[string]any, alike func(a, b any) bool) bool {
	for name, v := range a {
		if other, known := b[name]; !known || !alike(v, other) {
			return false
		}
	}
	return true
}

// equalNumbers compares two plain values of which the first is a number. It is exact: a float64 equals an integer only if it is
// exactly the same.
func equalNumbers(a, b any) bool {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return x == y
		case float64:
			return equalMixed(x, y)
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return equalMixed(y, x)
		case float64:
			return x == y
		}
	case json.Number:
		y, ok := b.(json.Number)
		return ok && x == y
	}
	return false
}

// equalMixed compares an integer with a floating-point number.
func equalMixed(n int64, f float64) bool {
	const limit = 1 << 63 // exact in float64, beyond int64
	return f == math.Trunc(f) && f >= -limit && f < limit && int64(f) == n
}

// numberOf parses a text as a number in JSON's syntax.
func numberOf(text string) (any, bool) {
	text = strings.TrimSpace(text)
	if text == "" || !strings.ContainsRune("-0123456789", rune(text[0])) || !json.Valid([]byte(text)) {
		return nil, false
	}
	v := plain(json.Number(text))
	_, tooLarge := v.(json.Number)
	return v, !tooLarge
}

// textOf returns a value as text: a string unchanged, a list or an object as JSON. isText is false if JSON cannot encode it.
func textOf(value any) (text string, isText bool) {
	switch v := plain(value).(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	default:
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return "", false
		}
		return strings.TrimSuffix(b.String(), "\n"), true
	}
}

// find returns a variable with a value: by its whole name, or else by the parts of a dotted name.
func find(name string, variables map[string]any) (value any, known bool) {
	if v, ok := variables[name]; ok {
		return v, v != nil
	}
	first, rest, dotted := strings.Cut(name, ".")
	inner, ok := variables[first].(map[string]any)
	if !dotted || !ok {
		return nil, false
	}
	return find(rest, inner)
}

// display returns a value for results: clipped, and sharing no memory that the evidence could change.
func display(value any) any {
	switch v := plain(value).(type) {
	case nil, bool, int64:
		return v
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
		return fmt.Sprint(v)
	case string:
		return callwright.Clip(strings.ToValidUTF8(v, "\uFFFD"), maxShown)
	default:
		text, isText := textOf(v)
		if isText && len(text) <= maxShown {
			return json.RawMessage(text)
		}
		return callwright.Clip(text, maxShown)
	}
}

// quoted returns a value for a sentence, as JSON.
func quoted(value any) string {
	if text, isText := value.(string); isText {
		return excerpt(text)
	}
	text, _ := textOf(value)
	return callwright.Clip(text, maxExcerpt)
}
