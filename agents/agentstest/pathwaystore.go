package agentstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/callwrighttest"
)

// RunPathwayStore tests a pathway.Store. See RunCallStore for newStore and atRest.
func RunPathwayStore(t *testing.T, newStore func(t *testing.T) pathway.Store, atRest callwrighttest.AtRest[pathway.Store]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[pathway.Store, pathway.Pathway]{
		New: newStore,
		Value: func(_ *testing.T, number int) pathway.Pathway {
			p := aPathway(fmt.Sprint("p", number), "a")
			p.Name, p.Description, p.Draft = "Ord\u00e9rs \U0001F600", "Takes\norders.", aDocument()
			p.Latest, p.Production, p.Staging = 7, 5, 6
			p.Promotion = &pathway.Promotion{Number: 7, Batch: "b1", RequestedAt: at.Add(time.Second)}
			p.UpdatedAt = at.Add(2 * time.Second)
			return p
		},
		Equal: func(t *testing.T, got, want pathway.Pathway) bool {
			t.Helper()
			got.Draft, want.Draft = settled(got.Draft), settled(want.Draft)
			return sameJSON(t, got, want)
		},
		Org:     func(p *pathway.Pathway) *callwright.OrgID { return &p.Org },
		Version: func(p *pathway.Pathway) *int64 { return &p.Revision },
		Insert:  pathway.Store.InsertPathway,
		Find: func(s pathway.Store, ctx context.Context, p pathway.Pathway) (pathway.Pathway, error) {
			return s.Pathway(ctx, p.Org, p.ID)
		},
		Change: func(p *pathway.Pathway, writer int) {
			p.Name, p.Description, p.Draft, p.Promotion = "Other", "", graph.Document{Nodes: raws(`{"id":"b"}`)}, nil
			p.Latest, p.Production, p.Staging, p.UpdatedAt = writer, 0, 8, at.Add(time.Hour)
		},
		Replace: pathway.Store.UpdatePathway,
		Delete: func(s pathway.Store, ctx context.Context, p pathway.Pathway) error {
			return s.DeletePathway(ctx, p.Org, p.ID)
		},
		Absent: callwright.ErrNotFound,
	})
	tests := map[string]func(*testing.T, pathway.Store){
		"encrypts documents":                     func(t *testing.T, s pathway.Store) { encryptsPathway(t, s, atRest) },
		"keeps an empty draft":                   keepsEmptyDraft,
		"shares no memory":                       sharesNoPathway,
		"hides other organizations' pathways":    hidesPathways,
		"updates nothing that is absent":         updatesNoAbsentPathway,
		"pages without gaps":                     pagesPathways,
		"deletes versions too":                   deletesPathway,
		"keeps every field of a version":         keepsVersion,
		"refuses a number twice":                 refusesVersionTwice,
		"refuses versions of what is not there":  refusesOrphanVersion,
		"lets one of many writers have a number": givesNumberOnce,
		"lists versions without documents":       listsVersions,
		"archives":                               archivesVersion,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func aPathway(id string, org callwright.OrgID) pathway.Pathway {
	return pathway.Pathway{ID: id, Org: org, Name: "Orders", CreatedAt: at, UpdatedAt: at, Revision: 1}
}

func aVersion(org callwright.OrgID, of string, number int) pathway.Version {
	return pathway.Version{
		ID: fmt.Sprintf("%s-v%d", of, number), Org: org, Pathway: of, Number: number, Name: fmt.Sprint("v", number),
		Document: graph.Document{Nodes: raws(`{"id":"a"}`)}, Hash: "h", CreatedAt: at,
	}
}

// aDocument returns a document with details that databases tend to change: the order of members, numbers, and escaped characters.
func aDocument() graph.Document {
	return graph.Document{
		Nodes: raws(
			`{"type":"Default","id":"start","data":{"text":"H\u00e9llo \ud83d\ude00 <b>&\"\\\n","isStart":true,"none":null}}`,
			`{"id":"z","position":{"y":-1.5,"x":1e2},"data":{"deep":[[],{},[1,[2,{"k":""}]]],"big":9007199254740991}}`,
			`{"globalConfig":{"globalPrompt":"Be brief."}}`,
		),
		Edges: raws(`{"target":"z","source":"start","id":"e1","data":{"label":"go"}}`),
	}
}

func insertPathways(t *testing.T, s pathway.Store, all ...pathway.Pathway) {
	t.Helper()
	for _, p := range all {
		if err := s.InsertPathway(t.Context(), p); err != nil {
			t.Fatalf("insert %s: %v", p.ID, err)
		}
	}
}

func insertVersions(t *testing.T, s pathway.Store, all ...pathway.Version) {
	t.Helper()
	for _, v := range all {
		if err := s.InsertVersion(t.Context(), v); err != nil {
			t.Fatalf("insert %s: %v", v.ID, err)
		}
	}
}

// settled returns the given document with empty lists in place of nil lists, because stores may return either.
func settled(d graph.Document) graph.Document {
	return graph.Document{Nodes: append(raws(), d.Nodes...), Edges: append(raws(), d.Edges...)}
}

func wantPathway(t *testing.T, s pathway.Store, want pathway.Pathway) {
	t.Helper()
	got, err := s.Pathway(t.Context(), want.Org, want.ID)
	got.Draft, want.Draft = settled(got.Draft), settled(want.Draft)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func wantVersion(t *testing.T, s pathway.Store, want pathway.Version) {
	t.Helper()
	got, err := s.Version(t.Context(), want.Org, want.Pathway, want.Number)
	got.Document, want.Document = settled(got.Document), settled(want.Document)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func keepsEmptyDraft(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"))
	if got, err := s.Pathway(t.Context(), "a", "p1"); err != nil || !got.Draft.Empty() || got.Promotion != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

// sharesNoPathway checks that changes to given and returned values do not change stored values.
func sharesNoPathway(t *testing.T, s pathway.Store) {
	given, want := aPathway("p1", "a"), aPathway("p1", "a")
	given.Draft, want.Draft = aDocument(), aDocument()
	given.Promotion, want.Promotion = &pathway.Promotion{Number: 1}, &pathway.Promotion{Number: 1}
	insertPathways(t, s, given)
	version, wanted := aVersion("a", "p1", 1), aVersion("a", "p1", 1)
	insertVersions(t, s, version)
	spoil := func(p pathway.Pathway, v pathway.Version) {
		copy(p.Draft.Nodes[0], "spoilt")
		copy(v.Document.Nodes[0], "spoilt")
		p.Draft.Edges[0] = raws("1")[0]
		p.Promotion.Number = 9
	}
	spoil(given, version)
	for range 2 {
		wantPathway(t, s, want)
		wantVersion(t, s, wanted)
		p, pathwayErr := s.Pathway(t.Context(), "a", "p1")
		v, versionErr := s.Version(t.Context(), "a", "p1", 1)
		if pathwayErr != nil || versionErr != nil {
			t.Fatal(pathwayErr, versionErr)
		}
		spoil(p, v)
	}
}

func hidesPathways(t *testing.T, s pathway.Store) {
	p := aPathway("p1", "a")
	insertPathways(t, s, p)
	insertVersions(t, s, aVersion("a", "p1", 1))
	foreign := p
	foreign.Org = "b"
	_, getErr := s.Pathway(t.Context(), "b", "p1")
	_, versionErr := s.Version(t.Context(), "b", "p1", 1)
	_, hashErr := s.VersionHash(t.Context(), "b", "p1", 1)
	for name, err := range map[string]error{
		"get": getErr, "update": s.UpdatePathway(t.Context(), foreign), "version": versionErr, "hash": hashErr,
		"delete": s.DeletePathway(t.Context(), "b", "p1"), "archive": s.ArchiveVersion(t.Context(), "b", "p1", 1),
		"insert version": s.InsertVersion(t.Context(), aVersion("b", "p1", 2)),
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	if got, err := s.Pathways(t.Context(), "b", pathway.Listing{Limit: 10}); err != nil || len(got) != 0 {
		t.Errorf("list gave %+v, %v", got, err)
	}
	if got, err := s.Versions(t.Context(), "b", "p1", 0, 10); err != nil || len(got) != 0 {
		t.Errorf("versions gave %+v, %v", got, err)
	}
	wantPathway(t, s, p)
	wantVersion(t, s, aVersion("a", "p1", 1))
}

func updatesNoAbsentPathway(t *testing.T, s pathway.Store) {
	for name, err := range map[string]error{
		"update": s.UpdatePathway(t.Context(), aPathway("p1", "a")), "delete": s.DeletePathway(t.Context(), "a", "p1"),
		"archive": s.ArchiveVersion(t.Context(), "a", "p1", 1),
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
}

// pagesPathways checks the pages of pathways by Offset, by After and by both, and CountPathways. Pages must contain no drafts. Most
// pathways have equal creation times.
func pagesPathways(t *testing.T, s pathway.Store) {
	const count, limit = 25, 4
	for i := range count {
		p := aPathway(fmt.Sprintf("p%02d", i), "a")
		p.CreatedAt = at.Add(time.Duration(i/10) * time.Second)
		p.UpdatedAt = at.Add(-time.Duration(i) * time.Hour) // must not affect the order
		insertPathways(t, s, p)
	}
	insertPathways(t, s, aPathway("other", "b"))
	walk := func(next func(l *pathway.Listing, last pathway.Pathway)) {
		var seen []string
		for l := (pathway.Listing{Limit: limit}); ; {
			page, err := s.Pathways(t.Context(), "a", l)
			if err != nil || len(page) > limit {
				t.Fatalf("a page has %d, %v", len(page), err)
			}
			if len(page) == 0 {
				break
			}
			for _, p := range page {
				if !p.Draft.Empty() {
					t.Errorf("the list has the draft of %s", p.ID)
				}
				seen = append(seen, p.ID)
			}
			next(&l, page[len(page)-1])
		}
		slices.Reverse(seen)
		if len(seen) != count || !slices.IsSorted(seen) {
			t.Errorf("backwards, saw %v", seen)
		}
	}
	walk(func(l *pathway.Listing, _ pathway.Pathway) { l.Offset += limit })
	walk(func(l *pathway.Listing, last pathway.Pathway) {
		l.After = callwright.Keyset{At: last.CreatedAt, ID: last.ID}
	})
	both := pathway.Listing{After: callwright.Keyset{At: at.Add(time.Second), ID: "p15"}, Offset: 3, Limit: 1}
	if got, err := s.Pathways(t.Context(), "a", both); err != nil || len(got) != 1 || got[0].ID != "p11" {
		t.Errorf("3 behind p15 is %+v, %v", got, err)
	}
	for org, want := range map[callwright.OrgID]int{"a": count, "b": 1, "c": 0} {
		if n, err := s.CountPathways(t.Context(), org); err != nil || n != want {
			t.Errorf("%s has %d, %v; want %d", org, n, err, want)
		}
	}
}

func deletesPathway(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"), aPathway("p2", "a"))
	insertVersions(t, s, aVersion("a", "p1", 1), aVersion("a", "p2", 1))
	if err := s.DeletePathway(t.Context(), "a", "p1"); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Pathway(t.Context(), "a", "p1")
	_, versionErr := s.Version(t.Context(), "a", "p1", 1)
	for name, err := range map[string]error{"get": getErr, "version": versionErr} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	wantPathway(t, s, aPathway("p2", "a"))
	wantVersion(t, s, aVersion("a", "p2", 1))
	insertPathways(t, s, aPathway("p1", "a")) // the deleted pathway must leave no versions
	insertVersions(t, s, aVersion("a", "p1", 1))
}

func keepsVersion(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"))
	want := aVersion("a", "p1", 3)
	want.Name, want.Document, want.Parent, want.Archived = "Th\u00efrd", aDocument(), 2, true
	insertVersions(t, s, want)
	wantVersion(t, s, want)
	if hash, err := s.VersionHash(t.Context(), "a", "p1", 3); err != nil || hash != want.Hash || hash == "" {
		t.Errorf("the hash is %q, %v, want %q", hash, err, want.Hash)
	}
	if hash, err := s.VersionHash(t.Context(), "a", "p1", 1); !errors.Is(err, callwright.ErrNotFound) || hash != "" {
		t.Errorf("the hash of no version is %q, %v", hash, err)
	}
}

func refusesVersionTwice(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"), aPathway("p2", "a"))
	insertVersions(t, s, aVersion("a", "p1", 1), aVersion("a", "p2", 1))
	again := aVersion("a", "p1", 1)
	again.ID, again.Name = "another", "Again"
	if err := s.InsertVersion(t.Context(), again); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	wantVersion(t, s, aVersion("a", "p1", 1))
}

func refusesOrphanVersion(t *testing.T, s pathway.Store) {
	if err := s.InsertVersion(t.Context(), aVersion("a", "p1", 1)); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func givesNumberOnce(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"))
	version := func(writer int) pathway.Version {
		v := aVersion("a", "p1", 1)
		v.ID, v.Name = fmt.Sprint("v", writer), fmt.Sprint("of ", writer)
		return v
	}
	winner := callwrighttest.Race(t, func(writer int) error { return s.InsertVersion(t.Context(), version(writer)) })
	wantVersion(t, s, version(winner))
}

func listsVersions(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"), aPathway("p2", "a"))
	insertVersions(t, s, aVersion("a", "p2", 1))
	for number := 1; number <= 12; number++ { // the numeric order counts, not the order of texts
		insertVersions(t, s, aVersion("a", "p1", number))
	}
	got, err := s.Versions(t.Context(), "a", "p1", 0, 10)
	if err != nil || len(got) != 10 {
		t.Fatalf("got %d, %v; want 10", len(got), err)
	}
	if rest, err := s.Versions(t.Context(), "a", "p1", 3, 10); err != nil || len(rest) != 2 || rest[0].Number != 2 {
		t.Errorf("before version 3 are %+v, %v", rest, err)
	}
	for i, v := range got {
		want := aVersion("a", "p1", 12-i)
		v.Document, want.Document = settled(v.Document), settled(graph.Document{})
		if !sameJSON(t, v, want) {
			t.Errorf("got  %+v\nwant %+v", v, want)
		}
	}
}

func archivesVersion(t *testing.T, s pathway.Store) {
	insertPathways(t, s, aPathway("p1", "a"))
	insertVersions(t, s, aVersion("a", "p1", 1), aVersion("a", "p1", 2))
	for range 2 {
		if err := s.ArchiveVersion(t.Context(), "a", "p1", 1); err != nil {
			t.Fatal(err)
		}
	}
	archived := aVersion("a", "p1", 1)
	archived.Archived = true
	wantVersion(t, s, archived)
	if got, err := s.Versions(t.Context(), "a", "p1", 0, 10); err != nil || len(got) != 1 || got[0].Number != 2 {
		t.Errorf("the list has %+v, %v", got, err)
	}
	if err := s.ArchiveVersion(t.Context(), "a", "p1", 3); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an absent version gave %v", err)
	}
	if err := s.InsertVersion(t.Context(), aVersion("a", "p1", 1)); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("the number of an archived version gave %v, want a conflict", err)
	}
}
