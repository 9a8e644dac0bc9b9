package agentstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/speech/tts"
)

// RunPersonaStore tests a persona.Store. See RunCallStore for newStore and atRest.
func RunPersonaStore(t *testing.T, newStore func(t *testing.T) persona.Store, atRest callwrighttest.AtRest[persona.Store]) {
	t.Helper()
	runPersonaRows(t, newStore)
	runPersonaVersionRows(t, newStore, atRest)
	tests := map[string]func(*testing.T, persona.Store){
		"hides other organizations' personas":    hidesPersonas,
		"deletes a draft by compare-and-set":     deletesPersonaDraft,
		"never changes what was in production":   freezesPersonaVersion,
		"lets one of many writers have a number": givesPersonaNumberOnce,
		"refuses versions of what is not there":  refusesOrphanPersonaVersion,
		"lists the newest first":                 listsPersonas,
		"lists versions from the newest":         listsPersonaVersions,
		"bounds the bytes of versions":           boundsPersonaVersions,
		"hides what is deleted, and forgets it":  forgetsPersonas,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func runPersonaRows(t *testing.T, newStore func(t *testing.T) persona.Store) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[persona.Store, persona.Persona]{
		New: newStore,
		Value: func(_ *testing.T, number int) persona.Persona {
			p := fullPersona()
			p.ID = fmt.Sprint("p", number)
			return p
		},
		Partial: true,
		Org:     func(p *persona.Persona) *callwright.OrgID { return &p.Org },
		Version: func(p *persona.Persona) *int64 { return &p.Revision },
		Insert:  persona.Store.InsertPersona,
		Find: func(s persona.Store, ctx context.Context, p persona.Persona) (persona.Persona, error) {
			return s.Persona(ctx, p.Org, p.ID)
		},
		Change: func(p *persona.Persona, writer int) {
			*p = persona.Persona{ID: p.ID, Org: p.Org, Name: fmt.Sprint(writer), CreatedAt: at, UpdatedAt: at, Revision: p.Revision}
		},
		Replace: persona.Store.UpdatePersona,
	})
}

func runPersonaVersionRows(t *testing.T, newStore func(t *testing.T) persona.Store, atRest callwrighttest.AtRest[persona.Store]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[persona.Store, persona.Version]{
		New: func(t *testing.T) persona.Store {
			t.Helper()
			s := newStore(t)
			insertPersonas(t, s, aPersona("p1", "a"), aPersona("p2", "another"))
			return s
		},
		Value: func(_ *testing.T, number int) persona.Version {
			v := fullDraft()
			v.ID, v.Number = fmt.Sprint("v", number), number
			return v
		},
		Partial: true,
		Foreign: func(v *persona.Version) { v.Org, v.Persona = "another", "p2" },
		Org:     func(v *persona.Version) *callwright.OrgID { return &v.Org },
		Version: func(v *persona.Version) *int64 { return &v.Revision },
		Insert:  persona.Store.InsertVersion,
		Find: func(s persona.Store, ctx context.Context, v persona.Version) (persona.Version, error) {
			return s.Version(ctx, v.Org, v.ID)
		},
		Change: func(v *persona.Version, writer int) {
			revision := v.Revision
			*v = persona.Version{ID: v.ID, Org: v.Org, Persona: v.Persona, Number: v.Number, Type: persona.Draft, CreatedAt: at, UpdatedAt: at}
			v.Orchestration, v.Revision = fmt.Sprint(writer), revision
		},
		Replace: persona.Store.UpdateDraft,
		Delete:  persona.Store.DeleteDraft,
		Absent:  callwright.ErrNotFound,
		Secret: func(*testing.T) persona.Version {
			v := aDraft("a", "p1", 1)
			v.ID, v.Orchestration, v.Personality = callwrighttest.VisibleID, "hunter2-task", "hunter2-tone"
			v.Conditions = []persona.Condition{{Pathway: "w1", When: "hunter2-when"}}
			v.Tools = raws(`{"name":"x","headers":{"Authorization":"hunter2-tool"}}`)
			return v
		},
		Secrets: []string{"hunter2-task", "hunter2-tone", "hunter2-when", "hunter2-tool"},
		AtRest:  atRest,
	})
}

