package triage_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestComment(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i := s.issue(triage.Draft{})
	r := s.attached(i.ID, "call-0")
	s.attached(i.ID, "call-1")
	s.calls.Delete("acme", "call-0")
	e, err := s.Comment(t.Context(), "acme", bob, i.ID, triage.CommentDraft{Detail: "Heard it.", Links: []string{r.ID, r.ID}})
	if err != nil {
		t.Fatal(err)
	}
	s.wantLast(t, i.ID, triage.Entry{
		Type: triage.TypeComment, Actor: bob, Detail: "Heard it.", Resources: []triage.Resource{r},
	})
	if last := s.feed(i.ID); !reflect.DeepEqual(last[len(last)-1], e) {
		t.Errorf("gave %+v", e)
	}
	c, err := s.store().Comment(t.Context(), "acme", i.ID, e.ID)
	want := triage.Comment{
		ID: e.ID, Org: "acme", IssueID: i.ID, Author: bob, Detail: "Heard it.", CreatedAt: start, UpdatedAt: start, Revision: 1,
	}
	if err != nil || c != want {
		t.Errorf("kept %+v, %v", c, err)
	}
}

func TestRevisedComments(t *testing.T) {
	t.Parallel()
	h := open(t)
	i, ids := h.issue(triage.Draft{}), make([]string, 3)
	for n := range ids {
		e, err := h.Comment(t.Context(), "acme", ada, i.ID, triage.CommentDraft{Detail: "It rains."})
		if err != nil {
			t.Fatal(err)
		}
		ids[n] = e.ID
	}
	_, editErr := h.EditComment(t.Context(), "acme", ada, i.ID, ids[0], "It snows.")
	_, deleteErr := h.DeleteComment(t.Context(), "acme", ada, i.ID, ids[1])
	if editErr != nil || deleteErr != nil {
		t.Fatal(editErr, deleteErr)
	}
	got, err := h.RevisedComments(t.Context(), "acme", i.ID, ids, 5)
	if err != nil || len(got) != 2 || got[ids[0]].Detail != "It sn" || !got[ids[1]].Deleted {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := h.RevisedComments(t.Context(), "acme", i.ID, nil, 5); err != nil || len(got) != 0 {
		t.Errorf("of none: %+v, %v", got, err)
	}
	_, err = h.RevisedComments(t.Context(), "acme", i.ID, make([]string, 101), 5)
	wantError(t, err, callwright.CodeBadRequest, "comments")
}

func TestCommentIsEditedAndDeleted(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i := t.Context(), h.issue(triage.Draft{})
	e, err := h.Comment(ctx, "acme", ada, i.ID, triage.CommentDraft{Detail: "It rains."})
	if err != nil {
		t.Fatal(err)
	}
	before := h.feed(i.ID)
	h.clock.move(time.Hour)

	renamed := ada
	renamed.Label = "Ada L." // the same actor
	if _, err := h.EditComment(ctx, "acme", renamed, i.ID, e.ID, "It snows."); err != nil {
		t.Fatal(err)
	}
	h.wantLast(t, i.ID, triage.Entry{Type: triage.TypeComment, Actor: renamed, Detail: "It snows.", Metadata: map[string]any{
		"action": "edited", "comment_id": e.ID,
	}})
	c, err := h.store().Comment(ctx, "acme", i.ID, e.ID)
	if err != nil || c.Detail != "It snows." || !c.UpdatedAt.Equal(start.Add(time.Hour)) || c.Deleted || c.Author != ada {
		t.Errorf("kept %+v, %v", c, err)
	}

	if _, err := h.DeleteComment(ctx, "acme", ada, i.ID, e.ID); err != nil {
		t.Fatal(err)
	}
	h.wantLast(t, i.ID, triage.Entry{Type: triage.TypeComment, Actor: ada, Metadata: map[string]any{
		"action": "deleted", "comment_id": e.ID,
	}})
	if c, err = h.store().Comment(ctx, "acme", i.ID, e.ID); err != nil || c.Detail != "" || !c.Deleted {
		t.Errorf("kept %+v, %v", c, err)
	}
	if feed := h.feed(i.ID); len(feed) != len(before)+2 || !reflect.DeepEqual(feed[:len(before)], before) {
		t.Errorf("what was told before is now %+v", feed)
	}

	for _, by := range []triage.Actor{ada, bob, triage.System()} {
		h.refuses(t, i.ID, callwright.CodeNotFound, "", func() error {
			_, err := h.EditComment(ctx, "acme", by, i.ID, e.ID, "Again.")
			return err
		})
		h.refuses(t, i.ID, callwright.CodeNotFound, "", func() error {
			_, err := h.DeleteComment(ctx, "acme", by, i.ID, e.ID)
			return err
		})
	}
}

func TestWhoMayEditComments(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i := t.Context(), h.issue(triage.Draft{})
	sameID := triage.Actor{Kind: triage.ActorAgent, ID: ada.ID, Label: ada.Label}
	for _, at := range []struct {
		author, by   triage.Actor
		edit, delete bool
	}{
		{ada, ada, true, true},
		{ada, bob, false, false},
		{ada, sameID, false, false},
		{ada, triage.System(), false, true},
		{sameID, sameID, true, true},
		{sameID, ada, false, false},
		{triage.System(), triage.System(), true, true},
		{triage.System(), ada, false, false},
	} {
		e, err := h.Comment(ctx, "acme", at.author, i.ID, triage.CommentDraft{Detail: "x"})
		if err != nil {
			t.Fatal(err)
		}
		edit := func() error { _, err := h.EditComment(ctx, "acme", at.by, i.ID, e.ID, "y"); return err }
		remove := func() error { _, err := h.DeleteComment(ctx, "acme", at.by, i.ID, e.ID); return err }
		for _, try := range []struct {
			may bool
			do  func() error
		}{{at.edit, edit}, {at.delete, remove}} {
			if !try.may {
				h.refuses(t, i.ID, callwright.CodeForbidden, "", try.do)
			} else if err := try.do(); err != nil {
				t.Errorf("%+v: %v", at, err)
			}
		}
	}
}

func TestCommentLimits(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i := t.Context(), s.issue(triage.Draft{})
	most := strings.Repeat("x", 64<<10)
	e, err := s.Comment(ctx, "acme", ada, i.ID, triage.CommentDraft{Detail: most})
	if err != nil || e.Detail != most {
		t.Fatalf("64 KiB gave %v", err)
	}
	if _, err := s.EditComment(ctx, "acme", ada, i.ID, e.ID, most); err != nil {
		t.Errorf("an edit to 64 KiB gave %v", err)
	}
	for name, text := range map[string]string{
		"too long": most + "x", "empty": "", "blank": " \n", "NUL": "a\x00b", "no UTF-8": "a\xff",
	} {
		t.Run(name, func(t *testing.T) {
			s.refuses(t, i.ID, callwright.CodeBadRequest, "detail", func() error {
				_, err := s.Comment(ctx, "acme", ada, i.ID, triage.CommentDraft{Detail: text})
				return err
			})
			s.refuses(t, i.ID, callwright.CodeBadRequest, "detail", func() error {
				_, err := s.EditComment(ctx, "acme", ada, i.ID, e.ID, text)
				return err
			})
		})
	}
}

func TestCommentLinks(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	ctx, i, other := t.Context(), s.issue(triage.Draft{}), s.issue(triage.Draft{})
	var links []string
	for n := range triage.MaxShown + 1 {
		id := fmt.Sprintf("more-%d", n)
		s.calls.Add("acme", id, triage.Item{}, triage.Evidence{})
		links = append(links, s.attached(i.ID, id).ID)
	}
	slices.Reverse(links)
	e, err := s.Comment(ctx, "acme", ada, i.ID, triage.CommentDraft{Detail: "x", Links: links[1:]})
	if err != nil || len(e.Resources) != triage.MaxShown || e.Resources[0].ID != links[1] {
		t.Fatalf("50 links gave %d resources, %v", len(e.Resources), err)
	}
	s.refuses(t, i.ID, callwright.CodeBadRequest, "resource_link_ids", func() error {
		_, err := s.Comment(ctx, "acme", ada, i.ID, triage.CommentDraft{Detail: "x", Links: links})
		return err
	})
	elsewhere := s.attached(other.ID, "call-0").ID
	for _, link := range []string{elsewhere, "nothing", ""} {
		s.refuses(t, i.ID, callwright.CodeNotFound, "resource_link_ids[1]", func() error {
			_, err := s.Comment(ctx, "acme", ada, i.ID, triage.CommentDraft{Detail: "x", Links: []string{links[0], link}})
			return err
		})
	}
}

func TestReadComment(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	e, err := h.Comment(t.Context(), "acme", ada, i.ID, triage.CommentDraft{Detail: "first"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.EditComment(t.Context(), "acme", ada, i.ID, e.ID, "second"); err != nil {
		t.Fatal(err)
	}
	if c, err := h.ReadComment(t.Context(), "acme", i.ID, e.ID); err != nil || c.Detail != "second" || c.Author != ada {
		t.Errorf("got %+v, %v", c, err)
	}
	_, err = h.ReadComment(t.Context(), "other", i.ID, e.ID)
	wantError(t, err, callwright.CodeNotFound, "")
	if _, err := h.DeleteComment(t.Context(), "acme", ada, i.ID, e.ID); err != nil {
		t.Fatal(err)
	}
	_, err = h.ReadComment(t.Context(), "acme", i.ID, e.ID)
	wantError(t, err, callwright.CodeNotFound, "")
}
