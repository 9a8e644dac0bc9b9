package triagetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/triage"
)

// insertVaried inserts 24 issues of organization c that differ in all fields that a Filter can select. It returns them without
// descriptions, as a list contains them.
func (s subject) insertVaried(t *testing.T) []triage.Issue {
	t.Helper()
	statuses, severities := triage.Statuses(), triage.Severities()
	all := make([]triage.Issue, 24)
	for n := range all {
		i := anIssue(fmt.Sprintf("v%02d", (n*7)%len(all)), n+1) // the order of the ids differs from that of the numbers
		i.Org, i.Description = "c", "not shown"
		i.Status, i.Severity = statuses[n%len(statuses)], severities[n/2%len(severities)]
		i.Category = []string{"", "billing", "Billing", "voice"}[n%4]
		i.OwnerID, i.AssigneeID = []string{"", "o1", "o2"}[n%3], []string{"", "p1"}[n/3%2]
		i.CreatedAt = later(n % 3)
		i.UpdatedAt = later(n % 5).Add(time.Microsecond)
		i.LastActivityAt = later(n / 6).Add(-time.Microsecond)
		all[n] = i
	}
	s.insertIssues(t, all...)
	for n := range all {
		all[n].Description = ""
	}
	return all
}

// wantFound checks that a filter finds exactly those of the given issues that satisfy the predicate in should.
func (s subject) wantFound(t *testing.T, name string, f triage.Filter, all []triage.Issue, should func(triage.Issue) bool) {
	t.Helper()
	f.Limit = len(all) + 1
	var want []string
	for _, i := range all {
		if should(i) {
			want = append(want, i.ID)
		}
	}
	found, err := s.FindIssues(t.Context(), "c", f)
	got := make([]string, len(found))
	for n, i := range found {
		got[n] = i.ID
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: found %v, %v; want %v", name, got, err, want)
	}
}

func findsIssues(t *testing.T, s subject) {
	all := s.insertVaried(t)
	for name, test := range map[string]struct {
		filter triage.Filter
		should func(triage.Issue) bool
	}{
		"all": {triage.Filter{}, func(triage.Issue) bool { return true }},
		"a status": {
			triage.Filter{Statuses: []triage.Status{triage.StatusDone}},
			func(i triage.Issue) bool { return i.Status == triage.StatusDone },
		},
		"statuses": {
			triage.Filter{Statuses: []triage.Status{triage.StatusTodo, triage.StatusClosed}},
			func(i triage.Issue) bool { return i.Status == triage.StatusTodo || i.Status == triage.StatusClosed },
		},
		"severities": {
			triage.Filter{Severities: []triage.Severity{triage.SeverityLow, triage.SeverityCritical}},
			func(i triage.Issue) bool {
				return i.Severity == triage.SeverityLow || i.Severity == triage.SeverityCritical
			},
		},
		"a category, to the letter": {
			triage.Filter{Categories: []string{"billing"}}, func(i triage.Issue) bool { return i.Category == "billing" },
		},
		"categories": {
			triage.Filter{Categories: []string{"billing", "voice", "none has this"}},
			func(i triage.Issue) bool { return i.Category == "billing" || i.Category == "voice" },
		},
		"an owner":    {triage.Filter{OwnerID: "o1"}, func(i triage.Issue) bool { return i.OwnerID == "o1" }},
		"an assignee": {triage.Filter{AssigneeID: "p1"}, func(i triage.Issue) bool { return i.AssigneeID == "p1" }},
		"no assignee": {triage.Filter{Unassigned: true}, func(i triage.Issue) bool { return i.AssigneeID == "" }},
		"nobody":      {triage.Filter{OwnerID: "p1"}, func(triage.Issue) bool { return false }},
		"all at once": {
			triage.Filter{
				Statuses: []triage.Status{triage.StatusTodo, triage.StatusDone}, Categories: []string{"billing"},
				Severities: []triage.Severity{triage.SeverityLow, triage.SeverityHigh},
				OwnerID:    "o1", AssigneeID: "p1", Search: "ISSUE", Since: at,
			},
			func(i triage.Issue) bool {
				return (i.Status == triage.StatusTodo || i.Status == triage.StatusDone) && i.Category == "billing" &&
					(i.Severity == triage.SeverityLow || i.Severity == triage.SeverityHigh) &&
					i.OwnerID == "o1" && i.AssigneeID == "p1" && !i.LastActivityAt.Before(at)
			},
		},
	} {
		s.wantFound(t, name, test.filter, all, test.should)
	}
}

func findsSince(t *testing.T, s subject) {
	all := s.insertVaried(t)
	for field, value := range map[triage.SortField]func(triage.Issue) time.Time{
		"":                  func(i triage.Issue) time.Time { return i.LastActivityAt },
		triage.SortActivity: func(i triage.Issue) time.Time { return i.LastActivityAt },
		triage.SortCreated:  func(i triage.Issue) time.Time { return i.CreatedAt },
		triage.SortUpdated:  func(i triage.Issue) time.Time { return i.UpdatedAt },
	} {
		for n := -1; n < 6; n++ {
			for _, off := range []time.Duration{-time.Microsecond, 0, time.Microsecond} {
				since := later(n).Add(off)
				s.wantFound(t, fmt.Sprintf("by %q since %s", field, since), triage.Filter{DateField: field, Since: since}, all,
					func(i triage.Issue) bool { return !value(i).Before(since) })
			}
		}
	}
}

