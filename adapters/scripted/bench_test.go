package scripted_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
)

// BenchmarkChoose measures a choice among four options after a short conversation.
func BenchmarkChoose(b *testing.B) {
	m := scripted.New()
	q := llm.Question{
		Messages: caller("On Tuesday, please."), Variables: map[string]any{"day": "Tuesday"},
		Options: []llm.Option{
			{ID: "way 1", Label: `the caller wants "a person" or "somebody"`},
			{ID: "way 2", Label: "time is known"},
			{ID: "way 3", Label: "day is known"},
			{ID: "way 4", Label: "none of the others", Otherwise: true},
		},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := llm.Choose(b.Context(), m, q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	m := scripted.New()
	q := llm.Question{Messages: caller("On Tuesday, please."), Fields: []llm.Field{
		{Name: "day", Type: llm.FieldString, Description: `"Tuesday" or "Thursday"`}, {Name: "guests", Type: llm.FieldInteger},
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := llm.Extract(b.Context(), m, q); err != nil {
			b.Fatal(err)
		}
	}
}
