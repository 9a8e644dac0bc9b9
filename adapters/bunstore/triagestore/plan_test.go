package triagestore_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// feedStart is the time of the first entry that fillFeed stores. The others follow, two per second.
var feedStart = time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)

// fillIssues stores count issues of the organization "o", with ids from i1000000. One in a thousand is in progress, one in twenty is in the
// backlog, and the others are closed.
func fillIssues(t testing.TB, db *bunstore.DB, count int) {
	t.Helper()
	err := triagestore.Store{DB: db}.InsertIssue(t.Context(), triage.Issue{
		ID: "template", Org: "o", Number: 1, Title: "Callers in Zürich hang up after the greeting", Status: triage.StatusClosed,
		Description: strings.Repeat("They hear nothing for four seconds. ", 20), Severity: triage.SeverityMedium,
		Source: triage.SourceAutomated, Category: "latency", Author: triage.System(), CreatedAt: feedStart, UpdatedAt: feedStart,
		LastActivityAt: feedStart, Session: &triage.SessionRef{ID: "s", AgentName: "Analyst", Status: triage.SessionComplete},
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Copies(t, db, "triage_issues", count, map[string]string{
		"id": "'i' || CAST(1000000 + i AS TEXT)", "number": "1001 + i",
		"created_at": storetest.Second(db, feedStart, "i"), "last_activity_at": storetest.Second(db, feedStart, "(i * 7919) % 1000000"),
		"status":        "CASE WHEN i % 1000 = 500 THEN 'in_progress' WHEN i % 20 = 3 THEN 'backlog' ELSE 'closed' END",
		"status_rank":   "CASE WHEN i % 1000 = 500 THEN 2 WHEN i % 20 = 3 THEN 0 ELSE 5 END",
		"severity":      "CASE WHEN i % 50 = 0 THEN 'critical' ELSE 'medium' END",
		"severity_rank": "CASE WHEN i % 50 = 0 THEN 3 ELSE 1 END",
	})
}

// fillFeed stores count entries in the feed of an issue of fillIssues. Every two consecutive entries have the same time.
func fillFeed(t testing.TB, db *bunstore.DB, issue string, count int) {
	t.Helper()
	err := triagestore.Store{DB: db}.AppendEntries(t.Context(), "o", issue, []triage.Entry{{
		ID: "template", Kind: triage.KindAgent, Type: triage.TypeAction, CreatedAt: feedStart.Add(-time.Hour),
		Actor:  triage.Actor{Kind: triage.ActorAgent, ID: "018f3a5c-7c2d-7c3b-9d5a-000000000001", Label: "Analyst"},
		Detail: strings.Repeat("Read the transcript of the call. ", 6), Metadata: map[string]any{"tool": "transcript", "lines": 42},
		Session: &triage.SessionRef{ID: "s", AgentName: "Analyst", Status: triage.SessionActive},
	}})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Copies(t, db, "triage_entries", count, map[string]string{
		"id":         "issue_id || '-7c2d-7c3b-9d5a-' || CAST(100000000000 + i AS TEXT)",
		"created_at": storetest.Second(db, feedStart, "i / 2"),
	})
}

// reads matches query plans that sort, or that read rows that they do not return.
var reads = regexp.MustCompile(`Seq Scan|Sort|TEMP|SCAN triage|Filter: \(\(?[^$]|Bitmap`)

// TestFeedPagesUseTheIndex checks the query plans of pages of a feed on a full table: only the entries of the page are read, in the order
// of an index.
func TestFeedPagesUseTheIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillIssues(t, db, 2000)
		for _, issue := range []string{"i1000003", "i1000017"} {
			fillFeed(t, db, issue, 10000)
		}
		store, middle := triagestore.Store{DB: db}, feedStart.Add(2500*time.Second)
		for name, read := range map[string]func(place callwright.Keyset) ([]triage.Entry, error){
			"before": func(place callwright.Keyset) ([]triage.Entry, error) {
				return store.Entries(t.Context(), "o", "i1000003", place, 50)
			},
			"after": func(place callwright.Keyset) ([]triage.Entry, error) {
				return store.EntriesAfter(t.Context(), "o", "i1000003", place, 50)
			},
		} {
			for _, place := range []callwright.Keyset{{}, {At: middle}, {At: middle, ID: "e"}} {
				seen := storetest.Statements(t, db, func() error {
					entries, err := read(place)
					if len(entries) != 50 {
						t.Errorf("%s %v: %d entries", name, place, len(entries))
					}
					return err
				})
				if len(seen) != 1 {
					t.Fatalf("%d statements", len(seen))
				}
				bound := regexp.MustCompile(`triage_entries_by_time \(issue_id=\? AND \(created_at,id\)[<>]\(\?,\?\)\)` +
					`|Index Cond: \(\(issue_id = '\w+'::text\) AND \(ROW\(created_at, id\) [<>] ROW`)
				if name == "before" && place.IsZero() {
					bound = regexp.MustCompile(`triage_entries_by_time \(issue_id=\?\)|Index Cond: \(issue_id = `)
				}
				plan := storetest.Explain(t, db, seen[0], true)
				if !bound.MatchString(plan) || reads.MatchString(plan) {
					t.Errorf("%s %v: not by the index alone: %s\n%s", name, place, seen[0], plan)
				}
			}
		}
	})
}

