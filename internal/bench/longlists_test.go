package bench_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
	"github.com/callwright/callwright/triage"
)

// manyRows is the number of calls, and the number of issues, in the lists of TestLongLists.
const manyRows = 100_000

// archive is a dashboard on SQLite that records its SQL statements in seen.
type archive struct {
	*house
	t      *testing.T
	client *http.Client
	mu     sync.Mutex
	seen   []string
}

// openArchive returns an archive with manyRows calls and issues.
func openArchive(t *testing.T) *archive {
	t.Helper()
	created := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	a := &archive{house: newHouse(t, t.TempDir()), t: t}
	a.client = a.signIn(t, bigOrg)
	err := errors.Join(
		agentstore.Calls{DB: a.db}.Insert(t.Context(), call.Call{
			ID: "template", Org: bigOrg, From: "+14155550100", To: "+14155550123", Queue: call.QueueComplete, Status: call.StatusCompleted,
			AnsweredBy: call.AnsweredByHuman, CreatedAt: created, StartedAt: new(created), EndedAt: new(created.Add(time.Minute)),
			Ending: &call.HangupReason{Cause: call.CauseRemoteHangup},
		}),
		triagestore.Store{DB: a.db}.InsertIssue(t.Context(), triage.Issue{
			ID: "template", Org: bigOrg, Number: 1, Title: "Callers hang up after the greeting", Status: triage.StatusTodo, Severity: triage.SeverityMedium,
			Source: triage.SourceAutomated, Author: triage.System(), CreatedAt: created, UpdatedAt: created, LastActivityAt: created,
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	second := "strftime('%Y-%m-%d %H:%M:%S+00:00', " + fmt.Sprint(created.Unix()) + " + i, 'unixepoch')"
	copies(t, a.db, "calls", "created_at = "+second)
	copies(t, a.db, "triage_issues", "number = 1001 + i, created_at = "+second+", last_activity_at = "+second)
	a.db.Core().Watch(func(statement string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, statement)
	})
	return a
}

// copies replaces the only row of a table by manyRows copies of this row. set assigns the columns that differ. In set, i is the number of
// the copy, counted from 0.
func copies(t *testing.T, db *bunstore.DB, table, set string) {
	t.Helper()
	for _, statement := range []string{
		fmt.Sprintf(`CREATE TABLE copies AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT * FROM %s, n`, manyRows-1, table), //nolint:unqueryvet // all columns are copied
		`UPDATE copies SET id = CAST(1000000 + i AS TEXT), ` + set, `ALTER TABLE copies DROP COLUMN i`,
		`DELETE FROM ` + table, `INSERT INTO ` + table + ` SELECT * FROM copies`, `DROP TABLE copies`, `ANALYZE`, //nolint:unqueryvet // likewise
	} {
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// wasteful matches query plans that scan all calls or all issues without an index, or that sort.
var wasteful = regexp.MustCompile(`SCAN (calls|triage_issues)(\n|$)|TEMP B-TREE`)

// open opens a page and returns its text. It checks that all statements that read calls or issues have a limit and a plan that is not
// wasteful, and that the compressed page has at most 60 KB.
func (a *archive) open(path string) string {
	a.t.Helper()
	a.mu.Lock()
	a.seen = nil
	a.mu.Unlock()
	text := pagetest.Send(a.t, a.client, a.url+path, nil)
	if text.Status != http.StatusOK {
		a.t.Fatalf("%s is answered %d\n%s", path, text.Status, text.Body)
	}
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.url+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); err != nil || n > 60_000 {
		a.t.Errorf("%s has %d bytes on the wire, %v", path, n, err)
	}
	a.mu.Lock()
	seen := a.seen
	a.mu.Unlock()
	var lists int
	for _, statement := range seen {
		if !strings.HasPrefix(statement, "SELECT") || !regexp.MustCompile(`"(calls|triage_issues)"`).MatchString(statement) {
			continue
		}
		lists++
		if !strings.Contains(statement, "LIMIT") || strings.Contains(strings.ToLower(statement), "count(") {
			a.t.Errorf("%s reads without a bound: %s", path, statement)
		}
		if plan := a.explain(statement); wasteful.MatchString(plan) {
			a.t.Errorf("%s reads more than it shows: %s\n%s", path, statement, plan)
		}
	}
	if lists == 0 {
		a.t.Errorf("%s has read no list: %q", path, seen)
	}
	return text.Body
}

// explain returns SQLite's query plan for a statement.
func (a *archive) explain(statement string) string {
	a.t.Helper()
	rows, err := a.db.SQL().QueryContext(a.t.Context(), "EXPLAIN QUERY PLAN "+statement)
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var text string
		if err := rows.Scan(&id, &parent, &unused, &text); err != nil {
			a.t.Fatal(err)
		}
		plan = append(plan, text)
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// follow returns the path of the next page to which a page links.
func follow(t *testing.T, path, text string) string {
	t.Helper()
	found := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next"`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no next page\n%s", path, text)
	}
	base, _, _ := strings.Cut(path, "?")
	return base + strings.ReplaceAll(found[1], "&amp;", "&")
}

// TestLongLists checks that the pages of lists with 100,000 rows read only the rows that they show.
func TestLongLists(t *testing.T) {
	t.Parallel()
	a := openArchive(t)
	middle := callwright.Keyset{At: time.Date(2026, 7, 1, 10, 0, manyRows/2, 0, time.UTC), ID: "1050000"}.Cursor()
	for path, ids := range map[string][3]string{
		"/calls":                            {"1099999", "1099950", "1099949"},
		"/calls?ascending=true":             {"1000000", "1000049", "1000050"},
		"/calls?after=" + middle:            {"1049999", "1049950", "1049949"},
		"/calls?status=completed":           {"1099999", "1099950", "1099949"},
		"/issues":                           {"1099999", "1099950", "1099949"},
		"/issues?sort=created_at&order=asc": {"1000000", "1000049", "1000050"},
		"/issues?unassigned=true":           {"1099999", "1099950", "1099949"},
		"/issues?sort=severity":             {"1099999", "1099950", "1099949"},
	} {
		text := a.open(path)
		area, _, _ := strings.Cut(path, "?")
		for _, id := range ids[:2] {
			if !strings.Contains(text, `href="`+area+"/"+id+`"`) {
				t.Errorf("%s lacks %s", path, id)
			}
		}
		if link := `href="` + area + "/" + ids[2] + `"`; strings.Contains(text, link) || !strings.Contains(a.open(follow(t, path, text)), link) {
			t.Errorf("%s: %s is not the first of the second page", path, ids[2])
		}
	}
}
