package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
)

// makeHeld stores a passed run in which the agent asks for a day twice, the second time in other words, and returns its id.
func makeHeld(w *world) string {
	t := w.h.t
	t.Helper()
	id, _ := at(t, w.do(202, "POST", "/v1/agent-testing/scenarios/$scenario/run", `{"version_number":1}`), "data", "run_id").(string)
	r := must(w.h.testStore().Run(t.Context(), w.org, id))
	r.State, r.EndedAt = run.Passed, r.CreatedAt
	r.Outcome = &engine.Outcome{
		Verdict: engine.Passed, Turns: []engine.Turn{{Index: 0, Node: "greeting"}, {Index: 2, Node: "greeting"}},
		Evidence: assert.Evidence{End: assert.EndMaxTurns, Turns: []assert.Turn{
			{Role: llm.RoleAgent, Text: "Which day suits you, ?"}, {Role: llm.RoleCaller, Text: "Hm."}, {Role: llm.RoleAgent, Text: "Which day?"},
		}},
	}
	if err := w.h.testStore().UpdateRuns(t.Context(), []run.Run{r}); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRunIsReplayedAsAChat(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	got := w.do(201, "POST", "/v1/agent-testing/runs/$held/replay", "")["data"].(map[string]any)
	chat, _ := got["chat_id"].(string)
	words := at(t, got, "words_divergence", "actual").(string)
	like(t, got, `{"chat_id":"$chat","pathway_id":"$pathway","pathway_version":1,"completed":false,"turns_replayed":1,"turn_count":1,
		"diverged_at":2,"node_divergence":null,"words_divergence":{"turn":2,"expected":"Which day?","actual":"`+words+`"}}`,
		"$chat", chat, "$pathway", w.id("pathway"))
	next := w.do(200, "POST", "/v1/pathway/chat/"+chat, `{"message":"Tuesday."}`)["data"].(map[string]any)
	if history := next["chat_history"].([]any); len(history) < 5 || at(t, history, 1, "content") != "Hm." || next["pathway_version"] != 1.0 {
		t.Errorf("the chat goes on to %v", next)
	}
}

func TestReplaysThatCannotBe(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	refused := func(status int, code, target, message string) {
		t.Helper()
		answer := w.do(status, "POST", "/v1/agent-testing/runs/"+target+"/replay", "")
		if text, _ := at(t, answer, "errors", 0, "message").(string); at(t, answer, "errors", 0, "error") != code || text != message {
			t.Errorf("%s: %v, want %s: %s", target, answer, code, message)
		}
	}
	refused(404, "NOT_FOUND", "nowhere", "run not found")
	refused(409, "INVALID_STATE", "$run", "the run has not ended: wait until it ends")
	silent := must(h.testStore().Run(t.Context(), w.org, w.id("held")))
	silent.ID, silent.Outcome, silent.Revision = "silent", nil, 1
	if err := h.testStore().InsertRuns(t.Context(), []run.Run{silent}); err != nil {
		t.Fatal(err)
	}
	refused(409, "INVALID_STATE", "silent", "nothing was said in the run")
	w.do(http.StatusOK, "DELETE", "/v1/pathway/$pathway/version/1", "")
	refused(409, "INVALID_STATE", "$held", "version 1 of the pathway, which the run has tested, was deleted")
}
