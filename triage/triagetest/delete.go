package triagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// RunDeletion tests Issues.DeleteIssue with issues that contain every kind of part: entries, comments, resources, flags, sessions,
// relations, reports and views. newStore returns an empty store and its transactions.
func RunDeletion(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "deletion", newStore, map[string]func(*testing.T, subject){
		"removes every part and no other's":       deletesIssue,
		"hides other organizations' issues":       hidesDeletions,
		"gives no number again":                   keepsNumbers,
		"rolls back":                              rollsBackDeletion,
		"removes a long feed":                     deletesLongFeed,
		"deletes for one of many":                 deletesAtOnce,
		"leaves nothing of what others are doing": deletesWhileOthersAdd,
		"waits for a holder":                      deletesAfterHold,
	})
}

// addParts adds parts of every kind to an issue, and relates it to other in both directions.
func (s subject) addParts(ctx context.Context, issue, other string) error {
	comment, resource, flag := aComment("c"+issue), aResource("r"+issue, issue), aFlag("f"+issue, issue)
	comment.IssueID = issue
	return errors.Join(
		s.AppendEntries(ctx, "a", issue, []triage.Entry{anEntry("e"+issue, at), anEntry("x"+issue, later(1))}),
		s.InsertComment(ctx, comment), s.InsertResource(ctx, resource), s.InsertFlag(ctx, flag),
		s.InsertSession(ctx, aSession("s"+issue, issue)),
		s.InsertRelation(ctx, aRelation("m"+issue, triage.Blocks, issue, other)),
		s.InsertRelation(ctx, aRelation("n"+issue, triage.RelatedTo, other, issue)),
		s.PointReports(ctx, "a", "k"+issue, "", issue), s.PointReports(ctx, "a", "l"+issue, "", issue),
		s.MarkSeen(ctx, "a", "u1", issue, at), s.MarkSeen(ctx, "a", "u2", issue, at),
	)
}

// wantParts checks that an issue contains all parts of addParts, or none if want is false.
func (s subject) wantParts(t *testing.T, issue string, want bool) {
	t.Helper()
	ctx, ids := t.Context(), func(all ...string) []string {
		if !want {
			return nil
		}
		return all
	}
	entries, err := s.EntriesAfter(ctx, "a", issue, callwright.Keyset{}, 10)
	wantIDs(t, entries, err, entryID, ids("e"+issue, "x"+issue)...)
	resources, err := s.ResourcesOf(ctx, "a", issue)
	wantIDs(t, resources, err, resourceID, ids("r"+issue)...)
	flags, err := s.FlagsOf(ctx, "a", issue)
	wantIDs(t, flags, err, flagID, ids("f"+issue)...)
	relations, err := s.RelationsOf(ctx, "a", issue)
	wantIDs(t, relations, err, relationID, ids("m"+issue, "n"+issue)...)
	sessions, err := s.SessionsOf(ctx, "a", issue)
	wantIDs(t, sessions, err, sessionID, ids("s"+issue)...)
	_, commentErr := s.Comment(ctx, "a", issue, "c"+issue)
	_, sessionErr := s.Session(ctx, "a", issue, "s"+issue)
	_, resourceErr := s.ResourceOf(ctx, "a", issue, triage.ResourceCall, aResource("r"+issue, issue).ResourceID)
	for name, err := range map[string]error{"comment": commentErr, "session": sessionErr, "resource": resourceErr} {
		if want && err != nil || !want && !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("the %s of %s gave %v", name, issue, err)
		}
	}
	key := ""
	if want {
		key = issue
	}
	s.wantReports(t, "a", "k"+issue, key)
	s.wantReports(t, "a", "l"+issue, key)
	for _, viewer := range []string{"u1", "u2"} {
		if seen, err := s.Seen(ctx, "a", viewer, []string{issue}); err != nil || (len(seen) == 1) != want {
			t.Errorf("%s has seen %v, %v", viewer, seen, err)
		}
	}
}

