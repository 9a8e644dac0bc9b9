package triage_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// reporter is the program that makes reports.
var reporter = triage.Actor{Kind: triage.ActorSystem, ID: "calls", Label: "Calls"}

// report reports a problem with calls of "acme", and returns its issue.
func (s depot) report(key string, calls ...string) triage.Issue {
	s.t.Helper()
	r := triage.Report{Key: key, Title: "Calls fail", Detail: "busy", Severity: triage.SeverityHigh, Category: "calls"}
	for _, id := range calls {
		r.Resources = append(r.Resources, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: id})
	}
	i, err := s.Report(s.t.Context(), "acme", reporter, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return i
}

func TestReportOpensAnIssue(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i := s.report("busy", "call-0", "call-1")
	if i.Title != "Calls fail" || i.Description != "busy" || i.Severity != triage.SeverityHigh || i.Category != "calls" ||
		i.Source != triage.SourceAutomated || i.Author != reporter || i.Resources != 2 || !reflect.DeepEqual(i, s.get(i.ID)) {
		t.Errorf("opened %+v, kept %+v", i, s.get(i.ID))
	}
	feed := s.feed(i.ID)
	want := []triage.EntryType{triage.TypeCreated, triage.TypeResourceAdded, triage.TypeResourceAdded}
	if !reflect.DeepEqual(types(feed), want) || feed[0].Metadata["key"] != "busy" {
		t.Errorf("told %+v", feed)
	}

	before := s.kept(i.ID)
	if again := s.report("busy", "call-1", "call-0"); again.ID != i.ID || !reflect.DeepEqual(s.kept(i.ID), before) {
		t.Errorf("nothing new wrote into %+v", again)
	}
	if again := s.report("busy", "call-1", "call-2"); again.ID != i.ID || again.Resources != 3 || again.Severity != triage.SeverityHigh {
		t.Errorf("the next report came to %+v", again)
	}
	s.wantLast(t, i.ID, triage.Entry{
		Type: triage.TypeResourceAdded, Actor: reporter, Resources: []triage.Resource{s.kept(i.ID).Resources[2]},
	})
	if other := s.report("silence", "call-1"); other.ID == i.ID {
		t.Error("another key came to the same issue")
	}
	foreign, err := s.Report(t.Context(), "other", reporter, triage.Report{Key: "busy", Title: "Calls fail"})
	if err != nil || foreign.ID == i.ID || foreign.Org != "other" {
		t.Errorf("another organization's report came to %+v, %v", foreign, err)
	}
}

func TestReportAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, status := range []triage.Status{triage.StatusDone, triage.StatusClosed} {
		s := openDepot(t)
		first := s.report("busy", "call-0")
		first, err := s.Update(t.Context(), "acme", ada, first.ID, triage.Change{Status: &status})
		if err != nil {
			t.Fatal(err)
		}
		second := s.report("busy", "call-2")
		if k := s.kept(first.ID); len(k.Feed) != 4 { // four entries: created, attached, status changed and related
			t.Errorf("the earlier issue was told %+v", types(k.Feed))
		}
		if second.ID == first.ID || second.Relations != 1 || second.Resources != 1 || !second.Status.Open() {
			t.Errorf("after the end came %+v", second)
		}
		k := s.kept(first.ID)
		if k.Issue.Status != status || len(k.Relations) != 1 || k.Relations[0].Type != triage.RelatedTo ||
			k.Relations[0].From.ID != second.ID || k.Relations[0].To.ID != first.ID {
			t.Errorf("the earlier issue is %+v", k)
		}
		if third := s.report("busy", "call-1"); third.ID != second.ID || third.Resources != 2 {
			t.Errorf("the next came to %+v", third)
		}
	}
}

// TestReportToldAgainAfterTheEnd checks that a report that is repeated after the end of its issue opens no new issue.
func TestReportToldAgainAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	first := s.report("busy", "call-0", "call-1")
	if _, err := s.Update(t.Context(), "acme", ada, first.ID, triage.Change{Status: new(triage.StatusDone)}); err != nil {
		t.Fatal(err)
	}
	before := s.kept(first.ID)
	for _, calls := range [][]string{{"call-0"}, {"call-1", "call-0"}} {
		if again := s.report("busy", calls...); again.ID != first.ID || !reflect.DeepEqual(s.kept(first.ID), before) {
			t.Errorf("%q came to %+v", calls, again)
		}
	}
	if second := s.report("busy", "call-0", "call-2"); second.ID == first.ID || second.Resources != 2 {
		t.Errorf("what is partly new came to %+v", second)
	}
}

