package tree_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// plain converts a value to the types into which encoding/json decodes.
func plain(v tree.Value) any {
	switch v.Kind {
	case tree.Object:
		out := map[string]any{}
		for _, m := range v.Members {
			out[m.Name] = plain(m.Value)
		}
		return out
	case tree.Array:
		out := []any{}
		for _, item := range v.Items() {
			out = append(out, plain(item.Value))
		}
		return out
	case tree.String:
		return v.Text()
	case tree.Number:
		return v.Float()
	case tree.Boolean:
		return v.True()
	default:
		return nil
	}
}

// compare checks that Parse refuses invalid JSON, and accepts and decodes other text as encoding/json does. Parse may refuse valid JSON
// only because of invalid UTF-8, NUL characters or deep nesting.
func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	v, err := tree.Parse(text)
	if !json.Valid([]byte(text)) {
		if err == nil {
			t.Fatalf("%q was read", text)
		}
		return
	}
	if err != nil {
		if why := err.Error(); !strings.Contains(why, "UTF-8") && !strings.Contains(why, "NUL") && !strings.Contains(why, "nested levels") {
			t.Fatalf("%q: %v", text, err)
		}
		return
	}
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		return // the number is too large for a float64
	}
	for form, got := range map[string][]byte{"": nil, "Append": v.Append(nil), "AppendCanonical": v.AppendCanonical(nil)} {
		again := v
		if form != "" {
			if again, err = tree.Parse(string(got)); err != nil {
				t.Fatalf("%q: %s gives %q: %v", text, form, got, err)
			}
		}
		if !reflect.DeepEqual(plain(again), want) {
			t.Fatalf("%q %s is %#v, want %#v", text, form, plain(again), want)
		}
	}
	canonical := v.AppendCanonical(nil)
	again, err := tree.Parse(string(canonical))
	if err != nil || !bytes.Equal(again.AppendCanonical(nil), canonical) {
		t.Fatalf("%q: the canonical form %q is not its own: %v", text, canonical, err)
	}
}

// samples contains valid and invalid texts that test the limits of the JSON grammar.
var samples = []string{
	``, ` `, `{}`, `[]`, ` [ ] `, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `[1 2]`, `[`, `{`,
	`{"a":`, `"`, `"\`, `"\u`, `"\u12`, `"\u12g4"`, `"\x"`, `"\u0041\n\/\\\""`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`,
	`"\ud83d\u0041"`, `"\ude00"`, "\"\n\"", "\"\x00\"", `"\u0000"`, `"\\u0000"`, "\"\xff\"", `"é😀"`, `nul`, `null`, `nulll`,
	`true`, `false`, `tru`, `0`, `-0`, `-`, `01`, `1.`, `.5`, `1.5`, `1e`, `1e5`, `1E+5`, `1e-5`, `1e999`, `-1e999`, `1.0`, `100`,
	`123456789012345678`, `0.1e1`, `+1`, `{"a":1,"a":2}`, `{"b":1,"a":{"d":[1,{"c":null}],"c":true}}`, `{"\u0061":1,"a":2}`,
	`1 2`, `{} x`, `"a"b`, "\ufeff{}", `{"":""}`, "[\"\u2028<>&\u007f\"]", `-1`, `1e400000000000`,
	strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 200) + strings.Repeat("]", 200),
	strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), strings.Repeat("[", 100000),
}

// TestParse checks that Parse accepts the same texts as encoding/json, except for its documented restrictions.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, text := range samples {
		compare(t, text)
	}
}

// TestParseRefuses checks the errors for text that is not UTF-8, NUL characters, deep nesting and syntax errors.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\"\xff\"":                "UTF-8",
		`{"a":["\u0000"]}`:        "NUL",
		`{"\u0000":1}`:            "NUL",
		strings.Repeat("[", 1000): "at most 100 nested levels",
		`{"a":tru}`:               "byte 5",
		`[1,2`:                    "byte 4",
	} {
		if _, err := tree.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := tree.Parse(strings.Repeat("[", tree.MaxDepth+1) + strings.Repeat("]", tree.MaxDepth+1)); err != nil {
		t.Error(err)
	}
}

// FuzzParse checks that Parse treats any text as encoding/json does, except for its documented restrictions.
func FuzzParse(f *testing.F) {
	for _, text := range samples {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compare(t, text) })
}

