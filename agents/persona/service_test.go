package persona_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/persona"
)

// TestLife checks the states of a persona that is created, changed, promoted and deleted.
func TestLife(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.create("Eva")
	if first.Production == nil || first.Draft != nil || first.Production.Number != 1 || first.Production.Type != persona.Production {
		t.Fatalf("a new persona is %+v", first)
	}
	draft := h.update(first.Persona.ID, persona.Change{
		Role: callwright.Given("Host"), Personality: callwright.Given("Calm."), Call: persona.CallChange{Voice: callwright.Given("slt")},
	})
	if draft.Persona.Role != "Host" || draft.Draft == nil || draft.Draft.Number != 2 || draft.Draft.Type != persona.Draft ||
		draft.Draft.Orchestration != "Book tables." || draft.Draft.Personality != "Calm." || draft.Draft.Call.Voice != "slt" {
		t.Fatalf("the draft is %+v of %+v", draft.Draft, draft.Persona)
	}
	if !same(t, draft.Production, first.Production) {
		t.Errorf("a change of the draft changes what is in production to %+v", draft.Production)
	}
	if _, loaded, err := h.Load(t.Context(), org, first.Persona.ID); err != nil || !same(t, loaded, first.Production) {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
	promoted := h.promote(first.Persona.ID)
	if promoted.Draft != nil || promoted.Production.ID != draft.Draft.ID || promoted.Production.Number != 2 ||
		promoted.Production.Type != persona.Production {
		t.Errorf("promoted to %+v, draft %+v", promoted.Production, promoted.Draft)
	}
	p, loaded, err := h.Load(t.Context(), org, first.Persona.ID)
	if err != nil || p.Name != "Eva" || !same(t, loaded, promoted.Production) {
		t.Errorf("loaded %+v of %+v, %v", loaded, p, err)
	}
	if got, err := h.Get(t.Context(), org, first.Persona.ID); err != nil || !same(t, got, promoted) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, promoted)
	}
	edited := h.update(first.Persona.ID, prompt("Sing."))
	if err := h.Delete(t.Context(), org, first.Persona.ID); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, h, org, first.Persona.ID)
	for number, want := range map[int]*persona.Version{1: first.Production, 2: promoted.Production} {
		if got, err := h.LoadPinned(t.Context(), org, first.Persona.ID, number); err != nil || !same(t, got, want) {
			t.Errorf("version %d is %+v, %v", number, got, err)
		}
	}
	for name, number := range map[string]int{"the draft": edited.Draft.Number, "no number": 0, "an absent version": 9} {
		_, err := h.LoadPinned(t.Context(), org, first.Persona.ID, number)
		wantError(t, name, err, callwright.CodeNotFound, "")
	}
	_, err = h.LoadPinned(t.Context(), "other", first.Persona.ID, 1)
	wantError(t, "another's version", err, callwright.CodeNotFound, "")
}

// wantAbsent checks that a persona does not exist for an organization: every operation on it returns CodeNotFound, and List omits it.
func wantAbsent(t *testing.T, h *house, of callwright.OrgID, id string) {
	t.Helper()
	ctx := t.Context()
	_, getErr := h.Get(ctx, of, id)
	_, nameErr := h.Update(ctx, of, id, persona.Change{Name: callwright.Given("Ada")})
	_, promptErr := h.Update(ctx, of, id, prompt("Sing."))
	_, promoteErr := h.Promote(ctx, of, id)
	_, discardErr := h.Discard(ctx, of, id)
	_, versionsErr := h.Versions(ctx, of, id, callwright.Keyset{}, 0)
	for name, err := range map[string]error{
		"get": getErr, "rename": nameErr, "update": promptErr, "promote": promoteErr, "discard": discardErr, "versions": versionsErr,
		"delete": h.Delete(ctx, of, id),
	} {
		wantError(t, name, err, callwright.CodeNotFound, "")
	}
	_, _, err := h.Load(ctx, of, id)
	wantError(t, "load", err, callwright.CodeNotFound, "persona_id")
	if list, err := h.List(ctx, of, 1, 0); err != nil || slices.ContainsFunc(list, func(r persona.Record) bool { return r.Persona.ID == id }) {
		t.Errorf("the list is %+v, %v", list, err)
	}
}

func TestOthersSeeNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.update(h.create("Eva").Persona.ID, prompt("Sing."))
	wantAbsent(t, h, "b", r.Persona.ID)
	if got, err := h.Get(t.Context(), org, r.Persona.ID); err != nil || !same(t, got, r) {
		t.Errorf("another organization changed it to %+v, %v", got, err)
	}
}

