package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// differenceLines describes differences as lines of text.
func differenceLines(list []graph.Difference) (out []string) {
	for _, d := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %q %s", d.Kind, d.ID, d.Name)))
		for _, m := range d.Members {
			out = append(out, fmt.Sprintf("  %s: %s -> %s", m.Path, m.Before, m.After))
		}
	}
	return out
}

// TestDiffDocuments checks the added, removed and changed nodes and edges, and their order.
func TestDiffDocuments(t *testing.T) {
	t.Parallel()
	before := documentOf([]string{
		`{"globalConfig":{"globalPrompt":"p"}}`,
		`{"id":"a","type":"Default","position":{"x":1},"data":{"name":"A","text":"Hi","n":1,"vars":[["x",1],["y",2]],"list":[1],"gone":null}}`,
		`{"id":"b","type":"End Call","data":{"name":"B"}}`,
		`{"id":"c","type":"End Call"}`,
	}, []string{
		`{"id":"1","source":"a","target":"b","label":"go"}`,
		`{"id":"2","source":"a","target":"c","data":{"label":"to c"}}`,
	})
	after := documentOf([]string{
		`{"id":"d","type":"Default","data":{"name":"D"}}`,
		`{"globalConfig":{"globalPrompt":"q"}}`,
		`{"data":{"text":"Ho","name":"AA","n":1.0,"vars":[["x",1],["z",2]],"list":[1,2],"new":{}},"id":"a","type":"Default","position":{"x":2}}`,
		`{"id":"c","type":"End Call"}`,
	}, []string{
		`{"id":"1","source":"a","target":"b","data":{"isHighlighted":true,"label":"go"},"type":"x"}`,
		`{"id":"3","source":"a","target":"c","data":{"label":"to c"}}`,
	})
	got := graph.Diff(before, after)
	want := []string{
		`added "d" D`,
		`changed ""`, `  globalConfig.globalPrompt: "p" -> "q"`,
		`changed "a" AA`, `  data.gone: null -> `, `  data.list: [1] -> [1,2]`, `  data.name: "A" -> "AA"`, `  data.new:  -> {}`,
		`  data.text: "Hi" -> "Ho"`, `  data.vars[1][0]: "y" -> "z"`,
		`removed "b" B`,
	}
	if lines := differenceLines(got.Nodes); !slices.Equal(lines, want) {
		t.Errorf("the nodes' differences are\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if lines := differenceLines(got.Edges); !slices.Equal(lines, []string{`added "3"`, `removed "2"`}) || got.Reordered || got.Empty() {
		t.Errorf("the edges' differences are %q, reordered %v", lines, got.Reordered)
	}
}

// TestDiffOrder checks that a different order of edges is reported only as Reordered, and that removed edges alone are no different order.
func TestDiffOrder(t *testing.T) {
	t.Parallel()
	d := agentstest.EveryNode("")
	moved := graph.Document{Nodes: slices.Clone(d.Nodes), Edges: slices.Clone(d.Edges)}
	if got := graph.Diff(d, moved); !got.Empty() {
		t.Errorf("a copy differs by %+v", got)
	}
	moved.Edges[0], moved.Edges[1] = moved.Edges[1], moved.Edges[0]
	if got := graph.Diff(d, moved); !got.Reordered || len(got.Nodes)+len(got.Edges) > 0 || got.Empty() {
		t.Errorf("another order differs by %+v", got)
	}
	moved.Edges = moved.Edges[2:]
	if got := graph.Diff(d, moved); got.Reordered || len(got.Edges) != 2 {
		t.Errorf("what is left differs by %+v", got)
	}
}

// TestDiffOfAnything checks that Diff compares even invalid documents.
func TestDiffOfAnything(t *testing.T) {
	t.Parallel()
	before := documentOf([]string{`5`, `5`, `{`, `{"id":7}`, `{"id":"a"}`, `{"id":"a","x":1}`}, nil)
	after := documentOf([]string{`5`, `{"id":7.0}`, `[]`, `{"id":"a","type":"x"}`}, nil)
	lines := differenceLines(graph.Diff(before, after).Nodes)
	want := []string{`added ""`, `changed "a"`, `  type:  -> "x"`, `removed ""`, `removed ""`, `removed "a"`}
	if !slices.Equal(lines, want) {
		t.Errorf("the differences are %q", lines)
	}
}

// TestDiffBrief checks that a long value is cut between two characters and ends with "…".
func TestDiffBrief(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", graph.MaxDifference)
	got := graph.Diff(oneNode("Default", `"text":"short"`), oneNode("Default", `"text":"`+long+`"`)).Nodes[0].Members[0]
	if got.Before != `"short"` || len(got.After) > graph.MaxDifference+3 || !utf8.ValidString(got.After) || !strings.HasSuffix(got.After, "é…") {
		t.Errorf("the values are %s and %d bytes that end in %q", got.Before, len(got.After), got.After[len(got.After)-5:])
	}
}

// TestDiffAgrees checks in both directions that there are no differences if and only if the canonical forms are equal.
func TestDiffAgrees(t *testing.T) {
	t.Parallel()
	entry := rapid.Custom(func(t *rapid.T) json.RawMessage {
		return json.RawMessage(rapid.SampledFrom([]string{
			`{"id":"a"}`, `{"id":"a","data":{"x":1}}`, `{"data":{"x":1.0},"id":"a"}`, `{"id":"a","position":1}`, `{"id":"b","label":"l"}`,
			`{"id":"b","data":{"label":"l"}}`, `{"id":"b","data":{"isHighlighted":1}}`, `{"id":"b","data":{}}`, `{"globalConfig":{"x":[1,2]}}`,
			`{"globalConfig":{"x":[2,1]}}`, `{"id":5}`, `[]`, `{"id":"c","data":null}`, `{"id":"c"}`, `{"id":"c","id":"d"}`, `{"id":"c","data":{"":{}}}`,
		}).Draw(t, "entry"))
	})
	draw := func(t *rapid.T, name string) graph.Document {
		list := rapid.SliceOfN(entry, 0, 4)
		return graph.Document{Nodes: list.Draw(t, name+" nodes"), Edges: list.Draw(t, name+" edges")}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = graph.Document{Nodes: slices.Clone(a.Nodes), Edges: slices.Clone(a.Edges)}
			if len(b.Nodes) > 1 {
				b.Nodes[0], b.Nodes[1] = b.Nodes[1], b.Nodes[0]
			}
		}
		formA, errA := a.Canonical()
		formB, errB := b.Canonical()
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		there, back := graph.Diff(a, b), graph.Diff(b, a)
		if same := string(formA) == string(formB); there.Empty() != same || back.Empty() != same {
			t.Fatalf("%s\n%s\nare the same: %v; differ by %+v, back by %+v", formA, formB, same, there, back)
		}
	})
}
