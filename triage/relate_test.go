package triage_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func relationTypes() []triage.RelationType {
	return []triage.RelationType{triage.RelatedTo, triage.Blocks, triage.DuplicateOf}
}

func TestRelate(t *testing.T) {
	t.Parallel()
	for _, kind := range relationTypes() {
		t.Run(string(kind), func(t *testing.T) {
			h := open(t)
			ctx, a, b := t.Context(), h.issue(triage.Draft{Title: "A"}), h.issue(triage.Draft{Title: "B"})
			r, added, err := h.Relate(ctx, "acme", bob, a.ID, b.ID, kind)
			want := triage.Relation{
				ID: r.ID, Org: "acme", Type: kind, From: a.Ref(), To: b.Ref(), CreatedBy: "bob", CreatedAt: start,
			}
			if err != nil || !added || r != want {
				t.Fatalf("related %+v, %t, %v", r, added, err)
			}
			told := func(e triage.EntryType, direction string, other triage.Issue) triage.Entry {
				return triage.Entry{
					Type: e, Actor: bob, Referenced: []triage.IssueRef{other.Ref()},
					Metadata: map[string]any{"relation_type": string(kind), "direction": direction},
				}
			}
			h.wantLast(t, a.ID, told(triage.TypeRelationAdded, "outgoing", b))
			h.wantLast(t, b.ID, told(triage.TypeRelationAdded, "incoming", a))
			for _, i := range []triage.Issue{a, b} {
				all, err := h.Relations(ctx, "acme", i.ID)
				if err != nil || !reflect.DeepEqual(all, []triage.Relation{want}) || h.get(i.ID).Relations != 1 {
					t.Errorf("relations of %s are %+v, %v", i.Title, all, err)
				}
			}
			again := func(from, to string) {
				before := []kept{h.kept(a.ID), h.kept(b.ID)}
				got, added, err := h.Relate(ctx, "acme", ada, from, to, kind)
				if err != nil || added || got != want || !reflect.DeepEqual([]kept{h.kept(a.ID), h.kept(b.ID)}, before) {
					t.Errorf("related again: %+v, %t, %v", got, added, err)
				}
			}
			again(a.ID, b.ID)
			if kind == triage.RelatedTo {
				again(b.ID, a.ID)
			} else {
				for _, i := range []triage.Issue{a, b} {
					h.refuses(t, i.ID, callwright.CodeConflict, "", func() error {
						_, _, err := h.Relate(ctx, "acme", ada, b.ID, a.ID, kind)
						return err
					})
				}
			}
			if err := h.Unrelate(ctx, "acme", bob, b.ID, r.ID); err != nil { // through the other issue
				t.Fatal(err)
			}
			h.wantLast(t, a.ID, told(triage.TypeRelationRemoved, "outgoing", b))
			h.wantLast(t, b.ID, told(triage.TypeRelationRemoved, "incoming", a))
			for _, i := range []triage.Issue{a, b} {
				if all, err := h.Relations(ctx, "acme", i.ID); err != nil || len(all) != 0 || h.get(i.ID).Relations != 0 {
					t.Errorf("relations of %s are %+v, %v", i.Title, all, err)
				}
				h.refuses(t, i.ID, callwright.CodeNotFound, "", func() error { return h.Unrelate(ctx, "acme", bob, i.ID, r.ID) })
			}
		})
	}
}

