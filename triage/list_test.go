package triage_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// stock creates 60 issues with different fields. Every four issues have the same creation time. It then changes every fifth issue.
func stock(h house) []triage.Issue {
	h.t.Helper()
	var all []triage.Issue
	for n := range 60 {
		if n%4 == 0 {
			h.clock.move(time.Hour)
		}
		d := triage.Draft{
			Title: fmt.Sprintf("Issue %d of the Shelf", n), Description: fmt.Sprintf("Found in aisle %d", n%9),
			Status: triage.Statuses()[n%6], Severity: triage.Severities()[n/2%4], Category: []string{"", "audio", "booking"}[n%3],
			OwnerID: []string{"ada", "bob"}[n%2], AssigneeID: []string{"", "cy", "di"}[n/3%3],
		}
		all = append(all, h.issue(d))
	}
	for n := 0; n < len(all); n += 5 { // so that the three times of these issues differ
		h.clock.move(time.Minute)
		for _, change := range []triage.Change{{Title: new(all[n].Title + ", edited")}, {OwnerID: new("eve")}}[n%2:] {
			if _, err := h.Update(h.t.Context(), "acme", bob, all[n].ID, change); err != nil {
				h.t.Fatal(err)
			}
		}
		all[n] = h.get(all[n].ID)
	}
	return all
}

// list returns the titles of all issues that a filter selects, read page by page.
func (h house) list(t testing.TB, f triage.Filter) []string {
	t.Helper()
	var found []string
	for q := (triage.Query{Filter: f}); ; {
		page, err := h.List(h.t.Context(), "acme", q)
		if err != nil || f.Limit > 0 && (len(page.Items) > f.Limit || page.Next != "" && len(page.Items) < f.Limit) {
			t.Fatalf("%+v: %d issues, next %q, %v", q, len(page.Items), page.Next, err)
		}
		for _, i := range page.Items {
			found = append(found, i.Title)
			if i.Description != "" {
				t.Errorf("a list has the description %q", i.Description)
			}
		}
		if page.Next == "" {
			return found
		}
		q.Cursor = page.Next
	}
}

// expected returns the titles that the method list must return: the titles of the matching issues, in the order of the filter. If matches
// is nil, all issues match.
func expected(all []triage.Issue, f triage.Filter, matches func(triage.Issue) bool) []string {
	by := cmp.Or(f.Sort, triage.SortActivity)
	found := slices.DeleteFunc(slices.Clone(all), func(i triage.Issue) bool { return matches != nil && !matches(i) })
	slices.SortFunc(found, func(a, b triage.Issue) int {
		var n int
		switch by {
		case triage.SortCreated:
			n = a.CreatedAt.Compare(b.CreatedAt)
		case triage.SortSeverity:
			n = slices.Index(triage.Severities(), a.Severity) - slices.Index(triage.Severities(), b.Severity)
		case triage.SortStatus:
			n = slices.Index(triage.Statuses(), a.Status) - slices.Index(triage.Statuses(), b.Status)
		default:
			n = a.LastActivityAt.Compare(b.LastActivityAt)
		}
		n = cmp.Or(n, strings.Compare(a.ID, b.ID))
		if f.Ascending {
			return n
		}
		return -n
	})
	titles := make([]string, len(found))
	for n, i := range found {
		titles[n] = i.Title
	}
	return titles
}

