package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
)

// scenarioFor returns the body that creates a scenario of a pathway.
func scenarioFor(pathway, name string) string {
	return `{"pathway_id":"` + pathway + `","name":"` + name + `","tester_persona_prompt":"You are in a hurry.","assertions":[
		{"type":"NODE_REACHED","config":{"node_id":"goodbye"}}]}`
}

// tested opens a server and a world with one scenario.
func tested(t *testing.T) (h *house, w *world) {
	t.Helper()
	h = open(t)
	w = (&worlds{h: h}).next()
	w.id("scenario")
	return h, w
}

// testError makes a request to agent testing and checks the status, the code and the field of its error.
func testError(w *world, status int, code, field, method, target, body string) {
	w.h.t.Helper()
	answer := w.do(status, method, "/v1/agent-testing"+target, body)
	first, _ := at(w.h.t, answer, "errors", 0).(map[string]any)
	path, _ := first["path"].(string)
	if message, _ := first["message"].(string); first["error"] != code || path != field || !strings.HasPrefix(message, field) {
		w.h.t.Errorf("%s %s %s: got %v, want %s about %q", method, target, body, first, code, field)
	}
}

const allAssertions = `[
	{"id":"mine","type":"LLM_JUDGE","name":"Polite","config":{"prompt":"Was it polite?","output_type":"score","threshold":0.9,"samples":3},"is_required":false,"weight":0,"order":3},
	{"type":"SERVICE_TONE","config":{"threshold":0.5}},
	{"type":"VARIABLE_EXTRACTED","config":{"variable":"slot","operator":"one_of","values":["nine",9.5,true]}},
	{"type":"NODE_REACHED","config":{"node_id":"goodbye"}},
	{"type":"NODES_VISITED","config":{"node_ids":["a","b"],"match":"any","forbidden":["c"]}},
	{"type":"WEBHOOK_TRIGGERED","config":{"url":"https://crm.example/book","method":"POST","max_count":2,"body_match":{"/slot":9}}},
	{"type":"REGEX_MATCH","config":{"pattern":"(?i)nine","flags":"m","role":"assistant"}},
	{"type":"STRING_CHECK","config":{"value":"nine","operator":"not_contains"}},
	{"type":"CUSTOM_LLM","config":{"system_prompt":"Judge.","model":"m","output_type":"boolean"}},
	{"type":"TRAVERSAL_MATCH","config":{"reference_path":["a","b"],"mode":"prefix"}}]`

func TestScenarioWithNothing(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	got, _ := w.do(201, "POST", "/v1/agent-testing/scenarios", `{"pathway_id":"$pathway","name":"B","scenario_type":"REPLAY",
		"input_messages":[{"role":"user","content":"Hi."}]}`)["data"].(map[string]any)
	like(t, got, `{"id":"$id","org_id":"$org","pathway_id":"$pathway","persona_id":null,"name":"B","description":"",
		"category":"CUSTOM","scenario_type":"REPLAY","tester_persona_prompt":"","tester_persona_name":"","max_turns":20,
		"request_data":{},"start_node_id":null,"service_tone_enabled":false,"is_required_for_promotion":false,"enabled":true,
		"input_messages":[{"role":"user","content":"Hi."}],"advanced_instructions":null,"min_score":null,"webhook_mocks":[],
		"metadata":{},"assertions":[],"created_at":"$at","updated_at":"$at"}`,
		"$id", got["id"].(string), "$org", string(w.org), "$pathway", w.id("pathway"), "$at", got["created_at"].(string))
}

