package triage_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestAttach(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	r, added, err := s.Attach(ctx, "acme", bob, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-3"})
	want := triage.Resource{
		ID: r.ID, Org: "acme", IssueID: i.ID, Type: triage.ResourceCall, ResourceID: "call-3", Title: "Call 3",
		Status: triage.Available, Metadata: map[string]any{"status": "completed"}, AttachedBy: "bob", CreatedAt: start,
	}
	if err != nil || !added || r.ID == "" || !reflect.DeepEqual(r, want) {
		t.Fatalf("attached %+v, %t, %v", r, added, err)
	}
	s.wantLast(t, i.ID, triage.Entry{Type: triage.TypeResourceAdded, Actor: bob, Resources: []triage.Resource{want}})
	if got := s.get(i.ID); got.Resources != 1 || got.Version != 1 {
		t.Errorf("the issue is %+v", got)
	}

	before := s.kept(i.ID)
	again, added, err := s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{
		Type: triage.ResourceCall, ResourceID: "call-3", Title: "Another title",
	})
	if err != nil || added || !reflect.DeepEqual(again, want) || !reflect.DeepEqual(s.kept(i.ID), before) {
		t.Errorf("attached again: %+v, %t, %v", again, added, err)
	}
	s.calls.Delete("acme", "call-3")
	again, added, err = s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-3"})
	if err != nil || added || !reflect.DeepEqual(again, want) {
		t.Errorf("attached again when it is gone: %+v, %t, %v", again, added, err)
	}

	named, _, err := s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{
		Type: triage.ResourceRun, ResourceID: "run-0", Title: strings.Repeat("é", 300),
	})
	if err != nil || named.Title != strings.Repeat("é", 300) {
		t.Errorf("%+v, %v", named, err)
	}
}

func TestAttachRefuses(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i := s.issue(triage.Draft{})
	for name, at := range map[string]struct {
		code  callwright.Code
		field string
		draft triage.ResourceDraft
	}{
		"no resolver":  {callwright.CodeNotImplemented, "resource_type", triage.ResourceDraft{Type: triage.ResourceFile, ResourceID: "f"}},
		"no such type": {callwright.CodeNotImplemented, "resource_type", triage.ResourceDraft{Type: "sms_conversation", ResourceID: "s"}},
		"no type":      {callwright.CodeNotImplemented, "resource_type", triage.ResourceDraft{ResourceID: "call-0"}},
		"unknown":      {callwright.CodeNotFound, "resource_id", triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "nothing"}},
		"foreign":      {callwright.CodeNotFound, "resource_id", triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-x"}},
		"another type": {callwright.CodeNotFound, "resource_id", triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "run-0"}},
		"no id":        {callwright.CodeBadRequest, "resource_id", triage.ResourceDraft{Type: triage.ResourceCall}},
		"long id":      {callwright.CodeBadRequest, "resource_id", triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: strings.Repeat("x", 129)}},
		"long title": {callwright.CodeBadRequest, "title", triage.ResourceDraft{
			Type: triage.ResourceCall, ResourceID: "call-0", Title: strings.Repeat("x", 301),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s.refuses(t, i.ID, at.code, at.field, func() error {
				_, added, err := s.Attach(t.Context(), "acme", ada, i.ID, at.draft)
				if added {
					t.Error("it was added")
				}
				return err
			})
		})
	}
}

func TestAttachUntilItIsFull(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i := s.issue(triage.Draft{})
	for n := range triage.MaxResources {
		id := fmt.Sprintf("more-%d", n)
		s.calls.Add("acme", id, triage.Item{}, triage.Evidence{})
		s.attached(i.ID, id)
	}
	s.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error {
		_, _, err := s.Attach(t.Context(), "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-0"})
		return err
	})
	_, added, err := s.Attach(t.Context(), "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "more-7"})
	if added || err != nil {
		t.Errorf("one that is there: %t, %v", added, err)
	}
}

func TestDetach(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	r := s.attached(i.ID, "call-0")
	s.attached(i.ID, "call-1")
	f, err := s.Flag(ctx, "acme", ada, i.ID, triage.FlagDraft{CallID: "call-0", Type: "x"})
	if err != nil {
		t.Fatal(err)
	}
	s.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error { return s.Detach(ctx, "acme", ada, i.ID, r.ID) })
	if err := s.Unflag(ctx, "acme", ada, i.ID, f.ID); err != nil {
		t.Fatal(err)
	}
	s.calls.Delete("acme", "call-0")
	if err := s.Detach(ctx, "acme", bob, i.ID, r.ID); err != nil {
		t.Fatal(err)
	}
	s.wantLast(t, i.ID, triage.Entry{Type: triage.TypeResourceRemoved, Actor: bob, Resources: []triage.Resource{r}})
	if k := s.kept(i.ID); k.Issue.Resources != 1 || len(k.Resources) != 1 || k.Resources[0].ResourceID != "call-1" {
		t.Errorf("there are still %+v", k.Resources)
	}
	s.refuses(t, i.ID, callwright.CodeNotFound, "", func() error { return s.Detach(ctx, "acme", bob, i.ID, r.ID) })
}

