package triage_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestUnread(t *testing.T) {
	t.Parallel()
	h := open(t)
	a, b := h.issue(triage.Draft{}), h.issue(triage.Draft{})
	want := func(when, viewer string, unread ...string) {
		t.Helper()
		got, err := h.Unread(t.Context(), "acme", viewer, []triage.Issue{h.get(a.ID), h.get(b.ID)})
		expected := map[string]bool{a.ID: false, b.ID: false}
		for _, id := range unread {
			expected[id] = true
		}
		if err != nil || !maps.Equal(got, expected) {
			t.Errorf("%s, %s has not read %v, %v; want %v", when, viewer, got, err, expected)
		}
	}
	want("after opening", "ada")
	want("after opening", "bob", a.ID, b.ID)
	if err := h.View(t.Context(), "acme", "bob", a.ID); err != nil {
		t.Fatal(err)
	}
	want("after a look", "bob", b.ID)
	if _, err := h.Update(t.Context(), "acme", bob, a.ID, triage.Change{Category: new("x")}); err != nil {
		t.Fatal(err)
	}
	want("after Bob's edit", "bob", b.ID)
	want("after Bob's edit", "ada", a.ID)
	if _, err := h.Update(t.Context(), "acme", triage.System(), b.ID, triage.Change{Category: new("x")}); err != nil {
		t.Fatal(err)
	}
	want("after the platform's edit", "ada", a.ID, b.ID)
	if _, err := h.Update(t.Context(), "acme", ada, b.ID, triage.Change{Title: new("without an entry")}); err != nil {
		t.Fatal(err)
	}
	want("after an edit without an entry", "ada", a.ID, b.ID)
	if got, err := h.Unread(t.Context(), "acme", "ada", nil); err != nil || len(got) != 0 {
		t.Errorf("of no issues: %v, %v", got, err)
	}
}

func TestViewRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	for _, viewer := range []string{"", " ", strings.Repeat("x", 65), "\x00"} {
		wantError(t, h.View(t.Context(), "acme", viewer, i.ID), callwright.CodeBadRequest, "viewer")
		_, err := h.Unread(t.Context(), "acme", viewer, []triage.Issue{i})
		wantError(t, err, callwright.CodeBadRequest, "viewer")
	}
}
