package agentstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// TestCallsPageUsesIndex checks the query plans of call lists on a full table: each filter uses its index, and the unfiltered list is read
// in index order without sorting.
func TestCallsPageUsesIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fill(t, db, 3000)
		calls := agentstore.Calls{DB: db}
		var queries []string
		db.Core().Watch(func(statement string) {
			if strings.Contains(statement, "ORDER BY") {
				queries = append(queries, statement)
			}
		})
		for index, f := range map[string]call.Filter{
			"calls_by_time": {}, "calls_by_caller": {From: "+15550000003"}, "calls_by_callee": {To: "+15550010003"},
			"calls_by_pathway": {Pathway: "p3"},
		} {
			for _, oldest := range []bool{false, true} {
				f.Limit, f.OldestFirst, f.After, queries = 5, oldest, callwright.Keyset{}, nil
				page, _, err := calls.List(t.Context(), "o3", f)
				if err != nil || len(page.Items) == 0 {
					t.Fatalf("%+v gave %d calls, %v", f, len(page.Items), err)
				}
				if f.After = page.Next; index == "calls_by_time" {
					_, _, err = calls.List(t.Context(), "o3", f)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, query := range queries {
					plan := storetest.Explain(t, db, query, true)
					sorts := strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE")
					if !strings.Contains(plan, index) || sorts && index == "calls_by_time" {
						t.Errorf("not by %s alone: %s\n%s", index, query, plan)
					}
				}
			}
		}
	})
}

// TestRunningCallsUseIndex checks that a list of running calls uses the partial index, so that it does not read the many ended calls.
func TestRunningCallsUseIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		if fillOnly(t, db, 3000); db.PostgresDSN() != "" { // in production, nothing analyzes SQLite tables
			analyze(t, db)
		}
		calls := agentstore.Calls{DB: db}
		if err := calls.Insert(t.Context(), call.Call{ID: "running", Org: "o3", Queue: call.QueueStarted, CreatedAt: callsStart, Version: 1}); err != nil {
			t.Fatal(err)
		}
		for _, query := range storetest.Statements(t, db, func() error {
			for _, f := range []call.Filter{{}, {Scan: 100}, {Scan: 100, Inbound: new(false)}} {
				f.Completed, f.SkipCount, f.Limit = new(false), true, 5
				page, _, err := calls.List(t.Context(), "o3", f)
				if err != nil || len(page.Items) != 1 {
					return fmt.Errorf("%d calls are running, %w", len(page.Items), err)
				}
			}
			return nil
		}) {
			plan := storetest.Explain(t, db, query, true)
			if !strings.Contains(plan, "calls_running") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("not by its index: %s\n%s", query, plan)
			}
		}
	})
}

// TestScansUseIndexRanges lists calls with Filter.Scan on a full SQLite table. The first statement must read only an index, the second a
// range of that index with two bounds, and neither may sort.
func TestScansUseIndexRanges(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Databases["sqlite"](t))
	fillCalls(t, db, 20000)
	after := callwright.Keyset{At: callsStart.Add(10000 * time.Second), ID: "c"}
	for index, f := range map[string]call.Filter{
		"calls_by_time": {Status: call.StatusCanceled}, "calls_by_caller": {From: "+15550001000", To: "+15551000042"},
		"calls_by_pathway": {Pathway: "p7", LongerThan: 50 * time.Minute},
	} {
		for _, f.OldestFirst = range []bool{false, true} {
			f.SkipCount, f.Limit, f.Scan, f.After = true, 50, 100, after
			seen := storetest.Statements(t, db, func() error {
				_, _, err := agentstore.Calls{DB: db}.List(t.Context(), "o", f)
				return err
			})
			for i, query := range seen {
				plan := storetest.Explain(t, db, query, true)
				alone := strings.Contains(plan, "COVERING INDEX "+index+" ")
				between := strings.Contains(plan, "INDEX "+index+" (org=?") && strings.Count(plan, "created_at") == 2
				if len(seen) != 2 || i == 0 && !alone || i == 1 && !between || strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("statement %d of %d, not by %s: %s\n%s", i+1, len(seen), index, query, plan)
				}
			}
		}
	}
}

// TestCallsAreCountedByAnIndexAlone checks that SQLite counts the matches of common filters without reading rows. It does not check
// PostgreSQL, which may read the rows, too, because they are narrow.
func TestCallsAreCountedByAnIndexAlone(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Databases["sqlite"](t))
	fillCalls(t, db, 20000)
	yes := true
	filters := []call.Filter{
		{}, {Inbound: &yes}, {Completed: &yes}, {AnsweredBy: call.AnsweredByHuman}, {Status: call.StatusCompleted},
		{LongerThan: time.Minute}, {ShorterThan: time.Minute}, {Since: callsStart}, {Pathway: "p7"},
		{AnsweredBy: call.AnsweredByHuman, Status: call.StatusCompleted, LongerThan: time.Minute},
	}
	seen := storetest.Statements(t, db, func() error {
		for _, f := range filters {
			if _, _, err := (agentstore.Calls{DB: db}).List(t.Context(), "o", f); err != nil {
				return err
			}
		}
		return nil
	})
	counts := slices.DeleteFunc(seen, func(query string) bool { return !strings.Contains(query, "count(*)") })
	if len(counts) != len(filters) {
		t.Fatalf("%d counts for %d filters", len(counts), len(filters))
	}
	for _, query := range counts {
		if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, "USING COVERING INDEX") {
			t.Errorf("not by an index alone: %s\n%s", query, plan)
		}
	}
}