// TestDetachAnotherType checks that a run can be detached although a call with the same id has flags.
func TestDetachAnotherType(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	s.attached(i.ID, "call-0")
	s.runs.Add("acme", "call-0", triage.Item{}, triage.Evidence{})
	run, _, err := s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceRun, ResourceID: "call-0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Flag(ctx, "acme", ada, i.ID, triage.FlagDraft{CallID: "call-0", Type: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Detach(ctx, "acme", ada, i.ID, run.ID); err != nil {
		t.Error(err)
	}
}

func TestResourcesAsTheyAre(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	for _, call := range []string{"call-0", "call-1", "call-2"} {
		s.attached(i.ID, call)
	}
	if _, _, err := s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceRun, ResourceID: "run-0"}); err != nil {
		t.Fatal(err)
	}
	s.runs.Add("acme", "call-1", triage.Item{Title: "A run with the id of a call"}, triage.Evidence{})
	if _, _, err := s.Attach(ctx, "acme", ada, i.ID, triage.ResourceDraft{Type: triage.ResourceRun, ResourceID: "call-1"}); err != nil {
		t.Fatal(err)
	}
	s.calls.Delete("acme", "call-1")
	s.calls.Add("acme", "call-2", triage.Item{Title: "Renamed", Metadata: map[string]any{"status": "failed"}}, triage.Evidence{})
	calls, runs := s.calls.Finds(), s.runs.Finds()
	all, err := s.Resources(ctx, "acme", i.ID)
	if err != nil || len(all) != 5 {
		t.Fatalf("%+v, %v", all, err)
	}
	for n, want := range []struct {
		id, title string
		status    triage.Availability
		metadata  map[string]any
	}{
		{"call-0", "Call 0", triage.Available, map[string]any{"status": "completed"}},
		{"call-1", "Call 1", triage.Unavailable, map[string]any{"status": "completed"}},
		{"call-2", "Call 2", triage.Available, map[string]any{"status": "failed"}},
		{"run-0", "Run 0", triage.Available, nil},
		{"call-1", "A run with the id of a call", triage.Available, nil},
	} {
		got := all[n]
		if got.ResourceID != want.id || got.Title != want.title || got.Status != want.status ||
			!reflect.DeepEqual(got.Metadata, want.metadata) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if c, r := s.calls.Finds()-calls, s.runs.Finds()-runs; c != 1 || r != 1 {
		t.Errorf("the libraries were asked %d and %d times", c, r)
	}
	bare := openOver(t, s.memory) // a service without resolvers
	all, err = bare.Resources(ctx, "acme", i.ID)
	if err != nil || len(all) != 5 || all[0].Status != triage.Unavailable {
		t.Errorf("%+v, %v", all, err)
	}
}

// brokenResolver is a ResourceResolver whose Find fails.
type brokenResolver struct{ triage.ResourceResolver }

var errBroken = errors.New("the resolver is closed")

func (brokenResolver) Find(context.Context, callwright.OrgID, []string) (map[string]triage.Item, error) {
	return nil, errBroken
}

// TestResolverFails checks that, if a resolver fails, a new attachment and the list of resources return its error and change nothing, and
// that other operations on the issue succeed.
func TestResolverFails(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i, other := t.Context(), s.issue(triage.Draft{}), s.issue(triage.Draft{})
	deeds, link := s.deeds(i.ID, other.ID), s.attached(i.ID, "call-0").ID
	s.resolvers[triage.ResourceCall] = brokenResolver{}
	before := s.kept(i.ID)
	if err := deeds["attach"](ctx, "acme", ada, i.ID); !errors.Is(err, errBroken) {
		t.Errorf("attaching gave %v", err)
	}
	if _, err := s.Resources(ctx, "acme", i.ID); !errors.Is(err, errBroken) {
		t.Errorf("resources gave %v", err)
	}
	if after := s.kept(i.ID); !reflect.DeepEqual(after, before) {
		t.Errorf("something is left: %+v", after)
	}
	deeds["attach again"] = func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
		_, _, err := s.Attach(ctx, org, by, id, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-0"})
		return err
	}
	deeds["comment with a link"] = func(ctx context.Context, org callwright.OrgID, by triage.Actor, id string) error {
		_, err := s.Comment(ctx, org, by, id, triage.CommentDraft{Detail: "x", Links: []string{link}})
		return err
	}
	for _, name := range []string{"attach again", "comment with a link", "detach", "flag", "unflag"} {
		if err := deeds[name](ctx, "acme", ada, i.ID); err != nil {
			t.Errorf("%s gave %v", name, err)
		}
	}
}
