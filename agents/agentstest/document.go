package agentstest

import (
	"encoding/json"
	"reflect"
	"testing"
)

// loose converts a value to the form that decoding from JSON produces. This form ignores the order of members and the spelling of numbers,
// because databases do not preserve them.
func loose(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%+v is not JSON: %v", v, err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// sameJSON reports whether the JSON forms of two values are equal. It ignores the order of members and the spelling of numbers.
func sameJSON(t *testing.T, got, want any) bool {
	t.Helper()
	return reflect.DeepEqual(loose(t, got), loose(t, want))
}

func raws(texts ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		out[i] = json.RawMessage(text)
	}
	return out
}
