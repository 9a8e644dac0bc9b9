package request_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

func values(variables map[string]any) *template.Values { return template.NewValues(variables, 1000) }

func TestFacts(t *testing.T) {
	t.Parallel()
	source := request.Source{Variables: []request.Mapping{
		{Name: "name", Path: "$.name", Context: "The caller is {{name}}."},
		{Name: "plan", Path: "$.plan", Context: "The caller's plan"},
		{Name: "quiet", Path: "$.quiet"},
		{Name: "debt", Path: "$.debt", Context: "The caller owes {{debt}}."},
	}}
	known := request.Known(source.Facts(), values(map[string]any{
		"name": "Ada {{plan}}", "plan": int64(7), "quiet": "x", "debt": nil, "other": true,
	}))
	if want := []string{"The caller is Ada {{plan}}.", "The caller's plan: 7"}; !slices.Equal(known, want) {
		t.Errorf("known are %q, want %q", known, want)
	}
	if known := request.Known(nil, values(nil)); known != nil {
		t.Errorf("nothing gives %q", known)
	}
	few := template.NewValues(map[string]any{"name": "Adalovelace", "plan": "plus"}, 14)
	known = request.Known(source.Facts(), few)
	if want := []string{"The caller is Adalovelace.", "The caller's plan: plu"}; !slices.Equal(known, want) || few.Left() != 0 {
		t.Errorf("of 14 bytes %q are known, and %d are left", known, few.Left())
	}
	if known := request.Known(source.Facts(), few); known != nil {
		t.Errorf("of no bytes %q are known", known)
	}
}
