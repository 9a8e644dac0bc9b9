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

// plain converts a number to an int64 if it is an integer that fits, else to a float64. A number that is too large for both remains a
// json.Number. plain returns all other values unchanged, also lists and objects with numbers.
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

// equal reports whether two JSON values are equal. Numbers compare by value, so 5 equals 5.0.
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

// subset reports whether the value have contains at least the members of the value want, recursively. Arrays must have the same length, and
// all other values must be equal.
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

// all reports whether two lists have the same length and the function alike returns true for each pair of items.
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

// within reports whether b contains each member of a with a value for which alike is true.
func within(a, b map[string]any, alike func(a, b any) bool) bool {
	for name, v := range a {
		if other, known := b[name]; !known || !alike(v, other) {
			return false
		}
	}
	return true
}

// equalNumbers reports whether two plain values are equal numbers. a must be a number. The comparison is exact: a float64 equals an int64
// only if both represent the same number. Two json.Numbers are equal only if their texts are equal.
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

// equalMixed reports whether an integer and a floating-point number are equal.
func equalMixed(n int64, f float64) bool {
	const limit = 1 << 63 // exact in float64, beyond int64
	return f == math.Trunc(f) && f >= -limit && f < limit && int64(f) == n
}

// numberOf parses a text as a number in JSON syntax. It returns false for other texts, and for numbers that are too large for float64.
func numberOf(text string) (any, bool) {
	text = strings.TrimSpace(text)
	if text == "" || !strings.ContainsRune("-0123456789", rune(text[0])) || !json.Valid([]byte(text)) {
		return nil, false
	}
	v := plain(json.Number(text))
	_, tooLarge := v.(json.Number)
	return v, !tooLarge
}

// textOf returns a value as text: a string unchanged, nil as "", a number that fits a float64 without an exponent, and any other value as
// JSON. isText is false if JSON cannot encode the value.
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

// find returns the value of a variable. It looks for the whole name first, and then for the members that a dotted name names. known is
// false if the variable is absent or nil.
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

// display returns a copy of a value for results. Long texts are truncated, and a long list or object becomes the truncated text of its
// JSON.
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

// quoted returns a value for a sentence: a string in quotes, other values as JSON, truncated to maxExcerpt.
func quoted(value any) string {
	if text, isText := value.(string); isText {
		return excerpt(text)
	}
	text, _ := textOf(value)
	return callwright.Clip(text, maxExcerpt)
}
