package pathway_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/pathway"
)

// keeps checks that a state equals the state that decodes from its JSON.
func keeps(t rapid.TB, s pathway.State) {
	t.Helper()
	text, err := json.Marshal(s) //nolint:musttag // its form is its own
	if err != nil {
		t.Errorf("%+v can't be kept: %v", s, err)
		return
	}
	var back pathway.State
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(s, back) {
		t.Errorf("the state\n%#v\ncomes back as\n%#v, error %v", s, back, err)
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()
	given := map[string]any{
		"int": 3, "int64": int64(math.MaxInt64), "whole": 3.0, "half": 0.5, "huge": 1e300, "nan": math.NaN(), "digits": json.Number("9007199254740993"),
		"text": "a\xffb", "list": []any{1, "x", nil}, "object": map[string]any{"id": 9007199254740993}, "struct": struct{ A int }{7}, "none": nil, "chan": make(chan int) == nil,
	}
	s := pathway.Begin(given, "n")
	want := map[string]any{
		"int": int64(3), "int64": int64(math.MaxInt64), "whole": int64(3), "half": 0.5, "huge": 1e300, "nan": "NaN", "digits": int64(9007199254740993),
		"text": "a\uFFFDb", "list": []any{int64(1), "x", nil}, "object": map[string]any{"id": int64(9007199254740993)}, "struct": map[string]any{"A": int64(7)}, "none": nil, "chan": false,
	}
	if s.Node != "n" || !reflect.DeepEqual(s.Variables, want) {
		t.Errorf("the state is %#v", s)
	}
	keeps(t, s)
	given["list"].([]any)[1] = "changed"
	if !reflect.DeepEqual(s.Variables, want) {
		t.Error("the state shares memory with what was given")
	}
	if empty := pathway.Begin(nil, ""); !reflect.DeepEqual(empty, pathway.State{}) {
		t.Errorf("without anything it is %+v", empty)
	}
}

func TestStateRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	s := pathway.State{Node: "a"}
	if err := json.Unmarshal([]byte(`{"Node": 5}`), &s); err == nil || s.Node != "a" {
		t.Errorf("the error is %v, the state %+v", err, s)
	}
}
