package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
)

// endedRuns stores runs of the scenario that were created the given time ago. There is one run per state, each with a path through the
// pathway.
func endedRuns(w *world, ago time.Duration, states ...run.State) {
	w.h.t.Helper()
	runs, now := make([]run.Run, len(states)), time.Now()
	for i, state := range states {
		score, path, blame := 1.0, []string{"greeting", "day", "greeting", "goodbye"}, ""
		if state == run.Failed {
			score, path, blame = 0.25, []string{"greeting", "day", "removed"}, "removed"
		}
		runs[i] = run.Run{
			ID: fmt.Sprint(w.id("scenario"), "-", ago, "-", i), Org: w.org, Scenario: w.id("scenario"), Name: "Books in a hurry",
			Pathway: w.id("pathway"), Version: 2, State: state, CreatedAt: now.Add(-ago - time.Duration(i)*time.Millisecond), EndedAt: now,
			Summary: analytics.NewSummary(&score, path, blame), Revision: 1,
		}
	}
	if err := w.h.testStore().InsertRuns(w.h.t.Context(), runs); err != nil {
		w.h.t.Fatal(err)
	}
}

func TestAnalyticsWithoutRuns(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	const basic = `"total_runs":0,"passed":0,"failed":0,"errors":0,"pass_rate":null,"failure_rate":null,"avg_score":null,"coverage":null,
		"excluded_scripted":0,"excluded_reason":null,"runs":[]`
	like(t, checked(w, "/analytics/$pathway")["data"], `{`+basic+`}`)
	like(t, checked(w, "/analytics/$pathway/enhanced?days=1")["data"], `{`+basic+`,"health_score":null,"reliability_score":null,
		"trend":{"weekly":"stable","daily_pass_rates":[]},"node_failure_heatmap":[],"unplaced_failures":0,"weakest_link":null,"sankey_data":{"nodes":[],"links":[]}}`)
}

func TestAnalytics(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	endedRuns(w, 0, run.Passed, run.Failed, run.Failed, run.Failed, run.Failed, run.Failed, run.Error, run.Cancelled)
	endedRuns(w, 40*24*time.Hour, run.Passed, run.Passed)
	scripted := must(h.testStore().FindRuns(t.Context(), w.org, run.Filter{States: []run.State{run.Cancelled}, Limit: 1}))[0]
	scripted.ID, scripted.Scripted, scripted.State = "scripted", true, run.Passed
	if err := h.testStore().InsertRuns(t.Context(), []run.Run{scripted}); err != nil {
		t.Fatal(err)
	}
	w.id("run") // this run stays pending

	got := checked(w, "/analytics/$pathway")["data"].(map[string]any)
	runs := got["runs"].([]any)
	first := runs[0].(map[string]any)
	if len(runs) != 8 || first["scenario_name"] != "Books in a hurry" || first["status"] != "PASSED" || first["score"] != 1.0 ||
		at(t, runs, 7, "status") != "CANCELLED" {
		t.Errorf("the runs are %v", runs)
	}
	delete(got, "runs")
	const basic = `"total_runs":8,"passed":1,"failed":5,"errors":1,"pass_rate":0.16666666666666666,"failure_rate":0.8333333333333334,
		"avg_score":0.375,"coverage":0.75,"excluded_scripted":1,"excluded_reason":"No language model took part in 1 run. Without one, only recorded conversations count whose pathway decides by rules alone; include_scripted=true counts all."`
	like(t, got, `{`+basic+`}`)
	for query, want := range map[string]float64{"?days=1": 8, "?days=60": 10, "?include_scripted=true": 9, "?days=365&include_scripted=true": 11} {
		for _, kind := range []string{"", "/enhanced"} {
			if n := at(t, checked(w, "/analytics/$pathway"+kind+query), "data", "total_runs"); n != want {
				t.Errorf("%s%s has %v runs, want %v", kind, query, n, want)
			}
		}
	}

	got = checked(w, "/analytics/$pathway/enhanced")["data"].(map[string]any)
	if health, ok := got["health_score"].(float64); !ok || health < 0.36 || health > 0.37 {
		t.Errorf("the health is %v", got["health_score"])
	}
	days := at(t, got, "trend", "daily_pass_rates").([]any)
	count := 0.0
	for _, d := range days {
		count += at(t, d, "count").(float64)
	}
	if count != 6 || len(days) > 2 { // two days if the test runs around midnight
		t.Errorf("the days are %v", days)
	}
	like(t, got["weakest_link"], `{"node_id":"removed","node_name":"removed","failure_rate":1}`)
	like(t, at(t, got, "node_failure_heatmap", 0), `{"node_id":"removed","node_name":"removed","failure_count":5,"total_traversals":5,"failure_rate":1}`)
	sankey := got["sankey_data"].(map[string]any)
	like(t, at(t, sankey, "nodes", 0), `{"id":"s:$scenario","name":"Books in a hurry","type":"scenario","category":"scenario"}`, "$scenario", w.id("scenario"))
	like(t, at(t, sankey, "nodes", 3), `{"id":"n3:removed","name":"removed","type":"unknown","category":"end"}`)
	if node := at(t, sankey, "nodes", 1).(map[string]any); node["id"] != "n1:greeting" || node["category"] != "start" || node["type"] != "Default" || node["name"] != "Greeting" {
		t.Errorf("the first node is %v", node)
	}
	like(t, at(t, sankey, "links", 0), `{"source":"s:$scenario","target":"n1:greeting","value":8,"pass_count":1,"fail_count":5,"error_count":2}`,
		"$scenario", w.id("scenario"))
	if n := at(t, got, "reliability_score"); fmt.Sprint(n) != "0.666666667" {
		t.Errorf("the reliability is %v", n)
	}
}

func TestAnalyticsThatAreRefused(t *testing.T) {
	t.Parallel()
	all := &worlds{h: open(t)}
	w, other := all.next(), all.next()
	for _, kind := range []string{"", "/enhanced"} {
		testError(w, http.StatusNotFound, "NOT_FOUND", "pathway_id", "GET", "/analytics/nothing"+kind, "")
		for _, query := range []string{"days=0", "days=366", "days=-1", "days=x"} {
			testError(w, http.StatusBadRequest, "BAD_REQUEST", "days", "GET", "/analytics/$pathway"+kind+"?"+query, "")
		}
		testError(other, http.StatusNotFound, "NOT_FOUND", "pathway_id", "GET", "/analytics/"+w.id("pathway")+kind, "")
	}
}
