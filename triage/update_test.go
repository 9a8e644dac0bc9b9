package triage_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestUpdateTellsWhatHasChanged(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{OwnerID: "ada"})
	h.clock.move(time.Minute)
	got, err := h.Update(t.Context(), "acme", bob, i.ID, triage.Change{
		Version: 1, Title: new("Agent offers Sundays"), Description: new("Since March."), ExternalLink: new("http://example.com"),
		Category: new("booking"), OwnerID: new(""), AssigneeID: new("bob"), Status: new(triage.StatusInReview),
		Severity: new(triage.SeverityLow),
	})
	if err != nil {
		t.Fatal(err)
	}
	now := start.Add(time.Minute)
	want := i
	want.Title, want.Description, want.ExternalLink, want.Category = "Agent offers Sundays", "Since March.", "http://example.com", "booking"
	want.OwnerID, want.AssigneeID, want.Status, want.Severity = "", "bob", triage.StatusInReview, triage.SeverityLow
	want.LastActivityAt = now.Add(4 * time.Microsecond)
	want.UpdatedAt, want.Version, want.Revision = want.LastActivityAt, 2, 2
	if got != want || h.get(i.ID) != want {
		t.Errorf("got %+v\nkept %+v\nwant %+v", got, h.get(i.ID), want)
	}
	var told []triage.Entry
	for n, e := range []triage.Entry{
		{Type: triage.TypeStatusChanged, FromStatus: triage.StatusBacklog, ToStatus: triage.StatusInReview},
		{Type: triage.TypeSeverityChanged, Metadata: map[string]any{"from": "medium", "to": "low"}},
		{Type: triage.TypeCategoryChanged, Metadata: map[string]any{"from": nil, "to": "booking"}},
		{Type: triage.TypeAssigneeChanged, Metadata: map[string]any{"from": nil, "to": "bob"}},
		{Type: triage.TypeOwnerChanged, Metadata: map[string]any{"from": "ada", "to": nil}},
	} {
		e.Org, e.IssueID, e.Kind, e.Actor = "acme", i.ID, triage.KindIssue, bob
		e.CreatedAt = now.Add(time.Duration(n) * time.Microsecond)
		told = append(told, e)
	}
	feed := h.feed(i.ID)[1:]
	for n := range min(len(feed), len(told)) {
		told[n].ID = feed[n].ID
	}
	if !reflect.DeepEqual(feed, told) {
		t.Errorf("told %+v\nwant %+v", feed, told)
	}
}

func TestUpdateWithoutEntries(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	h.clock.move(time.Minute)
	got, err := h.Update(t.Context(), "acme", bob, i.ID, triage.Change{Title: new("Another title")})
	if err != nil || got.Version != 2 || got.UpdatedAt != start.Add(time.Minute) || got.LastActivityAt != start {
		t.Errorf("a change of the title gave %+v, %v", got, err)
	}
	if feed := h.feed(i.ID); len(feed) != 1 {
		t.Errorf("a change of the title told %v", types(feed))
	}
	before := h.get(i.ID)
	got, err = h.Update(t.Context(), "acme", bob, i.ID, triage.Change{
		Version: 2, Title: new("Another title"), Status: new(triage.StatusBacklog), Severity: new(triage.SeverityMedium),
		Category: new(""), OwnerID: new(""),
	})
	if err != nil || got != before || h.get(i.ID) != before || len(h.feed(i.ID)) != 1 {
		t.Errorf("what is set already made %+v of %+v, %v", got, before, err)
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	for field, change := range map[string]triage.Change{
		"title":         {Title: new("")},
		"description":   {Description: new(strings.Repeat("x", triage.MaxDetail+1))},
		"category":      {Category: new(strings.Repeat("x", 201))},
		"owner_id":      {OwnerID: new("\x00")},
		"assignee_id":   {AssigneeID: new(strings.Repeat("x", 65))},
		"external_link": {ExternalLink: new("ftp://example.com")},
		"status":        {Status: new(triage.Status(""))},
		"severity":      {Severity: new(triage.Severity("none"))},
	} {
		_, err := h.Update(t.Context(), "acme", ada, i.ID, change)
		wantError(t, err, callwright.CodeBadRequest, field)
	}
	for _, version := range []int64{2, -1} {
		_, err := h.Update(t.Context(), "acme", ada, i.ID, triage.Change{Version: version, Title: new("x")})
		wantError(t, err, callwright.CodeConflict, "")
	}
	if h.get(i.ID) != i {
		t.Errorf("a change that was refused made %+v of %+v", h.get(i.ID), i)
	}
}

// TestUpdateConflictsWithEditsAlone checks that a comment does not change the version, so that it causes no conflict with an update.
func TestUpdateConflictsWithEditsAlone(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	if _, err := h.Comment(t.Context(), "acme", bob, i.ID, triage.CommentDraft{Detail: "Me too."}); err != nil {
		t.Fatal(err)
	}
	got, err := h.Update(t.Context(), "acme", ada, i.ID, triage.Change{Version: i.Version, Status: new(triage.StatusTodo)})
	if err != nil || got.Version != 2 {
		t.Errorf("after a comment: version %d, %v", got.Version, err)
	}
}

func TestEveryChangeIsLaterThanTheOneBefore(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	for n, by := range []time.Duration{0, -time.Hour, time.Nanosecond, 24 * time.Hour, -48 * time.Hour, 0, time.Microsecond} {
		h.clock.move(by)
		if _, err := h.Update(t.Context(), "acme", ada, i.ID, triage.Change{
			Category: new(fmt.Sprint(n)), AssigneeID: new(fmt.Sprint(n)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	feed := h.feed(i.ID)
	for n := 1; n < len(feed); n++ {
		if !feed[n].CreatedAt.After(feed[n-1].CreatedAt) {
			t.Errorf("entry %d is of %s, not after %s", n, feed[n].CreatedAt, feed[n-1].CreatedAt)
		}
		if n%2 == 1 && feed[n].Metadata["to"] != feed[n+1].Metadata["to"] {
			t.Errorf("entries %d and %d are not of one change", n, n+1)
		}
	}
	if got := h.get(i.ID).LastActivityAt; len(feed) != 15 || got != feed[14].CreatedAt {
		t.Errorf("%d entries, the last of %s; the issue says %s", len(feed), feed[len(feed)-1].CreatedAt, got)
	}
}

func TestEditorsAtOnceWithoutVersions(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	var wait sync.WaitGroup
	errs := make([]error, 40)
	for n := range errs {
		wait.Go(func() {
			_, errs[n] = h.Update(t.Context(), "acme", ada, i.ID, triage.Change{Category: new(fmt.Sprint("c", n))})
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	feed, from := h.feed(i.ID)[1:], any(nil)
	for _, e := range feed {
		if e.Metadata["from"] != from {
			t.Errorf("an entry goes on from %v, not from %v", e.Metadata["from"], from)
		}
		from = e.Metadata["to"]
	}
	if got := h.get(i.ID); len(feed) != len(errs) || got.Category != from || got.Version != 41 || got.Revision != 41 {
		t.Errorf("%d entries, the last to %v; the issue is %+v", len(feed), from, got)
	}
}
