package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/oas"
)

// notBuilt refuses a member that the contract has and this build has not.
func notBuilt(field string) *callwright.Error {
	return &callwright.Error{Code: callwright.CodeNotImplemented, Field: field, Message: "is not available in this build"}
}

// optional is nil for a value that is not given.
func optional[T any](value T, given bool) *T {
	if !given {
		return nil
	}
	return &value
}

// minutes is a number of minutes as a duration.
func minutes(n float64) time.Duration { return time.Duration(math.Round(n * float64(time.Minute))) }

// millis is a duration in milliseconds; null for none.
func millis(d time.Duration) oas.NilFloat64 {
	return oas.NilFloat64{Value: float64(d.Microseconds()) / 1000, Null: d == 0}
}

// nilText is null for an empty text.
func nilText(s string) oas.NilString { return oas.NilString{Value: s, Null: s == ""} }

// optText is absent for an empty text, and optNilText null.
func optText(s string) oas.OptString { return oas.OptString{Value: s, Set: s != ""} }

func optNilText(s string) oas.OptNilString {
	return oas.OptNilString{Value: s, Set: true, Null: s == ""}
}

// nilInt is null for 0.
func nilInt(n int) oas.NilInt { return oas.NilInt{Value: n, Null: n == 0} }

// nilNumber is null for none.
func nilNumber(n *float64) oas.NilFloat64 {
	if n == nil {
		return oas.NilFloat64{Null: true}
	}
	return oas.NewNilFloat64(*n)
}

// wholeMillis is a duration in milliseconds, rounded; null for none. Less than one is 1: 0 would read as no time.
func wholeMillis(d *time.Duration) oas.NilInt {
	if d == nil {
		return oas.NilInt{Null: true}
	}
	return oas.NewNilInt(max(1, int(d.Round(time.Millisecond).Milliseconds())))
}

// nilTime is null for no time.
func nilTime(t *time.Time) oas.NilDateTime {
	if t == nil {
		return oas.NilDateTime{Null: true}
	}
	return oas.NewNilDateTime(*t)
}

// numberInQuery is a number to search for: E.164 where it is, and as it was given where it is not.
func numberInQuery(given oas.OptString) string {
	number, err := callwright.ParsePhoneNumber(given.Value)
	if err != nil {
		return given.Value
	}
	return number.String()
}

// valuesOf decodes the values of a free object; nil for an empty one.
func valuesOf[M ~map[string]jx.Raw](raw M) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	values := make(map[string]any, len(raw))
	for name, text := range raw {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, callwright.Invalid(name, "is not valid JSON")
		}
		values[name] = value
	}
	return values, nil
}

// rawOf encodes the values of a free object; never nil.
func rawOf(values map[string]any) (map[string]jx.Raw, error) {
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
