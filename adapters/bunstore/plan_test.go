package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/sip"
)

// explain is how a database would run a statement. guess false has PostgreSQL use whatever index there is, however few
// rows the table has.
func explain(t *testing.T, db *bunstore.DB, statement string, guess bool) string {
	t.Helper()
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	prefix, columns := "EXPLAIN QUERY PLAN ", 4
	if db.PostgresDSN() != "" {
		prefix, columns = "EXPLAIN ", 1
		if !guess {
			if _, err := tx.ExecContext(t.Context(), "SET LOCAL enable_seqscan = off"); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows, err := tx.QueryContext(t.Context(), prefix+statement)
	if err != nil {
		t.Fatalf("explain %s: %v", statement, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		into := make([]any, columns)
		var line string
		for i := range into {
			into[i] = new(any)
		}
		into[columns-1] = &line
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// fill stores calls of several organizations, so that PostgreSQL has something to weigh.
func fill(t testing.TB, db *bunstore.DB, count int) {
	t.Helper()
	start := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	err := db.Do(t.Context(), func(ctx context.Context) error {
		for i := range count {
			err := agentstore.Calls{DB: db}.Insert(ctx, call.Call{
				ID: fmt.Sprintf("c%05d", i), Org: callwright.OrgID(fmt.Sprint("o", i%10)), Queue: call.QueueComplete,
				From: fmt.Sprintf("+1555000%04d", i%100), To: fmt.Sprintf("+1555001%04d", i%150),
				CreatedAt: start.Add(time.Duration(i) * time.Second),
				Agent:     agents.Agent{Pathway: agents.PathwayRef{ID: fmt.Sprint("p", i%150)}},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = db.SQL().ExecContext(t.Context(), "ANALYZE")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// statements is what a use of the stores runs, without what only frames it.
func statements(t *testing.T, db *bunstore.DB, use func() error) []string {
	t.Helper()
	var seen []string
	db.Core().Watch(func(statement string) {
		if regexp.MustCompile(`^(SELECT|UPDATE|DELETE|WITH)`).MatchString(statement) {
			seen = append(seen, statement)
		}
	})
	if err := use(); err != nil {
		t.Fatal(err)
	}
	return seen
}

// TestCallsPageUsesIndex looks at the plans of a full table, as PostgreSQL chooses them by itself: rows come in the order
// of the index, and no page has to sort or read what is not on it.
func TestCallsPageUsesIndex(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
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
					plan := explain(t, db, query, true)
					sorts := strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE")
					if !strings.Contains(plan, index) || sorts && index == "calls_by_time" {
						t.Errorf("not by %s alone: %s\n%s", index, query, plan)
					}
				}
			}
		}
	})
}

// TestCallsAreCountedByAnIndexAlone looks at filters that choose most of the calls. PostgreSQL may find that narrow rows
// are read as fast.
func TestCallsAreCountedByAnIndexAlone(t *testing.T) {
	t.Parallel()
	db := open(t, databases["sqlite"](t))
	fillCalls(t, db, 20000)
	yes := true
	filters := []call.Filter{
		{}, {Inbound: &yes}, {Completed: &yes}, {AnsweredBy: call.AnsweredByHuman}, {Status: call.StatusCompleted},
		{LongerThan: time.Minute}, {ShorterThan: time.Minute}, {Since: callsStart}, {Pathway: "p7"},
		{AnsweredBy: call.AnsweredByHuman, Status: call.StatusCompleted, LongerThan: time.Minute},
	}
	seen := statements(t, db, func() error {
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
		if plan := explain(t, db, query, true); !strings.Contains(plan, "USING COVERING INDEX") {
			t.Errorf("not by an index alone: %s\n%s", query, plan)
		}
	}
}

// TestOpenChatsAreCountedByAnIndexAlone looks at what every chat that begins asks, among many that are over: rows of chats
// are large.
func TestOpenChatsAreCountedByAnIndexAlone(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillChats(t, db, 2000)
		seen := statements(t, db, func() error {
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
		if plan := explain(t, db, seen[0], true); !strings.Contains(plan, want) {
			t.Errorf("not by the index alone: %s\n%s", seen[0], plan)
		}
	})
}

// fillChats stores chats, one of a hundred of which goes on.
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

// TestEveryStatementUsesAnIndex runs every query of the stores and wants none to read a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		seen := statements(t, db, func() error { return useEverything(t.Context(), db) })
		if len(seen) < 20 {
			t.Fatalf("saw only %d statements", len(seen))
		}
		whole := regexp.MustCompile(`Seq Scan|SCAN \S+$|SCAN \S+\n`)
		for _, statement := range seen {
			if plan := explain(t, db, statement, false); whole.MatchString(plan) {
				t.Errorf("reads a whole table: %s\n%s", statement, plan)
			}
		}
	})
}

// useEverything calls every method that looks for rows.
func useEverything(ctx context.Context, db *bunstore.DB) error {
	const org, number, at = callwright.OrgID("o"), callwright.PhoneNumber("+15550000001"), "2026-05-04T03:02:01Z"
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return err
	}
	tenants, answers := orgstore.Tenants{DB: db}, orgstore.IdempotencyStore{DB: db}
	numbers, calls := agentstore.Numbers{DB: db}, agentstore.Calls{DB: db}
	live := call.Call{ID: "c", Org: org, Queue: call.QueueStarted, Node: "n", CreatedAt: now, Version: 1}
	inbound := agents.InboundNumber{Org: org, Number: number, Version: 1}
	yes := true
	_, orgErr := tenants.Organization(ctx, org)
	_, keyErr := tenants.KeyByPrefix(ctx, "p")
	_, _, findErr := answers.Find(ctx, org, "k", now)
	errs := []error{
		orgErr, keyErr, tenants.RevokeKey(ctx, org, "k", now), findErr,
		tenants.UpdateOrganization(ctx, callwright.Organization{ID: org}),
		answers.Keep(ctx, org, "k", nil, nil, now, now),
		numbers.InsertNumber(ctx, inbound), numbers.UpdateNumber(ctx, inbound), numbers.UpdateNumber(ctx, inbound),
		calls.Insert(ctx, live), calls.Update(ctx, live), calls.Update(ctx, live),
		calls.Append(ctx, org, "c", call.Entry{Seq: 1}), calls.RequestStop(ctx, org, "c"),
		calls.AppendLog(ctx, org, "c", pathway.Log{Turn: 1}), calls.AppendNotice(ctx, org, "c", call.Notice{Seq: 1}),
	}
	_, numberErr := numbers.Number(ctx, org, number)
	_, numbersErr := numbers.Numbers(ctx, org, callwright.Keyset{ID: "+1"}, 10)
	_, callErr := calls.Get(ctx, org, "c")
	_, linesErr := calls.Transcript(ctx, org, "c")
	_, stopsErr := calls.Stops(ctx, "n")
	_, lostErr := calls.Lost(ctx, []string{"m"}, now, 10)
	_, _, listErr := calls.List(ctx, org, call.Filter{
		Inbound: &yes, Completed: &yes, Since: now, Before: now, AnsweredBy: call.AnsweredByHuman,
		Status: call.StatusCompleted, LongerThan: time.Second, ShorterThan: time.Minute,
	})
	_, _, pathwayErr := calls.List(ctx, org, call.Filter{Pathway: "p"})
	_, logsErr := calls.Logs(ctx, org, "c")
	_, noticeErr := calls.Notice(ctx, org, "c", 1)
	errs = append(errs, numberErr, numbersErr, callErr, linesErr, stopsErr, lostErr, listErr,
		pathwayErr, logsErr, noticeErr)
	errs = append(errs, useLeases(ctx, db, now)...)
	errs = append(errs, useCallLog(ctx, db, now)...)
	errs = append(errs, useTrunks(ctx, db, now)...)
	errs = append(errs, usePathways(ctx, db, now)...)
	errs = append(errs, useTriage(ctx, db, now)...)
	for _, err := range errs {
		if err != nil && !errors.Is(err, callwright.ErrNotFound) && !errors.Is(err, callwright.ErrConflict) {
			return err
		}
	}
	return nil
}

// useLeases calls every method of leases.
func useLeases(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	leases := bunstore.Leases{DB: db}
	_, acquireErr := leases.Acquire(ctx, "k", "n", []string{"a", "b"}, now, now)
	_, renewErr := leases.Renew(ctx, "k", "n", now, now)
	_, heldErr := leases.Held(ctx, "k", now, 10)
	_, expiredErr := leases.Expired(ctx, "k", now, 10)
	return []error{acquireErr, renewErr, heldErr, expiredErr, leases.Release(ctx, "k", "n", []string{"a", "b"})}
}

// useTrunks calls every method that looks for trunks, their statuses and their registrations.
func useTrunks(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org, number = callwright.OrgID("o"), callwright.PhoneNumber("+15550000001")
	trunks, statuses := sipstore.Trunks{DB: db}, sipstore.Statuses{DB: db}
	registrations := sipstore.Registrations{DB: db}
	trunk := sip.Trunk{ID: "t", Org: org, Number: number, Direction: sip.Inbound, Version: 1}
	first, status := sip.Status{TrunkID: "t", Org: org}, sip.Status{TrunkID: "t", Org: org, Version: 1}
	begun, registration := sip.Registration{TrunkID: "t", Org: org}, sip.Registration{TrunkID: "t", Org: org, Version: 1}
	errs := []error{
		trunks.Insert(ctx, trunk), trunks.Update(ctx, trunk), trunks.Update(ctx, trunk),
		statuses.PutStatus(ctx, first), statuses.PutStatus(ctx, status), statuses.PutStatus(ctx, status),
		registrations.PutRegistration(ctx, begun), registrations.PutRegistration(ctx, registration),
		registrations.PutRegistration(ctx, registration), registrations.ReleaseRegistrations(ctx, "n"),
	}
	_, trunkErr := trunks.Trunk(ctx, org, "t")
	_, trunksErr := trunks.Trunks(ctx, org, number)
	_, allErr := trunks.List(ctx, org, callwright.Keyset{ID: "+1"}, 10)
	_, outErr := trunks.Outbound(ctx, org, 10)
	_, ownerErr := trunks.Owner(ctx, number, sip.Inbound)
	_, statusErr := statuses.Status(ctx, org, "t")
	_, statusesErr := statuses.StatusesOf(ctx, org, []string{"t", "u"})
	_, dueErr := statuses.LeaseStatuses(ctx, now, now, 10)
	_, registrationErr := registrations.Registration(ctx, org, "t")
	_, takeErr := registrations.TakeRegistrations(ctx, "n", now, 10)
	_, ofErr := registrations.RegistrationsOf(ctx, "n")
	_, nodesErr := registrations.RegistrationNodes(ctx)
	return append(errs, trunkErr, trunksErr, allErr, outErr, ownerErr, statusErr, statusesErr, dueErr,
		registrationErr, takeErr, ofErr, nodesErr, trunks.Delete(ctx, trunk), statuses.DeleteStatus(ctx, org, "t"),
		registrations.DeleteRegistration(ctx, org, "t"))
}

// usePathways calls every method that looks for pathways, their versions and chats, and for web agents.
func usePathways(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org = callwright.OrgID("o")
	pathways, chats, web := agentstore.Pathways{DB: db}, agentstore.Chats{DB: db}, agentstore.WebAgents{DB: db}
	p, chat := pathway.Pathway{ID: "p", Org: org, Revision: 1}, pathway.Chat{ID: "c", Org: org, Pathway: "p", Revision: 1}
	version, agent := pathway.Version{Org: org, Pathway: "p", Number: 1}, agents.WebAgent{ID: "w", Org: org, Version: 1}
	errs := []error{
		pathways.InsertPathway(ctx, p), pathways.UpdatePathway(ctx, p), pathways.UpdatePathway(ctx, p),
		pathways.InsertVersion(ctx, version), pathways.ArchiveVersion(ctx, org, "p", 1),
		chats.InsertChat(ctx, chat), chats.UpdateChat(ctx, chat), chats.UpdateChat(ctx, chat),
		web.InsertAgent(ctx, agent), web.UpdateAgent(ctx, agent), web.UpdateAgent(ctx, agent),
	}
	_, pathwayErr := pathways.Pathway(ctx, org, "p")
	_, listErr := pathways.Pathways(ctx, org, pathway.Listing{After: callwright.Keyset{At: now, ID: "p"}, Offset: 10, Limit: 10})
	_, versionErr := pathways.Version(ctx, org, "p", 1)
	_, versionsErr := pathways.Versions(ctx, org, "p", 2, 10)
	_, chatErr := chats.Chat(ctx, org, "c")
	_, pathwaysErr := pathways.CountPathways(ctx, org)
	_, chatsErr := chats.CountChats(ctx, org)
	_, forgetErr := chats.ForgetChats(ctx, now, 10)
	_, agentErr := web.Agent(ctx, org, "w")
	_, agentsErr := web.Agents(ctx, org, callwright.Keyset{At: now, ID: "w"}, 10)
	_, countErr := web.CountAgents(ctx, org)
	return append(errs, pathwayErr, listErr, versionErr, versionsErr, chatErr, forgetErr, agentErr, agentsErr, countErr,
		pathwaysErr, chatsErr, web.DeleteAgent(ctx, org, "w"), pathways.DeletePathway(ctx, org, "p"))
}

// TestProbingReadsNoTable looks at what probing runs when many statuses are overdue, such as after a pause: one statement
// leases, by the order of the index and without sorting them all, and one by the primary key puts each back.
func TestProbingReadsNoTable(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		const count, batch = 5000, 80
		db := open(t)
		statuses, now := sipstore.Statuses{DB: db}, time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
		fillStatuses(t, db, count, func(i int) time.Time { return now.Add(-time.Duration(i%60) * time.Second) })
		if _, err := db.SQL().ExecContext(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
		var due []sip.Status
		seen := statements(t, db, func() (err error) {
			due, err = statuses.LeaseStatuses(t.Context(), now, now.Add(time.Minute), batch)
			return err
		})
		if len(seen) != 1 || len(due) != batch {
			t.Fatalf("%d statements leased %d", len(seen), len(due))
		}
		plan := explain(t, db, seen[0], true)
		reads := regexp.MustCompile(`Sort|TEMP|Seq Scan|SCAN status_row`).MatchString(plan)
		if reads || !strings.Contains(plan, "trunk_statuses_due") {
			t.Errorf("not by the index alone: %s\n%s", seen[0], plan)
		}
		seen = statements(t, db, func() error {
			return db.Do(t.Context(), func(ctx context.Context) error { return statuses.PutStatus(ctx, due[0]) })
		})
		plan = explain(t, db, seen[0], true)
		byKey := regexp.MustCompile(`trunk_statuses_pkey|autoindex_trunk_statuses_1 \(trunk_id=`).MatchString(plan)
		if len(seen) != 1 || !byKey {
			t.Errorf("not by the primary key alone: %d statements\n%s", len(seen), plan)
		}
	})
}
