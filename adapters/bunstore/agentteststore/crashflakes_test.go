package agentteststore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// TestCrashesWhileJudgingAgain kills, every few calls, the process that repeats the judgements of a set's runs. In the end the source of
// the variation is known, and no call was paid twice, except calls in progress at a kill.
func TestCrashesWhileJudgingAgain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*crashSeed, 1))
	const runs = 12
	folder := t.TempDir()
	if crashWorker(t, crashPlan{Folder: folder, Events: -1, Flaky: runs}) {
		t.Fatal("the first worker was killed")
	}
	const conversations = 2 * (2*crashTurns + 1 + 1) * runs // events of the runs before they are judged again
	birth := 1
	for ; crashWorker(t, crashPlan{Folder: folder, Birth: birth, Events: eventsOf(birth, conversations, random), Flaky: runs}); birth++ {
		if birth > 4*stats.JudgedAgain*runs {
			t.Fatal("the judge gets nowhere")
		}
	}
	// Each repeated judgement causes two events, a question and an answer, and a worker lives for at most mostJudged events.
	if least := 1 + (2*stats.JudgedAgain*runs-1)/mostJudged; birth-1 < least {
		t.Errorf("only %d workers were killed, want %d", birth-1, least)
	}
	text, err := os.ReadFile(folder + "/diary")
	if err != nil {
		t.Fatal(err)
	}
	checkJudgedAgain(t, strings.Split(strings.TrimSpace(string(text)), "\n"), runs)
	checkSource(t, folder)
}

// mostJudged is the maximum number of events before a worker that judges runs again kills itself.
const mostJudged = 4 * stats.JudgedAgain

// eventsOf returns the number of events after which a worker kills itself. Worker 1 lives until the runs have ended.
func eventsOf(birth, conversations int, random *rand.Rand) int {
	if birth == 1 {
		return conversations + 1
	}
	return 1 + random.IntN(mostJudged)
}

// checkJudgedAgain fails the test if a call was repeated more often than processes were killed while its run was judged, or if the number
// of different judgements is wrong.
func checkJudgedAgain(t *testing.T, lines []string, runs int) {
	t.Helper()
	calls, forgiven := map[string]int{}, map[string]int{} // forgiven counts kills during the judgement of a run
	last := ""
	for at, line := range lines {
		kind, key, _ := strings.Cut(line, " ")
		switch kind {
		case "asked":
			last = judgedRun(t, key)
			if calls[key]++; calls[key] > 1+forgiven[last] {
				t.Errorf("line %d: %s is paid again", at, key)
			}
		case "killed":
			forgiven[last]++
		}
	}
	again := 0
	for key := range calls {
		if strings.Contains(key, " judge/") {
			again++
		}
	}
	if want := runs * (1 + stats.JudgedAgain); again != want {
		t.Errorf("a judge was asked %d questions, want %d", again, want)
	}
}

// judgedRun returns the trial of the run to which a call's key belongs.
func judgedRun(t *testing.T, key string) string {
	t.Helper()
	var trial int
	if _, err := fmt.Sscanf(strings.TrimPrefix(key, flaky+"/"), "%d", &trial); err != nil {
		t.Fatalf("%q: %v", key, err)
	}
	return strconv.Itoa(trial % group.MaxSimulations)
}

// checkSource fails the test unless the set has ended, its statistics blame the agent or the caller for the variation, and its runs keep no
// answers.
func checkSource(t *testing.T, folder string) {
	t.Helper()
	store := openCrash(t, folder)
	defer func() { _ = store.DB.Close() }()
	list, err := store.FindRuns(t.Context(), crashOrg, run.Filter{Limit: 1000})
	if err != nil || len(list) == 0 {
		t.Fatalf("there are %d runs, %v", len(list), err)
	}
	for _, r := range list {
		if answers, err := store.Answers(t.Context(), crashOrg, r.ID); err != nil || len(answers) != 0 {
			t.Errorf("the run %s keeps %d answers, %v", r.ID, len(answers), err)
		}
	}
	b, err := store.Batch(t.Context(), crashOrg, list[0].Batch)
	if err != nil || !b.State.Ended() || b.Statistics == nil || b.Statistics.Scenarios[0].FlakeSource != stats.FromAgentOrCaller {
		t.Errorf("the set is %+v, %v", b, err)
	}
}
