package triagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunResources is the conformance suite of triage.Resources. newStore returns an empty store and its transactions.
func RunResources(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "resources", newStore, map[string]func(*testing.T, subject){
		"keeps every field":                    keepsResource,
		"shares no memory":                     sharesNoResource,
		"hides other organizations' resources": hidesResources,
		"refuses an id or a resource twice":    refusesResourceTwice,
		"refuses one of an absent issue":       refusesOrphanResource,
		"attaches for one of many":             attachesAtOnce,
		"lists in order":                       listsResources,
		"deletes":                              deletesResource,
		"rolls back":                           rollsBackResources,
	})
}

// aResource returns an attachment of a call whose id is derived from the attachment's id.
func aResource(id, issue string) triage.Resource {
	return triage.Resource{
		ID: id, Org: "a", IssueID: issue, Type: triage.ResourceCall, ResourceID: "of " + id, Status: triage.Available,
		CreatedAt: at,
	}
}

func fullResource(id string) triage.Resource {
	r := aResource(id, "i1")
	r.Type, r.Title, r.Status = triage.ResourceSample, words, triage.Unavailable
	r.Metadata, r.AttachedBy, r.CreatedAt = metadata(), "u1", later(5)
	return r
}

func (s subject) insertResources(t *testing.T, all ...triage.Resource) {
	t.Helper()
	for _, r := range all {
		if err := s.InsertResource(t.Context(), r); err != nil {
			t.Fatalf("insert %s: %v", r.ID, err)
		}
	}
}

// wantResource checks that every method which reads attachments returns want, and that the issue has no other.
func (s subject) wantResource(t *testing.T, want triage.Resource) {
	t.Helper()
	got, err := s.Resource(t.Context(), want.Org, want.IssueID, want.ID)
	wantSame(t, got, err, want)
	got, err = s.ResourceOf(t.Context(), want.Org, want.IssueID, want.Type, want.ResourceID)
	wantSame(t, got, err, want)
	all, err := s.ResourcesOf(t.Context(), want.Org, want.IssueID)
	wantSame(t, all, err, []triage.Resource{want})
}

func resourceID(r triage.Resource) string { return r.ID }

func keepsResource(t *testing.T, s subject) {
	callwrighttest.Full(t, fullResource("r1"))
	s.insertResources(t, fullResource("r1"), aResource("r2", "i2"))
	s.wantResource(t, fullResource("r1"))
	s.wantResource(t, aResource("r2", "i2"))
}

func sharesNoResource(t *testing.T, s subject) {
	given := fullResource("r1")
	s.insertResources(t, given)
	callwrighttest.Spoil(&given)
	for range 2 {
		s.wantResource(t, fullResource("r1"))
		one, err := s.Resource(t.Context(), "a", "i1", "r1")
		if err != nil {
			t.Fatal(err)
		}
		of, err := s.ResourceOf(t.Context(), "a", "i1", one.Type, one.ResourceID)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.ResourcesOf(t.Context(), "a", "i1")
		if err != nil {
			t.Fatal(err)
		}
		callwrighttest.Spoil(&one)
		callwrighttest.Spoil(&of)
		callwrighttest.Spoil(&all)
	}
}

func hidesResources(t *testing.T, s subject) {
	s.insertResources(t, aResource("r1", "i1"))
	attempts := map[string]error{}
	for name, of := range map[string]struct {
		org       callwright.OrgID
		issue, id string
	}{
		"foreign": {"b", "i1", "r1"}, "of a foreign issue": {"b", "j1", "r1"}, "of another issue": {"a", "i2", "r1"},
		"absent": {"a", "i1", "r9"},
	} {
		_, attempts[name+": get"] = s.Resource(t.Context(), of.org, of.issue, of.id)
		_, attempts[name+": get of"] = s.ResourceOf(t.Context(), of.org, of.issue, triage.ResourceCall, "of "+of.id)
		attempts[name+": delete"] = s.DeleteResource(t.Context(), of.org, of.issue, of.id)
	}
	_, attempts["another type"] = s.ResourceOf(t.Context(), "a", "i1", triage.ResourceRun, "of r1")
	wantErr(t, callwright.ErrNotFound, attempts)
	for _, of := range []struct {
		org   callwright.OrgID
		issue string
	}{{"b", "i1"}, {"b", "j1"}, {"a", "i2"}, {"a", "i9"}} {
		all, err := s.ResourcesOf(t.Context(), of.org, of.issue)
		wantIDs(t, all, err, resourceID)
	}
	s.wantResource(t, aResource("r1", "i1"))
}

