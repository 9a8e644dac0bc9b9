package agentstore_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// wideDocument returns a graph with the maximum number of nodes, about 250 KiB in size.
func wideDocument() (d graph.Document) {
	for i := range graph.MaxNodes {
		d.Nodes = append(d.Nodes, json.RawMessage(fmt.Sprintf(`{"id":"n%d","type":"Default","position":{"x":%d,"y":0},`+
			`"data":{"name":"Step %d","prompt":"Ask {{name}} which of the days would suit them, and repeat what they say.",`+
			`"condition":"The caller has named a day, and it is one on which somebody is free."}}`, i, i, i)))
		for e := range 2 {
			d.Edges = append(d.Edges, json.RawMessage(fmt.Sprintf(`{"id":"e%d-%d","source":"n%d","target":"n%d",`+
				`"data":{"label":"the day is known","description":"and nobody has any further question"}}`, i, e, i, i+e)))
		}
	}
	return d
}

// BenchmarkVersion reads a version with 500 nodes and 1,000 edges.
func BenchmarkVersion(b *testing.B) {
	for name, address := range storetest.Databases {
		b.Run(name, func(b *testing.B) {
			pathways := agentstore.Pathways{DB: storetest.Open(b, address(b))}
			if err := pathways.InsertPathway(b.Context(), pathway.Pathway{ID: "p", Org: "o"}); err != nil {
				b.Fatal(err)
			}
			v := pathway.Version{Org: "o", Pathway: "p", Number: 1, Document: wideDocument()}
			if err := pathways.InsertVersion(b.Context(), v); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				got, err := pathways.Version(b.Context(), "o", "p", 1)
				if err != nil || len(got.Document.Nodes) != graph.MaxNodes {
					b.Fatal(len(got.Document.Nodes), err)
				}
			}
		})
	}
}

// BenchmarkAppendLog stores the log of a turn that extracted variables, sent a request and chose an edge.
func BenchmarkAppendLog(b *testing.B) {
	at := callwright.SystemClock{}.Now()
	turn := pathway.Log{
		Node: "n1", Heard: "Tuesday would be fine", Said: "Let me look.", Usage: llm.Usage{Input: 900, Output: 12}, Duration: time.Second,
		Entries: []pathway.LogEntry{
			{Kind: pathway.LogVariables, Node: "n1", Variables: map[string]any{"day": "tuesday"}, At: at},
			{Kind: pathway.LogDecision, Node: "n1", Name: "Ask", Chosen: "n2", Edge: "e1", Text: "the day is known", At: at},
			{Kind: pathway.LogVisit, Node: "n2", Name: "Look", At: at},
			{Kind: pathway.LogRequest, Node: "n2", Name: "Look", At: at, Request: &request.Log{
				Method: "GET", URL: "https://x.example/days", Status: 200, Body: json.RawMessage(`{"free":true}`), Duration: time.Second,
			}},
		},
	}
	for name, address := range storetest.Databases {
		b.Run(name, func(b *testing.B) {
			calls := agentstore.Calls{DB: storetest.Open(b, address(b))}
			if err := calls.Insert(b.Context(), call.Call{ID: "c", Org: "o", CreatedAt: at}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for turn.Turn = 1; b.Loop(); turn.Turn++ {
				if err := calls.AppendLog(b.Context(), "o", "c", turn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
