package triagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunRelations is the conformance suite of triage.Relations. newStore returns an empty store and its transactions.
func RunRelations(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "relations", newStore, map[string]func(*testing.T, subject){
		"keeps every field, as issues stand":   keepsRelation,
		"hides other organizations' relations": hidesRelations,
		"refuses an id or a relation twice":    refusesRelationTwice,
		"refuses one of an absent issue":       refusesOrphanRelation,
		"relates for one of many":              relatesAtOnce,
		"lists both directions in order":       listsRelations,
		"deletes":                              deletesRelation,
		"rolls back":                           rollsBackRelations,
	})
}

// aRelation returns a relation in its stored form, with only the ids of the issues.
func aRelation(id string, t triage.RelationType, from, to string) triage.Relation {
	return triage.Relation{
		ID: id, Org: "a", Type: t, From: triage.IssueRef{ID: from}, To: triage.IssueRef{ID: to}, CreatedBy: "u1", CreatedAt: at,
	}
}

func (s subject) insertRelations(t *testing.T, all ...triage.Relation) {
	t.Helper()
	for _, r := range all {
		if err := s.InsertRelation(t.Context(), r); err != nil {
			t.Fatalf("insert %s: %v", r.ID, err)
		}
	}
}

// wantRelation checks that both issues of a relation return it, with the current IssueRefs.
func (s subject) wantRelation(t *testing.T, want triage.Relation) {
	t.Helper()
	for _, ref := range []*triage.IssueRef{&want.From, &want.To} {
		i, err := s.Issue(t.Context(), want.Org, ref.ID)
		if err != nil {
			t.Fatal(err)
		}
		*ref = triage.IssueRef{ID: i.ID, Number: i.Number, Title: i.Title, Status: i.Status}
	}
	full := want
	full.Merged = true // Full requires every field, but Merged may be false
	callwrighttest.Full(t, full)
	for _, issue := range []string{want.From.ID, want.To.ID} {
		got, err := s.Relation(t.Context(), want.Org, issue, want.ID)
		wantSame(t, got, err, want)
		all, err := s.RelationsOf(t.Context(), want.Org, issue)
		wantSame(t, all, err, []triage.Relation{want})
	}
}

func relationID(r triage.Relation) string { return r.ID }

func keepsRelation(t *testing.T, s subject) {
	given := aRelation("r1", triage.DuplicateOf, "i1", "i2")
	given.From = triage.IssueRef{ID: "i1", Number: 7, Title: "as somebody saw it", Status: triage.StatusClosed}
	s.insertRelations(t, given)
	s.wantRelation(t, given)
	s.changeIssue(t, "i1", func(i *triage.Issue) { i.Title, i.Status = words, triage.StatusDone })
	s.changeIssue(t, "i2", func(i *triage.Issue) { i.Title, i.Status = "another", triage.StatusInReview })
	s.wantRelation(t, given)
	for _, id := range []string{"i1", "i2"} {
		s.changeIssue(t, id, func(i *triage.Issue) { i.MergedInto = "i9" })
		given.Merged = true
		s.wantRelation(t, given)
		s.changeIssue(t, id, func(i *triage.Issue) { i.MergedInto = "" })
	}
}

func hidesRelations(t *testing.T, s subject) {
	s.insertIssues(t, anIssue("i3", 3))
	s.insertRelations(t, aRelation("r1", triage.Blocks, "i1", "i2"))
	attempts := map[string]error{
		"delete": s.DeleteRelation(t.Context(), "b", "r1"), "delete absent": s.DeleteRelation(t.Context(), "a", "r9"),
	}
	_, attempts["get"] = s.Relation(t.Context(), "b", "i1", "r1")
	_, attempts["get of a foreign issue"] = s.Relation(t.Context(), "b", "j1", "r1")
	_, attempts["get of another issue"] = s.Relation(t.Context(), "a", "i3", "r1")
	_, attempts["get absent"] = s.Relation(t.Context(), "a", "i1", "r9")
	wantErr(t, callwright.ErrNotFound, attempts)
	for _, of := range []struct {
		org   callwright.OrgID
		issue string
	}{{"b", "i1"}, {"b", "j1"}, {"a", "i3"}, {"a", "i9"}} {
		all, err := s.RelationsOf(t.Context(), of.org, of.issue)
		wantIDs(t, all, err, relationID)
	}
	s.wantRelation(t, aRelation("r1", triage.Blocks, "i1", "i2"))
}