func refusesResourceTwice(t *testing.T, s subject) {
	s.insertResources(t, aResource("r1", "i1"))
	id, foreignID, same := aResource("r1", "i2"), aResource("r1", "j1"), aResource("r2", "i1")
	id.ResourceID, same.ResourceID = "another", "of r1"
	foreignID.Org = "b"
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the id": s.InsertResource(t.Context(), id), "the id, in another organization": s.InsertResource(t.Context(), foreignID),
		"the same": s.InsertResource(t.Context(), same),
	})
	s.wantResource(t, aResource("r1", "i1"))
	otherIssue, otherType, foreign := aResource("r3", "i2"), aResource("r4", "i1"), aResource("r5", "j1")
	otherIssue.ResourceID, otherType.ResourceID, foreign.ResourceID = "of r1", "of r1", "of r1"
	otherType.Type, foreign.Org = triage.ResourceRun, "b"
	s.insertResources(t, otherIssue, otherType, foreign)
	got, err := s.ResourceOf(t.Context(), "a", "i1", triage.ResourceRun, "of r1")
	wantSame(t, got, err, otherType)
}

func refusesOrphanResource(t *testing.T, s subject) {
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"an absent issue": s.InsertResource(t.Context(), aResource("r1", "i9")),
		"a foreign issue": s.InsertResource(t.Context(), aResource("r1", "j1")),
	})
}

func attachesAtOnce(t *testing.T, s subject) {
	of := func(writer int) triage.Resource {
		r := aResource(fmt.Sprint("r", writer), "i1")
		r.ResourceID = "contested"
		return r
	}
	s.wantResource(t, of(callwrighttest.Race(t, func(writer int) error { return s.InsertResource(t.Context(), of(writer)) })))
}

func listsResources(t *testing.T, s subject) {
	for _, r := range []struct {
		id     string
		second int
	}{{"r4", 2}, {"r3", 1}, {"r5", 0}, {"r2", 1}, {"r1", 2}} {
		resource := aResource(r.id, "i1")
		resource.CreatedAt = later(r.second)
		s.insertResources(t, resource)
	}
	s.insertResources(t, aResource("r6", "i2"))
	all, err := s.ResourcesOf(t.Context(), "a", "i1")
	wantIDs(t, all, err, resourceID, "r5", "r2", "r3", "r1", "r4")
}

func deletesResource(t *testing.T, s subject) {
	s.insertResources(t, aResource("r1", "i1"), aResource("r2", "i1"))
	if err := s.DeleteResource(t.Context(), "a", "i1", "r1"); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Resource(t.Context(), "a", "i1", "r1")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "delete again": s.DeleteResource(t.Context(), "a", "i1", "r1"),
	})
	s.wantResource(t, aResource("r2", "i1"))
	again := aResource("r3", "i1")
	again.ResourceID = "of r1"
	s.insertResources(t, again)
}

func rollsBackResources(t *testing.T, s subject) {
	s.insertResources(t, fullResource("r1"))
	s.rollBack(t, func(ctx context.Context) error {
		return errors.Join(s.DeleteResource(ctx, "a", "i1", "r1"), s.InsertResource(ctx, aResource("r2", "i1")))
	})
	s.wantResource(t, fullResource("r1"))
	s.insertResources(t, aResource("r2", "i1"))
}