func aPersona(id string, org callwright.OrgID) persona.Persona {
	return persona.Persona{ID: id, Org: org, Name: "Front desk", CreatedAt: at, UpdatedAt: at, Revision: 1}
}

func aDraft(org callwright.OrgID, of string, number int) persona.Version {
	return persona.Version{
		ID: fmt.Sprintf("%s-v%d", of, number), Persona: of, Org: org, Type: persona.Draft, Number: number,
		Orchestration: "Book tables.", CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
}

// fullDraft returns a draft with a value in every field.
func fullDraft() persona.Version {
	v := aDraft("a", "p1", 3)
	v.Orchestration, v.Personality = "Book\ntables. <&>", "\u00c9va \U0001F600"
	v.Conditions = []persona.Condition{{Pathway: "w1", When: "They want to order."}, {Pathway: "w2", When: ""}}
	v.KnowledgeBases = []string{"k1", ""}
	v.Call = persona.CallConfig{
		Voice: "slt", Record: true, Language: "en-US", Background: "cafe", MaxDuration: 90 * time.Second, WaitForGreeting: true,
		Interruption: new(350 * time.Millisecond), Interruptibility: new(0),
		LeastWait: 450 * time.Millisecond, LongestWait: 4 * time.Second, Idle: idleSettings(), VoiceSettings: `{"speed": 1.1}`,
		Pronunciation: []tts.Pronunciation{{Word: "Éva", Spoken: "ay-va", CaseSensitive: true}},
		Machines: dialogue.Machines{
			Voicemail: dialogue.MachineMessage, VoicemailMessage: "Call\nus.", IVR: dialogue.MachineHangup, Screening: dialogue.MachineIntroduce,
			ScreeningMessage: "It is Éva.", Announcement: dialogue.MachineIgnore, Fax: dialogue.MachineIgnore,
		},
	}
	v.Tools = raws(`{"url": "https://x.example/?a=<b>&c", "name":"look_up","timeout":1e1}`, `"TL-1"`)
	v.UpdatedAt = at.Add(time.Second)
	return v
}

func insertPersonas(t *testing.T, s persona.Store, all ...persona.Persona) {
	t.Helper()
	for _, p := range all {
		if err := s.InsertPersona(t.Context(), p); err != nil {
			t.Fatalf("insert %s: %v", p.ID, err)
		}
	}
}

func insertDrafts(t *testing.T, s persona.Store, all ...persona.Version) {
	t.Helper()
	for _, v := range all {
		if err := s.InsertVersion(t.Context(), v); err != nil {
			t.Fatalf("insert %s: %v", v.ID, err)
		}
	}
}

func wantPersona(t *testing.T, s persona.Store, want persona.Persona) {
	t.Helper()
	got, err := s.Persona(t.Context(), want.Org, want.ID)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func wantPersonaVersion(t *testing.T, s persona.Store, want persona.Version) {
	t.Helper()
	got, err := s.Version(t.Context(), want.Org, want.ID)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func wantNoPersona(t *testing.T, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
}

func fullPersona() persona.Persona {
	p := aPersona("p1", "a")
	p.Name, p.Role, p.Description, p.Tags = "\u00c9va \U0001F600", "Receptionist", "Answers\ncalls.", []string{"clinic", "it's"}
	p.ImageURL, p.CreatedBy, p.Production, p.Draft = "https://x.example/eva.png", "u1", "v1", "v2"
	p.UpdatedAt = at.Add(time.Second)
	return p
}

func hidesPersonas(t *testing.T, s persona.Store) {
	p, v := aPersona("p1", "a"), aDraft("a", "p1", 1)
	insertPersonas(t, s, p)
	insertDrafts(t, s, v)
	foreign, theirs := p, v
	foreign.Org, theirs.Org = "b", "b"
	_, getErr := s.Persona(t.Context(), "b", "p1")
	_, versionErr := s.Version(t.Context(), "b", v.ID)
	another := aDraft("b", "p1", 2)
	wantNoPersona(t, map[string]error{
		"get": getErr, "update": s.UpdatePersona(t.Context(), foreign), "version": versionErr,
		"update a draft": s.UpdateDraft(t.Context(), theirs), "delete a draft": s.DeleteDraft(t.Context(), theirs),
		"insert a version": s.InsertVersion(t.Context(), another), "update absent": s.UpdatePersona(t.Context(), aPersona("p2", "a")),
		"update an absent draft": s.UpdateDraft(t.Context(), aDraft("a", "p1", 2)),
		"delete an absent draft": s.DeleteDraft(t.Context(), aDraft("a", "p1", 2)),
	})
	list, listErr := s.Personas(t.Context(), "b", persona.Listing{Limit: 10})
	versions, versionsErr := s.Versions(t.Context(), "b", "p1", 0, 10)
	byID, byIDErr := s.VersionsByID(t.Context(), "b", []string{v.ID})
	n, err := s.CountPersonas(t.Context(), "b")
	if err := errors.Join(err, listErr, versionsErr, byIDErr); err != nil || n != 0 || len(list)+len(versions)+len(byID) != 0 {
		t.Errorf("list gave %+v, versions %+v and %+v, count %d, %v", list, versions, byID, n, err)
	}
	wantPersona(t, s, p)
	wantPersonaVersion(t, s, v)
}

func deletesPersonaDraft(t *testing.T, s persona.Store) {
	insertPersonas(t, s, aPersona("p1", "a"))
	v := aDraft("a", "p1", 1)
	insertDrafts(t, s, v)
	old := v
	if err := s.UpdateDraft(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteDraft(t.Context(), old); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("deleting what was changed meanwhile gave %v, want a conflict", err)
	}
	v.Revision = 2
	if err := s.DeleteDraft(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	_, err := s.Version(t.Context(), "a", v.ID)
	wantNoPersona(t, map[string]error{"get": err, "delete again": s.DeleteDraft(t.Context(), v)})
	insertDrafts(t, s, aDraft("a", "p1", 1)) // the deleted draft's number is available again
}

func freezesPersonaVersion(t *testing.T, s persona.Store) {
	insertPersonas(t, s, aPersona("p1", "a"))
	v := aDraft("a", "p1", 1)
	insertDrafts(t, s, v)
	v.Type = persona.Production
	if err := s.UpdateDraft(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	v.Revision = 2
	wantPersonaVersion(t, s, v)
	changed := v
	changed.Orchestration = "Cancel tables."
	wantNoPersona(t, map[string]error{"update": s.UpdateDraft(t.Context(), changed), "delete": s.DeleteDraft(t.Context(), v)})
	wantPersonaVersion(t, s, v)
}

func givesPersonaNumberOnce(t *testing.T, s persona.Store) {
	insertPersonas(t, s, aPersona("p1", "a"))
	callwrighttest.Race(t, func(writer int) error {
		v := aDraft("a", "p1", 1)
		v.ID = fmt.Sprint("v of ", writer)
		return s.InsertVersion(t.Context(), v)
	})
}

func refusesOrphanPersonaVersion(t *testing.T, s persona.Store) {
	gone := aPersona("gone", "a")
	insertPersonas(t, s, gone)
	gone.DeletedAt = at
	if err := s.UpdatePersona(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	wantNoPersona(t, map[string]error{
		"of none": s.InsertVersion(t.Context(), aDraft("a", "p1", 1)), "of a deleted one": s.InsertVersion(t.Context(), aDraft("a", "gone", 1)),
	})
}

// listsPersonas checks the pages of personas, newest first, and CountPersonas. Some personas have equal creation times.
func listsPersonas(t *testing.T, s persona.Store) {
	const count = 25
	var want []string
	for i := range count {
		p := aPersona(fmt.Sprintf("p%02d", i), "a")
		p.CreatedAt = at.Add(time.Duration(i/10) * time.Second)
		insertPersonas(t, s, p)
		want = append(want, p.ID)
	}
	insertPersonas(t, s, aPersona("other", "b"))
	slices.Reverse(want)
	var seen []string
	for offset := 0; offset <= count; offset += 4 {
		list, err := s.Personas(t.Context(), "a", persona.Listing{Offset: offset, Limit: 4})
		if err != nil || len(list) > 4 {
			t.Fatalf("got %d, %v", len(list), err)
		}
		for _, p := range list {
			seen = append(seen, p.ID)
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got  %v\nwant %v", seen, want)
	}
	if n, err := s.CountPersonas(t.Context(), "a"); err != nil || n != count {
		t.Errorf("counted %d, %v", n, err)
	}
}

func listsPersonaVersions(t *testing.T, s persona.Store) {
	insertPersonas(t, s, aPersona("p1", "a"), aPersona("p2", "a"))
	for number := range 5 {
		insertDrafts(t, s, aDraft("a", "p1", number+1))
	}
	insertDrafts(t, s, aDraft("a", "p2", 1))
	for name, test := range map[string]struct {
		before, limit int
		want          []int
	}{
		"all": {0, 10, []int{5, 4, 3, 2, 1}}, "a page": {0, 2, []int{5, 4}}, "the next": {4, 2, []int{3, 2}}, "none": {1, 2, nil},
	} {
		list, err := s.Versions(t.Context(), "a", "p1", test.before, test.limit)
		var got []int
		for _, v := range list {
			got = append(got, v.Number)
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, test.want)
		}
	}
	list, err := s.VersionsByID(t.Context(), "a", []string{"p2-v1", "absent", "p1-v3"})
	if err != nil || len(list) != 2 || list[0].ID == list[1].ID {
		t.Errorf("by id: got %+v, %v", list, err)
	}
	if list, err := s.VersionsByID(t.Context(), "a", nil); err != nil || len(list) != 0 {
		t.Errorf("by no id: got %+v, %v", list, err)
	}
}

// boundsPersonaVersions checks that reads of large versions stop at persona.MaxRead.
func boundsPersonaVersions(t *testing.T, s persona.Store) {
	insertPersonas(t, s, aPersona("p1", "a"))
	var ids []string
	for number := range 8 {
		v := aDraft("a", "p1", number+1)
		v.Orchestration = strings.Repeat("x", persona.MaxRead/4)
		insertDrafts(t, s, v)
		ids = append(ids, v.ID)
	}
	if list, err := s.Versions(t.Context(), "a", "p1", 0, 10); err != nil || len(list) != 4 {
		t.Errorf("of large versions %d are read, %v", len(list), err)
	}
	if list, err := s.VersionsByID(t.Context(), "a", ids); err != nil || len(list) != 4 {
		t.Errorf("of large versions %d are read by id, %v", len(list), err)
	}
}

func forgetsPersonas(t *testing.T, s persona.Store) {
	insertPersonas(t, s, aPersona("kept", "a"), aPersona("old", "a"), aPersona("new", "b"))
	insertDrafts(t, s, aDraft("a", "kept", 1), aDraft("a", "old", 1), aDraft("b", "new", 1))
	for id, deleted := range map[string]persona.Persona{"old": aPersona("old", "a"), "new": aPersona("new", "b")} {
		deleted.DeletedAt = at
		if id == "new" {
			deleted.DeletedAt = at.Add(time.Hour)
		}
		if err := s.UpdatePersona(t.Context(), deleted); err != nil {
			t.Fatal(err)
		}
		deleted.Revision = 2
		_, err := s.Persona(t.Context(), deleted.Org, id)
		list, listErr := s.Personas(t.Context(), "b", persona.Listing{Limit: 10})
		wantNoPersona(t, map[string]error{"get " + id: err, "update " + id: s.UpdatePersona(t.Context(), deleted)})
		if id == "new" && (listErr != nil || len(list) > 0) {
			t.Errorf("the list has what is deleted: %+v, %v", list, listErr)
		}
		wantPersonaVersion(t, s, aDraft(deleted.Org, id, 1))
	}
	if n, err := s.CountPersonas(t.Context(), "a"); err != nil || n != 1 {
		t.Errorf("counted %d, %v", n, err)
	}
	for range 2 { // the second call finds nothing to delete
		if _, err := s.DeleteOldPersonas(t.Context(), at.Add(time.Minute), 10); err != nil {
			t.Fatal(err)
		}
		_, err := s.Version(t.Context(), "a", "old-v1")
		wantNoPersona(t, map[string]error{"a version of what is forgotten": err})
		wantPersonaVersion(t, s, aDraft("b", "new", 1))
		wantPersonaVersion(t, s, aDraft("a", "kept", 1))
	}
	insertPersonas(t, s, aPersona("old", "c"))
	for i, want := range []int{1, 0} {
		if n, err := s.DeleteOldPersonas(t.Context(), at.Add(2*time.Hour), 1); err != nil || n != want {
			t.Errorf("%d: forgot %d, %v; want %d", i, n, err, want)
		}
	}
}