// TestOpenIssuesUseTheirIndex checks that a list of open statuses uses the partial index of open issues.
func TestOpenIssuesUseTheirIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillIssues(t, db, 5000)
		for _, statuses := range [][]triage.Status{
			{triage.StatusInProgress}, {triage.StatusBacklog, triage.StatusTodo, triage.StatusInProgress, triage.StatusInReview},
		} {
			for _, query := range storetest.Statements(t, db, func() error {
				found, err := triagestore.Store{DB: db}.FindIssues(t.Context(), "o", triage.Filter{Statuses: statuses, Limit: 5})
				if err == nil && len(found) != 5 {
					t.Errorf("%v: %d issues", statuses, len(found))
				}
				return err
			}) {
				if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, "triage_issues_open") || strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("%v: %s\n%s", statuses, query, plan)
				}
			}
		}
	})
}

// TestIssuePagesUseIndexes checks the query plans of lists in every order: each reads only the issues of the page, in the order of its
// index, and no descriptions.
func TestIssuePagesUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillIssues(t, db, 5000)
		for sort, index := range map[triage.SortField]string{
			"": "triage_issues_by_activity", triage.SortActivity: "triage_issues_by_activity",
			triage.SortCreated: "triage_issues_by_creation", triage.SortSeverity: "triage_issues_by_severity",
			triage.SortStatus: "triage_issues_by_status",
		} {
			for _, ascending := range []bool{false, true} {
				f := triage.Filter{Sort: sort, Ascending: ascending, Limit: 50}
				seen := storetest.Statements(t, db, func() error {
					for range 2 {
						issues, err := triagestore.Store{DB: db}.FindIssues(t.Context(), "o", f)
						if err != nil || len(issues) != 50 {
							return fmt.Errorf("%d issues, %w", len(issues), err)
						}
						f.After = issues[49].Place(sort)
					}
					return nil
				})
				for _, query := range seen {
					plan := storetest.Explain(t, db, query, true)
					if !strings.Contains(plan, index) || reads.MatchString(plan) {
						t.Errorf("not by %s alone: %s\n%s", index, query, plan)
					}
					if strings.Contains(query, "description") || strings.Contains(query, "search") {
						t.Errorf("reads texts: %s", query)
					}
				}
			}
		}
	})
}

// TestIssuesAreReachedByIndexes checks the query plans of a search without matches: Reach finds the last issue to examine through an index,
// and FindIssues reads no further than that issue.
func TestIssuesAreReachedByIndexes(t *testing.T) {
	t.Parallel()
	bounded := regexp.MustCompile(`triage_issues_\w+ \(org=\? AND \(\w+,id\)[<>]\(\?,\?\)\)|Index Cond: .*ROW\(\w+, id\) [<>]= ROW`)
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillIssues(t, db, 5000)
		store := triagestore.Store{DB: db}
		for index, f := range map[string]triage.Filter{
			"triage_issues_by_activity": {}, "triage_issues_by_creation": {Sort: triage.SortCreated},
			"triage_issues_by_severity": {Sort: triage.SortSeverity}, "triage_issues_by_status": {Sort: triage.SortStatus},
			"triage_issues_open": {Statuses: []triage.Status{triage.StatusBacklog, triage.StatusInProgress}},
		} {
			for _, f.Ascending = range []bool{false, true} {
				f.Search, f.Limit, f.Scan = "nowhere", 50, 100
				seen := storetest.Statements(t, db, func() (err error) {
					if f.Until, err = store.Reach(t.Context(), "o", f); err == nil && f.Until == (triage.Place{}) {
						t.Errorf("%s: the end is reached", index)
					}
					return err
				})
				for _, query := range seen {
					if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, index) || reads.MatchString(plan) {
						t.Errorf("not by %s alone: %s\n%s", index, query, plan)
					}
				}
				for _, query := range storetest.Statements(t, db, func() error {
					_, err := store.FindIssues(t.Context(), "o", f)
					return err
				}) {
					if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, index) || !bounded.MatchString(plan) {
						t.Errorf("not in the range of %s: %s\n%s", index, query, plan)
					}
				}
			}
		}
	})
}

