// Package wire translates between the values of domains and of generated code.
//
// The generated packages each have their own types for nullable and optional values, all of the same shapes. Nil, Opt and
// OptNil are those shapes without a name, so that Go can assign the results of the functions here to any of them.
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

// NilText returns null for an empty text.
func NilText(s string) Nil[string] { return Nil[string]{Value: s, Null: s == ""} }

// OptText returns an absent value for an empty text.
func OptText(s string) Opt[string] { return Opt[string]{Value: s, Set: s != ""} }

// OptNilText returns null for an empty text, in a member that need not be there.
func OptNilText(s string) OptNil[string] { return OptNil[string]{Value: s, Set: true, Null: s == ""} }

// uuid matches the ids that this server makes, in any letter case.
var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// ID returns an id of this server as it is stored: a UUID in lower case (RFC 9562, section 4), any other text as it is.
func ID(text string) string {
	if uuid.MatchString(text) {
		return strings.ToLower(text)
	}
	return text
}

// IDs is ID for a list.
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

// Since returns the instant at which a filter begins: a date-time, or the start of a date. The zero time stands for none.
func Since(field, text string) (time.Time, error) {
	since, _, err := instant(field, text)
	return since, err
}

// Until returns the instant before which a filter ends: a date-time, or the end of a date. The zero time stands for none.
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

// NilInt returns null for 0.
func NilInt(n int) Nil[int] { return Nil[int]{Value: n, Null: n == 0} }

// NilPtr returns null for nil.
func NilPtr[T any](value *T) Nil[T] {
	if value == nil {
		return Nil[T]{Null: true}
	}
	return Nil[T]{Value: *value}
}

// Ptr returns nil for a value that is not given.
func Ptr[T any](value T, given bool) *T {
	if !given {
		return nil
	}
	return &value
}

// Minutes returns a number of minutes as a duration.
func Minutes(n float64) time.Duration { return time.Duration(math.Round(n * float64(time.Minute))) }

// Millis returns a duration in milliseconds, with microseconds behind the point; null for nil.
func Millis(d *time.Duration) Nil[float64] {
	if d == nil {
		return Nil[float64]{Null: true}
	}
	return Nil[float64]{Value: float64(d.Microseconds()) / 1000}
}

// WholeMillis returns a duration in milliseconds, rounded; null for nil. Less than one is 1: 0 would read as no time.
func WholeMillis(d *time.Duration) Nil[int] {
	if d == nil {
		return Nil[int]{Null: true}
	}
	return Nil[int]{Value: max(1, int(d.Round(time.Millisecond).Milliseconds()))}
}

// Seconds returns a duration in seconds, rounded.
func Seconds(d time.Duration) int { return int(d.Round(time.Second).Seconds()) }

// Values decodes the values of a free object, which is the member field of a body; nil for an empty one.
func Values[M ~map[string]jx.Raw](field string, raw M) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	values := make(map[string]any, len(raw))
	for name, text := range raw {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			if _, number := errors.AsType[*json.UnmarshalTypeError](err); number {
				return nil, callwright.Invalid(Join(field, name), "holds a number that is too large")
			}
			return nil, callwright.Invalid(Join(field, name), "is not valid JSON")
		}
		values[name] = value
	}
	return values, nil
}

// Raw encodes the values of a free object; never nil.
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

// Items converts JSON texts to another type. A nil list stays nil, and an empty one empty.
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

// Below puts the field of an error under a path.
func Below(path string, err *callwright.Error) error {
	placed := *err
	placed.Field = Join(path, err.Field)
	return &placed
}

// NotBuilt refuses a member that the contract has and this build has not.
func NotBuilt(field string) *callwright.Error {
	return &callwright.Error{Code: callwright.CodeNotImplemented, Field: field, Message: "is not available in this build"}
}

// Change returns a member of a body as a change of a setting.
func Change[T any](value T, given bool) callwright.Optional[T] {
	if !given {
		return callwright.Optional[T]{}
	}
	return callwright.Given(value)
}

// PtrChange returns a member of a body as a change of a setting of which null takes the value away.
func PtrChange[T any](value *T, given bool) callwright.Optional[T] {
	return callwright.Optional[T]{Set: given, Value: value}
}

// FromMillis returns a number of milliseconds as a duration; nil for none.
func FromMillis(ms float64, given bool) *time.Duration {
	if !given {
		return nil
	}
	return new(time.Duration(math.Round(ms * float64(time.Millisecond))))
}
