package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Encode returns a value as JSON, or null if JSON cannot encode the value.
func Encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// Decode decodes one JSON value from another system. Integers are int64 if they fit, so that ids keep all digits; other numbers are
// float64, or strings if they are too large. Decode deletes NUL characters, because databases refuse them. isJSON is false if the text is
// not JSON.
func Decode(text []byte) (value any, isJSON bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return plain(value), true
}

// plain converts a decoded value to the types that Decode documents.
func plain(value any) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k, inner := range v {
			if clean := strings.ReplaceAll(k, "\x00", ""); clean != k {
				delete(v, k)
				k = clean
			}
			v[k] = plain(inner)
		}
	}
	return value
}