// TestOpenChatsAreCountedByAnIndexAlone checks the query that precedes every new chat. It must not read the rows of the many completed
// chats, because they are large.
func TestOpenChatsAreCountedByAnIndexAlone(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillChats(t, db, 2000)
		seen := storetest.Statements(t, db, func() error {
			n, err := agentstore.Chats{DB: db}.CountChats(t.Context(), "o")
			if err == nil && n != 20 {
				t.Errorf("counted %d", n)
			}
			return err
		})
		want := "USING COVERING INDEX pathway_chats_open"
		if db.PostgresDSN() != "" {
			want = "Index Only Scan using pathway_chats_open"
		}
		if len(seen) != 1 {
			t.Fatalf("%d statements", len(seen))
		}
		if plan := storetest.Explain(t, db, seen[0], true); !strings.Contains(plan, want) {
			t.Errorf("not by the index alone: %s\n%s", seen[0], plan)
		}
	})
}

// fillChats stores count chats. One in a hundred is not completed.
func fillChats(t *testing.T, db *bunstore.DB, count int) {
	t.Helper()
	err := db.Do(t.Context(), func(ctx context.Context) error {
		err := agentstore.Pathways{DB: db}.InsertPathway(ctx, pathway.Pathway{ID: "p", Org: "o"})
		for i := 0; i < count && err == nil; i++ {
			err = agentstore.Chats{DB: db}.InsertChat(ctx, pathway.Chat{
				ID: fmt.Sprint("c", i), Org: "o", Pathway: "p", State: []byte(`"` + strings.Repeat("x", 1000) + `"`), Completed: i%100 > 0,
			})
		}
		return err
	})
	if err == nil {
		_, err = db.SQL().ExecContext(t.Context(), "ANALYZE")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// usePathways calls every method that queries pathways, versions, chats or web agents, and returns their errors.
func usePathways(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org = callwright.OrgID("o")
	pathways, chats, web := agentstore.Pathways{DB: db}, agentstore.Chats{DB: db}, agentstore.WebAgents{DB: db}
	p, chat := pathway.Pathway{ID: "p", Org: org, Revision: 1}, pathway.Chat{ID: "c", Org: org, Pathway: "p", Revision: 1}
	version, agent := pathway.Version{Org: org, Pathway: "p", Number: 1}, agents.WebAgent{ID: "w", Org: org, Version: 1}
	errs := []error{
		pathways.InsertPathway(ctx, p), pathways.UpdatePathway(ctx, p), pathways.UpdatePathway(ctx, p),
		pathways.InsertVersion(ctx, version), pathways.ArchiveVersion(ctx, org, "p", 1),
		chats.InsertChat(ctx, chat), chats.UpdateChat(ctx, chat, pathway.Log{Turn: 1}), chats.UpdateChat(ctx, chat),
		web.InsertAgent(ctx, agent), web.UpdateAgent(ctx, agent), web.UpdateAgent(ctx, agent),
	}
	_, pathwayErr := pathways.Pathway(ctx, org, "p")
	_, listErr := pathways.Pathways(ctx, org, pathway.Listing{After: callwright.Keyset{At: now, ID: "p"}, Offset: 10, Limit: 10})
	_, versionErr := pathways.Version(ctx, org, "p", 1)
	_, hashErr := pathways.VersionHash(ctx, org, "p", 1)
	_, versionsErr := pathways.Versions(ctx, org, "p", 2, 10)
	_, chatErr := chats.Chat(ctx, org, "c")
	_, pathwaysErr := pathways.CountPathways(ctx, org)
	_, chatsErr := chats.CountChats(ctx, org)
	_, deleteErr := chats.DeleteOldChats(ctx, now, 10)
	_, logsErr := chats.ChatLogs(ctx, org, "c", 5, 10)
	_, chatsOfErr := chats.ChatsOf(ctx, org, "p", callwright.Keyset{At: now, ID: "c"}, 10)
	_, agentErr := web.Agent(ctx, org, "w")
	_, agentsErr := web.Agents(ctx, org, callwright.Keyset{At: now, ID: "w"}, 10)
	_, countErr := web.CountAgents(ctx, org)
	return append(errs, pathwayErr, listErr, versionErr, hashErr, versionsErr, chatErr, deleteErr, agentErr, agentsErr, countErr,
		pathwaysErr, chatsErr, logsErr, chatsOfErr, web.DeleteAgent(ctx, org, "w"), pathways.DeletePathway(ctx, org, "p"))
}

// usePersonas calls every method that queries personas or their versions, and returns their errors.
func usePersonas(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org = callwright.OrgID("o")
	s := agentstore.Personas{DB: db}
	p, v := persona.Persona{ID: "p", Org: org, Revision: 1}, persona.Version{ID: "v", Persona: "p", Org: org, Type: persona.Draft, Revision: 1}
	errs := []error{
		s.InsertPersona(ctx, p), s.UpdatePersona(ctx, p), s.UpdatePersona(ctx, p),
		s.InsertVersion(ctx, v), s.UpdateDraft(ctx, v), s.UpdateDraft(ctx, v), s.DeleteDraft(ctx, v),
	}
	_, personaErr := s.Persona(ctx, org, "p")
	_, listErr := s.Personas(ctx, org, persona.Listing{Offset: 10, Limit: 10})
	_, countErr := s.CountPersonas(ctx, org)
	holdErr := db.Do(ctx, func(ctx context.Context) error { return s.HoldPersona(ctx, org, "p") })
	_, versionErr := s.Version(ctx, org, "v")
	_, versionsErr := s.Versions(ctx, org, "p", 2, 10)
	_, byIDErr := s.VersionsByID(ctx, org, []string{"v", "w"})
	_, deleteErr := s.DeleteOldPersonas(ctx, now, 10)
	return append(errs, personaErr, listErr, countErr, holdErr, versionErr, versionsErr, byIDErr, deleteErr)
}
