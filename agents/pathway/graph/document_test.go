package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestNormalize checks that Normalize moves the labels and descriptions of edges into data, where they replace older ones, and deletes
// those that are null. It must change nothing else, and leave an entry unchanged if its data is neither an object nor null.
func TestNormalize(t *testing.T) {
	t.Parallel()
	const node = `{ "id":"a", "label":"x", "data":{"label":"y","n":1.50,"n":2,"big":12345678901234567890} }`
	for edge, want := range map[string]string{
		`{"id":"1","data":{"label":"a"}, "x": [1.0] }`:                            `{"id":"1","data":{"label":"a"}, "x": [1.0] }`,
		`{"id":"1","label":"a","z":1e2}`:                                          `{"id":"1","z":1e2,"data":{"label":"a"}}`,
		`{"label":"a","data":{"alwaysPick":true,"x":1.0},"description":"\u0062"}`: `{"data":{"alwaysPick":true,"x":1.0,"label":"a","description":"\u0062"}}`,
		`{"label":"new","data":{"label":"old"}}`:                                  `{"data":{"label":"new"}}`,
		`{"label":null,"data":{"label":"old"}}`:                                   `{"data":{"label":"old"}}`,
		`{"label":null}`:                                                          `{}`,
		`{"label":"a","data":null}`:                                               `{"data":{"label":"a"}}`,
		`{"label":5}`:                                                             `{"data":{"label":5}}`,
		`{"label":"a","data":[]}`:                                                 `{"label":"a","data":[]}`,
		`{"label":`:                                                               `{"label":`,
		`["label"]`:                                                               `["label"]`,
	} {
		d := documentOf([]string{node}, []string{edge})
		got := d.Normalize()
		if string(got.Nodes[0]) != node || string(got.Edges[0]) != want {
			t.Errorf("%s becomes %s, want %s", edge, got.Edges[0], want)
		}
		if again := got.Normalize(); string(again.Edges[0]) != want {
			t.Errorf("%s becomes %s at last", edge, again.Edges[0])
		}
		if string(d.Edges[0]) != edge {
			t.Errorf("the document itself becomes %s", d.Edges[0])
		}
	}
	if got := (graph.Document{}).Normalize(); got.Nodes != nil || got.Edges != nil || !got.Empty() {
		t.Errorf("nothing becomes %+v", got)
	}
}

// TestNormalizeKeeps checks that Normalize does not change a pathway that is already in normal form.
func TestNormalizeKeeps(t *testing.T) {
	t.Parallel()
	d := agentstest.EveryNode("")
	got := d.Normalize()
	same := func(a, b json.RawMessage) bool { return string(a) == string(b) }
	if !slices.EqualFunc(got.Nodes, d.Nodes, same) || !slices.EqualFunc(got.Edges, d.Edges, same) {
		t.Error("the document differs")
	}
}

// TestCanonical checks that Canonical returns the form that its comment documents.
func TestCanonical(t *testing.T) {
	t.Parallel()
	got, err := documentOf([]string{
		`{"type":"Default","id":"a","position":{"x":1},"width":5,"data":{"text":"\u0061\/","isStart":true,"n":1.0,"more":{"b":[],"a":null}}}`,
		`{"globalConfig":{"globalPrompt":"p"}}`,
	}, []string{
		`{"target":"a","source":"a","id":"1","type":"bezier","label":"l","data":{"isHighlighted":true,"alwaysPick":false}}`,
		`{"id":"2"}`,
	}).Canonical()
	want := `{"edges":[{"data":{"alwaysPick":false,"label":"l"},"id":"1","source":"a","target":"a"},{"id":"2"}],` +
		`"nodes":[{"data":{"isStart":true,"more":{"a":null,"b":[]},"n":1,"text":"a/"},"id":"a","type":"Default"},` +
		`{"globalConfig":{"globalPrompt":"p"}}]}`
	if string(got) != want || err != nil {
		t.Errorf("the form is %s\nwant %s (%v)", got, want, err)
	}
	if _, err := documentOf([]string{`{`}, []string{`{}`, `]`}).Canonical(); err == nil ||
		err.Error() != "nodes[0]: must be JSON: syntax error at byte 1\nedges[1]: must be JSON: syntax error at byte 0" {
		t.Errorf("the error is %v", err)
	}
}

// TestHash checks that members for editors, the order of members and the spelling of values do not affect the hash, and that other members
// do, even unknown members.
func TestHash(t *testing.T) {
	t.Parallel()
	const node = `{"id":"a","type":"Default","position":{"x":1,"y":2},"data":{"isStart":true,"text":"Hi","modelOptions":{"temperature":1,"more":[1,2]}}}`
	const other = `{"id":"b","type":"End Call","data":{}}`
	const edge = `{"id":"1","source":"a","target":"b","type":"x","data":{"label":"go","isHighlighted":false}}`
	const loop = `{"id":"2","source":"a","target":"a","data":{"label":"stay"}}`
	hash := func(nodes, edges []string) string { return compiled(t, documentOf(nodes, edges)).Hash }
	base := hash([]string{node, other}, []string{edge, loop})
	for text, to := range map[string]string{
		`"position":{"x":1,"y":2},`: ``, `"x":1`: `"x":7`, `"type":"x",`: ``, `"isHighlighted":false`: `"isHighlighted":true`,
		`,"isHighlighted":false`: ``, `"id":"a",`: `"selected":true,"id" : "\u0061",`, `"temperature":1`: `"temperature":1.0`,
		`"isStart":true,"text":"Hi"`: `"text":"Hi","isStart":true`, `"data":{"label":"go"`: `"label":"go","data":{"label":"old"`,
		`"text":"Hi"`: `"text":"Ho","text":"Hi"`,
	} {
		if got := hash(replaced(t, []string{node, other}, []string{edge, loop}, text, to)); got != base {
			t.Errorf("%s in the place of %s changes the hash", to, text)
		}
	}
	seen := map[string]string{base: "nothing"}
	for text, to := range map[string]string{
		`"text":"Hi"`: `"text":"hi"`, `"temperature":1`: `"temperature":1.1`, `[1,2]`: `[2,1]`, `"End Call"`: `"Wait for Response"`,
		`"label":"go"`: `"label":"to"`, `"data":{}`: `"data":{"unknown":1}`, `"id":"1"`: `"id":"x"`, `"target":"a"`: `"target":"b"`,
	} {
		got := hash(replaced(t, []string{node, other}, []string{edge, loop}, text, to))
		if same, known := seen[got]; known {
			t.Errorf("%s in the place of %s has the hash of %s", to, text, same)
		}
		seen[got] = to
	}
	if hash([]string{node, other}, []string{loop, edge}) == base {
		t.Error("the order of edges does not count")
	}
}

// replaced returns the entries with the first occurrence of text replaced by the argument to. It fails the test if no entry contains text.
func replaced(t *testing.T, nodes, edges []string, text, to string) (newNodes, newEdges []string) {
	t.Helper()
	found := false
	swap := func(list []string) (out []string) {
		for _, s := range list {
			if !found && strings.Contains(s, text) {
				s, found = strings.Replace(s, text, to, 1), true
			}
			out = append(out, s)
		}
		return out
	}
	newNodes, newEdges = swap(nodes), swap(edges)
	if !found {
		t.Fatalf("nothing has %s", text)
	}
	return newNodes, newEdges
}