// TestParser checks that a Parser does not change the values that it has returned before.
func TestParser(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p tree.Parser
		var values []tree.Value
		var want []any
		for range rapid.IntRange(1, 8).Draw(t, "texts") {
			text, err := json.Marshal(drawValue(t, 3))
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "broken") {
				_, _ = p.Parse(string(text[:len(text)/2]))
			}
			v, err := p.Parse(string(text))
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			var decoded any
			if err := json.Unmarshal(text, &decoded); err != nil {
				t.Fatal(err)
			}
			values, want = append(values, v), append(want, decoded)
		}
		for i, v := range values {
			if !reflect.DeepEqual(plain(v), want[i]) {
				t.Fatalf("value %d is %v, want %v", i, plain(v), want[i])
			}
		}
	})
}

// drawValue returns a random JSON value with at most the given depth.
func drawValue(t *rapid.T, depth int) any {
	texts := rapid.StringMatching(`[a-c"\\\n😀é<]{0,3}`)
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		return rapid.MapOfN(texts, rapid.Custom(func(t *rapid.T) any { return drawValue(t, depth-1) }), 0, 30).Draw(t, "object")
	case kind == 1 && depth > 0:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawValue(t, depth-1) }), 0, 4).Draw(t, "list")
	case kind == 2:
		return rapid.Float64().Filter(func(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }).Draw(t, "number")
	case kind == 3:
		return rapid.Bool().Draw(t, "boolean")
	case kind == 4:
		return nil
	default:
		return texts.Draw(t, "text")
	}
}

// TestCanonical checks that equivalent values have the same canonical form.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1 , 2 ] } `:   `{"a":[1,2],"b":1}`,
		`{"a":1,"a":2}`:                     `{"a":2}`,
		`{"\u0061":"\u0041\/\n\u00e9\"\\"}`: `{"a":"A/\u000aé\"\\"}`,
		`[1.0,1e0,-0,0.0,100,1e2,1.50,-5]`:  `[1,1,0,0,100,100,1.5,-5]`,
		`123456789012345`:                   `123456789012345`,
		`1e999`:                             `1e999`,
		`[true,null]`:                       `[true,null]`,
	} {
		v, err := tree.Parse(text)
		if got := string(v.AppendCanonical(nil)); err != nil || got != want {
			t.Errorf("%s becomes %s, want %s (%v)", text, got, want, err)
		}
	}
}

// TestChange checks that a change of a value does not change its copies.
func TestChange(t *testing.T) {
	t.Parallel()
	v, err := tree.Parse(`{"a":1,"b":{"c":2},"a":3}`)
	if err != nil {
		t.Fatal(err)
	}
	before, b := v, v.Get("b")
	b.Set("c", tree.Value{Kind: tree.String, Raw: `"x"`})
	b.Set("d", tree.Value{})
	v.Set("b", b)
	v.DeleteFunc(func(name string) bool { return name == "a" })
	v.DeleteFunc(func(string) bool { return false })
	if got := string(v.Append(nil)); got != `{"b":{"c":"x","d":null}}` {
		t.Errorf("the value is %s", got)
	}
	if got := string(before.Append(nil)); got != `{"a":1,"b":{"c":2},"a":3}` {
		t.Errorf("the value before is %s", got)
	}
}

// TestKinds checks that accessors return zero values for other kinds, and that the last of several members with the same name counts.
func TestKinds(t *testing.T) {
	t.Parallel()
	v, err := tree.Parse(`{"text":"a","number":2.5,"yes":true,"no":false,"null":null,"list":[],"number":3}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		kind  string
		text  string
		float float64
		yes   bool
	}{
		"text": {"a string", "a", 0, false}, "number": {"a number", "", 3, false}, "yes": {"a boolean", "", 0, true},
		"no": {"a boolean", "", 0, false}, "null": {"null", "", 0, false}, "list": {"an array", "", 0, false},
		"other": {"nothing", "", 0, false},
	} {
		got := v.Get(name)
		if got.Kind.String() != want.kind || got.Text() != want.text || got.Float() != want.float || got.True() != want.yes {
			t.Errorf("%s is %s %q %v %v", name, got.Kind, got.Text(), got.Float(), got.True())
		}
	}
	if v.Kind.String() != "an object" {
		t.Errorf("the whole is %s", v.Kind)
	}
}
