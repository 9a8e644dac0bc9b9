package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
)

func TestTestsAreCancelled(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	cancel := func(status int, target string) map[string]any {
		t.Helper()
		return w.do(status, "POST", "/v1/agent-testing"+target+"/cancel", "")
	}
	// A waiting run is canceled immediately. The runs of a group are canceled a moment later, and until then the group may be canceled
	// again.
	like(t, cancel(200, "/runs/$run"), `{"data":{"cancelled":true},"errors":null}`)
	if got := checked(w, "/runs/$run")["data"].(map[string]any); got["status"] != "CANCELLED" || got["completed_at"] == nil {
		t.Errorf("the run is %v", got)
	}
	testError(w, 409, "INVALID_STATE", "", "POST", "/runs/$run/cancel", "")
	for kind, target := range map[string]string{"batch": "/batches/$batch", "set": "/simulation-sets/$set"} {
		for range 2 {
			like(t, cancel(200, target), `{"data":{"cancelled":true},"errors":null}`)
		}
		if got := checked(w, target)["data"].(map[string]any); got["stop_reason"] != "cancelled" {
			t.Errorf("%s is %v", target, got)
		}
		b, err := h.testStore().Batch(t.Context(), w.org, w.id(kind))
		b.State = run.Cancelled
		if err := errors.Join(err, h.testStore().UpdateBatch(t.Context(), b)); err != nil {
			t.Fatal(err)
		}
		testError(w, 409, "INVALID_STATE", "", "POST", target+"/cancel", "")
	}
	for _, target := range []string{
		"/runs/nothing", "/batches/nothing", "/simulation-sets/nothing", "/batches/$set", "/simulation-sets/$batch", "/runs/$batch",
	} {
		testError(w, 404, "NOT_FOUND", "", "POST", target+"/cancel", "")
	}
}

func TestTestsHaveLimits(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	const limits = `"budget":{"tokens":5000},"concurrency":3`
	for target, body := range map[string]string{
		"/scenarios/$scenario/run": `{"budget":{"tokens":5000}}`, "/batch-run": `{"scenario_ids":["$scenario"],` + limits + `}`,
		"/simulation-sets": `{"scenario_ids":["$scenario"],"simulations_per_scenario":2,` + limits + `}`,
	} {
		data := w.do(202, "POST", "/v1/agent-testing"+target, body)["data"].(map[string]any)
		read := map[string]string{"run_id": "/runs/", "batch_id": "/batches/", "simulation_set_id": "/simulation-sets/"}
		for member, path := range read {
			id, _ := data[member].(string)
			if id == "" {
				continue
			}
			got := checked(w, path+id)["data"].(map[string]any)
			like(t, got["budget"], `{"tokens":5000}`)
			if member != "run_id" && got["concurrency"] != 3.0 {
				t.Errorf("%s: the concurrency is %v", target, got["concurrency"])
			}
		}
	}
	for _, target := range []string{"/scenarios/$scenario/run", "/batch-run", "/simulation-sets"} {
		begin := map[string]string{
			"/batch-run": `"scenario_ids":["$scenario"],`, "/simulation-sets": `"scenario_ids":["$scenario"],"simulations_per_scenario":2,`,
		}[target]
		for field, member := range map[string]string{
			"budget.tokens": `"budget":{"tokens":0}`, "budget.cost": `"budget":{"cost":2}`, "budget.calls": `"budget":{"calls":1}`,
		} {
			testError(w, 400, "BAD_REQUEST", field, "POST", target, `{`+begin+member+`}`)
		}
		for _, n := range []string{"0", "33"} {
			testError(w, 400, "BAD_REQUEST", "concurrency", "POST", target, `{`+begin+`"concurrency":`+n+`}`)
		}
	}
}

// TestGroupsTellWhatTheyHaveUsed checks the shown usage, cost and stop message of groups. The cost must be null, not 0, if a price is
// unknown or nothing was used.
func TestGroupsTellWhatTheyHaveUsed(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	const spent = "the budget is used up (121 of 120 tokens, cost %s of 0.0025, by the runs that have ended): start again with a larger budget"
	for kind, target := range map[string]string{"batch": "/batches/$batch", "set": "/simulation-sets/$set"} {
		for _, tt := range []struct {
			spend engine.Spend
			cost  any
		}{
			{engine.Spend{Tokens: 121, Cost: 1_250_000_000, Priced: 2}, 1.25}, {engine.Spend{Tokens: 121, Cost: 1_250_000_000, Priced: 1, Unpriced: 1}, nil},
			{engine.Spend{}, nil}, {engine.Spend{Tokens: 1, Priced: 1}, 0.0},
		} {
			b := must(h.testStore().Batch(t.Context(), w.org, w.id(kind)))
			b.Usage, b.Spend = engine.Usage{Caller: llm.Usage{Input: 100, Output: 20}, Judge: llm.Usage{Output: 1}}, tt.spend
			b.Budget, b.Cancel, b.Reason = engine.Limit{Tokens: 120, Cost: 2_500_000}, true, group.StoppedByBudget
			b.Counts.Cancelled = 1
			if err := h.testStore().UpdateBatch(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			got := checked(w, target)["data"].(map[string]any)
			like(t, got["usage"], `[{"role":"caller","input_tokens":100,"output_tokens":20},{"role":"judge","input_tokens":0,"output_tokens":1}]`)
			like(t, got["budget"], `{"tokens":120,"cost":0.0025}`)
			if message := fmt.Sprintf(spent, tt.spend.Cost); tt.spend.Tokens == 121 && got["stop_message"] != message {
				t.Errorf("the message is %q, want %q", got["stop_message"], message)
			}
			if got["cost"] != tt.cost || got["stop_reason"] != "budget" || kind == "batch" && got["cancelled_scenarios"] != 1.0 {
				t.Errorf("%+v: %v", tt.spend, got)
			}
		}
	}
}

// TestWebhookGetsTheBatchThatAReadAnswers checks that the body of a batch's webhook equals the data that a GET request for the batch
// returns.
func TestWebhookGetsTheBatchThatAReadAnswers(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	w.id("batch")
	end(w, run.Filter{Batch: w.id("batch")}, func(int) bool { return true })
	b, runs, err := h.areas.tests.GetBatch(t.Context(), w.org, w.id("batch"))
	if err != nil {
		t.Fatal(err)
	}
	sent := &outbox{}
	if err := agenttestapi.NewNotifier(sent).BatchEnded(t.Context(), "https://hook.example", b, runs); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	read := checked(w, "/batches/$batch")["data"]
	if err := json.Unmarshal([]byte(sent.body), &body); err != nil || fmt.Sprint(body) != fmt.Sprint(read) || sent.org != w.org || sent.id != b.ID ||
		sent.url != "https://hook.example" {
		t.Errorf("the webhook of %s at %s gets %s, %v; want %v", sent.id, sent.url, sent.body, err, read)
	}
	sent.err = errors.New("the receiver is down")
	if err := agenttestapi.NewNotifier(sent).BatchEnded(t.Context(), "https://hook.example", b, runs); !errors.Is(err, sent.err) {
		t.Errorf("a failed delivery gives %v", err)
	}
}
