package request_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright/agents/request"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	source := request.Source{Variables: []request.Mapping{
		{Name: "name", Path: "$.name", Context: "The caller is {{name}}."},
		{Name: "plan", Path: "$.plan", Context: "The caller's plan"},
		{Name: "quiet", Path: "$.quiet"},
		{Name: "debt", Path: "$.debt", Context: "The caller owes {{debt}}."},
	}}
	known := request.Known(source.Facts(), map[string]any{
		"name": "Ada {{plan}}", "plan": int64(7), "quiet": "x", "debt": nil, "other": true,
	})
	if want := []string{"The caller is Ada {{plan}}.", "The caller's plan: 7"}; !slices.Equal(known, want) {
		t.Errorf("known are %q, want %q", known, want)
	}
	if known := request.Known(nil, nil); known != nil {
		t.Errorf("nothing gives %q", known)
	}
}
