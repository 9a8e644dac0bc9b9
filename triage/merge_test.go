package triage_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// attach stores attachments of calls with the given ids, without calling a resolver.
func (h house) attach(issue string, resources ...string) {
	h.t.Helper()
	i := h.get(issue)
	for _, id := range resources {
		r := triage.Resource{
			ID: issue + " " + id, Org: "acme", IssueID: issue, Type: triage.ResourceCall, ResourceID: id, Title: "Call " + id,
			Status: triage.Available, Metadata: map[string]any{"status": "failed"}, AttachedBy: "ada", CreatedAt: start,
		}
		if err := h.store().InsertResource(h.t.Context(), r); err != nil {
			h.t.Fatal(err)
		}
		i.Resources++
	}
	if err := h.store().UpdateIssue(h.t.Context(), i); err != nil {
		h.t.Fatal(err)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	h := open(t)
	from, into := h.issue(triage.Draft{Title: "Again", Status: triage.StatusTodo}), h.issue(triage.Draft{Title: "First"})
	h.attach(from.ID, "c1", "c2", "c3")
	h.attach(into.ID, "c2")
	if err := h.store().PointReports(t.Context(), "acme", "key", "", from.ID); err != nil {
		t.Fatal(err)
	}
	session, err := h.StartSession(t.Context(), "acme", bob, from.ID, triage.SessionDraft{AgentName: "Scout"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.Merge(t.Context(), "acme", bob, from.ID, into.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != triage.StatusClosed || got.MergedInto != into.ID || got.Relations != 1 || got.Version != 2 || got.Working != 0 ||
		got.Session.Status != triage.SessionCancelled || !reflect.DeepEqual(got, h.get(from.ID)) {
		t.Errorf("what was merged is %+v, kept as %+v", got, h.get(from.ID))
	}
	target := h.get(into.ID)
	if target.Status != triage.StatusBacklog || target.Resources != 3 || target.Relations != 1 || target.Version != 1 {
		t.Errorf("what goes on is %+v", target)
	}
	feed := h.feed(from.ID)
	last := feed[len(feed)-1]
	if !slices.Equal(types(feed[len(feed)-2:]), []triage.EntryType{triage.TypeSessionStopped, triage.TypeMerged}) ||
		last.FromStatus != triage.StatusTodo || last.ToStatus != triage.StatusClosed || last.Actor != bob ||
		!reflect.DeepEqual(last.Metadata, map[string]any{"merged_into": into.ID}) ||
		!reflect.DeepEqual(last.Referenced, []triage.IssueRef{into.Ref()}) || len(last.Resources) != 0 {
		t.Errorf("the feed of what was merged ends with %+v", feed[len(feed)-2:])
	}
	told := h.feed(into.ID)[1]
	attached, err := h.store().ResourcesOf(t.Context(), "acme", into.ID)
	if err != nil || len(attached) != 3 || len(h.feed(into.ID)) != 2 || told.Type != triage.TypeMerged || told.FromStatus != "" ||
		!reflect.DeepEqual(told.Metadata, map[string]any{"merged_from": from.ID}) ||
		!reflect.DeepEqual(told.Referenced, []triage.IssueRef{got.Ref()}) {
		t.Errorf("the feed of what goes on has %+v; attached are %+v, %v", told, attached, err)
	}
	for n, id := range []string{"c1", "c3"} {
		r := told.Resources[n]
		if r.ResourceID != id || r.IssueID != into.ID || r.AttachedBy != "bob" || r.Title != "Call "+id || !slices.ContainsFunc(attached,
			func(a triage.Resource) bool { return reflect.DeepEqual(a, r) }) {
			t.Errorf("%s came along as %+v", id, r)
		}
	}
	relations, err := h.store().RelationsOf(t.Context(), "acme", from.ID)
	if err != nil || len(relations) != 1 || relations[0].Type != triage.DuplicateOf || relations[0].From.ID != from.ID ||
		relations[0].To.ID != into.ID || relations[0].CreatedBy != "bob" {
		t.Errorf("the relations are %+v, %v", relations, err)
	}
	if issue, err := h.store().ReportedIssue(t.Context(), "acme", "key"); err != nil || issue != into.ID {
		t.Errorf("reports come to %s, %v", issue, err)
	}
	if kept, err := h.Session(t.Context(), "acme", from.ID, session.ID); err != nil || kept.Status != triage.SessionCancelled {
		t.Errorf("the session is %+v, %v", kept, err)
	}
}

func TestMergeOfWhatIsClosed(t *testing.T) {
	t.Parallel()
	h := open(t)
	from, into := h.issue(triage.Draft{Status: triage.StatusClosed}), h.issue(triage.Draft{Status: triage.StatusDone})
	known := triage.Relation{
		ID: "r", Org: "acme", Type: triage.DuplicateOf, From: triage.IssueRef{ID: from.ID}, To: triage.IssueRef{ID: into.ID},
		CreatedBy: "ada", CreatedAt: start,
	}
	if err := h.store().InsertRelation(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Merge(t.Context(), "acme", ada, from.ID, into.ID); err != nil {
		t.Fatal(err)
	}
	if e := h.feed(from.ID)[1]; e.FromStatus != "" || e.ToStatus != "" {
		t.Errorf("what was closed already was moved from %q to %q", e.FromStatus, e.ToStatus)
	}
	if relations, err := h.store().RelationsOf(t.Context(), "acme", from.ID); err != nil || len(relations) != 1 || relations[0].ID != "r" {
		t.Errorf("the relation that was there became %+v, %v", relations, err)
	}
	if into = h.get(into.ID); into.Status != triage.StatusDone {
		t.Errorf("the other became %s", into.Status)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	a, b, c := h.issue(triage.Draft{}), h.issue(triage.Draft{}), h.issue(triage.Draft{})
	_, err := h.Merge(t.Context(), "acme", ada, a.ID, a.ID)
	wantError(t, err, callwright.CodeBadRequest, "into")
	if _, err := h.Merge(t.Context(), "acme", ada, a.ID, b.ID); err != nil {
		t.Fatal(err)
	}
	before := h.get(a.ID)
	for name, do := range map[string]func() error{
		"merge again":      func() error { _, err := h.Merge(t.Context(), "acme", ada, a.ID, c.ID); return err },
		"merge into":       func() error { _, err := h.Merge(t.Context(), "acme", ada, c.ID, a.ID); return err },
		"update":           func() error { _, err := h.Update(t.Context(), "acme", ada, a.ID, triage.Change{}); return err },
		"accept":           func() error { _, err := h.Accept(t.Context(), "acme", ada, a.ID, ""); return err },
		"decline":          func() error { _, err := h.Decline(t.Context(), "acme", ada, a.ID, "x"); return err },
		"the other's turn": func() error { _, err := h.Merge(t.Context(), "acme", ada, b.ID, a.ID); return err },
	} {
		if err := do(); !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.get(a.ID) != before || h.get(c.ID) != c {
		t.Error("what was refused changed something")
	}
	reverse := triage.Relation{
		ID: "r", Org: "acme", Type: triage.DuplicateOf, From: triage.IssueRef{ID: b.ID}, To: triage.IssueRef{ID: c.ID}, CreatedAt: start,
	}
	if err := h.store().InsertRelation(t.Context(), reverse); err != nil {
		t.Fatal(err)
	}
	_, err = h.Merge(t.Context(), "acme", ada, c.ID, b.ID)
	wantError(t, err, callwright.CodeConflict, "")
}

func TestMergeBringsAsMuchAsThereIsRoomFor(t *testing.T) {
	t.Parallel()
	h := open(t)
	from, into := h.issue(triage.Draft{}), h.issue(triage.Draft{})
	for n := range 70 {
		h.attach(from.ID, fmt.Sprintf("theirs %03d", n))
	}
	for n := range triage.MaxResources - 60 {
		h.attach(into.ID, fmt.Sprintf("own %03d", n))
	}
	if _, err := h.Merge(t.Context(), "acme", ada, from.ID, into.ID); err != nil {
		t.Fatal(err)
	}
	attached, err := h.store().ResourcesOf(t.Context(), "acme", into.ID)
	if err != nil || len(attached) != triage.MaxResources || h.get(into.ID).Resources != triage.MaxResources {
		t.Errorf("%d are attached, %v", len(attached), err)
	}
	if e := h.feed(into.ID)[1]; fmt.Sprint(e.Metadata["not_attached"]) != "10" || len(e.Resources) != triage.MaxShown {
		t.Errorf("the entry shows %d and says %v", len(e.Resources), e.Metadata)
	}
}
