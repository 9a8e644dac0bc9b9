package triagetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunIssues is the conformance suite of triage.Issues. newStore returns an empty store and its transactions.
func RunIssues(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "issues", newStore, map[string]func(*testing.T, subject){
		"keeps every field":                  keepsIssue,
		"keeps a large description":          keepsDescription,
		"shares no memory":                   sharesNoIssue,
		"hides other organizations' issues":  hidesIssues,
		"refuses an id or a number twice":    refusesIssueTwice,
		"updates by compare-and-set":         updatesIssue,
		"numbers from the first":             numbersIssues,
		"numbers without gaps or repetition": numbersAtOnce,
		"holds an issue":                     holdsIssue,
		"rolls back":                         rollsBackIssues,
		"finds what a filter says":           findsIssues,
		"finds since a time":                 findsSince,
		"finds by what is attached":          findsByResource,
		"searches":                           searchesIssues,
		"lists whole issues":                 listsIssues,
		"pages by every field, both ways":    pagesIssues,
		"ends pages of which little matches": reachesIssues,
	})
}

func fullIssue(id string, number int) triage.Issue {
	return triage.Issue{
		ID: id, Org: "a", Number: number, Title: words, Description: "of " + words, Status: triage.StatusInReview,
		Severity: triage.SeverityCritical, Source: triage.SourceClient, Category: "c " + words, OwnerID: "owner",
		AssigneeID: "assignee", Author: fullActor("author"), ExternalLink: "https://example.com/1?a=b&c=d",
		MergedInto: "i2", Resources: 3, Flags: 4, Relations: 5, Session: fullSessionRef(), Working: 6,
		CreatedAt: later(1), UpdatedAt: later(2), LastActivityAt: later(3), Version: 1, Revision: 1,
	}
}

func fullSessionRef() *triage.SessionRef {
	return &triage.SessionRef{ID: "s1", ProfileID: "p1", AgentName: words, Status: triage.SessionActive}
}

func (s subject) wantIssue(t *testing.T, want triage.Issue) {
	t.Helper()
	got, err := s.Issue(t.Context(), want.Org, want.ID)
	wantSame(t, got, err, want)
	got, err = s.IssueNumbered(t.Context(), want.Org, want.Number)
	wantSame(t, got, err, want)
}

// keepsIssue checks that an insert stores all fields. An update must be able to clear the mutable fields and to set them again, and must
// change no other field.
func keepsIssue(t *testing.T, s subject) {
	want := fullIssue("i3", 3)
	callwrighttest.Full(t, want)
	given := want
	given.Version, given.Revision = 7, 8
	s.insertIssues(t, given)
	s.wantIssue(t, want)

	bare := triage.Issue{
		ID: "i3", Org: "a", Number: 9, Title: "Bare", Status: triage.StatusTodo, Severity: triage.SeverityLow,
		Source: triage.SourceManual, Author: triage.System(), CreatedAt: later(7), UpdatedAt: later(8),
		LastActivityAt: later(9), Version: 5, Revision: 1,
	}
	if err := s.UpdateIssue(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.Number, bare.Source, bare.Author, bare.CreatedAt = want.Number, want.Source, want.Author, want.CreatedAt
	bare.Revision = 2
	s.wantIssue(t, bare)

	again := want
	again.Version, again.Revision = 6, 2
	if err := s.UpdateIssue(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	again.Revision = 3
	s.wantIssue(t, again)
	held := want
	err := s.atomic.Do(t.Context(), func(ctx context.Context) (err error) {
		held, err = s.Hold(ctx, "a", "i3")
		return err
	})
	wantSame(t, held, err, again)
}

func keepsDescription(t *testing.T, s subject) {
	want := anIssue("i3", 3)
	want.Description = strings.Repeat("\u96ea", triage.MaxDetail/3) + "."
	s.insertIssues(t, want)
	s.wantIssue(t, want)
}

func sharesNoIssue(t *testing.T, s subject) {
	given := fullIssue("i3", 3)
	s.insertIssues(t, given)
	callwrighttest.Spoil(given.Session)
	for range 2 {
		s.wantIssue(t, fullIssue("i3", 3))
		got, err := s.Issue(t.Context(), "a", "i3")
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.FindIssues(t.Context(), "a", triage.Filter{OwnerID: "owner", Limit: 1})
		if err != nil || len(found) != 1 {
			t.Fatalf("found %+v, %v", found, err)
		}
		callwrighttest.Spoil(&got)
		callwrighttest.Spoil(&found)
	}
	given = fullIssue("i3", 3)
	if err := s.UpdateIssue(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	callwrighttest.Spoil(given.Session)
	want := fullIssue("i3", 3)
	want.Revision = 2
	s.wantIssue(t, want)
}

func hidesIssues(t *testing.T, s subject) {
	foreign, absent := anIssue("i1", 1), anIssue("i9", 9)
	foreign.Org = "b"
	_, getErr := s.Issue(t.Context(), "b", "i1")
	_, absentErr := s.Issue(t.Context(), "a", "i9")
	_, numberErr := s.IssueNumbered(t.Context(), "b", 2)
	_, absentNumberErr := s.IssueNumbered(t.Context(), "a", 1<<40)
	hold := func(org callwright.OrgID, id string) error {
		return s.atomic.Do(t.Context(), func(ctx context.Context) error {
			_, err := s.Hold(ctx, org, id)
			return err
		})
	}
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "hold": hold("b", "i1"), "update": s.UpdateIssue(t.Context(), foreign),
		"get absent": absentErr, "hold absent": hold("a", "i9"), "update absent": s.UpdateIssue(t.Context(), absent),
		"get by number": numberErr, "get absent by number": absentNumberErr,
	})
	found, err := s.FindIssues(t.Context(), "b", triage.Filter{Limit: 10})
	wantIDs(t, found, err, issueID, "j1")
	found, err = s.FindIssues(t.Context(), "c", triage.Filter{Limit: 10})
	wantIDs(t, found, err, issueID)
	s.wantIssue(t, anIssue("i1", 1))
}

func issueID(i triage.Issue) string { return i.ID }

func refusesIssueTwice(t *testing.T, s subject) {
	id, foreignID, number := anIssue("i1", 8), anIssue("i1", 8), anIssue("i8", 1)
	foreignID.Org = "b"
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the id":                             s.InsertIssue(t.Context(), id),
		"the id, in another organization":    s.InsertIssue(t.Context(), foreignID),
		"the number in the one organization": s.InsertIssue(t.Context(), number),
	})
	s.wantIssue(t, anIssue("i1", 1))
}

