package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Encode is a value as JSON; null for what JSON can't hold.
func Encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// Decode reads one value of JSON that others wrote: whole numbers as int64 where they fit, so that ids keep all their
// digits, others as float64. NUL, which databases refuse, is left out. false: it is no JSON.
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

// plain makes what a decoder gives plain values.
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
