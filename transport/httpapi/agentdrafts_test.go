package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// TestTemplates checks the list of templates, its filter, and the scenario that a clone creates.
func TestTemplates(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	all, _ := w.do(200, "GET", "/v1/agent-testing/templates", "")["data"].([]any)
	voicemail, _ := w.do(200, "GET", "/v1/agent-testing/templates?category=VOICEMAIL", "")["data"].([]any)
	if len(all) != 9 || len(voicemail) != 1 || at(t, voicemail[0], "id") != "tmpl_voicemail" || len(at(t, voicemail[0], "assertions").([]any)) == 0 {
		t.Fatalf("got %d templates, %v", len(all), voicemail)
	}
	const clone = "/v1/agent-testing/templates/tmpl_voicemail/clone"
	sc := at(t, w.do(201, "POST", clone, `{"pathway_id":"$pathway","max_turns":3,"start_node_id":"begin","request_data":{"a":1}}`), "data", "scenario")
	read := w.do(200, "GET", fmt.Sprint("/v1/agent-testing/scenarios/", at(t, sc, "id")), "")["data"]
	for name, want := range map[string]any{"category": "VOICEMAIL", "max_turns": 3.0, "start_node_id": "begin", "name": "Reaches a voicemail"} {
		if at(t, sc, name) != want || at(t, read, name) != want {
			t.Errorf("%s is %v, and then %v", name, at(t, sc, name), at(t, read, name))
		}
	}
	testError(w, 404, "NOT_FOUND", "", "POST", "/templates/absent/clone", `{"pathway_id":"$pathway"}`)
	testError(w, 409, "CONFLICT", "name", "POST", "/templates/tmpl_voicemail/clone", `{"pathway_id":"$pathway","name":"Reaches a voicemail"}`)
}

// TestDraftIsABodyOfAScenario checks that the draft from a call can be sent unchanged to create a scenario.
func TestDraftIsABodyOfAScenario(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	draft := w.do(200, "POST", "/v1/agent-testing/scenarios/generate-from-call", `{"call_id":"$over","pathway_id":"$pathway"}`)["data"]
	if at(t, draft, "input_messages", 0, "content") != "I am [number]." || at(t, draft, "metadata", "generated_by") != "transcript" {
		t.Errorf("got %v", draft)
	}
	body, err := json.Marshal(draft)
	if err != nil {
		t.Fatal(err)
	}
	w.do(201, "POST", "/v1/agent-testing/scenarios", string(body))
	testError(w, 404, "NOT_FOUND", "call_id", "POST", "/scenarios/generate-from-call", `{"call_id":"absent","pathway_id":"$pathway"}`)
	testError(w, 400, "BAD_REQUEST", "pathway_id", "POST", "/scenarios/generate-from-call", `{"call_id":"$over"}`)
}

// TestCallsThatMakeNoScenario checks the errors for a draft from a running call, from a call without words, and while the model is busy.
func TestCallsThatMakeNoScenario(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	const generate = "/scenarios/generate-from-call"
	testError(w, 409, "INVALID_STATE", "", "POST", generate, `{"call_id":"$call","pathway_id":"$pathway"}`)
	testError(w, 409, "INVALID_STATE", "", "POST", generate, `{"call_id":"$recording","pathway_id":"$pathway"}`)
	h.writer.Answers = func(context.Context, llm.Question) (string, error) {
		return "", &llm.Failure{Class: llm.ClassRateLimited, Message: "slow down", RetryAfter: time.Hour}
	}
	testError(w, 429, "TOO_MANY_REQUESTS", "", "POST", generate, `{"call_id":"$over","pathway_id":"$pathway"}`)
}