// wantGone checks that an issue and its parts are deleted. It inserts a new issue with the same id, and checks that the parts do not
// reappear.
func (s subject) wantGone(t *testing.T, issue string, number int) {
	t.Helper()
	_, getErr := s.Issue(t.Context(), "a", issue)
	holdErr := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		_, err := s.Hold(ctx, "a", issue)
		return err
	})
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "hold": holdErr, "update": s.UpdateIssue(t.Context(), anIssue(issue, number)),
		"delete again": s.DeleteIssue(t.Context(), "a", issue),
		"append":       s.AppendEntries(t.Context(), "a", issue, []triage.Entry{anEntry("late", at)}),
		"see":          s.MarkSeen(t.Context(), "a", "u1", issue, at),
		"point":        s.PointReports(t.Context(), "a", "late", "", issue),
	})
	s.wantParts(t, issue, false)
	s.insertIssues(t, anIssue(issue, number))
	s.wantParts(t, issue, false)
}

func deletesIssue(t *testing.T, s subject) {
	s.insertIssues(t, anIssue("i3", 3))
	ended := aSession("ended", "i1")
	ended.Status = triage.SessionComplete
	if err := errors.Join(
		s.addParts(t.Context(), "i1", "i3"), s.addParts(t.Context(), "i2", "i3"), s.InsertSession(t.Context(), ended),
		s.DeleteIssue(t.Context(), "a", "i1"),
	); err != nil {
		t.Fatal(err)
	}
	found, err := s.FindIssues(t.Context(), "a", triage.Filter{Sort: triage.SortCreated, Ascending: true, Limit: 10})
	wantIDs(t, found, err, issueID, "i2", "i3")
	silent, err := s.SilentSessions(t.Context(), later(1000), later(1000), 10)
	wantIDs(t, silent, err, sessionID, "si2")
	s.wantGone(t, "i1", 1)
	if _, err := s.Session(t.Context(), "a", "i1", "ended"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("the ended session gave %v", err)
	}
	s.wantParts(t, "i2", true)
	relations, err := s.RelationsOf(t.Context(), "a", "i3")
	wantIDs(t, relations, err, relationID, "mi2", "ni2")
	if err := s.addParts(t.Context(), "i1", "i2"); err != nil {
		t.Errorf("the ids of the parts are taken: %v", err)
	}
}

func hidesDeletions(t *testing.T, s subject) {
	if err := s.addParts(t.Context(), "i1", "i2"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"a foreign issue": s.DeleteIssue(t.Context(), "b", "i1"), "an absent one": s.DeleteIssue(t.Context(), "a", "i9"),
		"another foreign issue": s.DeleteIssue(t.Context(), "a", "j1"),
	})
	s.wantIssue(t, anIssue("i1", 1))
	s.wantParts(t, "i1", true)
	if _, err := s.Issue(t.Context(), "b", "j1"); err != nil {
		t.Error(err)
	}
}

func keepsNumbers(t *testing.T, s subject) {
	for n := range 3 {
		id := fmt.Sprint("n", n)
		if got, err := s.open(t.Context(), "x", id, nil); err != nil || got != triage.FirstNumber+n {
			t.Errorf("issue %d has number %d, %v", n, got, err)
		}
		if err := s.DeleteIssue(t.Context(), "x", id); err != nil {
			t.Fatal(err)
		}
	}
}

func rollsBackDeletion(t *testing.T, s subject) {
	if err := s.addParts(t.Context(), "i1", "i2"); err != nil {
		t.Fatal(err)
	}
	s.rollBack(t, func(ctx context.Context) error {
		if err := s.DeleteIssue(ctx, "a", "i1"); err != nil {
			return err
		}
		if _, err := s.Issue(ctx, "a", "i1"); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("within the transaction it gave %v", err)
		}
		return nil
	})
	s.wantIssue(t, anIssue("i1", 1))
	s.wantParts(t, "i1", true)
	wantErr(t, callwright.ErrConflict, map[string]error{
		"an id that is back": s.AppendEntries(t.Context(), "a", "i2", []triage.Entry{anEntry("ei1", at)}),
	})
}

func deletesLongFeed(t *testing.T, s subject) {
	const count = 2500
	for _, issue := range []string{"i1", "i2"} {
		entries := make([]triage.Entry, count)
		for n := range entries {
			entries[n] = anEntry(fmt.Sprint(issue, "-", n), later(n/2))
		}
		s.appendEntries(t, issue, entries...)
	}
	if err := s.DeleteIssue(t.Context(), "a", "i1"); err != nil {
		t.Fatal(err)
	}
	s.wantGone(t, "i1", 1)
	left, err := s.EntriesAfter(t.Context(), "a", "i2", callwright.Keyset{}, count+1)
	if err != nil || len(left) != count {
		t.Errorf("%d entries of the other issue are left, %v", len(left), err)
	}
}

