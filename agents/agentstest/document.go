package agentstest

import (
	"encoding/json"
	"reflect"
	"testing"
)

// loose is a value as JSON means it: with the members of its objects in no order, and numbers as numbers. Databases keep
// documents so.
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

// sameJSON says whether two values are the same but for the way in which the documents within them are written.
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
