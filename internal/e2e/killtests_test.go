package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/callwright/callwright/internal/await"
)

// tester is a writer that starts and cancels agent tests.
type tester struct {
	scenario string
	random   *rand.Rand
	tests    []*test
}

// test is a requested run, batch or simulation set.
type test struct {
	request
	runs  int    // expected number of runs
	id    string // empty if the request got no answer
	first answer

	cancelled bool // its cancellation was requested
}

// scenarioOf is the request body for a scenario that passes with the pathway of graphOf.
const scenarioOf = `{"pathway_id":%q,"name":"of tests","scenario_type":"REPLAY",
	"input_messages":[{"role":"user","content":"first"},{"role":"user","content":"second"}],
	"assertions":[{"type":"TRAVERSAL_MATCH","config":{"reference_path":["begin","one","two"],"mode":"exact"}}]}`

// newTester creates version 1 of a pathway and a scenario for it.
func newTester(t *testing.T, g *target, pathway string, random *rand.Rand) *tester {
	t.Helper()
	version := request{op: "createPathwayVersion", target: "/v1/pathway/" + pathway + "/version", body: `{"name":"first",` + graphOf + `}`}
	if _, ok := g.write(t.Context(), version); !ok {
		t.Fatal("no version")
	}
	made, ok := g.write(t.Context(), requestOf("createTestScenario", fmt.Sprintf(scenarioOf, pathway)))
	var scenario struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(made.body), &scenario); err != nil || !ok || scenario.Data.ID == "" {
		t.Fatalf("the scenario of the tests: %+v", made)
	}
	return &tester{scenario: scenario.Data.ID, random: random}
}

// tell first repeats earlier requests: all without an answer, and some others. It then requests a run, a batch and a set, and cancels some
// of them.
func (w *tester) tell(ctx context.Context, g *target) bool {
	for _, o := range w.tests {
		if (o.id == "" || w.random.IntN(4) == 0) && !w.place(ctx, g, o) {
			return false
		}
	}
	for _, o := range []*test{
		{request: request{op: "startTestRun", target: "/v1/agent-testing/scenarios/" + w.scenario + "/run", body: `{"version_number":1}`}, runs: 1},
		{request: requestOf("startTestBatch", fmt.Sprintf(`{"scenario_ids":[%q],"version_number":1}`, w.scenario)), runs: 1},
		{request: requestOf("createTestSet", fmt.Sprintf(`{"scenario_ids":[%q],"version_number":1,"simulations_per_scenario":5}`, w.scenario)), runs: 5},
	} {
		o.key = fmt.Sprint("test ", len(w.tests))
		w.tests = append(w.tests, o)
		if !w.place(ctx, g, o) {
			return false
		}
		// cancel accepts a conflict, because the test may have ended.
		if o.cancelled = w.random.IntN(4) == 0; o.cancelled && !w.cancel(ctx, g, o) {
			return false
		}
	}
	return true
}

// cancels maps each operation that starts a test to the operation that cancels the test.
var cancels = map[string]request{
	"startTestRun":   {op: "cancelTestRun", target: "/v1/agent-testing/runs/%s/cancel"},
	"startTestBatch": {op: "cancelTestBatch", target: "/v1/agent-testing/batches/%s/cancel"},
	"createTestSet":  {op: "cancelTestSet", target: "/v1/agent-testing/simulation-sets/%s/cancel"},
}

// cancel requests the cancellation of a test. It returns false if the server was killed.
func (w *tester) cancel(ctx context.Context, g *target, o *test) bool {
	r := cancels[o.op]
	r.target = fmt.Sprintf(r.target, o.id)
	_, ok := g.write(ctx, r, http.StatusConflict)
	return ok
}

