package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// The example compiles a document whose edge leads to an unknown node, and the corrected document.
func ExampleCompile() {
	d := graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"ask","type":"Default","data":{"isStart":true,"text":"Which day suits you?"}}`),
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"text":"Goodbye."}}`),
		},
		Edges: []json.RawMessage{json.RawMessage(`{"id":"e1","source":"ask","target":"by","data":{"label":"a day"}}`)},
	}
	_, err := graph.Compile(d)
	all, _ := errors.AsType[callwright.FieldErrors](err)
	for _, e := range all {
		fmt.Println(e)
	}

	d.Edges[0] = json.RawMessage(`{"id":"e1","source":"ask","target":"bye","data":{"label":"a day"}}`)
	g, err := graph.Compile(d)
	fmt.Println(g.Start.Edges[0].To.Text.Text(), err)
	// Output:
	// edges[0].target: must be the id of a node: no node has the id "by"
	// nodes[1]: must be reachable: no edge and no branch leads to node "bye"
	// Goodbye. <nil>
}