func TestScenarioWithEverything(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	body := `{"pathway_id":"$pathway","name":"Ünïcode","description":"D","category":"EDGE_CASE","scenario_type":"AGENT",
		"tester_persona_prompt":"P","tester_persona_name":"Ines","max_turns":7,"request_data":{"clinic":{"x":[1,null]}},
		"start_node_id":"start","service_tone_enabled":true,"is_required_for_promotion":true,"enabled":false,
		"input_messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":"Ho."}],"advanced_instructions":"A",
		"min_score":0.5,"webhook_mocks":[{"node_id":"n","url":"https://crm.example/*","method":"POST","status":201,
		"body":{"ok":true},"delay_ms":20},{"fault":"timeout"}],"metadata":{"ticket":7},"assertions":` + allAssertions + `}`
	got := w.do(201, "POST", "/v1/agent-testing/scenarios", body)["data"].(map[string]any)
	var want map[string]any
	if err := json.Unmarshal([]byte(w.fill(body)), &want); err != nil {
		t.Fatal(err)
	}
	list, given := got["assertions"].([]any), want["assertions"].([]any)
	order := []int{1, 2, 0, 3, 4, 5, 6, 7, 8, 9} // the first given assertion is listed at index 2
	for i, a := range list {
		a, from := a.(map[string]any), given[order[i]].(map[string]any)
		if a["id"] == "mine" || a["id"] == nil {
			t.Errorf("the id of an assertion is %v", a["id"])
		}
		delete(a, "id")
		delete(from, "id")
		for name, def := range map[string]any{"name": "", "is_required": true, "weight": 1.0, "order": float64(order[i])} {
			if from[name] == nil {
				from[name] = def
			}
		}
		if fmt.Sprint(a) != fmt.Sprint(from) {
			t.Errorf("assertion %d: got %v, want %v", i, a, from)
		}
	}
	for name, value := range want {
		if name != "assertions" && fmt.Sprint(got[name]) != fmt.Sprint(value) {
			t.Errorf("%s: got %v, want %v", name, got[name], value)
		}
	}
	if read := w.do(200, "GET", "/v1/agent-testing/scenarios/"+got["id"].(string), "")["data"].(map[string]any); read["name"] != "Ünïcode" {
		t.Errorf("read %v", read)
	}
}

func TestScenarioIsChangedMemberByMember(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	change := func(body string) map[string]any {
		t.Helper()
		return w.do(200, "PUT", "/v1/agent-testing/scenarios/$scenario", body)["data"].(map[string]any)
	}
	before := change(`{}`)
	full := change(`{"start_node_id":"day","advanced_instructions":"A","min_score":0.5,"request_data":{"a":1},"metadata":{"b":2},
		"webhook_mocks":[{"fault":"timeout"}],"max_turns":3,"is_required_for_promotion":true}`)
	if full["min_score"] != 0.5 || full["max_turns"] != 3.0 || full["start_node_id"] != "day" || full["name"] != before["name"] ||
		at(t, full, "assertions", 0, "id") != at(t, before, "assertions", 0, "id") || at(t, full, "metadata", "b") != 2.0 {
		t.Errorf("changed to %v", full)
	}
	empty := change(`{"start_node_id":null,"advanced_instructions":null,"min_score":null,"request_data":{},"metadata":{},"webhook_mocks":[],
		"is_required_for_promotion":false,"assertions":[]}`)
	if empty["min_score"] != nil || empty["start_node_id"] != nil || empty["advanced_instructions"] != nil || empty["max_turns"] != 3.0 ||
		len(empty["assertions"].([]any)) != 0 || len(empty["request_data"].(map[string]any)) != 0 || len(empty["webhook_mocks"].([]any)) != 0 {
		t.Errorf("cleared to %v", empty)
	}
	if same := change(`{"name":null,"max_turns":null}`); same["name"] != before["name"] || same["max_turns"] != 3.0 {
		t.Errorf("null changed it to %v", same)
	}
	w.do(200, "DELETE", "/v1/agent-testing/scenarios/$scenario", "")
	testError(w, 404, "NOT_FOUND", "", "DELETE", "/scenarios/$scenario", "")
}

