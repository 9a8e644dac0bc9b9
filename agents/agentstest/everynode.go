package agentstest

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/agents/pathway/graph"
)

//go:embed everynode.json
var everyNode string

// EveryNode returns a pathway with a node of every supported type, a global node that returns, and a tool. Its requests use base as their
// base URL, for example "http://127.0.0.1:1234"; if base is empty, they use https://example.com. adapters/scripted can lead a conversation
// through it: a caller who says "tuesday", "what does it cost", "in the afternoon", "ready", "two" and "that is all" passes from the start
// to the end, if POST /slots answers {"free": 1}.
func EveryNode(base string) graph.Document {
	text := everyNode
	if base != "" {
		text = strings.ReplaceAll(text, "https://example.com", base)
	}
	var d struct {
		Nodes []json.RawMessage `json:"nodes"`
		Edges []json.RawMessage `json:"edges"`
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		panic("agentstest: everynode.json: " + err.Error())
	}
	return graph.Document{Nodes: d.Nodes, Edges: d.Edges}
}
