package httpapi_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/run"
)

func TestListOfBatches(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	w.id("set")
	start := func(body string) string {
		return at(t, w.do(202, "POST", "/v1/agent-testing/batch-run", body), "data", "batch_id").(string)
	}
	first := w.id("batch")
	second := start(`{"scenario_ids":["$scenario"],"version_number":1,"budget":{"tokens":5000},"concurrency":3}`)
	spoken := start(`{"scenario_ids":["$spoken"]}`)
	end(w, run.Filter{Batch: first}, func(int) bool { return true })
	names := map[string]string{first: "first", second: "second", spoken: "spoken"}
	for query, want := range map[string]string{
		"": "spoken second first", "?limit=1": "spoken", "?limit=1&offset=1": "second", "?offset=9": "", "?persona_id=$persona": "spoken",
		"?pathway_id=$pathway": "second first", "?pathway_id=$pathway&limit=1": "second", "?pathway_id=nowhere": "", "?status=PENDING": "spoken second first",
		"?status=PASSED": "",
	} {
		got := checked(w, "/batches"+query)
		var found []string
		for _, b := range at(t, got, "data", "batches").([]any) {
			found = append(found, names[at(t, b, "id").(string)])
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%q gives %q, want %q", query, got, want)
		}
		if total := at(t, got, "data", "total_count"); strings.Contains(query, "limit") && total.(float64) <= 1 || query == "?offset=9" && total != 3.0 {
			t.Errorf("%q counts %v", query, total)
		}
	}
	b := at(t, checked(w, "/batches?limit=1&offset=1"), "data", "batches", 0).(map[string]any)
	delete(b, "created_at")
	like(t, b, `{"id":"$id","status":"PENDING","pathway_id":"$pathway","persona_id":null,"version_number":1,"total_scenarios":1,"passed_scenarios":0,
		"failed_scenarios":0,"error_scenarios":0,"cancelled_scenarios":0,"trigger_source":"api","publish_on_pass":false,"usage":[],"cost":null,
		"budget":{"tokens":5000},"concurrency":3,"stop_reason":null,"stop_message":null,"completed_at":null}`, "$id", second, "$pathway", w.id("pathway"))
}

func TestListOfSets(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	w.id("batch")
	start := func(body string) string {
		return at(t, w.do(202, "POST", "/v1/agent-testing/simulation-sets", body), "data", "simulation_set_id").(string)
	}
	first := start(`{"scenario_ids":["$scenario"],"simulations_per_scenario":3,"version_number":1}`)
	spoken := start(`{"scenario_ids":["$spoken"],"simulations_per_scenario":2}`)
	names := map[string]string{first: "first", spoken: "spoken"}
	for query, want := range map[string]string{
		"": "spoken first", "?limit=1&offset=1": "first", "?persona_id=$persona": "spoken", "?pathway_id=$pathway": "first", "?status=CANCELLED": "",
		"?trigger_source=tornado": "",
	} {
		var found []string
		for _, b := range at(t, checked(w, "/simulation-sets"+query), "data", "simulation_sets").([]any) {
			found = append(found, names[at(t, b, "id").(string)])
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%q gives %q, want %q", query, got, want)
		}
	}
	s := at(t, checked(w, "/simulation-sets?pathway_id=$pathway"), "data", "simulation_sets", 0).(map[string]any)
	delete(s, "created_at")
	like(t, s, `{"id":"$id","status":"PENDING","pathway_id":"$pathway","persona_id":null,"version_number":1,"simulations_per_scenario":3,
		"total_scenarios":1,"total_runs":3,"passed_runs":0,"failed_runs":0,"error_runs":0,"cancelled_runs":0,"usage":[],"cost":null,"budget":null,
		"concurrency":null,"stop_reason":null,"stop_message":null,"completed_at":null}`, "$id", first, "$pathway", w.id("pathway"))
}
