// Package wire translates between the values of domains and of generated code.
//
// Each generated package has its own types for nullable and optional values, but all of these types have the same structure. Nil, Opt and
// OptNil are unnamed types of that structure, so that Go can assign the results of this package's functions to any of them.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
)

type (
	// Nil is a value that may be null.
	Nil[T any] = struct {
		Value T
		Null  bool
	}
	// Opt is a value that may be absent.
	Opt[T any] = struct {
		Value T
		Set   bool
	}
	// OptNil is a value that may be absent or null.
	OptNil[T any] = struct {
		Value T
		Set   bool
		Null  bool
	}
)

// NilText returns a text, or null for an empty one.
func NilText(s string) Nil[string] { return Nil[string]{Value: s, Null: s == ""} }

// OptText returns a text, or an absent value for an empty one.
func OptText(s string) Opt[string] { return Opt[string]{Value: s, Set: s != ""} }

// OptNilText returns a text, or null for an empty one, for a member that is optional in the schema. The member is never omitted.
func OptNilText(s string) OptNil[string] { return OptNil[string]{Value: s, Set: true, Null: s == ""} }

// uuid matches the ids that this server generates, in upper or lower case.
var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// ID returns an id in its stored form. A UUID is in lower case (RFC 9562, section 4); any other text is unchanged.
func ID(text string) string {
	if uuid.MatchString(text) {
		return strings.ToLower(text)
	}
	return text
}

// IDs applies ID to each text. It returns nil for nil.
func IDs(texts []string) []string {
	if texts == nil {
		return nil
	}
	ids := make([]string, len(texts))
	for i, text := range texts {
		ids[i] = ID(text)
	}
	return ids
}

// Since parses the first instant of a filter: a date-time, or a date, whose start it returns. It returns the zero time for an empty text.
func Since(field, text string) (time.Time, error) {
	since, _, err := instant(field, text)
	return since, err
}

// Until parses the instant before which a filter ends: a date-time, or a date, whose end it returns. It returns the zero time for an empty
// text.
func Until(field, text string) (time.Time, error) {
	until, isDate, err := instant(field, text)
	if isDate {
		until = until.AddDate(0, 0, 1)
	}
	return until, err
}

func instant(field, text string) (t time.Time, isDate bool, err error) {
	if text == "" {
		return time.Time{}, false, nil
	}
	t, isDate, ok := callwright.ParseTime(text)
	if !ok {
		return t, false, callwright.Invalid(field, "must be "+callwright.TimeFormats)
	}
	return t, isDate, nil
}

// NilInt returns a number, or null for 0.
func NilInt(n int) Nil[int] { return Nil[int]{Value: n, Null: n == 0} }

// NilPtr returns the value of a pointer, or null for nil.
func NilPtr[T any](value *T) Nil[T] {
	if value == nil {
		return Nil[T]{Null: true}
	}
	return Nil[T]{Value: *value}
}

// Ptr returns a pointer to value, or nil if given is false.
func Ptr[T any](value T, given bool) *T {
	if !given {
		return nil
	}
	return &value
}

// OptPtr returns the value of a pointer, or an absent value for nil.
func OptPtr[T any](p *T) Opt[T] {
	if p == nil {
		return Opt[T]{}
	}
	return Opt[T]{Value: *p, Set: true}
}

// Minutes converts a number of minutes to a duration.
func Minutes(n float64) time.Duration { return time.Duration(math.Round(n * float64(time.Minute))) }

// Millis returns a duration in milliseconds with a resolution of a microsecond, or null for nil.
func Millis(d *time.Duration) Nil[float64] {
	if d == nil {
		return Nil[float64]{Null: true}
	}
	return Nil[float64]{Value: float64(d.Microseconds()) / 1000}
}

// OptMillis returns a duration in milliseconds, or an absent member for 0.
func OptMillis(d time.Duration) Opt[float64] {
	return Opt[float64]{Value: float64(d.Microseconds()) / 1000, Set: d != 0}
}

// WholeMillis returns a duration in whole milliseconds, or null for nil. The minimum is 1, because clients would read 0 as no time.
func WholeMillis(d *time.Duration) Nil[int] {
	if d == nil {
		return Nil[int]{Null: true}
	}
	return Nil[int]{Value: max(1, int(d.Round(time.Millisecond).Milliseconds()))}
}

// Seconds returns a duration in seconds, rounded to the nearest second.
func Seconds(d time.Duration) int { return int(d.Round(time.Second).Seconds()) }

// Values decodes the values of a free object, which is the body's member with the given name. It returns nil for an empty object. An error
// names the invalid value.
func Values[M ~map[string]jx.Raw](field string, raw M) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	values := make(map[string]any, len(raw))
	for name, text := range raw {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			if _, number := errors.AsType[*json.UnmarshalTypeError](err); number {
				return nil, callwright.Invalid(Join(field, name), "must not contain a number that is too large: the limit is about 1.8e308")
			}
			return nil, callwright.Invalid(Join(field, name), "must be valid JSON")
		}
		values[name] = value
	}
	return values, nil
}

// Raw encodes the values of a free object. The result is never nil.
func Raw(values map[string]any) (map[string]jx.Raw, error) {
	raw := make(map[string]jx.Raw, len(values))
	for name, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("httpapi: the value of %q: %w", name, err)
		}
		raw[name] = text
	}
	return raw, nil
}

// Items converts JSON texts to another type. It returns nil for nil, and an empty list for an empty one.
func Items[To, From ~[]byte](items []From) []To {
	if items == nil {
		return nil
	}
	out := make([]To, len(items))
	for i, item := range items {
		out[i] = To(item)
	}
	return out
}

// Texts converts texts to another type. The result is never nil.
func Texts[To, From ~string](values []From) []To {
	out := make([]To, len(values))
	for i, v := range values {
		out[i] = To(v)
	}
	return out
}

// Join appends the name of a member, or an index in brackets, to the path of a field.
func Join(path, name string) string {
	if path == "" || strings.HasPrefix(name, "[") {
		return path + name
	}
	return path + "." + name
}

// Below returns a copy of an error whose field is prefixed with a path.
func Below(path string, err *callwright.Error) error {
	placed := *err
	placed.Field = Join(path, err.Field)
	return &placed
}

// NotBuilt returns the error for a member that the contract defines but this build does not support.
func NotBuilt(field string) *callwright.Error {
	return &callwright.Error{Code: callwright.CodeNotImplemented, Field: field, Message: "is not available in this build"}
}

// Change returns the change of a setting by a member of a body. If given is false, the setting does not change.
func Change[T any](value T, given bool) callwright.Optional[T] {
	if !given {
		return callwright.Optional[T]{}
	}
	return callwright.Given(value)
}

// PtrChange returns the change of a setting that can be removed. A nil value removes the setting. If given is false, the setting does not
// change.
func PtrChange[T any](value *T, given bool) callwright.Optional[T] {
	return callwright.Optional[T]{Set: given, Value: value}
}

// FromMillisOr is like FromMillis, but returns 0 if given is false.
func FromMillisOr(ms float64, given bool) time.Duration {
	if !given {
		return 0
	}
	return *FromMillis(ms, true)
}

// FromMillis converts a number of milliseconds to a duration. It returns nil if given is false.
func FromMillis(ms float64, given bool) *time.Duration {
	if !given {
		return nil
	}
	return new(time.Duration(math.Round(ms * float64(time.Millisecond))))
}