// TestRelateInManyWays checks that two issues may have several relations, and that reads show the current state of both.
func TestRelateInManyWays(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, a, b := t.Context(), h.issue(triage.Draft{}), h.issue(triage.Draft{})
	for n, kind := range relationTypes() {
		from, to := a.ID, b.ID
		if n%2 == 1 {
			from, to = b.ID, a.ID
		}
		if _, added, err := h.Relate(ctx, "acme", ada, from, to, kind); err != nil || !added {
			t.Fatal(kind, added, err)
		}
		h.clock.move(time.Second)
	}
	if _, err := h.Update(ctx, "acme", ada, b.ID, triage.Change{Title: new("New"), Status: new(triage.StatusDone)}); err != nil {
		t.Fatal(err)
	}
	all, err := h.Relations(ctx, "acme", a.ID)
	if err != nil || len(all) != 3 || all[0].To != h.get(b.ID).Ref() || all[1].From != h.get(b.ID).Ref() {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestOthersByName checks that the other issue of a relation or merge may be given by its readable name.
func TestOthersByName(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, a, b := t.Context(), h.issue(triage.Draft{Title: "A"}), h.issue(triage.Draft{Title: "Like T-1001", Description: "T-1003"})
	foreign, err := h.Create(ctx, "other", ada, triage.Draft{Title: "Not yours"})
	if err != nil || foreign.Name() != a.Name() {
		t.Fatal(foreign, err)
	}
	if r, _, err := h.Relate(ctx, "acme", bob, b.ID, "t-1001", triage.Blocks); err != nil || r.To.ID != a.ID {
		t.Errorf("related %+v, %v", r, err)
	}
	for _, name := range []string{"T-1003", "T-01001", "T-+1001", "T-", "1001", "T-99999999999999999999"} {
		_, _, err := h.Relate(ctx, "acme", bob, b.ID, name, triage.Blocks)
		wantError(t, err, callwright.CodeNotFound, "")
		_, err = h.Merge(ctx, "acme", bob, b.ID, name)
		wantError(t, err, callwright.CodeNotFound, "")
	}
	_, _, err = h.Relate(ctx, "acme", bob, b.ID, b.Name(), triage.Blocks)
	wantError(t, err, callwright.CodeBadRequest, "related_issue_id")
	_, err = h.Merge(ctx, "acme", bob, b.ID, b.Name())
	wantError(t, err, callwright.CodeBadRequest, "into")
	if merged, err := h.Merge(ctx, "acme", bob, b.ID, "T-1001"); err != nil || merged.MergedInto != a.ID {
		t.Errorf("merged %+v, %v", merged, err)
	}
	if all, err := h.Relations(ctx, "acme", a.ID); err != nil || len(all) != 2 || !all[0].Merged || !all[1].Merged {
		t.Errorf("the relations are %+v, %v", all, err)
	}
}

func TestRelateRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, a, merged, target := t.Context(), h.issue(triage.Draft{}), h.issue(triage.Draft{}), h.issue(triage.Draft{})
	foreign, err := h.Create(ctx, "other", ada, triage.Draft{Title: "Not yours"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Merge(ctx, "acme", ada, merged.ID, target.ID); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		related string
		kind    triage.RelationType
		code    callwright.Code
		field   string
	}{
		{a.ID, triage.Blocks, callwright.CodeBadRequest, "related_issue_id"},
		{target.ID, "likes", callwright.CodeBadRequest, "relation_type"},
		{target.ID, "", callwright.CodeBadRequest, "relation_type"},
		{merged.ID, triage.Blocks, callwright.CodeInvalidState, ""},
		{foreign.ID, triage.Blocks, callwright.CodeNotFound, ""},
		{"nobody", triage.Blocks, callwright.CodeNotFound, ""},
		{"", triage.Blocks, callwright.CodeNotFound, ""},
	} {
		h.refuses(t, a.ID, at.code, at.field, func() error {
			_, _, err := h.Relate(ctx, "acme", ada, a.ID, at.related, at.kind)
			return err
		})
	}
}

func TestRelateUntilItIsFull(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, full, other := t.Context(), h.issue(triage.Draft{}), h.issue(triage.Draft{})
	for n := range triage.MaxRelations {
		from, to := full.ID, h.issue(triage.Draft{}).ID
		if n%2 == 1 {
			from, to = to, from
		}
		if _, _, err := h.Relate(ctx, "acme", ada, from, to, triage.Blocks); err != nil {
			t.Fatal(n, err)
		}
	}
	for _, i := range []triage.Issue{full, other} {
		h.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error {
			_, _, err := h.Relate(ctx, "acme", ada, full.ID, other.ID, triage.Blocks)
			return err
		})
		h.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error {
			_, _, err := h.Relate(ctx, "acme", ada, other.ID, full.ID, triage.Blocks)
			return err
		})
	}
}

// TestRelateAndMergeAtOnce checks that concurrent relations and merges of the same issues, in opposite directions, do not deadlock, and
// that they leave the issues consistent.
func TestRelateAndMergeAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var issues []triage.Issue
	for range 6 {
		issues = append(issues, h.issue(triage.Draft{}))
	}
	var wait sync.WaitGroup
	at := func(n int) string { return issues[n%len(issues)].ID }
	for n := range 60 {
		wait.Go(func() {
			_, _, err := h.Relate(ctx, "acme", ada, at(n), at(n+1+n%4), relationTypes()[n%3])
			wantOneOf(t, err, callwright.CodeConflict, callwright.CodeInvalidState)
		})
		wait.Go(func() {
			_, _, err := h.Relate(ctx, "acme", bob, at(n+1+n%4), at(n), relationTypes()[n%3])
			wantOneOf(t, err, callwright.CodeConflict, callwright.CodeInvalidState)
		})
		if n%20 == 19 {
			wait.Go(func() {
				_, err := h.Merge(ctx, "acme", ada, at(n), at(n+1))
				wantOneOf(t, err, callwright.CodeConflict, callwright.CodeInvalidState)
			})
			wait.Go(func() {
				_, err := h.Merge(ctx, "acme", bob, at(n+1), at(n))
				wantOneOf(t, err, callwright.CodeConflict, callwright.CodeInvalidState)
			})
		}
	}
	wait.Wait()
	for _, i := range issues {
		k := h.kept(i.ID)
		type pair struct {
			kind     triage.RelationType
			from, to string
		}
		seen := map[pair]bool{}
		for _, r := range k.Relations {
			if seen[pair{r.Type, r.From.ID, r.To.ID}] || seen[pair{r.Type, r.To.ID, r.From.ID}] {
				t.Errorf("%+v is there twice", r)
			}
			seen[pair{r.Type, r.From.ID, r.To.ID}] = true
		}
		if k.Issue.Relations != len(k.Relations) || len(k.Relations) == 0 {
			t.Errorf("%s has %d relations and counts %d", i.Name(), len(k.Relations), k.Issue.Relations)
		}
	}
}

// wantOneOf checks that an error is nil or has one of the codes.
func wantOneOf(t *testing.T, err error, codes ...callwright.Code) {
	t.Helper()
	for _, code := range codes {
		if e, ok := errors.AsType[*callwright.Error](err); ok && e.Code == code {
			return
		}
	}
	if err != nil {
		t.Errorf("got %v, want one of %q", err, codes)
	}
}
