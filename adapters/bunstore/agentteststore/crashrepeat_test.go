package agentteststore_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/run"
)

// TestCrashesWithRepeatableModels kills the process that executes a batch and a simulation set, every few hundred events. The models of the
// runs are llm.Repeatable, so no answer is ever stored. In the end each run exists once, with the conversation and the spending of an
// uninterrupted run.
func TestCrashesWithRepeatableModels(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*crashSeed, 2))
	folder := t.TempDir()
	if crashWorker(t, crashPlan{Folder: folder, Events: -1, Repeats: true}) {
		t.Fatal("the first worker was killed")
	}
	// Each attempt starts a run over. A worker therefore lives for at least 1.5 times as many events as the runs that it takes over cause.
	const least = 3 * crashCalls * run.DefaultPerOrg
	kills, interrupted := 0, 0
	for crashWorker(t, crashPlan{Folder: folder, Birth: kills + 1, Events: least + random.IntN(least/2), Repeats: true}) {
		kills++
		if interrupted += checkNothingIsKept(t, folder); kills > 100 {
			t.Fatal("the runs get nowhere")
		}
	}
	if kills < 5 || interrupted < kills {
		t.Errorf("%d workers were killed, with %d runs under way", kills, interrupted)
	}
	diary, err := os.ReadFile(folder + "/diary")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for line := range strings.Lines(string(diary)) {
		if key, ok := strings.CutPrefix(line, "asked "); ok {
			asked[key] = true
		}
	}
	if want := (crashScenarios + crashRepeated*crashTimes) * crashCalls; len(asked) != want {
		t.Errorf("%d different calls were made, want %d", len(asked), want)
	}
	checkRuns(t, folder, string(diary))
}

// checkNothingIsKept fails the test if answers of a running run are stored, and returns the number of running runs.
func checkNothingIsKept(t *testing.T, folder string) int {
	t.Helper()
	store := openCrash(t, folder)
	defer func() { _ = store.DB.Close() }()
	runs, err := store.FindRuns(t.Context(), crashOrg, run.Filter{States: []run.State{run.Running}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if answers, err := store.Answers(t.Context(), crashOrg, r.ID); err != nil || len(answers) != 0 {
			t.Errorf("the run %s keeps %d answers, %v", r.ID, len(answers), err)
		}
	}
	return len(runs)
}