// TestPersonaThatBeginsWithADraft checks that a persona without a task is created as a draft, which calls can't use. The draft can't be
// promoted until it has a task.
func TestPersonaThatBeginsWithADraft(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	given := persona.Persona{ID: "x", Name: "Eva", Production: "x", DeletedAt: time.Unix(1, 0)} // Create must ignore ID, Production and DeletedAt
	r, err := h.Create(t.Context(), org, given, persona.Version{ID: "x", Number: 7, Personality: "Calm."})
	if err != nil || r.Production != nil || r.Draft == nil || r.Draft.Number != 1 || r.Persona.ID == "x" || r.Draft.ID == "x" {
		t.Fatalf("created %+v, %v", r, err)
	}
	id := r.Persona.ID
	_, _, err = h.Load(t.Context(), org, id)
	wantError(t, "load", err, callwright.CodeInvalidState, "persona_id")
	_, err = h.Promote(t.Context(), org, id)
	wantError(t, "promote", err, callwright.CodeInvalidState, "orchestration_prompt")
	h.update(id, prompt("Book tables."))
	if r = h.promote(id); r.Production.Number != 1 || r.Production.Personality != "Calm." {
		t.Errorf("promoted to %+v", r.Production)
	}
	_, err = h.Promote(t.Context(), org, id)
	wantError(t, "promote without a draft", err, callwright.CodeInvalidState, "")
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.create("Eva")
	id := first.Persona.ID
	_, err := h.Discard(t.Context(), org, id)
	wantError(t, "discard nothing", err, callwright.CodeInvalidState, "")
	h.update(id, prompt("Sing."))
	r, err := h.Discard(t.Context(), org, id)
	if err != nil || r.Draft != nil || r.Persona.Draft != "" || !same(t, r.Production, first.Production) {
		t.Errorf("discarded to %+v, %v", r, err)
	}
	if r = h.update(id, persona.Change{Personality: callwright.Given("Calm.")}); r.Draft.Number != 2 || r.Draft.Orchestration != "Book tables." {
		t.Errorf("the next draft is %+v", r.Draft)
	}
}

// TestChangeOfOneMember checks that a change of one field leaves the others as they are.
func TestChangeOfOneMember(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	full := persona.Version{
		Orchestration: "Book tables.", Personality: "Calm.", Conditions: []persona.Condition{{Pathway: "order", When: "They order."}},
		Call:  persona.CallConfig{Voice: "slt", Record: true, Language: "en", MaxDuration: time.Minute, WaitForGreeting: true},
		Tools: []json.RawMessage{json.RawMessage(`{"name":"look","url":"https://x.example/"}`)},
	}
	whole := persona.Persona{Name: "Eva", Role: "Host", Description: "Books.", Tags: []string{"x"}, ImageURL: "https://x.example/eva.png"}
	r, err := h.Create(t.Context(), org, whole, full)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change persona.Change
		apply  func(*persona.Persona, *persona.Version)
	}{
		"name":        {persona.Change{Name: callwright.Given("Ada")}, func(p *persona.Persona, _ *persona.Version) { p.Name = "Ada" }},
		"role":        {persona.Change{Role: callwright.Cleared[string]()}, func(p *persona.Persona, _ *persona.Version) { p.Role = "" }},
		"tags":        {persona.Change{Tags: callwright.Cleared[[]string]()}, func(p *persona.Persona, _ *persona.Version) { p.Tags = nil }},
		"image":       {persona.Change{ImageURL: callwright.Cleared[string]()}, func(p *persona.Persona, _ *persona.Version) { p.ImageURL = "" }},
		"description": {persona.Change{Description: callwright.Given("X")}, func(p *persona.Persona, _ *persona.Version) { p.Description = "X" }},
		"prompt":      {prompt("Sing."), func(_ *persona.Persona, v *persona.Version) { v.Orchestration = "Sing." }},
		"conditions": {
			persona.Change{Conditions: callwright.Given([]persona.Condition{})},
			func(_ *persona.Persona, v *persona.Version) { v.Conditions = []persona.Condition{} },
		},
		"tools": {persona.Change{Tools: callwright.Cleared[[]json.RawMessage]()}, func(_ *persona.Persona, v *persona.Version) { v.Tools = nil }},
		"voice": {
			persona.Change{Call: persona.CallChange{Voice: callwright.Cleared[string]()}},
			func(_ *persona.Persona, v *persona.Version) { v.Call.Voice = "" },
		},
		"sound": {
			persona.Change{Call: persona.CallChange{Background: callwright.Given("none"), Record: callwright.Given(false)}},
			func(_ *persona.Persona, v *persona.Version) { v.Call.Record = false },
		},
	} {
		if _, err := h.Discard(t.Context(), org, r.Persona.ID); err != nil && !errors.Is(err, callwright.ErrInvalidState) {
			t.Fatal(err)
		}
		before, err := h.Get(t.Context(), org, r.Persona.ID)
		if err != nil {
			t.Fatal(err)
		}
		got := h.update(r.Persona.ID, test.change)
		wantPersona, wantDraft := before.Persona, *before.Production
		test.apply(&wantPersona, &wantDraft)
		wantPersona.Draft, wantPersona.UpdatedAt, wantPersona.Revision = got.Persona.Draft, got.Persona.UpdatedAt, before.Persona.Revision+1
		if !same(t, got.Persona, wantPersona) || !got.Persona.UpdatedAt.After(before.Persona.UpdatedAt) {
			t.Errorf("%s: got  %+v\nwant %+v", name, got.Persona, wantPersona)
		}
		if same(t, wantDraft, before.Production) {
			if got.Draft != nil {
				t.Errorf("%s: made the draft %+v", name, got.Draft)
			}
			continue
		}
		wantDraft.ID, wantDraft.Number, wantDraft.Type, wantDraft.Revision = got.Draft.ID, 2, persona.Draft, 1
		wantDraft.CreatedAt, wantDraft.UpdatedAt = got.Draft.CreatedAt, got.Draft.UpdatedAt
		if !same(t, got.Draft, wantDraft) {
			t.Errorf("%s: got  %+v\nwant %+v", name, got.Draft, wantDraft)
		}
	}
}

