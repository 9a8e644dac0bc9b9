package persona_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/persona"
)

// TestAnyChangesKeepVersionsInOrder checks invariants after random updates, promotions and discards: versions are numbered from 1 without
// gaps, the draft has the last number, the newest other version is in production, and former versions in production never change.
func TestAnyChangesKeepVersionsInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		h := newHouse(t)
		task := rapid.SampledFrom([]string{"", "Book tables."}).Draw(r, "task")
		made, err := h.Create(t.Context(), org, persona.Persona{Name: "Eva"}, persona.Version{Orchestration: task})
		if err != nil {
			r.Fatal(err)
		}
		id, frozen := made.Persona.ID, map[int]persona.Version{}
		for i := range rapid.IntRange(0, 20).Draw(r, "changes") {
			revision := made.Persona.Revision
			var changed persona.Record
			switch rapid.SampledFrom([]string{"update", "update", "rename", "empty", "promote", "promote", "discard"}).Draw(r, "change") {
			case "update":
				changed, err = h.Update(t.Context(), org, id, prompt(fmt.Sprint("Sing ", i)))
			case "rename":
				changed, err = h.Update(t.Context(), org, id, persona.Change{Name: callwright.Given(fmt.Sprint("Eva ", i))})
			case "empty":
				changed, err = h.Update(t.Context(), org, id, prompt(""))
			case "promote":
				changed, err = h.Promote(t.Context(), org, id)
			case "discard":
				changed, err = h.Discard(t.Context(), org, id)
			}
			refused := errors.Is(err, callwright.ErrInvalidState)
			if err != nil && !refused {
				r.Fatal(err)
			}
			if made, err = h.Get(t.Context(), org, id); err != nil {
				r.Fatal(err)
			}
			if by := made.Persona.Revision - revision; by != 1 && !refused || by != 0 && refused {
				r.Errorf("%d changes at once", by)
			}
			if !refused && !same(t, changed, made) {
				r.Errorf("the change gave %+v, and afterwards it is %+v", changed, made)
			}
			checkVersions(r, h, made, frozen)
		}
	})
}

// checkVersions checks the invariants of a persona's versions. frozen contains the known versions that are or were in production.
// checkVersions adds new versions to frozen, and checks that the known ones have not changed.
func checkVersions(r *rapid.T, h *house, made persona.Record, frozen map[int]persona.Version) {
	page, err := h.Versions(h.t.Context(), org, made.Persona.ID, callwright.Keyset{}, 0)
	if err != nil || !page.Next.IsZero() {
		r.Fatal(err, page.Next)
	}
	newest, drafts := 0, 0
	for i, v := range page.Items {
		if v.Number != len(page.Items)-i {
			r.Errorf("version %d of %d has number %d", i, len(page.Items), v.Number)
		}
		if v.Type == persona.Draft {
			if drafts++; i != 0 || made.Draft == nil || made.Draft.ID != v.ID {
				r.Errorf("the draft %s has number %d, and the persona has %+v", v.ID, v.Number, made.Draft)
			}
			continue
		}
		if newest = max(newest, v.Number); v.Orchestration == "" {
			r.Errorf("version %d is in production without a task", v.Number)
		}
		if before, known := frozen[v.Number]; known && !same(h.t, before, v) {
			r.Errorf("version %d changed from %+v to %+v", v.Number, before, v)
		}
		frozen[v.Number] = v
	}
	if inProduction := made.Production != nil; inProduction != (newest > 0) || inProduction && made.Production.Number != newest {
		r.Errorf("version %d is the newest, and %+v is in production", newest, made.Production)
	}
	if (made.Draft != nil) != (drafts == 1) || newest < len(frozen) {
		r.Errorf("%d drafts, %d versions of %d that were in production", drafts, newest, len(frozen))
	}
}
