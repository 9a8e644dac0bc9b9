package agentteststore_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/node"
)

// tornadoCrashes is the number of times that TestTornadoCrashes kills a worker.
const tornadoCrashes = 30

// TestTornadoCrashes kills the process that executes a session, thirty times: before or after any change of the session in its store, and
// any question to its fixer. The test also kills during runs, except during the last attempt of a run. The result equals the result of a
// session without kills, its runs and versions exist once, and no stored plan was requested again.
func TestTornadoCrashes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*crashSeed, 2))
	sound := t.TempDir()
	for birth := range 2 {
		if crashWorker(t, crashPlan{Folder: sound, Birth: birth, Events: -1, Tornado: true}) {
			t.Fatal("a worker was killed that should live")
		}
	}
	want := tornadoEnd(t, sound)
	if want.session.State != tornado.AllPassed || want.asked != 2*tornadoDefects || len(want.discarded) != tornadoDefects {
		t.Fatalf("without crashes: %+v", want)
	}
	folder := t.TempDir()
	if crashWorker(t, crashPlan{Folder: folder, Events: -1, Tornado: true}) {
		t.Fatal("the first worker was killed")
	}
	birth := 1
	for ; birth <= tornadoCrashes; birth++ {
		plan := crashPlan{Folder: folder, Birth: birth, Events: 1 + random.IntN(4), Tornado: true}
		if atLastAttempt(t, folder) {
			plan.Lives = node.LeaseTTL + 2*time.Second // long enough for the lease to expire and for the run, which lasts a second
		} else {
			plan.AnyTime = birth%5 == 0
		}
		if !crashWorker(t, plan) {
			t.Fatalf("there was nothing left to do for worker %d", birth)
		}
	}
	if crashWorker(t, crashPlan{Folder: folder, Birth: birth, Events: -1, Tornado: true}) {
		t.Fatal("the last worker was killed")
	}
	got := tornadoEnd(t, folder)
	t.Logf("%d questions to the fixer, %d without crashes", got.asked, want.asked)
	got.asked = want.asked // questions in progress at a kill are asked again
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwithout crashes: %+v", got, want)
	}
}

// atLastAttempt reports whether the next worker will start the last attempt of a run that run.MaxAttempts allows.
func atLastAttempt(t *testing.T, folder string) bool {
	t.Helper()
	store := openCrash(t, folder)
	defer func() { _ = store.DB.Close() }()
	runs, err := store.FindRuns(t.Context(), crashOrg, run.Filter{States: []run.State{run.Running}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(runs, func(r run.Run) bool { return r.Attempt >= run.MaxAttempts-1 })
}

// tornadoOutcome is the result of a session. It contains no times and ids, so that two sessions can be compared.
type tornadoOutcome struct {
	session   tornado.Progress
	runs      map[string]int // counts by scenario, version, trial and state
	versions  int
	discarded []int
	asked     int
}

// tornadoEnd reads the stored result of the only session. It fails the test if steps of the session are left.
func tornadoEnd(t *testing.T, folder string) tornadoOutcome {
	t.Helper()
	db, err := crashDatabase(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	sessions, err := agentteststore.Sessions{DB: db}.FindSessions(t.Context(), crashOrg, tornado.Filter{Limit: 10})
	if err != nil || len(sessions) != 1 {
		t.Fatalf("there are %d sessions, %v", len(sessions), err)
	}
	session := sessions[0]
	if steps, err := (agentteststore.Sessions{DB: db}).Steps(t.Context(), crashOrg, session.ID); err != nil || len(steps) > 0 {
		t.Errorf("%d steps are left, %v", len(steps), err)
	}
	runs, err := agentteststore.Store{DB: db}.FindRuns(t.Context(), crashOrg, run.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	out := tornadoOutcome{session: session.Progress, runs: map[string]int{}}
	names := map[string]string{} // scenario names by id, because ids differ between sessions
	for _, r := range runs {
		names[r.Scenario] = r.Name
		out.runs[fmt.Sprintf("%s, version %d, trial %d: %s", r.Name, r.Version, r.Trial, r.State)]++
	}
	named := func(ids []string) (list []string) {
		for _, id := range ids {
			list = append(list, names[id])
		}
		return list
	}
	p := &out.session
	p.Passed, p.Failed, p.Unfixable = named(p.Passed), named(p.Failed), named(p.Unfixable)
	for i := range p.Iterations {
		it := &p.Iterations[i]
		it.Started, it.Completed, it.Trials = time.Time{}, time.Time{}, nil
		it.Passed, it.Failed, it.Unfixable = named(it.Passed), named(it.Failed), named(it.Unfixable)
		it.Reason = "" // contains ids
	}
	s := shelf{folder}
	versions, err := s.all()
	if err != nil {
		t.Fatal(err)
	}
	out.versions = len(versions)
	for _, v := range versions {
		if v.Archived {
			out.discarded = append(out.discarded, v.Number)
		}
	}
	slices.Sort(out.discarded)
	out.asked = askedForPlans(t, folder)
	return out
}