// TestChangesAtOnce checks that concurrent changes of different fields are all stored.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.create("Eva").Persona.ID
	var writers sync.WaitGroup
	for _, c := range []persona.Change{
		{Role: callwright.Given("Host")}, {Description: callwright.Given("Books.")}, prompt("Sing."), {Personality: callwright.Given("Calm.")},
		{Call: persona.CallChange{Voice: callwright.Given("slt")}}, {Call: persona.CallChange{Record: callwright.Given(true)}},
	} {
		writers.Go(func() { h.update(id, c) })
	}
	writers.Wait()
	r, err := h.Get(t.Context(), org, id)
	if err != nil || r.Persona.Role != "Host" || r.Persona.Description != "Books." || r.Draft.Orchestration != "Sing." ||
		r.Draft.Personality != "Calm." || !reflect.DeepEqual(r.Draft.Call, persona.CallConfig{Voice: "slt", Record: true}) || r.Draft.Number != 2 {
		t.Errorf("got %+v with the draft %+v, %v", r.Persona, r.Draft, err)
	}
}

func TestDeleteRefusesWhatAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.create("Eva")
	h.numbers = numbers{r.Persona.ID: {"+15550000001", "+15550000002"}, "other": {"+15550000003"}}
	err := h.Delete(t.Context(), org, r.Persona.ID)
	wantError(t, "delete", err, callwright.CodeConflict, "")
	if !strings.Contains(fmt.Sprint(err), "+15550000001, +15550000002:") {
		t.Errorf("the error is %v", err)
	}
	got, err := h.Get(t.Context(), org, r.Persona.ID)
	if err != nil || !same(t, got.Persona, r.Persona) || len(got.Numbers) != 2 {
		t.Errorf("afterwards it is %+v, %v", got, err)
	}
	if list, err := h.List(t.Context(), org, 1, 1); err != nil || !slices.Equal(list[0].Numbers, got.Numbers) {
		t.Errorf("the list is %+v, %v", list, err)
	}
	for range 9 {
		h.numbers[r.Persona.ID] = append(h.numbers[r.Persona.ID], "+15550000004")
	}
	if err := h.Delete(t.Context(), org, r.Persona.ID); !strings.Contains(fmt.Sprint(err), ", 6 more:") {
		t.Errorf("the error is %v", err)
	}
	h.numbers = nil
	if err := h.Delete(t.Context(), org, r.Persona.ID); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestDeletedAreForgotten checks that the periodic task deletes the data of a deleted persona after KeepDeleted, and not earlier.