func findsByResource(t *testing.T, s subject) {
	attach := func(id, issue string, of triage.ResourceType) {
		r := aResource(id, issue)
		r.Type = of
		s.insertResources(t, r)
	}
	attach("r1", "i1", triage.ResourceCall)
	attach("r2", "i1", triage.ResourceRun)
	attach("r5", "i2", triage.ResourcePort)
	attach("r3", "i2", triage.ResourceCall)
	find := func(of triage.ResourceType, want ...string) {
		t.Helper()
		found, err := s.FindIssues(t.Context(), "a", triage.Filter{Resource: of, Sort: triage.SortCreated, Ascending: true, Limit: 9})
		wantIDs(t, found, err, issueID, want...)
	}
	attach("r4", "i1", triage.ResourceCall) // an issue with two calls is found once
	find(triage.ResourceCall, "i1", "i2")
	find(triage.ResourceRun, "i1")
	find(triage.ResourcePort, "i2")
	find(triage.ResourceFile)
	if err := s.DeleteResource(t.Context(), "a", "i2", "r3"); err != nil {
		t.Fatal(err)
	}
	find(triage.ResourceCall, "i1")
}

func searchesIssues(t *testing.T, s subject) {
	for n, text := range []struct{ title, description string }{
		{"The line drops", "after the greeting"},
		{"Gr\u00fc\u00dfe aus K\u00d6LN", ""},
		{"\u041f\u0440\u0438\u0432\u0435\u0442", "\u03b1\u03b2\u03a9 \u96ea"},
		{"100% of calls", `a\b and a_b`},
		{"100 of calls", "a/b and axb, T-1002"},
	} {
		i := anIssue(fmt.Sprint("s", n), triage.FirstNumber+n)
		i.Org, i.Title, i.Description = "c", text.title, text.description
		s.insertIssues(t, i)
	}
	for search, want := range map[string][]string{
		"": {"s0", "s1", "s2", "s3", "s4"}, "line": {"s0"}, "LINE D": {"s0"}, "GREETING": {"s0"}, "linedrops": nil,
		"k\u00f6ln": {"s1"}, "GR\u00dc": {"s1"}, "gru": nil, // umlauts differ from their base letters
		"\u041f\u0420\u0418\u0412": {"s2"}, "\u0391\u0392\u03c9": {"s2"}, "\u96ea": {"s2"},
		"100%": {"s3"}, "100": {"s3", "s4"}, "%": {"s3"}, "_": {"s3"}, `\`: {"s3"}, `A\B`: {"s3"}, "a_b": {"s3"}, "a%b": nil,
		"100% of": {"s3"}, "l%p": nil, "'": nil, "*": nil, ".": nil,
		"T-1001": {"s0"}, "t-1005": {"s4"}, "T-1002": {"s1", "s4"}, "T-100": {"s4"}, "T-01001": nil, "1001": nil,
		"T-1001 ": nil, "T-+1001": nil, "T-9999": nil, "T-99999999999999999999": nil, "T-": {"s4"}, "not there": nil,
	} {
		found, err := s.FindIssues(t.Context(), "c", triage.Filter{
			Search: search, Sort: triage.SortCreated, Ascending: true, Limit: 9,
		})
		t.Run(fmt.Sprintf("%q", search), func(t *testing.T) { wantIDs(t, found, err, issueID, want...) })
	}
	// After an update, a search finds only the new texts.
	i, err := s.Issue(t.Context(), "c", "s0")
	if err != nil {
		t.Fatal(err)
	}
	i.Title, i.Description, i.Version = "CHANGED \u00c4", "\u00d6", i.Version+1
	if err := s.UpdateIssue(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	for search, want := range map[string][]string{"line": nil, "greeting": nil, "changed \u00e4": {"s0"}, "\u00f6": {"s0", "s1"}} {
		found, err := s.FindIssues(t.Context(), "c", triage.Filter{
			Search: search, Sort: triage.SortCreated, Ascending: true, Limit: 9,
		})
		wantIDs(t, found, err, issueID, want...)
	}
}

// listsIssues checks that a list contains all fields of an issue except its description.
func listsIssues(t *testing.T, s subject) {
	want := fullIssue("i3", 3)
	s.insertIssues(t, want)
	want.Description = ""
	found, err := s.FindIssues(t.Context(), "a", triage.Filter{OwnerID: "owner", Limit: 9})
	wantSame(t, found, err, []triage.Issue{want})
}

// pagesIssues checks pages of several sizes, in every sort order, of issues with equal sort values.
func pagesIssues(t *testing.T, s subject) {
	all := s.insertVaried(t)
	for field, value := range map[triage.SortField]func(triage.Issue) int64{
		"":                  func(i triage.Issue) int64 { return i.LastActivityAt.UnixMicro() },
		triage.SortActivity: func(i triage.Issue) int64 { return i.LastActivityAt.UnixMicro() },
		triage.SortCreated:  func(i triage.Issue) int64 { return i.CreatedAt.UnixMicro() },
		triage.SortSeverity: func(i triage.Issue) int64 { return int64(slices.Index(triage.Severities(), i.Severity)) },
		triage.SortStatus:   func(i triage.Issue) int64 { return int64(slices.Index(triage.Statuses(), i.Status)) },
	} {
		want := slices.SortedFunc(slices.Values(all), func(a, b triage.Issue) int {
			return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(a.ID, b.ID))
		})
		for _, ascending := range []bool{true, false} {
			if !ascending {
				slices.Reverse(want)
			}
			f := triage.Filter{Sort: field, Ascending: ascending}
			some := triage.Filter{Sort: field, Ascending: ascending, Statuses: triage.Statuses()[:2], Search: "issue"}
			wantSome := slices.DeleteFunc(slices.Clone(want), func(i triage.Issue) bool {
				return !slices.Contains(some.Statuses, i.Status)
			})
			for _, limit := range []int{1, 5, len(all), len(all) + 1} {
				s.wantPages(t, f, limit, value, want)
				s.wantPages(t, some, limit, value, wantSome)
			}
		}
	}
}

// wantPages reads all pages of a filter, each after the last issue of the previous page, and checks that they contain the issues of want in
// order.
func (s subject) wantPages(t *testing.T, f triage.Filter, limit int, value func(triage.Issue) int64, want []triage.Issue) {
	t.Helper()
	f.Limit = limit
	var seen []triage.Issue
	for range len(want) + 1 {
		page, err := s.FindIssues(t.Context(), "c", f)
		if err != nil || len(page) > limit {
			t.Fatalf("a page of %d has %d issues, %v", limit, len(page), err)
		}
		seen = append(seen, page...)
		if len(page) < limit {
			break
		}
		last := page[limit-1]
		f.After = triage.Place{Value: value(last), ID: last.ID}
	}
	f.After = triage.Place{}
	if !slices.EqualFunc(seen, want, func(a, b triage.Issue) bool { return a.ID == b.ID }) {
		t.Errorf("%+v: got %d issues of %d, or in another order", f, len(seen), len(want))
	}
}

// reachesIssues checks, for rare issues and several values of Scan, that pages limited by Reach find the same issues as an unlimited
// search.
func reachesIssues(t *testing.T, s subject) {
	all := s.insertVaried(t)
	open := []triage.Status{triage.StatusTodo, triage.StatusInReview}
	for name, f := range map[string]triage.Filter{
		"by activity": {AssigneeID: "p1", OwnerID: "o2"}, "by creation": {Sort: triage.SortCreated, Search: "issue", OwnerID: "o1"},
		"by severity": {Sort: triage.SortSeverity, OwnerID: "o1"}, "by status": {Sort: triage.SortStatus, Categories: []string{"billing"}},
		"open ones": {Statuses: open, OwnerID: "o1"}, "open ones by creation": {Sort: triage.SortCreated, Statuses: open, OwnerID: "o1"},
		"nothing": {Search: "nowhere"},
	} {
		for _, ascending := range []bool{false, true} {
			f.Ascending, f.Limit, f.Scan = ascending, len(all), 0
			want, err := s.FindIssues(t.Context(), "c", f)
			if err != nil || name != "nothing" && len(want) == 0 {
				t.Fatalf("%s: %d issues, %v", name, len(want), err)
			}
			for _, f.Scan = range []int{1, 5, len(all) - 1, len(all)} {
				s.wantReached(t, name, f, all, want)
			}
		}
	}
}

// wantReached reads pages that each examine at most Scan issues. It checks that they contain the issues of want in order, on the minimal
// number of pages.
func (s subject) wantReached(t *testing.T, name string, f triage.Filter, all, want []triage.Issue) {
	t.Helper()
	counted := len(all)
	if f.ReachesOpen() {
		counted = len(slices.DeleteFunc(slices.Clone(all), func(i triage.Issue) bool { return !i.Status.Open() }))
	}
	var seen []triage.Issue
	pages := 0
	for pages <= len(all) {
		pages++
		until, err := s.Reach(t.Context(), "c", f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.Until = until
		page, err := s.FindIssues(t.Context(), "c", f)
		if err != nil || len(page) > f.Scan {
			t.Fatalf("%s: %d of %d issues, %v", name, len(page), f.Scan, err)
		}
		seen = append(seen, page...)
		if until == (triage.Place{}) {
			break
		}
		f.After, f.Until = until, triage.Place{}
	}
	if least := max(1, (counted+f.Scan-1)/f.Scan); pages != least || !slices.EqualFunc(seen, want, func(a, b triage.Issue) bool { return a.ID == b.ID }) {
		t.Errorf("%s, ascending %t, %d at a time: %d issues on %d pages, want %d on %d", name, f.Ascending, f.Scan, len(seen), pages, len(want), least)
	}
}