// together runs functions concurrently and reports which of them succeed. The others must fail with CodeNotFound.
func together(t *testing.T, all map[string]func() error) (done map[string]bool) {
	t.Helper()
	var mu sync.Mutex
	var wait sync.WaitGroup
	done = map[string]bool{}
	for name, do := range all {
		wait.Go(func() {
			err := do()
			if err != nil && !errors.Is(err, callwright.ErrNotFound) {
				t.Errorf("%s gave %v", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done[name] = err == nil
		})
	}
	wait.Wait()
	return done
}

func deletesAtOnce(t *testing.T, s subject) {
	if err := s.addParts(t.Context(), "i1", "i2"); err != nil {
		t.Fatal(err)
	}
	all := map[string]func() error{}
	for n := range 8 {
		all[fmt.Sprint("deletion ", n)] = func() error { return s.DeleteIssue(t.Context(), "a", "i1") }
	}
	won := 0
	for _, ok := range together(t, all) {
		if ok {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d of 8 have deleted it", won)
	}
	s.wantGone(t, "i1", 1)
}

// deletesWhileOthersAdd deletes an issue while others add parts of every kind, each in a separate transaction without Hold. It checks that
// the deletion succeeds and no part remains.
func deletesWhileOthersAdd(t *testing.T, s subject) {
	ctx := t.Context()
	for round := range 10 {
		issue, number := fmt.Sprint("d", round), 100+round
		s.insertIssues(t, anIssue(issue, number))
		all := map[string]func() error{"the deletion": func() error { return s.DeleteIssue(ctx, "a", issue) }}
		for n := range 3 {
			id := func(kind string) string { return fmt.Sprint(kind, round, "-", n) }
			comment, resource := aComment(id("c")), aResource(id("r"), issue)
			comment.IssueID, resource.ResourceID = issue, id("call")
			for kind, do := range map[string]func() error{
				"entry":    func() error { return s.AppendEntries(ctx, "a", issue, []triage.Entry{anEntry(id("e"), at)}) },
				"comment":  func() error { return s.InsertComment(ctx, comment) },
				"resource": func() error { return s.InsertResource(ctx, resource) },
				"flag":     func() error { return s.InsertFlag(ctx, aFlag(id("f"), issue)) },
				"session":  func() error { return s.InsertSession(ctx, aSession(id("s"), issue)) },
				"report":   func() error { return s.PointReports(ctx, "a", id("k"), "", issue) },
				"view":     func() error { return s.MarkSeen(ctx, "a", id("u"), issue, at) },
			} {
				all[id(kind)] = do
			}
		}
		all["a relation"] = func() error {
			return s.InsertRelation(ctx, aRelation(fmt.Sprint("m", round), triage.Blocks, "i1", issue))
		}
		if !together(t, all)["the deletion"] {
			t.Errorf("round %d: it is not deleted", round)
		}
		s.wantGone(t, issue, number)
		for n := range 3 {
			s.wantReports(t, "a", fmt.Sprint("k", round, "-", n), "")
			seen, err := s.Seen(ctx, "a", fmt.Sprint("u", round, "-", n), []string{issue})
			if err != nil || len(seen) > 0 {
				t.Errorf("a viewer has seen %v, %v", seen, err)
			}
		}
	}
}

// deletesAfterHold deletes an issue while others hold and change it. It checks that each of them either writes everything or finds no
// issue.
func deletesAfterHold(t *testing.T, s subject) {
	all := map[string]func() error{"the deletion": func() error { return s.DeleteIssue(t.Context(), "a", "i1") }}
	for n := range 6 {
		all[fmt.Sprint("holder ", n)] = func() error {
			return s.atomic.Do(t.Context(), func(ctx context.Context) error {
				i, err := s.Hold(ctx, "a", "i1")
				if err != nil {
					return err
				}
				i.Working++
				err = errors.Join(s.UpdateIssue(ctx, i), s.AppendEntries(ctx, "a", "i1", []triage.Entry{anEntry(fmt.Sprint("h", n), at)}))
				if err != nil {
					t.Errorf("holder %d could not write: %v", n, err)
				}
				return err
			})
		}
	}
	if !together(t, all)["the deletion"] {
		t.Error("it is not deleted")
	}
	s.wantGone(t, "i1", 1)
}