func TestScenariosThatMayNotPass(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	with := func(members string) string {
		return `{"pathway_id":"$pathway","name":"B","tester_persona_prompt":"P",` + members + `}`
	}
	for _, c := range []struct {
		status            int
		code, field, body string
	}{
		{400, "BAD_REQUEST", "pathway_id", `{"name":"B","tester_persona_prompt":"P"}`},
		{404, "NOT_FOUND", "pathway_id", `{"pathway_id":"nowhere","name":"B","tester_persona_prompt":"P"}`},
		{404, "NOT_FOUND", "persona_id", `{"persona_id":"p","name":"B","tester_persona_prompt":"P"}`},
		{409, "CONFLICT", "name", scenarioFor("$pathway", "Books in a hurry")},
		{400, "BAD_REQUEST", "tester_persona_prompt", `{"pathway_id":"$pathway","name":"B"}`},
		{400, "BAD_REQUEST", "max_turns", with(`"max_turns":51`)},
		{400, "BAD_REQUEST", "category", with(`"category":"happy_path"`)},
		{400, "BAD_REQUEST", "assertions[0].config.pattern", with(`"assertions":[{"type":"REGEX_MATCH","config":{"pattern":"(?=x)"}}]`)},
		{400, "BAD_REQUEST", "assertions[0].type", with(`"assertions":[{"type":"SERVICE_TONE","config":{}}]`)},
		{400, "BAD_REQUEST", "assertions", with(`"is_required_for_promotion":true`)},
	} {
		testError(w, c.status, c.code, c.field, "POST", "/scenarios", c.body)
	}
	w.do(201, "POST", "/v1/agent-testing/scenarios", scenarioFor("$pathway", "Other"))
	testError(w, 409, "CONFLICT", "name", "PUT", "/scenarios/$scenario", `{"name":"Other"}`)
	for i := range agenttest.MaxStored - 2 {
		err := h.testStore().InsertScenario(t.Context(), scenario.Scenario{ID: fmt.Sprint(i), Org: w.org, Name: fmt.Sprint(i), Revision: 1})
		if err != nil {
			t.Fatal(err)
		}
	}
	testError(w, 409, "INVALID_STATE", "", "POST", "/scenarios", scenarioFor("$pathway", "One too many"))
}

