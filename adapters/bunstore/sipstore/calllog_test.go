package sipstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

// logStart is the start of the first record that fillLog stores. The others follow, one per second.
var logStart = time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)

// fillLog stores count records of an organization's numbers in one statement. Calls last a minute; one in a hundred has not ended, and one
// in five failed technically.
func fillLog(t testing.TB, db *bunstore.DB, count, numbers int) {
	t.Helper()
	started, ended := storetest.Second(db, logStart, "i"), storetest.Second(db, logStart, "i + 60")
	fill := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO sip_calls (id, org, trunk_id, number, parent_id, direction, from_number, to_number, sip_call_id, attempt,
			server, source, node, started_at, ended_at, sip_code, status, cause, reason, technical)
		SELECT 'c' || CAST(10000000 + i AS TEXT), 'o', 't' || CAST(i %% %d AS TEXT), '+1555000' || CAST(1000 + i %% %d AS TEXT),
			'p', 'outbound', '+15550001000', '+15550002000', 'x@y', 1, 'pbx.example.com:5061', '192.0.2.1',
			'n' || CAST(i %% 7 AS TEXT), %s, CASE WHEN i %% 100 > 0 THEN %s END, 200, '200 OK', 'hangup', 'it was over', i %% 5 = 0
		FROM n`, count-1, numbers, numbers, started, ended)
	for _, statement := range []string{fill, "ANALYZE"} {
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallLogUsesIndexes checks the query plans of the call log on a full table.
func TestCallLogUsesIndexes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		const number = callwright.PhoneNumber("+15550001000")
		fillLog(t, db, 20000, 10)
		log, middle := sipstore.CallLog{DB: db}, logStart.Add(10000*time.Second)
		page := func(before callwright.Keyset) func() error {
			return func() error {
				records, err := log.List(t.Context(), "o", number, before, 50)
				if len(records) != 50 {
					err = errors.Join(err, fmt.Errorf("%d records", len(records)))
				}
				return err
			}
		}
		for name, test := range map[string]struct {
			index, bound string
			use          func() error
		}{
			"first page":  {"sip_calls_by_number", "number", page(callwright.Keyset{})},
			"middle page": {"sip_calls_by_number", "started_at", page(callwright.Keyset{At: middle, ID: "c10010000"})},
			"from a time": {"sip_calls_by_number", "started_at", page(callwright.Keyset{At: middle})},
			"failures": {"sip_calls_by_end", "ended_at", func() error {
				ended, failed, err := log.Failures(t.Context(), "o", "t5", logStart.Add(19000*time.Second))
				if ended != 106 || failed != 106 {
					err = errors.Join(err, fmt.Errorf("%d of %d failed", failed, ended))
				}
				return err
			}},
			"attempts": {"sip_calls_by_parent", "parent_id", func() error {
				attempts, err := log.Attempts(t.Context(), "o", "p", 10)
				if len(attempts) != 10 {
					err = errors.Join(err, fmt.Errorf("%d attempts", len(attempts)))
				}
				return err
			}},
			"lost calls": {"sip_calls_running", "started_at", func() error {
				lost, err := log.Lost(t.Context(), []string{"n1", "n2"}, logStart.Add(time.Second-1), 10)
				if len(lost) != 1 {
					err = errors.Join(err, fmt.Errorf("%d are lost", len(lost)))
				}
				return err
			}},
		} {
			for _, query := range storetest.Statements(t, db, test.use) {
				plan := storetest.Explain(t, db, query, true)
				reads := strings.Contains(plan, test.index) && strings.Contains(plan, test.bound)
				if !reads || strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("%s: not by %s alone: %s\n%s", name, test.index, query, plan)
				}
			}
		}
	})
}

// useCallLog calls every method that queries calls, discoveries or test calls, and returns their errors.
func useCallLog(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org, number = callwright.OrgID("o"), callwright.PhoneNumber("+15550000001")
	log, found, tests := sipstore.CallLog{DB: db}, sipstore.Discoveries{DB: db}, sipstore.TestCalls{DB: db}
	record := calllog.Record{ID: "c", Org: org, TrunkID: "t", Number: number, Node: "n", StartedAt: now}
	over := calllog.End{EndedAt: &now}
	look := discovery.Discovery{ID: "d", Org: org, Host: "x", Status: discovery.Running, StartedAt: now, Version: 1}
	test := testcall.Call{ID: "c", Org: org, StartedAt: now, Version: 1}
	_, lostErr := log.Lost(ctx, []string{"n"}, now, 10)
	_, _, insertErr := tests.Insert(ctx, test, 10, now)
	errs := []error{
		log.Begin(ctx, record), lostErr, log.Answer(ctx, org, "c", now),
		log.Finish(ctx, org, "c", over, nil), log.Finish(ctx, org, "c", over, nil),
		found.Begin(ctx, look, now), found.Update(ctx, look), found.Update(ctx, look), found.DeleteOld(ctx, now),
		insertErr, tests.Update(ctx, test), tests.Update(ctx, test), tests.DeleteOld(ctx, now),
	}
	_, _, callErr := log.Get(ctx, org, "c")
	_, pageErr := log.List(ctx, org, number, callwright.Keyset{At: now}, 10)
	_, attemptsErr := log.Attempts(ctx, org, "p", 10)
	_, _, failureErr := log.Failures(ctx, org, "t", now)
	_, foundErr := found.Get(ctx, org, "d")
	_, recentErr := found.Recent(ctx, look, now)
	_, testErr := tests.Get(ctx, org, "c")
	_, openErr := tests.Unfinished(ctx, now, 10)
	_, deleteErr := log.DeleteOld(ctx, now, 10)
	return append(errs, callErr, pageErr, attemptsErr, failureErr, deleteErr, foundErr, recentErr, testErr, openErr)
}

// TestHostileTexts passes texts that PostgreSQL cannot store, as peers may send them, to the stores. Whatever the database, the stores
// refuse them with CodeBadRequest and change nothing, and the call can still be finished with clean text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	at := logStart
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		log, found, tests := sipstore.CallLog{DB: db}, sipstore.Discoveries{DB: db}, sipstore.TestCalls{DB: db}
		if err := log.Begin(t.Context(), calllog.Record{ID: "c", Org: "o", StartedAt: at}); err != nil {
			t.Fatal(err)
		}
		end := func(reason, detail string) error {
			steps := []ladder.Event{{At: at, Detail: detail}}
			return log.Finish(t.Context(), "o", "c", calllog.End{EndedAt: &at, Reason: reason}, steps)
		}
		for _, bad := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
			_, _, insertErr := tests.Insert(t.Context(), testcall.Call{ID: bad, Org: "o"}, 10, at)
			_, recentErr := found.Recent(t.Context(), discovery.Discovery{Org: "o", Host: bad}, at)
			_, lostErr := log.Lost(t.Context(), []string{bad}, at, 10)
			attempts := []discovery.Attempt{{UserAgent: bad}}
			for name, err := range map[string]error{
				"record": log.Begin(t.Context(), calllog.Record{ID: "d", Org: "o", From: bad}),
				"reason": end(bad, ""), "step": end("", bad), "node": lostErr,
				"discovery": found.Begin(t.Context(), discovery.Discovery{ID: "d", Attempts: attempts}, at),
				"findings":  found.Update(t.Context(), discovery.Discovery{ID: "d", Attempts: attempts}),
				"host":      recentErr, "test call": insertErr,
				"timeline": tests.Update(t.Context(), testcall.Call{ID: "c", Timeline: []testcall.Event{{Detail: bad}}}),
			} {
				if !errors.Is(err, callwright.ErrBadRequest) {
					t.Errorf("%s with %q gave %v, want a bad request", name, bad, err)
				}
			}
		}
		record, steps, err := log.Get(t.Context(), "o", "c")
		if err != nil || record.EndedAt != nil || len(steps) != 0 {
			t.Errorf("after hostile ends: %+v, %+v, %v", record, steps, err)
		}
		if err := end("ab", `\u0000 "{}'`); err != nil {
			t.Errorf("the end with a clean text: %v", err)
		}
		if _, steps, err := log.Get(t.Context(), "o", "c"); err != nil || len(steps) != 1 || steps[0].Detail != `\u0000 "{}'` {
			t.Errorf("after the end: %+v, %v", steps, err)
		}
	})
}