func TestListSorts(t *testing.T) {
	t.Parallel()
	h := open(t)
	all := stock(h)
	for _, by := range []triage.SortField{"", triage.SortActivity, triage.SortCreated, triage.SortSeverity, triage.SortStatus} {
		for _, ascending := range []bool{false, true} {
			for _, limit := range []int{0, 1, 7, 60, 100} {
				f := triage.Filter{Sort: by, Ascending: ascending, Limit: limit}
				if got, want := h.list(t, f), expected(all, f, nil); !slices.Equal(got, want) {
					t.Errorf("%+v:\n%v\nwant\n%v", f, got, want)
				}
			}
		}
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	h := open(t)
	all := stock(h)
	attached := triage.Resource{
		ID: "r1", Org: "acme", IssueID: all[8].ID, Type: triage.ResourceCall, ResourceID: "c1", Status: triage.Available,
		AttachedBy: "ada", CreatedAt: start,
	}
	if err := h.store().InsertResource(t.Context(), attached); err != nil {
		t.Fatal(err)
	}
	since := start.Add(10 * time.Hour)
	for name, c := range map[string]struct {
		f       triage.Filter
		matches func(i triage.Issue) bool
	}{
		"statuses": {
			triage.Filter{Statuses: []triage.Status{triage.StatusDone, triage.StatusTodo}},
			func(i triage.Issue) bool { return i.Status == triage.StatusDone || i.Status == triage.StatusTodo },
		},
		"severities": {
			triage.Filter{Severities: []triage.Severity{triage.SeverityHigh}},
			func(i triage.Issue) bool { return i.Severity == triage.SeverityHigh },
		},
		"categories": {
			triage.Filter{Categories: []string{"audio", "none of them"}}, func(i triage.Issue) bool { return i.Category == "audio" },
		},
		"resource": {triage.Filter{Resource: triage.ResourceCall}, func(i triage.Issue) bool { return i.ID == all[8].ID }},
		"nothing":  {triage.Filter{Resource: triage.ResourceRun}, func(triage.Issue) bool { return false }},
		"owner":    {triage.Filter{OwnerID: "eve"}, func(i triage.Issue) bool { return i.OwnerID == "eve" }},
		"assignee": {triage.Filter{AssigneeID: "di"}, func(i triage.Issue) bool { return i.AssigneeID == "di" }},
		"title":    {triage.Filter{Search: "EDITED"}, func(i triage.Issue) bool { return strings.HasSuffix(i.Title, "edited") }},
		"description": {
			triage.Filter{Search: "aisle 3"}, func(i triage.Issue) bool { return strings.HasSuffix(i.Description, "aisle 3") },
		},
		"name":     {triage.Filter{Search: "T-1033"}, func(i triage.Issue) bool { return i.Number == 1033 }},
		"activity": {triage.Filter{Since: since}, func(i triage.Issue) bool { return !i.LastActivityAt.Before(since) }},
		"created": {
			triage.Filter{Since: since, DateField: triage.SortCreated}, func(i triage.Issue) bool { return !i.CreatedAt.Before(since) },
		},
		"updated": {
			triage.Filter{Since: since, DateField: triage.SortUpdated}, func(i triage.Issue) bool { return !i.UpdatedAt.Before(since) },
		},
		"several": {
			triage.Filter{OwnerID: "ada", Categories: []string{"booking"}, Sort: triage.SortSeverity, Ascending: true},
			func(i triage.Issue) bool { return i.OwnerID == "ada" && i.Category == "booking" },
		},
	} {
		want := expected(all, c.f, c.matches)
		if (len(want) == 0) != (name == "nothing") || len(want) == len(all) {
			t.Errorf("%s: %d issues match, which shows nothing", name, len(want))
		}
		c.f.Limit = 4
		if got := h.list(t, c.f); !slices.Equal(got, want) {
			t.Errorf("%s:\n%v\nwant\n%v", name, got, want)
		}
	}
}

// TestListOfRareIssues checks that paging with any Scan finds all issues, even if few match.
func TestListOfRareIssues(t *testing.T) {
	t.Parallel()
	h := open(t)
	stock(h)
	f := triage.Filter{Search: "aisle 3", Limit: 2}
	want := h.list(t, f)
	for _, f.Scan = range []int{1, 7, 59, 60, 1000} {
		var found []string
		looked := 0
		for q := (triage.Query{Filter: f}); looked == 0 || q.Cursor != ""; looked++ {
			page, err := h.List(t.Context(), "acme", q)
			if err != nil || len(page.Items) > min(f.Limit, f.Scan) || looked > 60 {
				t.Fatalf("%d at a time, page %d: %d issues, %v", f.Scan, looked, len(page.Items), err)
			}
			for _, i := range page.Items {
				found = append(found, i.Title)
			}
			q.Cursor = page.Next
		}
		if !slices.Equal(found, want) {
			t.Errorf("%d at a time: %q, want %q", f.Scan, found, want)
		}
	}
}

func TestListLimits(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 102 {
		h.issue(triage.Draft{})
	}
	for limit, want := range map[int]int{0: 50, 1: 1, 99: 99, 100: 100} {
		page, err := h.List(t.Context(), "acme", triage.Query{Filter: triage.Filter{Limit: limit}})
		if err != nil || len(page.Items) != want || page.Next == "" {
			t.Errorf("limit %d: %d issues, next %q, %v", limit, len(page.Items), page.Next, err)
		}
	}
	for field, filters := range map[string][]triage.Filter{
		"limit":       {{Limit: -1}, {Limit: 101}},
		"scan":        {{Scan: -1}},
		"sort":        {{Sort: "title"}, {Sort: triage.SortUpdated}},
		"date_field":  {{DateField: triage.SortSeverity}},
		"status":      {{Statuses: []triage.Status{"open"}}},
		"severity":    {{Severities: []triage.Severity{""}}},
		"category[1]": {{Categories: []string{"", strings.Repeat("x", 201)}}, {Categories: []string{"x", "\x00"}}},
		"":            {{Categories: make([]string, 51)}},
		"owner_id":    {{OwnerID: "\xff"}},
		"assignee_id": {{AssigneeID: strings.Repeat("x", 65)}},
		"search":      {{Search: strings.Repeat("x", 201)}, {Search: "\x00"}},

		"resource_type": {{Resource: "\x00"}},
	} {
		for _, f := range filters {
			_, err := h.List(t.Context(), "acme", triage.Query{Filter: f})
			wantError(t, err, callwright.CodeBadRequest, field)
		}
	}
}

// TestListCursors checks that a cursor is valid only for its list and organization, but with any page size, Since and order of
// alternatives.
func TestListCursors(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 3 {
		h.attach(h.issue(triage.Draft{Title: "A call", Category: "a", OwnerID: "o", AssigneeID: "p"}).ID, "c1")
	}
	lists := []triage.Filter{
		{}, {Ascending: true}, {Sort: triage.SortCreated}, {Sort: triage.SortSeverity}, {Sort: triage.SortStatus},
		{Statuses: []triage.Status{triage.StatusBacklog}}, {Statuses: []triage.Status{triage.StatusBacklog, triage.StatusTodo}},
		{Severities: []triage.Severity{triage.SeverityMedium}}, {Categories: []string{"a"}}, {Categories: []string{"a", "b"}},
		{OwnerID: "o"}, {AssigneeID: "p"}, {Search: "call"}, {Since: start.Add(-time.Hour)},
		{Since: start.Add(-time.Hour), DateField: triage.SortCreated},
		{Resource: triage.ResourceCall},
	}
	for n, f := range lists {
		f.Limit = 1
		page, err := h.List(t.Context(), "acme", triage.Query{Filter: f})
		if err != nil || page.Next == "" {
			t.Fatalf("%+v: %+v, %v", f, page, err)
		}
		for m, other := range lists {
			_, err := h.List(t.Context(), "acme", triage.Query{Filter: other, Cursor: page.Next})
			if n == m && err != nil {
				t.Errorf("%+v: %v", other, err)
			} else if n != m {
				wantError(t, err, callwright.CodeBadRequest, "cursor")
			}
		}
		_, err = h.List(t.Context(), "other", triage.Query{Filter: f, Cursor: page.Next})
		wantError(t, err, callwright.CodeBadRequest, "cursor")
	}
	same := [][2]triage.Filter{
		{{}, {Sort: triage.SortActivity, DateField: triage.SortActivity, Limit: 100}},
		{{Since: start.Add(-time.Hour)}, {Since: start.Add(-time.Minute)}},
		{{Categories: []string{"a", "b"}}, {Categories: []string{"b", "a", "b"}}},
	}
	for _, pair := range same {
		pair[0].Limit = 1
		page, err := h.List(t.Context(), "acme", triage.Query{Filter: pair[0]})
		if err != nil {
			t.Fatal(err)
		}
		rest, err := h.List(t.Context(), "acme", triage.Query{Filter: pair[1], Cursor: page.Next})
		if err != nil || len(rest.Items) != 2 {
			t.Errorf("%+v goes on as %+v with %d issues, %v", pair[0], pair[1], len(rest.Items), err)
		}
	}
}

// TestListWhileOthersOpen checks that paging shows each existing issue once while others are created, if the order of the list does not
// change.
func TestListWhileOthersOpen(t *testing.T) {
	t.Parallel()
	h := open(t)
	rapid.Check(t, func(t *rapid.T) {
		f := triage.Filter{
			Sort:      rapid.SampledFrom([]triage.SortField{triage.SortCreated, triage.SortActivity, triage.SortSeverity}).Draw(t, "sort"),
			Ascending: rapid.Bool().Draw(t, "ascending"),
			Search:    rapid.StringMatching("[a-z]{20}").Draw(t, "shelf"),
		}
		draft := func() triage.Draft {
			return triage.Draft{Title: f.Search, Severity: rapid.SampledFrom(triage.Severities()).Draw(t, "severity")}
		}
		want := map[string]int{}
		for range rapid.IntRange(0, 20).Draw(t, "issues") {
			want[h.issue(draft()).ID] = 0
		}
		for q := (triage.Query{Filter: f}); ; {
			q.Limit = rapid.IntRange(1, 9).Draw(t, "limit")
			page, err := h.List(h.t.Context(), "acme", q)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				if _, old := want[i.ID]; old {
					want[i.ID]++
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
			for range rapid.IntRange(0, min(2, q.Limit-1)).Draw(t, "opened") { // fewer than a page, so that paging ends
				h.clock.move(time.Duration(rapid.IntRange(-1, 1).Draw(t, "clock")) * time.Microsecond)
				h.issue(draft())
			}
		}
		for id, times := range want {
			if times != 1 {
				t.Errorf("the issue %s was seen %d times", id, times)
			}
		}
	})
}
