package pathway_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestDocumentedGraphs checks that the graphs in docs/pathways.md compile, and that their labels apply without a language model.
func TestDocumentedGraphs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/pathways.md")
	if err != nil {
		t.Fatal(err)
	}
	o := newOffice(t)
	blocks := strings.Split(string(text), "```json\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("only %d graphs", len(blocks))
	}
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		var d struct {
			Nodes []json.RawMessage `json:"nodes"`
			Edges []json.RawMessage `json:"edges"`
		}
		if err := json.Unmarshal([]byte(block), &d); err != nil {
			t.Fatalf("graph %d: %v", i, err)
		}
		if _, err := graph.Check(graph.Document(d)); err != nil {
			t.Errorf("graph %d: %v", i, err)
		}
		if warnings := o.Warnings(graph.Document(d)); warnings != nil {
			t.Errorf("graph %d: %q", i, warnings)
		}
	}
}