// place sends the request of a test for the first time or again, and checks that the answer equals the first one. It returns false if the
// server was killed.
func (w *tester) place(ctx context.Context, g *target, o *test) bool {
	a, ok := g.write(ctx, o.request)
	if !ok {
		return false
	}
	if o.id != "" && a != o.first {
		g.t.Errorf("the test %s is answered with %+v; the first answer was %+v", o.key, a, o.first)
	}
	var begun struct {
		Data struct {
			Run   string `json:"run_id"`
			Batch string `json:"batch_id"`
			Set   string `json:"simulation_set_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &begun); err != nil {
		g.t.Errorf("the test %s is answered with %+v", o.key, a)
	}
	o.id, o.first = begun.Data.Run+begun.Data.Batch+begun.Data.Set, a
	return true
}

// testRun is a run in a list of the API.
type testRun struct {
	ID     string  `json:"id"`
	Status string  `json:"status"`
	Batch  *string `json:"batch_id"`
}

// check waits until all tests have ended. Each requested run must exist once, and must have passed unless its test was canceled. A canceled
// set may lack runs.
func (w *tester) check(t *testing.T, g *target) {
	t.Helper()
	var runs []testRun
	await.That(t, "all runs of tests to end", func() bool {
		runs = w.read(t, g)
		for _, r := range runs {
			if r.Status == "PENDING" || r.Status == "RUNNING" {
				return false
			}
		}
		return w.expanded(t, g)
	})
	ordered, of, seen := map[string]*test{}, map[*test]int{}, map[string]bool{}
	for _, o := range w.tests {
		ordered[o.id] = o
	}
	for _, r := range runs {
		id := r.ID
		if r.Batch != nil {
			id = *r.Batch
		}
		o := ordered[id]
		if o == nil || seen[r.ID] || r.Status != "PASSED" && (r.Status != "CANCELLED" || !o.cancelled) {
			t.Errorf("the run %s is %s; it was listed before: %t; its test is %+v", r.ID, r.Status, seen[r.ID], o)
		}
		seen[r.ID] = true
		of[o]++
	}
	for _, o := range w.tests {
		if of[o] != o.runs && (!o.cancelled || of[o] > o.runs) {
			t.Errorf("%s %s has %d runs, want %d", o.op, o.id, of[o], o.runs)
		}
	}
	w.groups(t, g)
}

// groupPaths maps the operations that start groups of runs to the paths of these groups.
var groupPaths = map[string]string{"startTestBatch": "batches/", "createTestSet": "simulation-sets/"}

// expanded reports whether every group has ended. If a server was killed while it added runs to a group, the group lacks runs until its
// task is rescued. So check must not rely on the runs alone.
func (w *tester) expanded(t *testing.T, g *target) bool {
	t.Helper()
	for _, o := range w.tests {
		path, ok := groupPaths[o.op]
		if !ok {
			continue
		}
		a, ok := g.read(t.Context(), "/v1/agent-testing/"+path+o.id)
		var group struct {
			Data struct {
				Status string `json:"status"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(a.body), &group); err != nil || !ok || !a.good() {
			t.Fatalf("%s %s is answered with %+v", o.op, o.id, a)
		}
		if group.Data.Status == "PENDING" || group.Data.Status == "RUNNING" {
			return false
		}
	}
	return true
}

// read returns the runs on all pages of the list.
func (w *tester) read(t *testing.T, g *target) (all []testRun) {
	t.Helper()
	for {
		a, ok := g.read(t.Context(), fmt.Sprintf("/v1/agent-testing/runs?limit=%d&offset=%d", pageSize, len(all)))
		var page struct {
			Data struct {
				Runs []testRun `json:"runs"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || !ok || !a.good() {
			t.Fatalf("the runs of tests are answered with %+v", a)
		}
		all = append(all, page.Data.Runs...)
		if len(page.Data.Runs) < pageSize {
			return all
		}
	}
}

// groups checks that every group that was not canceled has passed with all of its runs.
func (w *tester) groups(t *testing.T, g *target) {
	t.Helper()
	for _, o := range w.tests {
		path, ok := groupPaths[o.op]
		if !ok {
			continue
		}
		a, ok := g.read(t.Context(), "/v1/agent-testing/"+path+o.id)
		var group struct {
			Data struct {
				Status     string `json:"status"`
				Passed     int    `json:"passed_scenarios"`
				Statistics struct {
					Overall struct {
						Runs int `json:"total_runs"`
					} `json:"overall"`
				} `json:"statistics"`
			} `json:"data"`
		}
		err := json.Unmarshal([]byte(a.body), &group)
		if group.Data.Status == "CANCELLED" && o.cancelled {
			continue
		}
		if err != nil || !ok || group.Data.Status != "PASSED" || group.Data.Passed+group.Data.Statistics.Overall.Runs != o.runs {
			t.Errorf("%s %s of %d runs is answered with %+v", o.op, o.id, o.runs, a)
		}
	}
}