func TestListOfScenarios(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	w.id("run")
	for _, name := range []string{"two", "three"} {
		w.do(201, "POST", "/v1/agent-testing/scenarios", strings.Replace(scenarioFor("$pathway", name), `"name"`, `"category":"EDGE_CASE","enabled":false,"name"`, 1))
	}
	for query, want := range map[string]string{
		"": "three two Books in a hurry", "?limit=1": "three", "?limit=1&offset=1": "two", "?offset=2": "Books in a hurry", "?offset=3": "", "?offset=1000000": "",
		"?category=EDGE_CASE": "three two", "?category=EDGE_CASE&offset=1": "two", "?enabled=true": "Books in a hurry", "?pathway_id=$pathway&limit=2": "three two",
		"?pathway_id=nowhere": "", "?persona_id=p": "",
	} {
		var names []string
		for _, s := range w.do(200, "GET", "/v1/agent-testing/scenarios"+query, "")["data"].([]any) {
			names = append(names, at(t, s, "name").(string))
			if recent := at(t, s, "most_recent_run"); (recent != nil) != (at(t, s, "id") == w.id("scenario")) {
				t.Errorf("%s: the recent run is %v", at(t, s, "name"), recent)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q gives %q, want %q", query, got, want)
		}
	}
	recent := at(t, w.do(200, "GET", "/v1/agent-testing/scenarios?enabled=true", ""), "data", 0, "most_recent_run")
	like(t, recent, `{"id":"$run","status":"PENDING","score":null,"completed_at":null}`, "$run", w.id("run"))
}

func TestRunsThatCannotStart(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	for _, c := range []struct {
		status                    int
		code, field, target, body string
	}{
		{404, "NOT_FOUND", "", "/scenarios/nowhere/run", `{}`},
		{404, "NOT_FOUND", "version_number", "/scenarios/$scenario/run", `{"version_number":9}`},
		{400, "BAD_REQUEST", "version_number", "/scenarios/$scenario/run", `{"version_number":0}`},
		{400, "BAD_REQUEST", "webhook_url", "/scenarios/$scenario/run", `{"webhook_url":"http://hook.example"}`},
		{404, "NOT_FOUND", "scenario_ids[0]", "/batch-run", `{"scenario_ids":["nowhere"]}`},
		{404, "NOT_FOUND", "version_number", "/batch-run", `{"scenario_ids":["$scenario"],"version_number":9}`},
		{400, "BAD_REQUEST", "scenario_ids", "/batch-run", `{"scenario_ids":[]}`},
		{400, "BAD_REQUEST", "simulations_per_scenario", "/simulation-sets", `{"scenario_ids":["$scenario"],"simulations_per_scenario":201}`},
		{400, "BAD_REQUEST", "simulations_per_scenario", "/simulation-sets", `{"scenario_ids":["$scenario"],"iterations":201}`},
		{400, "BAD_REQUEST", "pathway_id", "/simulation-sets", `{"scenario_ids":["$scenario"],"simulations_per_scenario":2,"pathway_id":"nowhere"}`},
		{400, "BAD_REQUEST", "persona_id", "/simulation-sets", `{"scenario_ids":["$scenario"],"simulations_per_scenario":2,"persona_id":"p"}`},
	} {
		testError(w, c.status, c.code, c.field, "POST", c.target, c.body)
	}
	for _, target := range []string{"/runs/", "/batches/", "/simulation-sets/"} {
		testError(w, 404, "NOT_FOUND", "", "GET", target+"nowhere", "")
	}
	testError(w, 404, "NOT_FOUND", "", "GET", "/batches/$set", "")
	testError(w, 404, "NOT_FOUND", "", "GET", "/simulation-sets/$batch", "")

	full := make([]run.Run, run.MaxPending)
	for i := range full {
		full[i] = run.Run{ID: fmt.Sprint("full-", i), Org: w.org, State: run.Pending, Revision: 1}
	}
	if err := h.testStore().InsertRuns(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	testError(w, 429, "TOO_MANY_REQUESTS", "", "POST", "/scenarios/$scenario/run", `{}`)
}

func TestTestsAreStartedOnceForAKey(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	h.key, h.org = strings.TrimPrefix(w.key, "Bearer "), w.org
	for target, bodies := range map[string][2]string{
		"/scenarios/" + w.id("scenario") + "/run": {`{}`, `{"version_number":1}`},
		"/batch-run":       {`{"scenario_ids":["$scenario"]}`, `{"scenario_ids":["$scenario"],"version_number":1}`},
		"/simulation-sets": {`{"scenario_ids":["$scenario"],"simulations_per_scenario":2}`, `{"scenario_ids":["$scenario"],"simulations_per_scenario":3}`},
	} {
		key := header{"Idempotency-Key", "k-" + target[:3]}
		first := h.want(202, "POST", "/v1/agent-testing"+target, w.fill(bodies[0]), key)
		if again := h.want(202, "POST", "/v1/agent-testing"+target, w.fill(bodies[0]), key); fmt.Sprint(first) != fmt.Sprint(again) {
			t.Errorf("%s: first %v, again %v", target, first, again)
		}
		other := h.want(409, "POST", "/v1/agent-testing"+target, w.fill(bodies[1]), key)
		if at(t, other, "errors", 0, "error") != "IDEMPOTENCY_CONFLICT" {
			t.Errorf("%s: another body gives %v", target, other)
		}
	}
}

// outcome returns the outcome of a failed run.
func outcome() *engine.Outcome {
	return &engine.Outcome{
		Verdict: engine.Failed, Score: new(0.25), Took: 37750 * time.Millisecond, Blame: "offer",
		Evidence: assert.Evidence{
			Turns: []assert.Turn{
				{Role: llm.RoleAgent, Text: "North clinic?", Node: "greeting"}, {Role: llm.RoleCaller, Text: "The earliest slot."},
				{Role: llm.RoleAgent, Text: "Goodbye.", Node: "goodbye"},
			},
			Visits:    []assert.Visit{{Node: "greeting", Turn: -1}, {Node: "goodbye", Turn: 1}},
			Variables: map[string]any{"slot": int64(9)}, End: assert.EndByAgent,
			Graph: assert.Graph{"greeting": {Name: "Greeting"}, "goodbye": {Name: "Goodbye"}},
		},
		Results: []assert.Result{{
			Assertion: "a1", Type: assert.LLMJudge, Name: "Confirms", Required: true, Weight: 2, Outcome: assert.Failed, Score: new(0.25),
			Code: assert.CodeMissingStep, Reasoning: strings.Repeat("x", 600), Expected: "yes", Actual: []string{"no"}, Agreement: new(1.0),
			Quotes: []assert.Quote{{Turn: 2, Text: "Goodbye.", Verified: true}},
		}, {
			Assertion: "a2", Type: assert.NodeReached, Outcome: assert.Error, Weight: 1, Code: assert.CodeUnknownNode, Reasoning: "There is no node.",
		}},
		Tone: &assert.Tone{
			Naturalness: 0.5, Flow: 0.75, Overall: 0.6, Issues: []string{"short"},
			Examples: []assert.ToneExample{{Turn: 2, Category: "flow", Text: "Goodbye.", Sentiment: "negative"}},
		},
		Turns: []engine.Turn{{Index: 0, Node: "greeting", Notes: []engine.Note{{Kind: "decision", Node: "greeting", Text: "goes to goodbye: said so"}}}},
		Usage: engine.Usage{Agent: llm.Usage{Input: 2140, Output: 96}},
	}
}

// end finishes the runs that match a filter, at most 100. A run is Failed if failing returns true for its index, otherwise Passed.
func end(w *world, of run.Filter, failing func(i int) bool) {
	w.h.t.Helper()
	of.Limit, of.Oldest = 100, true
	runs := must(w.h.testStore().FindRuns(w.h.t.Context(), w.org, of))
	for i := range runs {
		r := &runs[i]
		r.State, r.StartedAt, r.EndedAt, r.Scripted = run.Passed, r.CreatedAt.Add(time.Second), r.CreatedAt.Add(time.Minute), true
		r.Result = run.Result{Score: new(1.0), Turns: 1, Duration: 37750 * time.Millisecond}
		if failing(i) {
			r.State, r.Outcome, r.Result.Score = run.Failed, outcome(), new(0.25)
			r.Result.Checks = run.NewChecks(r.Outcome.Results)
			r.Result.Failure = &run.Failure{Assertion: "a1", Type: assert.LLMJudge, Code: assert.CodeMissingStep, Node: "offer", End: assert.EndByAgent, Reason: "The time is not repeated."}
		}
	}
	if err := w.h.testStore().UpdateRuns(w.h.t.Context(), runs); err != nil {
		w.h.t.Fatal(err)
	}
}

// checked makes a GET request with the world's key, compares the answer with the contract, and returns its body.
func checked(w *world, target string) map[string]any {
	w.h.t.Helper()
	return w.h.want(http.StatusOK, "GET", "/v1/agent-testing"+w.fill(target), "", header{"Authorization", w.key})
}

func TestRunThatHasEnded(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	w.id("run")
	waiting := checked(w, "/runs/$run")["data"].(map[string]any)
	created, _ := waiting["created_at"].(string)
	like(t, waiting, `{"id":"$run","scenario_id":"$scenario","pathway_id":"$pathway","persona_id":null,"batch_id":null,"version_number":2,
		"status":"PENDING","chat_history":[],"variables_extracted":{},"nodes_visited":[],"current_node_id":null,"turn_count":0,"duration_ms":0,
		"overall_score":null,"service_tone_score":null,"assertion_results":[],"end_reason":null,"error_message":null,"usage":[],"cost":null,"budget":null,
		"metadata":{"turn_details":[],"node_id_to_name":{}},"created_at":"`+created+`","started_at":null,"completed_at":null}`,
		"$run", w.id("run"), "$scenario", w.id("scenario"), "$pathway", w.id("pathway"))

	end(w, run.Filter{}, func(int) bool { return true })
	got := checked(w, "/runs/$run")["data"].(map[string]any)
	results := `[{"assertion_id":"a1","type":"LLM_JUDGE","name":"Confirms","is_required":true,"weight":2,"status":"FAILED","passed":false,
		"score":0.25,"reasoning":"` + strings.Repeat("x", 600) + `","expected":"yes","actual":["no"],"failure_code":"missing_step","agreement":1,
		"evidence":[{"turn":2,"quote":"Goodbye.","verified":true}]},{"assertion_id":"a2","type":"NODE_REACHED","name":"","is_required":false,
		"weight":1,"status":"ERROR","passed":null,"score":null,"reasoning":"There is no node.","failure_code":"unknown_node","agreement":null,
		"evidence":[]}]`
	like(t, got, `{"id":"$run","scenario_id":"$scenario","pathway_id":"$pathway","persona_id":null,"batch_id":null,"version_number":2,
		"status":"FAILED","chat_history":[{"role":"assistant","content":"North clinic?"},{"role":"user","content":"The earliest slot."},
		{"role":"assistant","content":"Goodbye."}],"variables_extracted":{"slot":9},"nodes_visited":["greeting","goodbye"],
		"current_node_id":"goodbye","turn_count":1,"duration_ms":37750,"overall_score":0.25,"service_tone_score":{"naturalness":0.5,
		"conciseness":0,"empathy":0,"flow_preservation":0.75,"back_channeling":0,"topic_transitions":0,"overall_tone_score":0.6,
		"issues":["short"],"examples":[{"turn":2,"category":"flow","text":"Goodbye.","sentiment":"negative"}]},
		"assertion_results":`+results+`,"end_reason":"agent_ended","error_message":null,
		"usage":[{"role":"agent","input_tokens":2140,"output_tokens":96}],"cost":null,"budget":null,"metadata":{"turn_details":[{"turn":0,
		"node_id":"greeting","logs":[{"type":"decision","node_id":"greeting","text":"goes to goodbye: said so"}]}],
		"node_id_to_name":{"greeting":"Greeting","goodbye":"Goodbye"},"llm_adapter":"scripted"},"created_at":"$created",
		"started_at":"$started","completed_at":"$completed"}`, "$run", w.id("run"), "$scenario", w.id("scenario"), "$pathway", w.id("pathway"),
		"$created", created, "$started", got["started_at"].(string), "$completed", got["completed_at"].(string))

	sent := &outbox{}
	run, _, err := h.areas.tests.GetRun(t.Context(), w.org, w.id("run"))
	if err != nil {
		t.Fatal(err)
	}
	if err := agenttestapi.NewNotifier(sent).RunEnded(t.Context(), "https://hook.example", run); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(sent.body), &body); err != nil || fmt.Sprint(body) != fmt.Sprint(got) || sent.org != w.org || sent.id != run.ID {
		t.Errorf("the webhook gets %s, %v", sent.body, err)
	}
}

func TestRunsInLists(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	w.id("batch")
	w.id("run")
	end(w, run.Filter{Batch: w.id("batch")}, func(int) bool { return true })
	for query, want := range map[string]int{
		"": 2, "?batch_id=$batch": 1, "?scenario_id=$scenario": 2, "?scenario_id=x": 0, "?pathway_id=$pathway": 2, "?pathway_id=x": 0,
		"?status=FAILED": 1, "?status=PASSED": 0, "?persona_id=x": 0,
	} {
		page := checked(w, "/runs"+query)["data"].(map[string]any)
		if page["total_count"] != float64(want) || len(page["runs"].([]any)) != want {
			t.Errorf("%q gives %v", query, page)
		}
	}
	first, second := checked(w, "/runs?limit=1"), checked(w, "/runs?limit=1&offset=1")
	if at(t, first, "data", "runs", 0, "id") != w.id("run") || at(t, second, "data", "runs", 0, "id") == w.id("run") ||
		at(t, second, "data", "total_count") != 2.0 {
		t.Errorf("pages %v and %v", first, second)
	}
	failed := at(t, checked(w, "/runs?status=FAILED"), "data", "runs", 0)
	like(t, at(t, failed, "assertion_results", 1), `{"assertion_id":"a2","type":"NODE_REACHED","name":"","is_required":false,"weight":1,
		"status":"ERROR","passed":null,"score":null,"reasoning":"There is no node.","failure_code":"unknown_node","agreement":null}`)
	if text, _ := at(t, failed, "assertion_results", 0, "reasoning").(string); len(text) != 500 || !strings.HasSuffix(text, "…") {
		t.Errorf("the short reasoning is %q", text)
	}
	like(t, at(t, failed, "scenario"), `{"id":"$scenario","name":"Books in a hurry"}`, "$scenario", w.id("scenario"))
	batch := checked(w, "/batches/$batch")["data"].(map[string]any)
	if fmt.Sprint(at(t, batch, "runs", 0)) != fmt.Sprint(failed) {
		t.Errorf("the batch has %v, the list %v", at(t, batch, "runs", 0), failed)
	}
	delete(batch, "runs")
	like(t, batch, `{"id":"$batch","status":"PENDING","version_number":2,"total_scenarios":1,"passed_scenarios":0,"failed_scenarios":0,
		"error_scenarios":0,"cancelled_scenarios":0,"trigger_source":"api","publish_on_pass":false,"usage":[],"cost":null,"budget":null,
		"concurrency":null,"stop_reason":null,"stop_message":null,"created_at":"$at","completed_at":null}`,
		"$batch", w.id("batch"), "$at", batch["created_at"].(string))
}

func TestSimulationSetHasStatistics(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	set := w.do(202, "POST", "/v1/agent-testing/simulation-sets", `{"scenario_ids":["$scenario"],"simulations_per_scenario":10,"pathway_id":"$pathway"}`)
	w.made["set"], _ = at(t, set, "data", "simulation_set_id").(string)
	scenarioStats := func() map[string]any {
		return at(t, checked(w, "/simulation-sets/$set"), "data", "statistics", "per_scenario", w.id("scenario")).(map[string]any)
	}
	if s := scenarioStats(); s["total_runs"] != 10.0 || s["pass_rate"] != nil || s["coverage"] != 0.0 || s["stability"] != "unknown" || s["worst_run_id"] != nil {
		t.Errorf("a set of which no run has ended has %v", s)
	}
	part := must(h.testStore().Batch(t.Context(), w.org, w.id("set"))).Scenarios[0]
	runs := make([]run.Run, 9) // one run exists since the set was created
	for i := range runs {
		runs[i] = run.Run{
			ID: fmt.Sprint(w.id("set"), "-", i), Org: w.org, Scenario: part.Scenario, Name: part.Name, Pathway: part.Pathway, Version: part.Version,
			Batch: w.id("set"), Trial: i + 1, Snapshot: part.Snapshot, State: run.Pending, CreatedAt: began.Add(time.Duration(i) * time.Second), Revision: 1,
		}
	}
	if err := h.testStore().InsertRuns(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	end(w, run.Filter{Batch: w.id("set")}, func(i int) bool { return i < 2 })
	s := scenarioStats()
	if flake := s["flake_rate"].(float64); flake < 0.399 || flake > 0.401 {
		t.Errorf("the flake rate of 8 of 10 is %v", flake)
	}
	interval := s["interval"].(map[string]any)
	if low, high := interval["low"].(float64), interval["high"].(float64); low < 0.49 || low > 0.491 || high < 0.943 || high > 0.944 {
		t.Errorf("the interval of 8 of 10 is %v", interval)
	}
	for _, name := range []string{"interval", "pass_at_k", "scores", "flake_rate"} {
		delete(s, name)
	}
	like(t, s, `{"scenario_id":"$scenario","scenario_name":"Books in a hurry","total_runs":10,"passed":8,"failed":2,"pass_rate":0.8,"is_flaky":true,
		"worst_run_id":"$set-0","common_failure_modes":[{"label":"The time is not repeated.","count":2,"share":1,"run_ids":["$set-0","$set-1"],
		"assertion_id":"a1","failure_code":"missing_step","node_id":"offer"}],"confidence":"medium","errors":0,"coverage":1,"insufficient":false,
		"flaky_significant":true,"stability":"flaky","flake_source":null}`, "$scenario", w.id("scenario"), "$set", w.id("set"))
	got := checked(w, "/simulation-sets/$set")["data"].(map[string]any)
	like(t, at(t, got, "statistics", "per_scenario", w.id("scenario"), "pass_at_k", 0), `{"k":1,"all_pass":0.8,"any_pass":0.8}`)
	overall := at(t, got, "statistics", "overall").(map[string]any)
	delete(overall, "interval")
	like(t, overall, `{"avg_pass_rate":0.8,"flaky_count":1,"reliable_count":0,"total_runs":10,"error_runs":0}`)
	if got["status"] != "PENDING" || got["simulations_per_scenario"] != 10.0 || got["total_scenarios"] != 1.0 || got["completed_at"] != nil {
		t.Errorf("the set is %v", got)
	}
}

// TestTestsTakeNoUnknownParametersAndAnswerHead checks that the reads of agent testing refuse unknown parameters and invalid values, and
// answer HEAD.
func TestTestsTakeNoUnknownParametersAndAnswerHead(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	for _, target := range []string{
		"/scenarios", "/scenarios/$scenario", "/runs", "/runs/$run", "/batches", "/batches/$batch", "/simulation-sets", "/simulation-sets/$set",
		"/analytics/$pathway", "/analytics/$pathway/enhanced",
	} {
		target = w.fill(target)
		r := httptest.NewRequestWithContext(t.Context(), "HEAD", "/v1/agent-testing"+target, nil)
		r.Header.Set("Authorization", w.key)
		head := httptest.NewRecorder()
		if h.ServeHTTP(head, r); head.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", target, head.Code)
		}
		refused := h.want(http.StatusBadRequest, "GET", "/v1/agent-testing"+target+"?colour=red", "", header{"Authorization", w.key})
		if at(t, refused, "errors", 0, "path") != "colour" {
			t.Errorf("%s: %v", target, refused)
		}
	}
	for query, path := range map[string]string{
		"/scenarios?limit=0": "limit", "/scenarios?limit=1001": "limit", "/scenarios?offset=-1": "offset", "/scenarios?category=x": "category",
		"/runs?limit=101": "limit", "/runs?status=passed": "status", "/batches?limit=101": "limit", "/batches?status=passed": "status",
		"/simulation-sets?offset=-1": "offset", "/batches?trigger_source=cron": "trigger_source", "/simulation-sets?trigger_source=api": "trigger_source",
	} {
		refused := h.want(http.StatusBadRequest, "GET", "/v1/agent-testing"+query, "", header{"Authorization", w.key})
		if at(t, refused, "errors", 0, "path") != path {
			t.Errorf("%s: %v", query, refused)
		}
	}
}
