package agentstest

import (
	"encoding/json"
	"reflect"
	"testing"
)

// loose returns a value as it decodes from JSON, without the order of members and the spelling of numbers, which databases do not
// preserve.
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

// sameJSON reports whether two values are equal as JSON.
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
