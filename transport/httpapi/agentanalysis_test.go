package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
)

// makeLost stores a failed run whose failure is attributed to the node "greeting", and returns its id.
func makeLost(w *world) string {
	t := w.h.t
	t.Helper()
	id, _ := at(t, w.do(202, "POST", "/v1/agent-testing/scenarios/$scenario/run", `{"version_number":1}`), "data", "run_id").(string)
	r := must(w.h.testStore().Run(t.Context(), w.org, id))
	r.State, r.EndedAt = run.Failed, r.CreatedAt
	r.Outcome = &engine.Outcome{
		Verdict: engine.Failed, Blame: "greeting",
		Evidence: assert.Evidence{
			End: assert.EndMaxTurns, Turns: []assert.Turn{{Role: llm.RoleAgent, Text: "Which day?"}}, Visits: []assert.Visit{{Node: "greeting", Turn: -1}},
			Graph: assert.Graph{"greeting": {Name: "Greeting"}},
		},
		Results: []assert.Result{{Name: "Says goodbye", Type: assert.NodeReached, Required: true, Weight: 1, Outcome: assert.Failed, Reasoning: "it was not reached"}},
	}
	if err := w.h.testStore().UpdateRuns(t.Context(), []run.Run{r}); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRunIsAnalyzed(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	const analyze = "/v1/agent-testing/runs/$lost/analyze"
	like(t, w.do(200, "POST", analyze, "")["data"], `{"analysis":{"root_cause":"\"Says goodbye\" (NODE_REACHED) has failed: it was not reached",
		"suggestions":[],"node_id_to_name":{"greeting":"Greeting"},"fault":"agent","blamed_node_id":"greeting","analyzed_by":"rules"}}`)
	var read string
	h.writer.Answers = func(_ context.Context, q llm.Question) (string, error) {
		read = string(q.Evidence)
		return `{"cause":"The greeting leads nowhere.","fault":"agent","node":"greeting","suggestions":[
			{"type":"flow_change","node":"greeting","description":"Lead on.","change":"An edge to the goodbye.","confidence":0.7}]}`, nil
	}
	like(t, w.do(200, "POST", analyze, "")["data"], `{"analysis":{"root_cause":"The greeting leads nowhere.",
		"suggestions":[{"type":"flow_change","target_node_id":"greeting","target_node_name":"$name","description":"Lead on.",
		"suggested_change":"An edge to the goodbye.","confidence":0.7}],"node_id_to_name":{"greeting":"$name"},"fault":"agent",
		"blamed_node_id":"greeting","analyzed_by":"fake"}}`, "$name", "Greeting")
	if !strings.Contains(read, "greeting") || strings.Contains(read, "https://") {
		t.Errorf("the model reads %s", read)
	}
	testError(w, 404, "NOT_FOUND", "", "POST", "/runs/nowhere/analyze", "")
	testError(w, 409, "INVALID_STATE", "", "POST", "/runs/$run/analyze", "")
	testError(w, 409, "INVALID_STATE", "", "POST", "/runs/$held/analyze", "")
	h.writer.Answers = func(context.Context, llm.Question) (string, error) {
		return "", &llm.Failure{Class: llm.ClassRateLimited, Message: "slow down", RetryAfter: time.Hour}
	}
	testError(w, 429, "TOO_MANY_REQUESTS", "", "POST", "/runs/$lost/analyze", "")
	h.writer.Answers = func(context.Context, llm.Question) (string, error) { return "I cannot tell.", nil }
	testError(w, 503, "SERVICE_UNAVAILABLE", "", "POST", "/runs/$lost/analyze", "")
}