func refusesRelationTwice(t *testing.T, s subject) {
	s.insertIssues(t, anIssue("i3", 3))
	s.insertRelations(t, aRelation("r1", triage.Blocks, "i1", "i2"))
	seen := aRelation("r2", triage.Blocks, "i1", "i2")
	seen.From.Title, seen.To.Status = "as somebody saw it", triage.StatusClosed
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the id":                    s.InsertRelation(t.Context(), aRelation("r1", triage.Blocks, "i1", "i3")),
		"the relation":              s.InsertRelation(t.Context(), aRelation("r2", triage.Blocks, "i1", "i2")),
		"the relation, as was seen": s.InsertRelation(t.Context(), seen),
	})
	s.wantRelation(t, aRelation("r1", triage.Blocks, "i1", "i2"))
	s.insertRelations(t, // another type, the reverse, and another issue
		aRelation("r3", triage.RelatedTo, "i1", "i2"), aRelation("r4", triage.Blocks, "i2", "i1"),
		aRelation("r5", triage.Blocks, "i1", "i3"))
}

func refusesOrphanRelation(t *testing.T, s subject) {
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"from an absent issue": s.InsertRelation(t.Context(), aRelation("r1", triage.Blocks, "i9", "i1")),
		"to an absent issue":   s.InsertRelation(t.Context(), aRelation("r1", triage.Blocks, "i1", "i9")),
		"from a foreign issue": s.InsertRelation(t.Context(), aRelation("r1", triage.Blocks, "j1", "i1")),
		"to a foreign issue":   s.InsertRelation(t.Context(), aRelation("r1", triage.Blocks, "i1", "j1")),
	})
}

func relatesAtOnce(t *testing.T, s subject) {
	ids := []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"}
	winner := callwrighttest.Race(t, func(writer int) error {
		return s.InsertRelation(t.Context(), aRelation(ids[writer], triage.RelatedTo, "i1", "i2"))
	})
	s.wantRelation(t, aRelation(ids[winner], triage.RelatedTo, "i1", "i2"))
}

func listsRelations(t *testing.T, s subject) {
	s.insertIssues(t, anIssue("i3", 3))
	for _, r := range []struct {
		id       string
		from, to string
		of       triage.RelationType
		second   int
	}{
		{"r4", "i1", "i2", triage.Blocks, 2},
		{"r3", "i2", "i1", triage.RelatedTo, 1},
		{"r5", "i3", "i1", triage.Blocks, 0},
		{"r2", "i1", "i3", triage.DuplicateOf, 1},
		{"r1", "i3", "i2", triage.Blocks, 1},
	} {
		relation := aRelation(r.id, r.of, r.from, r.to)
		relation.CreatedAt = at.Add(time.Duration(r.second) * time.Microsecond)
		s.insertRelations(t, relation)
	}
	for issue, want := range map[string][]string{
		"i1": {"r5", "r2", "r3", "r4"}, "i2": {"r1", "r3", "r4"}, "i3": {"r5", "r1", "r2"},
	} {
		all, err := s.RelationsOf(t.Context(), "a", issue)
		wantIDs(t, all, err, relationID, want...)
	}
}

func deletesRelation(t *testing.T, s subject) {
	s.insertRelations(t, aRelation("r1", triage.Blocks, "i1", "i2"), aRelation("r2", triage.RelatedTo, "i1", "i2"))
	if err := s.DeleteRelation(t.Context(), "a", "r1"); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Relation(t.Context(), "a", "i1", "r1")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "delete again": s.DeleteRelation(t.Context(), "a", "r1"),
	})
	s.wantRelation(t, aRelation("r2", triage.RelatedTo, "i1", "i2"))
	s.insertRelations(t, aRelation("r3", triage.Blocks, "i1", "i2"))
}

func rollsBackRelations(t *testing.T, s subject) {
	s.insertRelations(t, aRelation("r1", triage.Blocks, "i1", "i2"))
	s.rollBack(t, func(ctx context.Context) error {
		return errors.Join(s.DeleteRelation(ctx, "a", "r1"),
			s.InsertRelation(ctx, aRelation("r2", triage.RelatedTo, "i1", "i2")))
	})
	s.wantRelation(t, aRelation("r1", triage.Blocks, "i1", "i2"))
}