func updatesIssue(t *testing.T, s subject) {
	changed := func(writer int) triage.Issue {
		i := anIssue("i1", 1)
		i.Title = fmt.Sprint("of ", writer)
		return i
	}
	want := changed(callwrighttest.Race(t, func(writer int) error { return s.UpdateIssue(t.Context(), changed(writer)) }))
	want.Revision = 2
	s.wantIssue(t, want)
	ahead := want
	ahead.Revision, ahead.Title = 3, "from the future"
	wantErr(t, callwright.ErrConflict, map[string]error{"a revision to come": s.UpdateIssue(t.Context(), ahead)})
	s.wantIssue(t, want)
}

// open inserts an issue with the next number of an organization in a transaction that returns outcome. A nil outcome commits it.
func (s subject) open(ctx context.Context, org callwright.OrgID, id string, outcome error) (number int, err error) {
	err = s.atomic.Do(ctx, func(ctx context.Context) error {
		if number, err = s.NextNumber(ctx, org); err != nil {
			return err
		}
		i := anIssue(id, number)
		i.Org = org
		if err := s.InsertIssue(ctx, i); err != nil {
			return err
		}
		return outcome
	})
	return number, err
}

func numbersIssues(t *testing.T, s subject) {
	for n, step := range []struct {
		org  callwright.OrgID
		want int
	}{{"x", 0}, {"x", 1}, {"y", 0}, {"x", 2}, {"y", 1}} {
		got, err := s.open(t.Context(), step.org, fmt.Sprint("n", n), nil)
		if want := triage.FirstNumber + step.want; err != nil || got != want {
			t.Errorf("issue %d of %s has number %d, %v; want %d", n, step.org, got, err, want)
		}
	}
}

// numbersAtOnce checks that numbers have no gaps and no repetitions if some of several concurrent transactions fail.
func numbersAtOnce(t *testing.T, s subject) {
	const goroutines, each = 4, 8
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			for n := range each {
				var outcome error
				if n%3 == 1 {
					outcome = errChanged
				}
				if _, err := s.open(t.Context(), "x", fmt.Sprintf("n%d-%d", g, n), outcome); !errors.Is(err, outcome) {
					t.Errorf("a transaction ended with %v, want %v", err, outcome)
				}
			}
		})
	}
	running.Wait()
	found, err := s.FindIssues(t.Context(), "x", triage.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, i := range found {
		numbers = append(numbers, i.Number)
	}
	slices.Sort(numbers)
	if want := goroutines * (each - 3); len(numbers) != want || numbers[0] != triage.FirstNumber ||
		numbers[want-1] != triage.FirstNumber+want-1 {
		t.Errorf("%d issues have the numbers %v", want, numbers)
	}
}

// holdsIssue checks that only one transaction at a time holds an issue, that it may hold the issue again, and that the changes of
// concurrent holders are all stored.
func holdsIssue(t *testing.T, s subject) {
	const goroutines, each = 4, 10
	var running sync.WaitGroup
	var holders atomic.Int32
	hold := func(ctx context.Context) error {
		i, err := s.Hold(ctx, "a", "i1")
		if err != nil {
			return err
		}
		defer holders.Add(-1)
		if n := holders.Add(1); n != 1 {
			t.Errorf("%d hold the issue", n)
		}
		for range 100 {
			runtime.Gosched()
		}
		if again, err := s.Hold(ctx, "a", "i1"); err != nil || again.Revision != i.Revision {
			t.Errorf("held again: revision %d, %v; want %d", again.Revision, err, i.Revision)
		}
		i.Working++
		return s.UpdateIssue(ctx, i)
	}
	for range goroutines {
		running.Go(func() {
			for range each {
				if err := s.atomic.Do(t.Context(), hold); err != nil {
					t.Errorf("somebody else was first: %v", err)
				}
			}
		})
	}
	running.Wait()
	if got, err := s.Issue(t.Context(), "a", "i1"); err != nil || got.Working != goroutines*each {
		t.Errorf("%d of %d changes are there, %v", got.Working, goroutines*each, err)
	}
}

func rollsBackIssues(t *testing.T, s subject) {
	s.rollBack(t, func(ctx context.Context) error {
		i, err := s.Hold(ctx, "a", "i1")
		if err != nil {
			return err
		}
		i.Title, i.Session = "changed", fullSessionRef()
		return errors.Join(s.UpdateIssue(ctx, i), s.InsertIssue(ctx, anIssue("i3", 3)))
	})
	s.wantIssue(t, anIssue("i1", 1))
	found, err := s.FindIssues(t.Context(), "a", triage.Filter{Sort: triage.SortCreated, Ascending: true, Limit: 10})
	wantIDs(t, found, err, issueID, "i1", "i2")
	s.insertIssues(t, anIssue("i3", 3))
}
