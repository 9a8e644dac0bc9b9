package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
)

// largeDocument returns a document with the given numbers of nodes and edges. The edges lead from each node to the next, and from the last
// node to the first again. Each node has a prompt of about 500 characters and variables to extract.
func largeDocument(nodes, edges int) graph.Document {
	prompt := strings.Repeat("Ask the caller for the day that suits best, and say \"thank you\".\nBe brief, {{name}}. ", 6)
	var d graph.Document
	add := func(to *[]json.RawMessage, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		*to = append(*to, raw)
	}
	for i := range nodes {
		add(&d.Nodes, map[string]any{
			"id": fmt.Sprintf("node-%d", i), "type": "Default", "position": map[string]any{"x": float64(i) * 10.5, "y": -i},
			"data": map[string]any{
				"name": fmt.Sprintf("Node %d", i), "isStart": i == 0, "prompt": prompt, "condition": "the caller has named a day",
				"extractVars":  []any{[]any{"day", "string", "The wanted day"}, []any{"people", "integer", "How many come"}},
				"modelOptions": map[string]any{"newTemperature": 0.2, "skipUserResponse": false, "interruptionThreshold": 100},
			},
		})
	}
	for i := range edges {
		add(&d.Edges, map[string]any{
			"id": fmt.Sprintf("edge-%d", i), "source": fmt.Sprintf("node-%d", i%nodes), "target": fmt.Sprintf("node-%d", (i+1)%nodes),
			"data": map[string]any{"label": fmt.Sprintf("the caller wants case %d", i), "description": "More about when this is the way."},
		})
	}
	return d
}

// BenchmarkCompile500 measures the compilation of 500 nodes and 1000 edges, the largest realistic size.
func BenchmarkCompile500(b *testing.B) {
	d := largeDocument(500, 1000)
	size := 0
	for _, list := range [][]json.RawMessage{d.Nodes, d.Edges} {
		for _, raw := range list {
			size += len(raw)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := graph.Compile(d); err != nil {
			b.Fatal(err)
		}
	}
}
