package triage_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestCreateOpensAnIssue(t *testing.T) {
	t.Parallel()
	h := open(t)
	got := h.issue(triage.Draft{Title: "No sound", Category: "audio"})
	want := triage.Issue{
		ID: got.ID, Org: "acme", Number: triage.FirstNumber, Title: "No sound", Status: triage.StatusBacklog,
		Severity: triage.SeverityMedium, Source: triage.SourceManual, Category: "audio", Author: ada,
		CreatedAt: start, UpdatedAt: start, LastActivityAt: start, Version: 1, Revision: 1,
	}
	if got != want || got.Name() != "T-1001" || h.get(got.ID) != want {
		t.Errorf("opened %+v\nkept %+v\nwant %+v", got, h.get(got.ID), want)
	}
	feed := h.feed(got.ID)
	first := triage.Entry{
		Org: "acme", IssueID: got.ID, Kind: triage.KindIssue, Type: triage.TypeCreated, Actor: ada, Detail: "No sound",
		CreatedAt: start, Metadata: map[string]any{
			"status": "backlog", "severity": "medium", "source": "manual", "category": "audio",
		},
	}
	if len(feed) == 1 {
		first.ID = feed[0].ID
	}
	if !reflect.DeepEqual(feed, []triage.Entry{first}) {
		t.Errorf("the feed is %+v, want %+v", feed, first)
	}
	if next := h.issue(triage.Draft{}); next.Number != triage.FirstNumber+1 {
		t.Errorf("the next issue has number %d", next.Number)
	}
}

func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	numbers := make([]int, 50)
	var wait sync.WaitGroup
	for n := range numbers {
		wait.Go(func() { numbers[n] = h.issue(triage.Draft{}).Number })
	}
	wait.Wait()
	seen := map[int]bool{}
	for _, n := range numbers {
		if seen[n] || n < triage.FirstNumber || n >= triage.FirstNumber+len(numbers) {
			t.Errorf("number %d was given out twice, or others were left out", n)
		}
		seen[n] = true
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	whole := func(change func(*triage.Draft)) triage.Draft {
		d := triage.Draft{
			Title: strings.Repeat("ö", 300), Description: strings.Repeat("x", triage.MaxDetail), Status: triage.StatusDone,
			Severity: triage.SeverityCritical, Source: triage.SourceClient, Category: strings.Repeat("c", 200),
			OwnerID: strings.Repeat("o", 64), AssigneeID: strings.Repeat("a", 64), ExternalLink: "https://example.com/1",
		}
		change(&d)
		return d
	}
	h.issue(whole(func(*triage.Draft) {}))
	for field, drafts := range map[string][]triage.Draft{
		"title": {
			whole(func(d *triage.Draft) { d.Title += "x" }), whole(func(d *triage.Draft) { d.Title = " \n" }),
			whole(func(d *triage.Draft) { d.Title = "a\x00b" }), whole(func(d *triage.Draft) { d.Title = "\xff" }),
		},
		"description": {
			whole(func(d *triage.Draft) { d.Description += "x" }), whole(func(d *triage.Draft) { d.Description = "\x00" }),
		},
		"status":      {whole(func(d *triage.Draft) { d.Status = "open" })},
		"severity":    {whole(func(d *triage.Draft) { d.Severity = "worst" })},
		"source":      {whole(func(d *triage.Draft) { d.Source = "rumour" })},
		"category":    {whole(func(d *triage.Draft) { d.Category += "x" })},
		"owner_id":    {whole(func(d *triage.Draft) { d.OwnerID += "x" })},
		"assignee_id": {whole(func(d *triage.Draft) { d.AssigneeID += "x" })},
		"external_link": {
			whole(func(d *triage.Draft) { d.ExternalLink = "javascript:alert(1)" }),
			whole(func(d *triage.Draft) { d.ExternalLink = "https:///path" }),
			whole(func(d *triage.Draft) { d.ExternalLink = "https://example.com/%zz" }),
			whole(func(d *triage.Draft) { d.ExternalLink = "https://example.com/" + strings.Repeat("x", 2048) }),
		},
	} {
		for _, d := range drafts {
			_, err := h.Create(t.Context(), "acme", ada, d)
			wantError(t, err, callwright.CodeBadRequest, field)
		}
	}
	for field, by := range map[string]triage.Actor{
		"actor.kind":       {Kind: "ghost", ID: "x"},
		"actor.id":         {Kind: triage.ActorUser},
		"actor.label":      {Kind: triage.ActorUser, ID: "x", Label: strings.Repeat("x", 201)},
		"actor.avatar_url": {Kind: triage.ActorUser, ID: "x", AvatarURL: strings.Repeat("x", 2049)},
	} {
		_, err := h.Create(t.Context(), "acme", by, triage.Draft{Title: "x"})
		wantError(t, err, callwright.CodeBadRequest, field)
	}
}

func TestWhatIsAnothersIsAbsent(t *testing.T) {
	t.Parallel()
	h := open(t)
	i, other := h.issue(triage.Draft{}), h.issue(triage.Draft{})
	theirs, err := h.Create(t.Context(), "other", ada, triage.Draft{Title: "Theirs"})
	if err != nil || theirs.Number != triage.FirstNumber {
		t.Fatalf("another organization begins with number %d, %v", theirs.Number, err)
	}
	for name, do := range map[string]func(ctx context.Context, org callwright.OrgID) error{
		"get": func(ctx context.Context, org callwright.OrgID) error { _, err := h.Get(ctx, org, i.ID); return err },
		"activity": func(ctx context.Context, org callwright.OrgID) error {
			_, err := h.Activity(ctx, org, i.ID, triage.PageRequest{})
			return err
		},
		"view": func(ctx context.Context, org callwright.OrgID) error { return h.View(ctx, org, "ada", i.ID) },
		"update": func(ctx context.Context, org callwright.OrgID) error {
			_, err := h.Update(ctx, org, ada, i.ID, triage.Change{})
			return err
		},
		"accept": func(ctx context.Context, org callwright.OrgID) error {
			_, err := h.Accept(ctx, org, ada, i.ID, "")
			return err
		},
		"decline": func(ctx context.Context, org callwright.OrgID) error {
			_, err := h.Decline(ctx, org, ada, i.ID, "x")
			return err
		},
		"merge": func(ctx context.Context, org callwright.OrgID) error {
			_, err := h.Merge(ctx, org, ada, i.ID, other.ID)
			return err
		},
		"watch": func(ctx context.Context, org callwright.OrgID) error {
			w, err := h.Watch(ctx, org, i.ID, "")
			if err == nil {
				w.Close()
			}
			return err
		},
	} {
		if err := do(t.Context(), "other"); !errors.Is(err, callwright.ErrNotFound) || err.Error() != "issue not found" {
			t.Errorf("%s of another organization's issue: %v", name, err)
		}
	}
	if _, err := h.Merge(t.Context(), "acme", ada, i.ID, theirs.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("merge into another organization's issue: %v", err)
	}
	if h.get(i.ID) != i {
		t.Errorf("another organization changed %+v to %+v", i, h.get(i.ID))
	}
}
