package pathway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

func TestSave(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Draft?"))
	o.clock.move(time.Hour)
	first, second := o.storeVersion(t, p.ID, days("One?")), o.storeVersion(t, p.ID, days("Two?"))
	if first.Number != 1 || second.Number != 2 || first.Hash == second.Hash || first.ID == second.ID {
		t.Errorf("got %+v and %+v", first, second)
	}
	got, owner, err := o.Version(t.Context(), "a", p.ID, 1)
	if err != nil || got.Hash != first.Hash || len(got.Document.Nodes) != 2 || owner.Latest != 2 {
		t.Errorf("got %+v of %+v, %v", got, owner, err)
	}
	if !strings.Contains(string(got.Document.Edges[0]), `"data":{"label"`) {
		t.Errorf("the edge is %s", got.Document.Edges[0])
	}
	if got := o.get(t, p.ID); !got.UpdatedAt.Equal(p.UpdatedAt) || !strings.Contains(string(got.Draft.Nodes[0]), "Draft?") {
		t.Errorf("the draft has changed: %+v", got)
	}
	_, err = o.StoreVersion(t.Context(), "a", p.ID, "V", graph.Document{})
	wantCode(t, "an empty version", err, callwright.CodeBadRequest, "nodes")
	_, err = o.StoreVersion(t.Context(), "b", p.ID, "V", days("?"))
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
}

func TestFork(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Draft?"))
	first := o.storeVersion(t, p.ID, days("One?"))
	other := days("Other?")
	for name, test := range map[string]struct {
		parent int
		with   *graph.Document
		want   string
	}{
		"of a version":         {1, nil, "One?"},
		"with another graph":   {1, &other, "Other?"},
		"of the draft":         {0, nil, "Draft?"},
		"of the draft, edited": {0, &other, "Other?"},
	} {
		v, err := o.Fork(t.Context(), "a", p.ID, test.parent, "F", test.with)
		if err != nil || v.Parent != test.parent || !strings.Contains(string(v.Document.Nodes[0]), test.want) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
		stored, _, err := o.Version(t.Context(), "a", p.ID, v.Number)
		if err != nil || stored.Parent != test.parent || (test.want == "One?") != (stored.Hash == first.Hash) {
			t.Errorf("%s: stored %+v, %v", name, stored, err)
		}
	}
	_, err := o.Fork(t.Context(), "a", p.ID, 99, "F", nil)
	wantCode(t, "an absent parent", err, callwright.CodeNotFound, "")
	_, err = o.Fork(t.Context(), "b", p.ID, 1, "F", nil)
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
	_, err = o.Fork(t.Context(), "a", o.create(t, graph.Document{}).ID, 0, "F", nil)
	wantCode(t, "an empty draft", err, callwright.CodeInvalidState, "")
	bad := document(`{"id":"x","type":"Default"}`)
	_, err = o.Fork(t.Context(), "a", p.ID, 1, "F", &bad)
	wantCode(t, "a graph with faults", err, callwright.CodeBadRequest, "nodes[0].data.prompt")
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("?"))
	for range 4 {
		o.storeVersion(t, p.ID, days("?"))
	}
	v, _, err := o.Version(t.Context(), "a", p.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.gate.Finish(v, true)
	for _, b := range []pathway.Publication{{Number: 1}, {Number: 2, Environment: pathway.Staging}, {Number: 3, OnPass: true}} {
		if _, err := o.Publish(t.Context(), "a", p.ID, b); err != nil {
			t.Fatal(err)
		}
	}
	for number := range 4 {
		wantCode(t, "one in use", o.Discard(t.Context(), "a", p.ID, number), callwright.CodeInvalidState, "")
	}
	wantCode(t, "another organization's", o.Discard(t.Context(), "b", p.ID, 4), callwright.CodeNotFound, "")
	if err := o.Discard(t.Context(), "a", p.ID, 4); err != nil {
		t.Fatal(err)
	}
	_, _, getErr := o.Version(t.Context(), "a", p.ID, 4)
	_, forkErr := o.Fork(t.Context(), "a", p.ID, 4, "F", nil)
	_, diffErr := o.Diff(t.Context(), "a", p.ID, 1, 4)
	_, publishErr := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 4})
	for what, err := range map[string]error{
		"get": getErr, "fork": forkErr, "diff": diffErr, "publish": publishErr,
		"discard": o.Discard(t.Context(), "a", p.ID, 4),
	} {
		wantCode(t, what, err, callwright.CodeNotFound, "")
	}
	page, _, err := o.Versions(t.Context(), "a", p.ID, callwright.Keyset{}, 2)
	if err != nil || len(page.Items) != 2 || page.Items[0].Number != 3 || page.Next.IsZero() {
		t.Errorf("the first page has %+v, %v", page, err)
	}
	page, _, err = o.Versions(t.Context(), "a", p.ID, page.Next, 2)
	if err != nil || len(page.Items) != 1 || page.Items[0].Number != 1 || !page.Next.IsZero() {
		t.Errorf("the last page has %+v, %v", page, err)
	}
	_, _, cursorErr := o.Versions(t.Context(), "a", p.ID, callwright.Keyset{ID: "x"}, 2)
	wantCode(t, "another list's cursor", cursorErr, callwright.CodeBadRequest, "cursor")
	if v := o.storeVersion(t, p.ID, days("?")); v.Number != 5 {
		t.Errorf("the next number is %d", v.Number)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Draft?"))
	o.storeVersion(t, p.ID, days("One?"))
	o.storeVersion(t, p.ID, days("Draft?"))
	got, err := o.Diff(t.Context(), "a", p.ID, 1, 0)
	if err != nil || len(got.Nodes) != 1 || got.Nodes[0].ID != "day" || len(got.Edges) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := o.Diff(t.Context(), "a", p.ID, 0, 2); err != nil || !got.Empty() {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = o.Diff(t.Context(), "b", p.ID, 0, 2)
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
}

func TestLoad(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) { c.Gate = nil })
	p := o.create(t, days("Draft?"))
	first := o.storeVersion(t, p.ID, days("One?"))
	o.storeVersion(t, p.ID, days("Two?"))
	load := func(sel pathway.Selector) (string, int, error) {
		g, number, err := o.Load(t.Context(), "a", p.ID, sel)
		if err != nil {
			return "", number, err
		}
		return g.Start.Text.Text(), number, nil
	}
	for _, sel := range []pathway.Selector{{Environment: pathway.Production}, {Environment: pathway.Staging}, {Number: 9}} {
		_, _, err := load(sel)
		wantCode(t, "what is not there", err, callwright.CodeNotFound, "pathway_version")
	}
	_, _, err := load(pathway.Selector{Environment: "moon"})
	wantCode(t, "another environment", err, callwright.CodeBadRequest, "pathway_version")
	for number, environment := range map[int]pathway.Environment{1: pathway.Production, 2: pathway.Staging} {
		if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: number, Environment: environment}); err != nil {
			t.Fatal(err)
		}
	}
	for want, sel := range map[string][]pathway.Selector{
		"Draft?": {{}}, "One?": {{Environment: pathway.Production}, {Number: 1}}, "Two?": {{Environment: pathway.Staging}},
	} {
		for _, sel := range sel {
			if text, number, err := load(sel); err != nil || text != want || sel.Number != 0 && number != sel.Number {
				t.Errorf("%+v gave %q of %d, %v", sel, text, number, err)
			}
		}
	}
	_, _, err = o.Load(t.Context(), "b", p.ID, pathway.Selector{})
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "pathway_id")
	_, _, err = o.Load(t.Context(), "a", o.create(t, graph.Document{}).ID, pathway.Selector{})
	wantCode(t, "an empty draft", err, callwright.CodeInvalidState, "pathway_version")
	g, err := o.LoadPinned(t.Context(), "a", p.ID, 1)
	if err != nil || g.Hash != first.Hash {
		t.Errorf("pinned, got %v", err)
	}
}

