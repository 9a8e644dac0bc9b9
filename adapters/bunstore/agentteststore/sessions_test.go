package agentteststore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/tornado"
)

// runningSession returns a Running session that node n executes.
func runningSession(id string) tornado.Session {
	n := agenttesttest.FullSession(id)
	n.State, n.Node, n.EndedAt, n.Cancel = tornado.Running, "n", time.Time{}, false
	return n
}

// endedSession returns the session of runningSession after its end.
func endedSession(id string) tornado.Session {
	n := runningSession(id)
	n.State, n.EndedAt = tornado.Stuck, start
	return n
}

var answered = tornado.Step{Name: "fix", At: start, Answer: []byte(`{"fixes":[]}`)}

// TestSessionPagesUseIndexes checks the query plans of pages of sessions on a full table: only the sessions of the page are read, in the
// order of an index.
func TestSessionPagesUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		store, template := agentteststore.Sessions{DB: db}, endedSession("template")
		if err := store.InsertSession(t.Context(), template); err != nil {
			t.Fatal(err)
		}
		storetest.Copies(t, db, "tornado_sessions", 3000, map[string]string{
			"id": "'t' || CAST(1000000 + i AS TEXT)", "created_at": storetest.Second(db, start, "i"), "node": "'n' || CAST(i AS TEXT)",
			"state":      "CASE WHEN i % 1500 = 7 THEN 'RUNNING' ELSE 'STUCK' END",
			"pathway_id": "CASE WHEN i % 1500 = 7 THEN 'q' || CAST(i AS TEXT) ELSE 'p' || CAST(i % 10 AS TEXT) END",
			"persona_id": "'x' || CAST(i % 20 AS TEXT)",
			"request":    "''", "progress": "''", // a sealed value can be read only in its own row
		})
		const count = 10
		for index, f := range map[string]tornado.Filter{
			"tornado_sessions_by_creation": {}, "tornado_sessions_by_pathway": {Pathway: "p3"}, "tornado_sessions_by_persona": {Persona: "x13"},
		} {
			f.Limit = count
			seen := storetest.Statements(t, db, func() error {
				for range 2 {
					list, err := store.FindSessions(t.Context(), org, f)
					if err != nil || len(list) != count {
						return fmt.Errorf("%d sessions, %w", len(list), err)
					}
					f.After = callwright.Keyset{At: list[count-1].CreatedAt, ID: list[count-1].ID}
				}
				return nil
			})
			for _, query := range seen {
				if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, index) || reads.MatchString(plan) {
					t.Errorf("not by %s alone: %s\n%s", index, query, plan)
				}
			}
		}
		seen := storetest.Statements(t, db, func() error {
			list, err := store.AbandonedSessions(t.Context(), []string{"n7"}, 10)
			if err == nil && (len(list) != 1 || list[0].Node != "n1507") {
				err = fmt.Errorf("abandoned are %d sessions", len(list))
			}
			_, cancelErr := store.CancelledSessions(t.Context(), "n7")
			_, waitErr := store.WaitingSessions(t.Context(), 10)
			active, findErr := store.FindSessions(t.Context(), org, tornado.Filter{Persona: "x7", States: []tornado.State{tornado.Running}, Limit: 1})
			if findErr == nil && len(active) != 1 {
				findErr = fmt.Errorf("%d sessions of the persona are active", len(active))
			}
			return errors.Join(err, cancelErr, waitErr, findErr)
		})
		for _, query := range seen {
			if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, "tornado_sessions_running") &&
				!strings.Contains(plan, "tornado_sessions_active") {
				t.Errorf("not by an index of sessions that are running: %s\n%s", query, plan)
			}
		}
	})
}

// TestSessionsUseIndexes runs every query of Sessions and fails if a query scans a whole table.
func TestSessionsUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, func(ctx context.Context, db *bunstore.DB, now time.Time) []error {
		s, place := agentteststore.Sessions{DB: db}, callwright.Keyset{At: now, ID: "x"}
		errs := []error{
			s.InsertSession(ctx, runningSession("t")), s.InsertSession(ctx, runningSession("u")), s.CancelSession(ctx, org, "t"),
			s.AppendStep(ctx, org, "t", "n", 0, answered), s.AppendStep(ctx, org, "t", "n", 0, answered),
		}
		add := func(_ any, err error) { errs = append(errs, err) }
		for _, f := range []tornado.Filter{{}, {Pathway: "p1"}, {Persona: "x"}, {States: tornado.States()}, {States: []tornado.State{tornado.Running}}} {
			f.Limit = 10
			add(s.FindSessions(ctx, org, f))
			f.After = place
			add(s.FindSessions(ctx, org, f))
		}
		add(s.Session(ctx, org, "t"))
		add(s.WaitingSessions(ctx, 10))
		add(s.AbandonedSessions(ctx, nil, 10))
		add(s.AbandonedSessions(ctx, []string{"m", "o"}, 10))
		add(s.CancelledSessions(ctx, "n"))
		add(s.Steps(ctx, org, "t"))
		errs = append(errs, s.UpdateSession(ctx, endedSession("t")), s.UpdateSession(ctx, endedSession("t")), s.DeleteSteps(ctx, org, "t"))
		add(s.DeleteSessions(ctx, now.Add(time.Hour), 10))
		return errs
	})
}

