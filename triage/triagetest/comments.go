package triagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunComments is the conformance suite of triage.Comments. newStore returns an empty store and its transactions.
func RunComments(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "comments", newStore, map[string]func(*testing.T, subject){
		"keeps every field":                   keepsComment,
		"hides other organizations' comments": hidesComments,
		"refuses an id twice":                 refusesCommentTwice,
		"refuses one of an absent issue":      refusesOrphanComment,
		"updates by compare-and-set":          updatesComment,
		"finds those that were revised":       findsRevisedComments,
		"rolls back":                          rollsBackComments,
	})
}

func aComment(id string) triage.Comment {
	return triage.Comment{
		ID: id, Org: "a", IssueID: "i1", Author: fullActor("u1"), Detail: words, CreatedAt: at, UpdatedAt: later(1), Revision: 1,
	}
}

func (s subject) insertComments(t *testing.T, all ...triage.Comment) {
	t.Helper()
	for _, c := range all {
		if err := s.InsertComment(t.Context(), c); err != nil {
			t.Fatalf("insert %s: %v", c.ID, err)
		}
	}
}

func (s subject) wantComment(t *testing.T, want triage.Comment) {
	t.Helper()
	got, err := s.Comment(t.Context(), want.Org, want.IssueID, want.ID)
	wantSame(t, got, err, want)
}

// keepsComment checks that an insert stores every field, and that an update of all fields changes only the mutable ones.
func keepsComment(t *testing.T, s subject) {
	given := aComment("c1")
	given.Deleted, given.Detail, given.Revision = true, strings.Repeat("\u96ea", triage.MaxDetail/3), 7
	callwrighttest.Full(t, given)
	s.insertComments(t, given)
	want := given
	want.Revision = 1
	s.wantComment(t, want)
	change := triage.Comment{
		ID: "c1", Org: "a", IssueID: "i2", Author: triage.System(), Detail: "", CreatedAt: later(8), UpdatedAt: later(9), Revision: 1,
	}
	if err := s.UpdateComment(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	want.Detail, want.UpdatedAt, want.Deleted, want.Revision = "", later(9), false, 2
	s.wantComment(t, want)
}

func hidesComments(t *testing.T, s subject) {
	s.insertComments(t, aComment("c1"))
	foreign, absent := aComment("c1"), aComment("c9")
	foreign.Org = "b"
	_, getErr := s.Comment(t.Context(), "b", "i1", "c1")
	_, otherErr := s.Comment(t.Context(), "a", "i2", "c1")
	_, absentErr := s.Comment(t.Context(), "a", "i1", "c9")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "get of another issue": otherErr, "get absent": absentErr,
		"update": s.UpdateComment(t.Context(), foreign), "update absent": s.UpdateComment(t.Context(), absent),
	})
	s.wantComment(t, aComment("c1"))
}

func refusesCommentTwice(t *testing.T, s subject) {
	s.insertComments(t, aComment("c1"))
	other, foreign := aComment("c1"), aComment("c1")
	other.IssueID, foreign.IssueID, foreign.Org = "i2", "j1", "b"
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the same":                s.InsertComment(t.Context(), aComment("c1")),
		"in another issue":        s.InsertComment(t.Context(), other),
		"in another organization": s.InsertComment(t.Context(), foreign),
	})
	s.wantComment(t, aComment("c1"))
}

func refusesOrphanComment(t *testing.T, s subject) {
	orphan, foreign := aComment("c1"), aComment("c1")
	orphan.IssueID, foreign.IssueID = "i9", "j1"
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"an absent issue": s.InsertComment(t.Context(), orphan), "a foreign issue": s.InsertComment(t.Context(), foreign),
	})
}

func updatesComment(t *testing.T, s subject) {
	s.insertComments(t, aComment("c1"))
	changed := func(writer int) triage.Comment {
		c := aComment("c1")
		c.Detail = fmt.Sprint("of ", writer)
		return c
	}
	want := changed(callwrighttest.Race(t, func(writer int) error { return s.UpdateComment(t.Context(), changed(writer)) }))
	want.Revision = 2
	s.wantComment(t, want)
}

// findsRevisedComments checks the search for revised comments. The store also contains revised comments of other issues and organizations.
func findsRevisedComments(t *testing.T, s subject) {
	of := func(id, issue string, org callwright.OrgID) triage.Comment {
		c := aComment(id)
		c.IssueID, c.Org = issue, org
		return c
	}
	s.insertComments(t, aComment("c1"), aComment("c2"), aComment("c3"), aComment("c4"), of("c5", "i2", "a"), of("c6", "j1", "b"))
	edited, deleted := aComment("c1"), aComment("c3")
	edited.Detail = "\u96ea\U0001F600" + words
	deleted.Detail, deleted.Deleted = "", true
	for _, c := range []triage.Comment{edited, deleted, aComment("c4"), of("c5", "i2", "a"), of("c6", "j1", "b")} {
		if err := s.UpdateComment(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	byID := func(a, b triage.Comment) int { return strings.Compare(a.ID, b.ID) }
	edited.Detail, edited.Revision, deleted.Revision = "\u96ea\U0001F600G", 2, 2
	got, err := s.RevisedComments(t.Context(), "a", "i1", []string{"c3", "c2", "c1", "c5", "c6", "c9"}, 3)
	wantSame(t, slices.SortedFunc(slices.Values(got), byID), err, []triage.Comment{edited, deleted})
	none, err := s.RevisedComments(t.Context(), "b", "i1", []string{"c1"}, 3)
	wantIDs(t, none, err, func(c triage.Comment) string { return c.ID })
}

func rollsBackComments(t *testing.T, s subject) {
	s.insertComments(t, aComment("c1"))
	s.rollBack(t, func(ctx context.Context) error {
		c := aComment("c1")
		c.Detail = "changed"
		return errors.Join(s.UpdateComment(ctx, c), s.InsertComment(ctx, aComment("c2")))
	})
	s.wantComment(t, aComment("c1"))
	_, err := s.Comment(t.Context(), "a", "i1", "c2")
	wantErr(t, callwright.ErrNotFound, map[string]error{"what was rolled back": err})
}
