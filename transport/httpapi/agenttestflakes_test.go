package httpapi_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/stats"
)

// TestSourceOfFlakes checks that a simulation set stores the request to attribute flakes, and shows the result.
func TestSourceOfFlakes(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	const body = `{"scenario_ids":["$scenario"],"simulations_per_scenario":2,"attribute_flakes":`
	for _, wanted := range []string{"false}", "true}"} {
		w.made["set"], _ = at(t, w.do(202, "POST", "/v1/agent-testing/simulation-sets", body+wanted), "data", "simulation_set_id").(string)
		if b := must(h.testStore().Batch(t.Context(), w.org, w.id("set"))); (b.Flakes != nil) != (wanted == "true}") {
			t.Errorf("attribute_flakes %s gives %+v", wanted, b.Flakes)
		}
	}
	for source, want := range map[stats.Source]any{
		stats.NoSource: nil, stats.FromJudge: "judge", stats.FromAgentOrCaller: "agent_or_caller", stats.FromErrors: "infrastructure",
	} {
		b := must(h.testStore().Batch(t.Context(), w.org, w.id("set")))
		b.Statistics = &group.Statistics{Scenarios: []stats.Scenario{{
			Requested: 2, Total: 2, Passed: 1, Failed: 1, IsFlaky: true, Confidence: stats.Low, Stability: stats.Flaky, FlakeSource: source,
		}}}
		if err := h.testStore().UpdateBatch(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		s := at(t, checked(w, "/simulation-sets/$set"), "data", "statistics", "per_scenario", w.id("scenario")).(map[string]any)
		if s["flake_source"] != want || s["passed"] != 1.0 {
			t.Errorf("the source %q gives %v", source, s)
		}
	}
}