// TestStatementsOfASessionAreCompiledOnce checks that SQLite compiles the statements of a session's life once, not again for each session.
func TestStatementsOfASessionAreCompiledOnce(t *testing.T) {
	t.Parallel()
	storetest.CompilesOnce(t, func(ctx context.Context, db *bunstore.DB, id string) error {
		s, n := agentteststore.Sessions{DB: db}, runningSession(id)
		n.Node = ""
		errs := []error{s.InsertSession(ctx, n)}
		list, err := s.AbandonedSessions(ctx, []string{"n"}, 10)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("%d sessions are free, %w", len(list), err)
		}
		n.Node = "n"
		errs = append(errs, s.UpdateSession(ctx, n))
		for number := range 3 {
			errs = append(errs, s.AppendStep(ctx, org, id, "n", number, answered))
		}
		_, stepsErr := s.Steps(ctx, org, id)
		_, cancelledErr := s.CancelledSessions(ctx, "n")
		ended := endedSession(id)
		ended.Revision = 2
		return errors.Join(append(errs, stepsErr, cancelledErr, s.UpdateSession(ctx, ended), s.DeleteSteps(ctx, org, id))...)
	})
}

// TestMovedSessionsDoNotOpen moves sealed values to another row or column: reading them fails.
func TestMovedSessionsDoNotOpen(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		session := func(s agentteststore.Sessions) error { _, err := s.Session(t.Context(), org, "t1"); return err }
		steps := func(s agentteststore.Sessions) error { _, err := s.Steps(t.Context(), org, "t1"); return err }
		for move, read := range map[string]func(agentteststore.Sessions) error{
			"UPDATE tornado_sessions SET request = (SELECT request FROM tornado_sessions WHERE id = 't2')":   session,
			"UPDATE tornado_sessions SET progress = (SELECT progress FROM tornado_sessions WHERE id = 't2')": session,
			"UPDATE tornado_sessions SET progress = request":                                                 session,
			"UPDATE tornado_steps SET number = 2 WHERE number = 0":                                           steps,
			"UPDATE tornado_steps SET answer = (SELECT answer FROM tornado_steps WHERE number = 1)":          steps,
		} {
			s := agentteststore.Sessions{DB: open(t)}
			err := errors.Join(s.InsertSession(t.Context(), runningSession("t1")), s.InsertSession(t.Context(), endedSession("t2")),
				s.AppendStep(t.Context(), org, "t1", "n", 0, answered), s.AppendStep(t.Context(), org, "t1", "n", 1, answered),
				session(s), steps(s))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.SQL().ExecContext(t.Context(), move); err != nil {
				t.Fatal(err)
			}
			if err := read(s); callwright.CodeOf(err) != callwright.CodeInternal {
				t.Errorf("%s: what was moved gave %v", move, err)
			}
		}
	})
}

// TestSessionsOutliveTheirKey changes the current key of the keyring: values sealed with the old key can be read, and new values are sealed
// with the new key.
func TestSessionsOutliveTheirKey(t *testing.T) {
	t.Parallel()
	at := storetest.Databases["sqlite"](t)
	s, n := agentteststore.Sessions{DB: storetest.Open(t, at)}, runningSession("t1")
	if err := errors.Join(s.InsertSession(t.Context(), n), s.AppendStep(t.Context(), org, "t1", "n", 0, answered)); err != nil {
		t.Fatal(err)
	}
	keys := map[string][]byte{"k1": make([]byte, 32), "k2": []byte(strings.Repeat("2", 32))}
	reopened := func(current string, keys map[string][]byte) agentteststore.Sessions {
		ring, err := callwright.NewKeyring(current, keys)
		if err != nil {
			t.Fatal(err)
		}
		db, err := bunstore.Open(t.Context(), at, bunstore.Config{Keyring: ring})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return agentteststore.Sessions{DB: db}
	}
	s = reopened("k2", keys)
	got, err := s.Session(t.Context(), org, "t1")
	if err != nil || got.Limits.MaxBytes != n.Limits.MaxBytes || len(got.Iterations) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if err := errors.Join(s.UpdateSession(t.Context(), got), s.AppendStep(t.Context(), org, "t1", "n", 1, answered)); err != nil {
		t.Fatal(err)
	}
	if steps, err := s.Steps(t.Context(), org, "t1"); err != nil || len(steps) != 2 {
		t.Fatalf("got %+v, %v", steps, err)
	}
	for column, want := range map[string]string{
		"tornado_sessions.request": "k1", "tornado_sessions.progress": "k2", "tornado_steps.answer": "k1 k2",
	} {
		table, column, _ := strings.Cut(column, ".")
		var ids []string
		for sealed := range strings.SplitSeq(storetest.Dump(t, s.DB, table, column), "\n") {
			id, _, _ := strings.Cut(sealed, ":")
			ids = append(ids, id)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s.%s is sealed with %s, want %s", table, column, got, want)
		}
	}
	maps.DeleteFunc(keys, func(id string, _ []byte) bool { return id == "k1" })
	if _, err := reopened("k2", keys).Session(t.Context(), org, "t1"); callwright.CodeOf(err) != callwright.CodeInternal {
		t.Errorf("without the earlier key: %v", err)
	}
}
