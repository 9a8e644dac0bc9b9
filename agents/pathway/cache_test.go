package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestGraphsAreShared checks that concurrent loads of one version return the same graph.
func TestGraphsAreShared(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Draft?"))
	o.storeVersion(t, p.ID, days("One?"))
	for number := range 2 {
		const readers = 16
		graphs := make([]*graph.Graph, readers)
		var wait sync.WaitGroup
		for i := range readers {
			wait.Go(func() {
				g, _, err := o.Load(t.Context(), "a", p.ID, pathway.Selector{Number: number})
				if err != nil {
					t.Error(err)
				}
				graphs[i] = g
			})
		}
		wait.Wait()
		for _, g := range graphs {
			if g == nil || g != graphs[0] {
				t.Fatalf("version %d: %p and %p", number, g, graphs[0])
			}
		}
	}
}

// TestGraphsAreForgotten checks that the cache keeps recently used versions and evicts others, if more versions are loaded than it can
// store.
func TestGraphsAreForgotten(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, graph.Document{})
	const many, some = 300, 8
	for i := range many {
		o.storeVersion(t, p.ID, days(fmt.Sprint("Day ", i, "?")))
	}
	load := func(number int) *graph.Graph {
		g, err := o.LoadPinned(t.Context(), "a", p.ID, number)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	var first [many + 1]*graph.Graph // indexed by version number
	for number := 1; number <= many; number++ {
		first[number] = load(number)
		for used := 1; used <= min(number, some); used++ {
			load(used)
		}
	}
	for number := 1; number <= 2*some; number++ {
		if kept, used := load(number) == first[number], number <= some; kept != used {
			t.Errorf("version %d was kept %t, used %t", number, kept, used)
		}
	}
}

// TestDraftIsTheOneOfNow checks that Load returns the current draft after every change of the draft.
func TestDraftIsTheOneOfNow(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("One?"))
	for _, want := range []string{"Two?", "One?"} {
		d := days(want)
		if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &d.Nodes}); err != nil {
			t.Fatal(err)
		}
		g, _, err := o.Load(t.Context(), "a", p.ID, pathway.Selector{})
		if err != nil || g.Start.Text.Text() != want {
			t.Errorf("got %+v, %v; want %q", g, err, want)
		}
	}
}

// TestDraftWhoseEdgeBecomesANode checks that the cache distinguishes two drafts in which the same JSON is a node and an edge.
func TestDraftWhoseEdgeBecomesANode(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, graph.Document{})
	start := json.RawMessage(`{"id":"a","type":"Default","data":{"isStart":true,"text":"Hi."}}`)
	both := json.RawMessage(`{"id":"b","type":"Default","source":"a","target":"a","data":{"text":"Ho.","label":"x","isGlobal":true,"globalLabel":"x"}}`)
	for _, d := range []graph.Document{
		{Nodes: []json.RawMessage{start, both}, Edges: []json.RawMessage{}},
		{Nodes: []json.RawMessage{start}, Edges: []json.RawMessage{both}},
	} {
		if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &d.Nodes, Edges: &d.Edges}); err != nil {
			t.Fatal(err)
		}
		g, _, err := o.Load(t.Context(), "a", p.ID, pathway.Selector{})
		if err != nil || len(g.Nodes) != len(d.Nodes) || len(g.Start.Edges) != len(d.Edges) {
			t.Errorf("got %+v, %v", g, err)
		}
	}
}

// TestLargeGraphsAreForgotten checks that the cache stores far fewer graphs if their documents have the maximum size.
func TestLargeGraphsAreForgotten(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, graph.Document{})
	const many, kept = 40, 31 // 31 documents are a little less than 32 MiB
	load := func(number int) *graph.Graph {
		g, err := o.LoadPinned(t.Context(), "a", p.ID, number)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	var first [many + 1]*graph.Graph // indexed by version number
	for number := 1; number <= many; number++ {
		d := days("?")
		notes := strings.Repeat("x", graph.MaxBytes-2000)
		d.Nodes[0] = json.RawMessage(fmt.Sprintf(`{"notes":%q,"number":%d,`, notes, number) + string(d.Nodes[0][1:]))
		d.Nodes[0] = json.RawMessage(strings.Replace(string(d.Nodes[0]), `"data":{`, fmt.Sprintf(`"data":{"number":%d,`, number), 1))
		o.storeVersion(t, p.ID, d)
		first[number] = load(number)
	}
	if load(many) != first[many] || load(many-kept+1) != first[many-kept+1] {
		t.Error("what was used last is not kept")
	}
	if load(1) == first[1] || load(many-kept-1) == first[many-kept-1] {
		t.Error("more is kept than there is room for")
	}
}

// documentReads is a store that counts the reads of versions with their documents.
type documentReads struct {
	pathway.Store
	count atomic.Int32
}

func (s *documentReads) Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, error) {
	s.count.Add(1)
	return s.Store.Version(ctx, org, id, number)
}

// TestPinnedGraphIsReadOnce checks that the document of a version is not read again while its graph is cached.
func TestPinnedGraphIsReadOnce(t *testing.T) {
	t.Parallel()
	reads := new(documentReads)
	o := newOffice(t, func(c *pathway.Config) { reads.Store, c.Store = c.Store, reads })
	p := o.create(t, days("Draft?"))
	v := o.storeVersion(t, p.ID, days("One?"))
	reads.count.Store(0)
	for range 3 {
		if g, err := o.LoadPinned(t.Context(), "a", p.ID, v.Number); err != nil || g.Hash != v.Hash {
			t.Fatal(err)
		}
	}
	if n := reads.count.Load(); n != 1 {
		t.Errorf("the document was read %d times", n)
	}
}
