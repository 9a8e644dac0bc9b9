package triagestore_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// storeIssue stores an issue of the organization "o" with the given id, and returns the store.
func storeIssue(t *testing.T, db *bunstore.DB, id string) triagestore.Store {
	t.Helper()
	store := triagestore.Store{DB: db}
	if err := store.InsertIssue(t.Context(), triage.Issue{ID: id, Org: "o", Number: 1}); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestTriageKeepsJSONAsItWas checks that JSON of agents is preserved byte for byte. The conformance suites compare only the meaning of the
// JSON.
func TestTriageKeepsJSONAsItWas(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		store := storeIssue(t, open(t), "i")
		for n, raw := range []json.RawMessage{nil, json.RawMessage("{\r\n\t\"b\": 1e2, \"a\": \"\\u0000<&>\u2028?\", \"a\": null }")} {
			id := fmt.Sprint(n)
			session := triage.Session{
				ID: id, Org: "o", IssueID: "i", Status: triage.SessionActive, Analysis: &triage.Analysis{State: raw}, Revision: 1,
			}
			entry := triage.Entry{ID: id, Org: "o", IssueID: "i", CreatedAt: feedStart, Artifact: &triage.Artifact{Payload: raw}}
			err := errors.Join(store.InsertSession(t.Context(), session),
				store.AppendEntries(t.Context(), "o", "i", []triage.Entry{entry}))
			if err != nil {
				t.Fatal(err)
			}
			got, err := store.Session(t.Context(), "o", "i", id)
			if err != nil || !reflect.DeepEqual(got, session) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, session)
			}
			entries, err := store.Entries(t.Context(), "o", "i", callwright.Keyset{}, 1)
			if err != nil || !reflect.DeepEqual(entries, []triage.Entry{entry}) {
				t.Errorf("got  %+v, %v\nwant %+v", entries, err, entry)
			}
		}
	})
}

// TestEntriesComeInFewStatements checks that 250 entries are inserted with three statements, and that a conflict in the last entry prevents
// the insertion of all entries.
func TestEntriesComeInFewStatements(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		store := storeIssue(t, db, "i")
		entries := make([]triage.Entry, 250)
		for n := range entries {
			entries[n].ID, entries[n].CreatedAt = fmt.Sprint(n), feedStart
		}
		taken := slices.Clone(entries)
		taken[249].ID = "0"
		if err := store.AppendEntries(t.Context(), "o", "i", taken); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("with an id twice: %v", err)
		}
		inserts := 0
		db.Core().Watch(func(statement string) {
			if strings.HasPrefix(statement, "INSERT") {
				inserts++
			}
		})
		if err := store.AppendEntries(t.Context(), "o", "i", entries); err != nil {
			t.Fatal(err)
		}
		got, err := store.EntriesAfter(t.Context(), "o", "i", callwright.Keyset{}, 1000)
		if err != nil || len(got) != 250 || inserts != 3 {
			t.Errorf("%d entries in %d statements, %v", len(got), inserts, err)
		}
	})
}

// TestCommentsLeaveTheDescription checks that a comment does not write the description of its issue again.
func TestCommentsLeaveTheDescription(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		s, written := triageService(t, db), 0
		issue := opened(t, s, "a")[0]
		db.Core().Watch(func(statement string) {
			if strings.Contains(statement, "a long text") {
				written++
			}
		})
		text := "a long text"
		_, err := s.Update(t.Context(), "o", triage.System(), issue, triage.Change{Description: &text})
		if err != nil || written != 1 {
			t.Errorf("written %d times, %v", written, err)
		}
		_, err = s.Comment(t.Context(), "o", triage.System(), issue, triage.CommentDraft{Detail: "heard it"})
		got, getErr := s.Get(t.Context(), "o", issue)
		if err := errors.Join(err, getErr); err != nil || written != 1 || got.Description != text {
			t.Errorf("written %d times, it is %q, %v", written, got.Description, err)
		}
	})
}