func TestDeletedAreForgotten(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.create("Eva")
	kept := h.create("Ada")
	if err := h.Delete(t.Context(), org, r.Persona.ID); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		later time.Duration
		code  callwright.Code
	}{{persona.KeepDeleted - time.Minute, ""}, {2 * time.Minute, callwright.CodeNotFound}} {
		h.clock.now = h.clock.now.Add(test.later)
		if err := h.work.periodic(t.Context(), callwright.Task{}, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.Version(t.Context(), org, r.Production.ID); callwright.CodeOf(err) != test.code {
			t.Errorf("the version of a deleted persona gives %v, want %q", err, test.code)
		}
	}
	if _, _, err := h.Load(t.Context(), org, kept.Persona.ID); err != nil {
		t.Errorf("the other persona gives %v", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var want []string
	for i := range 5 {
		r := h.create(fmt.Sprint("P", i))
		h.update(r.Persona.ID, prompt("Sing."))
		want = append([]string{r.Persona.ID}, want...)
	}
	var got []string
	for page := 1; page <= 4; page++ {
		list, err := h.List(t.Context(), org, page, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			got = append(got, r.Persona.ID)
			if r.Production == nil || r.Production.ID != r.Persona.Production || r.Draft != nil {
				t.Errorf("the list has %+v", r)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, test := range map[string]struct {
		page, limit int
		field       string
	}{
		"page 0": {0, 1, "page"}, "a page too high": {persona.MaxPages + 1, 1, "page"}, "a negative limit": {1, -1, "limit"},
		"a limit too high": {1, persona.MaxPage + 1, "limit"},
	} {
		_, err := h.List(t.Context(), org, test.page, test.limit)
		wantError(t, name, err, callwright.CodeBadRequest, test.field)
	}
}

// TestListIsBounded checks that List refuses a page whose personas exceed MaxRead bytes, and returns a smaller page.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range persona.MaxRead/persona.MaxPrompt/2 + 1 {
		p := persona.Persona{Name: fmt.Sprint("P", i)}
		v := persona.Version{Orchestration: strings.Repeat("x", persona.MaxPrompt), Personality: strings.Repeat("x", persona.MaxPrompt)}
		if _, err := h.Create(t.Context(), org, p, v); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.List(t.Context(), org, 1, 100)
	wantError(t, "a large page", err, callwright.CodeBadRequest, "limit")
	if list, err := h.List(t.Context(), org, 1, 10); err != nil || len(list) != 10 {
		t.Errorf("a small page has %d, %v", len(list), err)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.create("Eva").Persona.ID
	for i := range 3 {
		h.update(id, prompt(fmt.Sprint("Sing ", i)))
		h.promote(id)
	}
	h.update(id, prompt("Hum."))
	var got []string
	for after := (callwright.Keyset{}); ; {
		page, err := h.Versions(t.Context(), org, id, after, 2)
		if err != nil || len(page.Items) > 2 {
			t.Fatalf("%d versions, %v", len(page.Items), err)
		}
		for _, v := range page.Items {
			got = append(got, fmt.Sprint(v.Number, v.Type, v.Orchestration))
		}
		if after = page.Next; after.IsZero() {
			break
		}
	}
	want := []string{"5draftHum.", "4productionSing 2", "3productionSing 1", "2productionSing 0", "1productionBook tables."}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	_, err := h.Versions(t.Context(), org, id, callwright.Keyset{ID: "x"}, 2)
	wantError(t, "a bad cursor", err, callwright.CodeBadRequest, "cursor")
	_, err = h.Versions(t.Context(), org, id, callwright.Keyset{}, persona.MaxPage+1)
	wantError(t, "a large page", err, callwright.CodeBadRequest, "limit")
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, c := range map[string]persona.Config{"Store": {Atomic: h.memory}, "Atomic": {Store: h.store}} {
		if _, err := persona.New(c); err == nil || !strings.Contains(err.Error(), "Config."+name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// stale is a store whose next call of Persona returns former, if set, as if another node had changed the persona since that read. In
// PostgreSQL, two statements of a transaction may also see different states.
type stale struct {
	persona.Store
	former *persona.Persona
}

func (s *stale) Persona(ctx context.Context, of callwright.OrgID, id string) (persona.Persona, error) {
	if former := s.former; former != nil {
		s.former = nil
		return *former, nil
	}
	return s.Store.Persona(ctx, of, id)
}

func TestDraftThatAnotherNodePromotes(t *testing.T) {
	t.Parallel()
	store := &stale{}
	h := newHouse(t, func(c *persona.Config) { store.Store, c.Store = c.Store, store })
	id := h.create("Ada").Persona.ID
	h.update(id, prompt("Sell tables."))
	former, err := store.Store.Persona(t.Context(), org, id)
	if err != nil {
		t.Fatal(err)
	}
	h.promote(id)
	for name, change := range map[string]func(context.Context, callwright.OrgID, string) (persona.Record, error){
		"promote": h.Promote, "discard": h.Discard,
	} {
		store.former = &former
		if _, err := change(t.Context(), org, id); !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("%s of a draft that is gone: %v, want CodeInvalidState", name, err)
		}
	}
}