// useTriage calls every method that queries issues or their parts, and returns their errors.
func useTriage(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org = callwright.OrgID("o")
	s := triagestore.Store{DB: db}
	issue, place := triage.Issue{ID: "i", Org: org, Number: 1, Revision: 1}, callwright.Keyset{At: now, ID: "e"}
	comment := triage.Comment{ID: "c", Org: org, IssueID: "i", Revision: 1}
	session := triage.Session{ID: "s", Org: org, IssueID: "i", Status: triage.SessionActive, Revision: 1}
	relation := triage.Relation{ID: "r", Org: org, From: issue.Ref(), To: issue.Ref()}
	errs := []error{
		s.InsertIssue(ctx, issue), s.UpdateIssue(ctx, issue), s.UpdateIssue(ctx, issue),
		s.AppendEntries(ctx, org, "i", []triage.Entry{{ID: "e", CreatedAt: now}}),
		s.InsertComment(ctx, comment), s.UpdateComment(ctx, comment), s.UpdateComment(ctx, comment),
		s.InsertSession(ctx, session), s.UpdateSession(ctx, session), s.UpdateSession(ctx, session),
		s.InsertRelation(ctx, relation), s.PointReports(ctx, org, "k", "", "i"), s.PointReports(ctx, org, "k", "i", "i"),
		s.MoveReports(ctx, org, "i", "i"), s.MarkSeen(ctx, org, "v", "i", now), s.MarkSeen(ctx, org, "v", "i", now),
	}
	_, issueErr := s.Issue(ctx, org, "i")
	_, numberErr := s.IssueNumbered(ctx, org, 1001)
	_, revisedErr := s.RevisedComments(ctx, org, "i", []string{"c", "d"}, 10)
	_, holdErr := s.Hold(ctx, org, "i")
	_, entriesErr := s.Entries(ctx, org, "i", place, 10)
	_, afterErr := s.EntriesAfter(ctx, org, "i", place, 10)
	_, commentErr := s.Comment(ctx, org, "i", "c")
	_, sessionErr := s.Session(ctx, org, "i", "s")
	_, sessionsErr := s.SessionsOf(ctx, org, "i")
	_, countErr := s.CountAnalyses(ctx, org)
	_, silentErr := s.SilentSessions(ctx, now, now, 10)
	_, resourceErr := s.Resource(ctx, org, "i", "r")
	_, attachedErr := s.ResourceOf(ctx, org, "i", triage.ResourceCall, "c")
	_, resourcesErr := s.ResourcesOf(ctx, org, "i")
	_, flagErr := s.Flag(ctx, org, "i", "f")
	_, flagsErr := s.FlagsOf(ctx, org, "i")
	_, relationErr := s.Relation(ctx, org, "i", "r")
	_, relationsErr := s.RelationsOf(ctx, org, "i")
	_, reportErr := s.ReportedIssue(ctx, org, "k")
	_, seenErr := s.Seen(ctx, org, "v", []string{"i", "j"})
	_, reachErr := s.Reach(ctx, org, triage.Filter{Scan: 1})
	_, findErr := s.FindIssues(ctx, org, triage.Filter{
		Statuses: triage.Statuses(), Severities: triage.Severities(), Categories: []string{"c"}, Resource: triage.ResourceCall,
		OwnerID: "o", AssigneeID: "a", Search: "x", DateField: triage.SortUpdated, Since: now, After: triage.Place{ID: "i"}, Until: triage.Place{ID: "j"},
	})
	return append(errs, issueErr, numberErr, revisedErr, holdErr, entriesErr, afterErr, commentErr, sessionErr, sessionsErr, countErr,
		silentErr, resourceErr, attachedErr, resourcesErr, flagErr, flagsErr, relationErr, relationsErr, reportErr, seenErr, reachErr, findErr,
		s.DeleteResource(ctx, org, "i", "r"), s.DeleteFlag(ctx, org, "i", "f"), s.DeleteRelation(ctx, org, "r"),
		s.DeleteIssue(ctx, org, "i"))
}

// TestDeletionsTakeFewStatements checks that deleting an issue needs the same number of statements with a short feed and a long one.
func TestDeletionsTakeFewStatements(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillIssues(t, db, 10)
		for issue, count := range map[string]int{"i1000003": 10, "i1000007": 5000} {
			fillFeed(t, db, issue, count)
			seen := storetest.Statements(t, db, func() error {
				return triagestore.Store{DB: db}.DeleteIssue(t.Context(), "o", issue)
			})
			if len(seen) != 10 {
				t.Errorf("%d entries are deleted in %d statements", count, len(seen))
			}
		}
	})
}