// TestReportOfALastingThingAfterTheEnd checks that a report about only a lasting resource, such as a pathway, opens a new issue after the
// end of the earlier one.
func TestReportOfALastingThingAfterTheEnd(t *testing.T) {
	t.Parallel()
	pathways := new(triagetest.Resolver)
	pathways.Add("acme", "p", triage.Item{Title: "Booking"}, triage.Evidence{})
	h := open(t, func(c *triage.Config) {
		c.Resolvers = map[triage.ResourceType]triage.ResourceResolver{triage.ResourcePathway: pathways}
	})
	r := triage.Report{Key: "loop", Title: "It loops", Resources: []triage.ResourceDraft{{Type: triage.ResourcePathway, ResourceID: "p"}}}
	first, err := h.Report(t.Context(), "acme", reporter, r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Update(t.Context(), "acme", ada, first.ID, triage.Change{Status: new(triage.StatusDone)}); err != nil {
		t.Fatal(err)
	}
	if again, err := h.Report(t.Context(), "acme", reporter, r); err != nil || again.ID == first.ID || again.Relations != 1 {
		t.Errorf("the report came to %+v, %v", again, err)
	}
}

// TestReportAfterAFullOne checks that a report opens a new issue even if the earlier one has MaxRelations relations.
func TestReportAfterAFullOne(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	first := s.report("busy")
	for range triage.MaxRelations {
		if _, _, err := s.Relate(t.Context(), "acme", ada, first.ID, s.issue(triage.Draft{}).ID, triage.Blocks); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Update(t.Context(), "acme", ada, first.ID, triage.Change{Status: new(triage.StatusDone)}); err != nil {
		t.Fatal(err)
	}
	if second := s.report("busy"); second.ID == first.ID || second.Relations != 0 {
		t.Errorf("opened %+v", second)
	}
}

func TestReportAfterAMerge(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	first, target := s.report("busy", "call-0"), s.issue(triage.Draft{})
	if _, err := s.Merge(t.Context(), "acme", ada, first.ID, target.ID); err != nil {
		t.Fatal(err)
	}
	before := s.kept(first.ID)
	if i := s.report("busy", "call-0", "call-1"); i.ID != target.ID || i.Resources != 2 {
		t.Errorf("the report came to %+v", i)
	}
	if after := s.kept(first.ID); !reflect.DeepEqual(after, before) {
		t.Errorf("what was merged has changed: %+v", after)
	}
}

func TestReportsFallSilent(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	var calls []string
	for n := range 60 {
		calls = append(calls, fmt.Sprintf("more-%d", n))
		s.calls.Add("acme", calls[n], triage.Item{}, triage.Evidence{})
	}
	s.report("busy", calls[:45]...)
	i := s.report("busy", calls[45:]...)
	if i.Resources != 50 {
		t.Fatalf("%d are attached", i.Resources)
	}
	before, asked := s.kept(i.ID), s.calls.Finds()
	for _, call := range calls {
		s.report("busy", call)
	}
	if !reflect.DeepEqual(s.kept(i.ID), before) || s.calls.Finds() != asked {
		t.Error("the 51st resource is told")
	}
	s.attached(i.ID, calls[55]) // the limit applies only to reports
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	open := s.report("busy", "call-0")
	call := triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "call-1"}
	for name, at := range map[string]struct {
		code   callwright.Code
		field  string
		report triage.Report
	}{
		"no key":        {callwright.CodeBadRequest, "key", triage.Report{Title: "x"}},
		"long key":      {callwright.CodeBadRequest, "key", triage.Report{Key: strings.Repeat("é", 301), Title: "x"}},
		"NUL":           {callwright.CodeBadRequest, "key", triage.Report{Key: "a\x00", Title: "x"}},
		"no title":      {callwright.CodeBadRequest, "title", triage.Report{Key: "new"}},
		"severity":      {callwright.CodeBadRequest, "severity", triage.Report{Key: "new", Title: "x", Severity: "bad"}},
		"long detail":   {callwright.CodeBadRequest, "description", triage.Report{Key: "new", Title: "x", Detail: strings.Repeat("x", 64<<10+1)}},
		"too much":      {callwright.CodeBadRequest, "resources", triage.Report{Key: "new", Title: "x", Resources: make([]triage.ResourceDraft, 51)}},
		"unknown":       {callwright.CodeNotFound, "resource_id", triage.Report{Key: "new", Title: "x", Resources: []triage.ResourceDraft{call, {Type: triage.ResourceCall, ResourceID: "call-x"}}}},
		"unknown, open": {callwright.CodeNotFound, "resource_id", triage.Report{Key: "busy", Title: "x", Resources: []triage.ResourceDraft{call, {Type: triage.ResourceCall, ResourceID: "call-x"}}}},
		"no resolver":   {callwright.CodeNotImplemented, "resource_type", triage.Report{Key: "new", Title: "x", Resources: []triage.ResourceDraft{call, {Type: triage.ResourceFile, ResourceID: "f"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s.refuses(t, open.ID, at.code, at.field, func() error {
				_, err := s.Report(t.Context(), "acme", reporter, at.report)
				return err
			})
			if page, err := s.List(t.Context(), "acme", triage.Query{}); err != nil || len(page.Items) != 1 {
				t.Errorf("there are %d issues, %v", len(page.Items), err)
			}
		})
	}
	wantError(t, func() error {
		_, err := s.Report(t.Context(), "acme", triage.Actor{}, triage.Report{Key: "new", Title: "x"})
		return err
	}(), callwright.CodeBadRequest, "actor.kind")
	if next := s.report("new"); next.Number != open.Number+1 {
		t.Errorf("what was refused took a number: the next is %s", next.Name())
	}
}

// reluctant is a store whose ReportedIssue finds no issue for the first callers, like a read before another transaction commits.
type reluctant struct {
	triage.Store
	mu      sync.Mutex
	waiting int           // number of callers that still must arrive; they receive "not found" together
	there   chan struct{} // closed when all have arrived
}

func (r *reluctant) ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error) {
	r.mu.Lock()
	if r.waiting == 0 {
		r.mu.Unlock()
		return r.Store.ReportedIssue(ctx, org, key)
	}
	r.waiting--
	if r.waiting == 0 {
		close(r.there)
	}
	r.mu.Unlock()
	select {
	case <-r.there:
		return "", callwright.NotFound("report")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestReportsAtOnce(t *testing.T) {
	t.Parallel()
	const many = 20
	store := &reluctant{waiting: many, there: make(chan struct{})}
	s := openDepot(t, func(c *triage.Config) {
		store.Store = c.Store
		c.Store = store
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ids := make([]string, many)
	var wait sync.WaitGroup
	for n := range many {
		wait.Go(func() {
			i, err := s.Report(ctx, "acme", reporter, triage.Report{Key: "busy", Title: "Calls fail", Resources: []triage.ResourceDraft{
				{Type: triage.ResourceCall, ResourceID: fmt.Sprintf("call-%d", n%10)},
			}})
			if err != nil {
				t.Error(err)
			}
			ids[n] = i.ID
		})
	}
	wait.Wait()
	page, err := s.List(ctx, "acme", triage.Query{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Resources != 10 {
		t.Fatalf("%d issues, %v: %+v", len(page.Items), err, page.Items)
	}
	for _, id := range ids {
		if id != page.Items[0].ID {
			t.Errorf("a report came to %q", id)
		}
	}
}

// meddler is an Atomic that calls a function of the test just before one of its transactions.
type meddler struct {
	callwright.Atomic
	before int // number of that transaction; 1 is the next
	do     func()
}

func (m *meddler) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	if m.before--; m.before == 0 {
		m.do()
	}
	return m.Atomic.Do(ctx, fn)
}

func TestReportWhileItsIssueChanges(t *testing.T) {
	t.Parallel()
	set := func(status triage.Status) func(depot, string, string) {
		return func(s depot, first, _ string) {
			if _, err := s.Update(s.t.Context(), "acme", ada, first, triage.Change{Status: &status}); err != nil {
				s.t.Error(err)
			}
		}
	}
	merge := func(s depot, first, target string) {
		if _, err := s.Merge(s.t.Context(), "acme", ada, first, target); err != nil {
			s.t.Error(err)
		}
	}
	end, goOn, reportAgain := set(triage.StatusDone), set(triage.StatusTodo), func(s depot, _, _ string) { s.report("busy") }
	for name, at := range map[string]struct {
		first     func(s depot, first, target string)
		before    int // transaction before which meanwhile runs: 1 checks the found issue, 2 opens a new one
		meanwhile func(s depot, first, target string)
		to        int // number of the report's issue: the first, the target or a new issue
	}{
		"it ends":                 {nil, 1, end, triage.FirstNumber + 2},
		"it is merged":            {nil, 1, merge, triage.FirstNumber + 1},
		"it goes on":              {end, 1, goOn, triage.FirstNumber},
		"it goes on later":        {end, 2, goOn, triage.FirstNumber},
		"it is merged later":      {end, 2, merge, triage.FirstNumber + 1},
		"another report is first": {end, 2, reportAgain, triage.FirstNumber + 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := new(meddler)
			s := openDepot(t, func(c *triage.Config) {
				m.Atomic = c.Atomic
				c.Atomic = m
			})
			first, target := s.report("busy").ID, s.issue(triage.Draft{}).ID
			if at.first != nil {
				at.first(s, first, target)
			}
			m.before, m.do = at.before, func() { at.meanwhile(s, first, target) }
			if i := s.report("busy", "call-0"); i.Number != at.to || i.Resources != 1 {
				t.Errorf("the report came to %+v", i)
			}
			want := max(2, at.to-triage.FirstNumber+1)
			if page, err := s.List(t.Context(), "acme", triage.Query{}); err != nil || len(page.Items) != want {
				t.Errorf("there are %d issues, %v", len(page.Items), err)
			}
		})
	}
}
