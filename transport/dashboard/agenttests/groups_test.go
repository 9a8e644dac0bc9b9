package agenttests_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/scenario"
)

func TestBatches(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/batches", "There are no batches yet")
	sc := h.scenario("<script>alert(1)</script>", func(*scenario.Scenario) {})
	b, runs, err := h.tests.StartBatch(t.Context(), org, agenttest.BatchRequest{Scenarios: []string{sc.ID}, Trigger: agenttest.ByCI})
	h.check(err)
	at := "/tests/batches/" + b.ID
	h.want(http.StatusOK, "/tests/batches?trigger_source=ci&pathway_id=p1", at, "pending", "p1", "data-live")
	h.want(http.StatusOK, "/tests/batches?status=PASSED", "None matches", "!"+b.ID)
	h.want(http.StatusOK, "/tests/batches?page=2", "!"+b.ID)
	h.want(http.StatusUnprocessableEntity, "/tests/batches?trigger_source=wind", `id="fault-trigger_source"`)
	h.want(http.StatusBadRequest, "/tests/batches?page=0")
	h.want(http.StatusOK, at, "0 of 1 runs have ended.", runs[0].ID, "&lt;script&gt;alert", "!<script>alert", "data-live", "Cancel the runs")
	h.want(http.StatusOK, "/tests/groups/"+b.ID, "<h1>Batch</h1>")
	h.want(http.StatusOK, "/tests/runs/"+runs[0].ID, "/tests/groups/"+b.ID)
	h.post(at, at+"/cancel", url.Values{}, http.StatusOK, "The batch is being cancelled.", "It is being cancelled.", "cancelled by a request")
	for _, path := range []string{"/tests/batches/none", "/tests/sets/" + b.ID, "/tests/groups/none"} {
		h.want(http.StatusNotFound, path)
	}
}

func TestSets(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/sets", "There are no simulation sets yet")
	sc := h.scenario("Pays", func(*scenario.Scenario) {})
	from := "/tests/scenarios/" + sc.ID
	h.post(from, from+"/runs", url.Values{"simulations_per_scenario": {"8"}}, http.StatusOK, "<h1>Simulation set</h1>", "0 of 8 runs have ended.", "dashboard")
	sets, more, err := h.tests.PageBatches(t.Context(), org, agenttest.BatchFilter{Kind: agenttest.Simulations})
	if err != nil || more || len(sets) != 1 {
		t.Fatalf("%d sets, %t, %v", len(sets), more, err)
	}
	at := "/tests/sets/" + sets[0].ID
	for i := range 6 {
		h.run(fmt.Sprint("r", i), func(r *agenttest.Run) {
			if r.Batch, r.Scenario, r.Trial = sets[0].ID, sc.ID, 10+i; i == 0 {
				r.State, r.Result.Failure = agenttest.Failed, &agenttest.Failure{Assertion: "a", Reason: "<b>no card"}
			}
		})
	}
	h.want(http.StatusOK, at, "83.3 %", "43.6 % to 97.0 %", "flaky", "1 × ", "&lt;b&gt;no card", "/tests/runs/r0", "data-live", "!<b>no card")
	h.want(http.StatusOK, "/tests/groups/"+sets[0].ID, "<h1>Simulation set</h1>")
	h.want(http.StatusOK, "/tests/sets", at)
	h.post(at, at+"/cancel", url.Values{}, http.StatusOK, "The simulation set is being cancelled.")
}

func TestAnalytics(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/analytics", "No pathway has scenarios yet")
	sc := h.scenario("<script>alert(1)</script>", func(*scenario.Scenario) {})
	h.want(http.StatusOK, "/tests/analytics", `href="/tests/analytics?pathway_id=p1"`, "1 scenario")
	h.want(http.StatusOK, "/tests/analytics?pathway_id=p1", "No run of these days has ended")
	for i := range 6 {
		h.run(fmt.Sprint("r", i), func(r *agenttest.Run) {
			r.Scenario, r.CreatedAt = sc.ID, time.Now().Add(-time.Hour)
			if r.Summary = analytics.NewSummary(new(0.75), []string{"start", "<b>paid"}, ""); i == 0 {
				r.State, r.Summary = agenttest.Failed, analytics.NewSummary(new(0.0), []string{"start", "<b>paid"}, "<b>paid")
			}
		})
	}
	h.want(http.StatusOK, "/tests/analytics?pathway_id=p1&days=7", "83.3 %", "6 runs have ended", "stable", "<svg", "1 of 6 scored runs", "&lt;b&gt;paid",
		"&lt;script&gt;alert", "Passed", "!<script>alert", "!<b>paid")
	h.want(http.StatusUnprocessableEntity, "/tests/analytics?pathway_id=p1&days=1000", `id="fault-days"`, `value="1000"`)
	h.want(http.StatusUnprocessableEntity, "/tests/analytics?pathway_id=p1&days=week", "must be a whole number")
	h.want(http.StatusNotFound, "/tests/analytics?pathway_id=p2", `id="fault-pathway_id"`)
}
