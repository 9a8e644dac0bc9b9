package template_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/template"
)

func TestRender(t *testing.T) {
	t.Parallel()
	variables := map[string]any{
		"name": "Ada", "n": 3.0, "price": 2.5, "yes": true, "nothing": nil, "evil": "{{name}} }} {{", "list": []any{"a", 1.0},
		"caller": map[string]any{"city": "Rome", "deep": map[string]any{"x": "y"}}, "a.b": "dotted", "a": map[string]any{"b": "inner"},
		"id": int64(1234567890123456789), "big": 1e21, "number": json.Number("1.50"), "odd": map[string]any{"x": math.NaN()},
	}
	for text, want := range map[string]string{
		"":                          "",
		"no variables":              "no variables",
		"Hi {{name}}, {{ name }}!":  "Hi Ada, Ada!",
		"{{n}} {{price}} {{yes}}":   "3 2.5 true",
		"{{id}} {{big}} {{number}}": "1234567890123456789 1000000000000000000000 1.50",
		"<{{nothing}}{{unknown}}>":  "<>",
		"{{evil}}":                  "{{name}} }} {{",
		"{{list}}{{odd}}":           `["a",1]`,
		"{{caller.city}}":           "Rome",
		"{{caller.deep}}":           `{"x":"y"}`,
		"{{caller.deep.x}}":         "y",
		"{{caller.deep.y.z}}":       "",
		"{{name.first}}":            "",
		"{{a.b}}":                   "dotted",
		"open {{name":               "open {{name",
		"}} {{name}} }}":            "}} Ada }}",
		"{{name}}{{name}}":          "AdaAda",
		"{{{name}}}":                "}",
		"single {name} stays as is": "single {name} stays as is",
	} {
		if got := template.Parse(text).Render(variables); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestMaxValues checks that a text that repeats a long value is truncated between characters.
func TestMaxValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", template.MaxValues/4)
	got := template.Parse("<" + strings.Repeat("{{a}}{{x}}", 100) + ">").Render(map[string]any{"a": "a", "x": long})
	if want := "<a" + long + "a" + long[:len(long)-2] + ">"; got != want {
		t.Errorf("it has %d bytes, want %d", len(got), len(want))
	}
	if got := template.NewValues(map[string]any{"x": "éé"}, 100).Render(template.Parse("<{{x}}{{x}}>"), 5); got != "<éé>" {
		t.Errorf("cut short it is %q", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 10 * template.MaxNames {
		fmt.Fprintf(&many, "{{x%d}}", i)
	}
	if got := template.Parse(many.String()).Names(); len(got) != template.MaxNames || got[template.MaxNames-1] != "x99" {
		t.Errorf("of many names there are %d", len(got))
	}
	tmpl := template.Parse("a {{x}} b {{ y.z }}{{x}}{{}} c")
	if got := tmpl.Names(); !slices.Equal(got, []string{"x", "y.z"}) {
		t.Errorf("the names are %q", got)
	}
	if got := tmpl.Literals(); !slices.Equal(got, []string{"a ", " b ", "", "", " c"}) {
		t.Errorf("the literals are %q", got)
	}
	if got := tmpl.Text(); got != "a {{x}} b {{ y.z }}{{x}}{{}} c" {
		t.Errorf("the text is %q", got)
	}
	if got := tmpl.Missing(map[string]any{"x": nil, "y": "no object"}); !slices.Equal(got, []string{"y.z"}) {
		t.Errorf("missing are %q", got)
	}
	if got := tmpl.Missing(map[string]any{"x": 1, "y": map[string]any{"z": ""}}); len(got) > 0 {
		t.Errorf("missing are %q", got)
	}
	if got := template.Parse("text").Names(); got != nil {
		t.Errorf("a text has the names %q", got)
	}
}

func TestRenderWith(t *testing.T) {
	t.Parallel()
	got := template.Parse("a{{x}}b{{y}}").RenderWith(map[string]any{"x": 1}, 100, func(before string, value any) string {
		return fmt.Sprintf("<%s|%v>", before, value)
	})
	if want := "a<a|1>b<a<a|1>b|<nil>>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzRender checks that literal text is unchanged, that values are not expanded, and that a text renders as the concatenation of its
// parts.
func FuzzRender(f *testing.F) {
	f.Add("Hi {{ name }}, {{", "{{name}}")
	f.Add("{{}}{{ . }}}}{{name.x}}", "}}{{")
	f.Fuzz(func(t *testing.T, text, value string) {
		variables := map[string]any{"name": value}
		tmpl := template.Parse(text)
		got := tmpl.Render(variables)
		if !strings.Contains(text, "{{") && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if whole := template.Parse("{{name}}" + text).Render(variables); whole != value+got {
			t.Errorf("%q with %q before it became %q", text, value, whole)
		}
		if literals := strings.Join(tmpl.Literals(), ""); tmpl.Render(nil) != literals {
			t.Errorf("without variables %q became %q, of the literals %q", text, tmpl.Render(nil), literals)
		}
		if known := tmpl.Missing(variables); len(known) > len(tmpl.Names()) {
			t.Errorf("of %q %q are missing", tmpl.Names(), known)
		}
	})
}

// TestAllocations checks that a text without variables allocates nothing, and that a text with string values allocates only the result.
func TestAllocations(t *testing.T) {
	plain, filled := template.Parse("How may I help you?"), template.Parse("Hello {{name}}, it is {{caller.city}}.")
	variables := map[string]any{"name": "Ada", "caller": map[string]any{"city": "Rome"}}
	for tmpl, want := range map[*template.Template]float64{plain: 0, filled: 1} {
		if got := testing.AllocsPerRun(100, func() { _ = tmpl.Render(variables) }); got > want {
			t.Errorf("%q costs %v allocations, want %v", tmpl.Text(), got, want)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	variables := map[string]any{"name": "Ada", "caller": map[string]any{"city": "Rome"}, "n": int64(7)}
	for name, text := range map[string]string{
		"plain":     "How may I help you?",
		"variables": "Hello {{name}}, is it {{n}} o'clock in {{caller.city}}?",
	} {
		b.Run(name, func(b *testing.B) {
			tmpl := template.Parse(text)
			b.ReportAllocs()
			for b.Loop() {
				_ = tmpl.Render(variables)
			}
		})
	}
}

func Example() {
	greeting := template.Parse("Hello {{name}}, you are number {{place.number}}.")
	fmt.Println(greeting.Render(map[string]any{"name": "Ada", "place": map[string]any{"number": 3}}))
	fmt.Println(greeting.Missing(map[string]any{"name": "Ada"}))
	// Output:
	// Hello Ada, you are number 3.
	// [place.number]
}
