package agentteststore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// crashes is the number of times that TestCrashes kills a worker.
const crashes = 50

// mostEvents is the maximum number of events (questions to models, their answers, and notifications) before a worker kills itself. A worker
// with crashPlan.Spares may live longer.
const mostEvents = 40

// crashSeed determines the moments of the kills. Another value makes other kills.
var crashSeed = flag.Uint64("crashseed", 1, "seed of the moments at which TestCrashes kills")

// TestCrashes kills the process that executes a batch and a simulation set, fifty times, before or after any answer of a model. In the end
// each run exists once and has passed, and the groups have counted each run and call once. No call was paid twice, except the last call of
// a run before a kill, because its answer may not have been stored.
func TestCrashes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*crashSeed, 0))
	folder := t.TempDir()
	if killed := crashWorker(t, crashPlan{Folder: folder, Events: -1}); killed {
		t.Fatal("the first worker was killed")
	}
	birth := 1
	for i := range crashes {
		plan := crashPlan{Folder: folder, Birth: birth, Events: 1 + random.IntN(mostEvents), Spares: i%5 != 0}
		if !crashWorker(t, plan) {
			t.Fatalf("there was nothing left to do for worker %d", birth)
		}
		birth++
	}
	if crashWorker(t, crashPlan{Folder: folder, Birth: birth, Events: -1}) {
		t.Fatal("the last worker was killed")
	}
	text, err := os.ReadFile(folder + "/diary")
	if err != nil {
		t.Fatal(err)
	}
	checkDiary(t, strings.Split(strings.TrimSpace(string(text)), "\n"))
	checkRuns(t, folder, string(text))
}

// openCrash opens the store of the workers. The caller must close its database.
func openCrash(t *testing.T, folder string) agentteststore.Store {
	t.Helper()
	db, err := crashDatabase(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return agentteststore.Store{DB: db}
}

// crashWorker runs a worker process until it exits, and reports whether it was killed. If so, crashWorker records the kill in the diary.
func crashWorker(t *testing.T, plan crashPlan) (killed bool) {
	t.Helper()
	raw, err := json.Marshal(plan) //nolint:musttag // only this test reads it
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	worker := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestCrashWorker$", "-test.parallel=1")
	worker.Env = append(os.Environ(), crashEnv+"="+string(raw))
	var out bytes.Buffer
	worker.Stdout, worker.Stderr = &out, &out
	err = worker.Run()
	if err == nil {
		return false
	}
	if ctx.Err() != nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Fatalf("worker %d: %v\n%s", plan.Birth, err, out.String())
	}
	file, err := os.OpenFile(plan.Folder+"/diary", os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := fmt.Fprintln(file, "killed", plan.Birth); err != nil {
		t.Fatal(err)
	}
	return true
}

// crashCalls is the number of model calls in a run: the turns of the agent and the caller, and one call of the judge.
const crashCalls = 2*crashTurns + 1 + 1

// checkDiary fails the test if a repeated call was not the last call of its run, or if no process was killed between the call and its
// repetition. It also checks how many workers were killed and how many runs asked a model.
func checkDiary(t *testing.T, lines []string) {
	t.Helper()
	type last struct {
		key string
		at  int
	}
	lastOf, kills, repeated := map[string]last{}, 0, 0
	asked, birthOf := map[string]bool{}, map[string]int{}
	for at, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		if kind == "killed" {
			kills++
		}
		if kind != "asked" {
			continue
		}
		run, _, _ := strings.Cut(rest, " ")
		if asked[rest] {
			repeated++
			if before := lastOf[run]; before.key != rest || birthOf[rest] == kills {
				t.Errorf("line %d: %s is paid again; the last call of its run was %s, and %d were killed since", at, rest, before.key, kills-birthOf[rest])
			}
		}
		asked[rest], birthOf[rest], lastOf[run] = true, kills, last{rest, at}
	}
	runs := crashScenarios + crashRepeated*crashTimes
	if kills != crashes || len(lastOf) != runs {
		t.Errorf("%d were killed, %d runs asked a model; want %d, %d", kills, len(lastOf), crashes, runs)
	}
	t.Logf("%d different calls in %d runs, %d of them paid twice", len(asked), runs, repeated)
	if len(asked) != runs*crashCalls {
		t.Errorf("%d calls were made, want %d in each of %d runs", len(asked), crashCalls, runs)
	}
}

// checkRuns fails the test unless each run exists once, has passed with the expected turns and spending, and was counted in its group.
func checkRuns(t *testing.T, folder, diary string) {
	t.Helper()
	store := openCrash(t, folder)
	defer func() { _ = store.DB.Close() }()
	runs, err := store.FindRuns(t.Context(), crashOrg, run.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	seen, groups, tokens := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, r := range runs {
		trial := fmt.Sprint(r.Batch, r.Scenario, r.Trial)
		if seen[trial] || r.State != run.Passed {
			t.Errorf("the run %s of %s, trial %d, is %s: %q; it was there before: %t", r.ID, r.Name, r.Trial, r.State, r.Result.Error, seen[trial])
		}
		seen[trial] = true
		groups[r.Batch]++
		full, err := store.Run(t.Context(), crashOrg, r.ID)
		if err != nil || full.Outcome == nil || full.Outcome.Spend.Unpriced != crashCalls {
			t.Fatalf("the outcome of run %s is %+v, %v", r.ID, full.Outcome, err)
		}
		tokens[r.Batch] += full.Outcome.Spend.Tokens
		if turns := full.Outcome.Evidence.Turns; len(turns) != 2*crashTurns+1 {
			t.Errorf("the run %s has %d turns", r.ID, len(turns))
		}
		for i, turn := range full.Outcome.Evidence.Turns {
			if want := spokenInCrash([2]string{"agent", "caller"}[i%2], i, r.Trial); turn.Text != want {
				t.Errorf("turn %d of the run %s is %q, want %q", i, r.ID, turn.Text, want)
			}
		}
		if answers, err := store.Answers(t.Context(), crashOrg, r.ID); err != nil || len(answers) != 0 {
			t.Errorf("the run %s has ended and keeps %d answers, %v", r.ID, len(answers), err)
		}
	}
	if want := crashScenarios + crashRepeated*crashTimes; len(runs) != want || len(groups) != 2 {
		t.Errorf("there are %d runs in %d groups, want %d in 2", len(runs), len(groups), want)
	}
	for id, count := range groups {
		b, err := store.Batch(t.Context(), crashOrg, id)
		if err != nil || b.State != run.Passed || b.Counts.Ended() != count || b.Counts.Passed != count ||
			b.Spend != (engine.Spend{Tokens: tokens[id], Unpriced: count * crashCalls}) {
			t.Errorf("the group of %d runs: %+v, %v", count, b, err)
		}
		if b.Kind == group.OneEach && !strings.Contains(diary, "told "+id) {
			t.Error("nobody was told the end of the batch")
		}
	}
}