// TestFewLargeEntriesAreReadAtOnce checks that a page of large artifacts ends at triage.MaxRead, so that it does not occupy too much
// memory.
func TestFewLargeEntriesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		store, entries := storeIssue(t, open(t), "i"), make([]triage.Entry, 20)
		payload := json.RawMessage(`{"a":"` + strings.Repeat("a", triage.MaxRead/8-10) + `"}`)
		for n := range entries {
			entries[n] = triage.Entry{ID: fmt.Sprint(n), CreatedAt: feedStart, Artifact: &triage.Artifact{Payload: payload}}
		}
		if err := store.AppendEntries(t.Context(), "o", "i", entries); err != nil {
			t.Fatal(err)
		}
		back, backErr := store.Entries(t.Context(), "o", "i", callwright.Keyset{}, 20)
		forth, forthErr := store.EntriesAfter(t.Context(), "o", "i", callwright.Keyset{}, 20)
		if err := errors.Join(backErr, forthErr); err != nil || len(back) != 8 || len(forth) != 8 {
			t.Errorf("%d and %d entries at once, %v", len(back), len(forth), err)
		}
	})
}

// TestNumbersStayShort checks that large numbers are stored in a short form. JSONB would store 1e308 with 309 digits, which would slow down
// every reader of the feed.
func TestNumbersStayShort(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		entry := triage.Entry{ID: "e", CreatedAt: feedStart, Metadata: map[string]any{"a": slices.Repeat([]any{1e308}, 1000)}}
		if err := storeIssue(t, db, "i").AppendEntries(t.Context(), "o", "i", []triage.Entry{entry}); err != nil {
			t.Fatal(err)
		}
		var size int
		err := db.SQL().QueryRowContext(t.Context(), "SELECT length(CAST(content AS TEXT)) FROM triage_entries").Scan(&size)
		if err != nil || size > 10_000 {
			t.Errorf("%d bytes are kept of it, %v", size, err)
		}
	})
}

// english returns the address of a PostgreSQL database that sorts text by English rules.
func english(t *testing.T) string {
	t.Helper()
	address := storetest.Empty["postgres"](t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string) {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Error(err)
		}
	}
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT current_database() || '_en'").Scan(&name); err != nil {
		t.Fatal(err)
	}
	run("CREATE DATABASE " + name + " TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'")
	t.Cleanup(func() {
		run("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(address, "://") {
		return address + " dbname=" + name
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = name
	return u.String()
}

// TestOrderHasNoLanguage checks that pages of entries, and of issues, with equal times are ordered by the bytes of the ids, even in a
// database that sorts by English rules.
func TestOrderHasNoLanguage(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, english(t))
	store, ids := storeIssue(t, db, "i"), []string{"1-b", "1a", "B", "_", "a", "ä"}
	var first bool
	if err := db.SQL().QueryRowContext(t.Context(), "SELECT 'a' < 'B'").Scan(&first); err != nil || !first {
		t.Fatalf("the database does not sort as in English: %v", err)
	}
	for n, id := range ids {
		err := errors.Join(store.AppendEntries(t.Context(), "o", "i", []triage.Entry{{ID: id, CreatedAt: feedStart}}),
			store.InsertIssue(t.Context(), triage.Issue{ID: id, Org: "p", Number: n, LastActivityAt: feedStart}))
		if err != nil {
			t.Fatal(err)
		}
	}
	var entries, issues []string
	place, f := callwright.Keyset{At: feedStart}, triage.Filter{Ascending: true, Limit: 1}
	for range ids {
		page, err := store.EntriesAfter(t.Context(), "o", "i", place, 1)
		if err != nil || len(page) != 1 {
			t.Fatal(page, err)
		}
		list, err := store.FindIssues(t.Context(), "p", f)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		place, f.After = page[0].Keyset(), list[0].Place("")
		entries, issues = append(entries, page[0].ID), append(issues, list[0].ID)
	}
	if !slices.Equal(entries, ids) || !slices.Equal(issues, ids) {
		t.Errorf("entries %q, issues %q, want %q", entries, issues, ids)
	}
}

// TestSearchesTakeNoProduct checks that a search on SQLite uses neither LIKE nor instr. With them, a search for a run of one letter in long
// texts of that letter takes time proportional to the product of the lengths, and delays all other queries.
func TestSearchesTakeNoProduct(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Databases["sqlite"](t))
	store := storeIssue(t, db, "i")
	var asked string
	db.Core().Watch(func(statement string) { asked = statement })
	if _, err := store.FindIssues(t.Context(), "o", triage.Filter{Search: strings.Repeat("a", 200), Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "callwright_contains") || strings.Contains(asked, "LIKE") || strings.Contains(asked, "instr") {
		t.Errorf("asked %s", asked)
	}
}