// TestLoadPinned checks that LoadPinned returns a version that was archived, unlike Load, and the draft for the number 0.
func TestLoadPinned(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Draft?"))
	v := o.storeVersion(t, p.ID, days("One?"))
	if err := o.Discard(t.Context(), "a", p.ID, 1); err != nil {
		t.Fatal(err)
	}
	_, _, err := o.Load(t.Context(), "a", p.ID, pathway.Selector{Number: 1})
	wantCode(t, "an archived version", err, callwright.CodeNotFound, "pathway_version")
	if g, err := o.LoadPinned(t.Context(), "a", p.ID, 1); err != nil || g.Hash != v.Hash {
		t.Errorf("got %v", err)
	}
	if g, err := o.LoadPinned(t.Context(), "a", p.ID, 0); err != nil || g.Start.Text.Text() != "Draft?" {
		t.Errorf("got %v", err)
	}
	_, err = o.LoadPinned(t.Context(), "b", p.ID, 1)
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
}

// TestLoadOfWhatHasFaults checks that Load refuses a draft that an earlier release has stored and this release does not accept.
func TestLoadOfWhatHasFaults(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	old := pathway.Pathway{ID: "old", Org: "a", Name: "Old", Draft: document(`{"id":"x","type":"SMS","data":{"isStart":true}}`)}
	if err := o.store.InsertPathway(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	_, _, err := o.Load(t.Context(), "a", "old", pathway.Selector{})
	wantCode(t, "load", err, callwright.CodeInvalidState, "pathway_version")
}
