package httpapi_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/run"
)

// TestRescore checks that rescoring a failed run with other assertions lets it pass or leaves it incomplete, and that the stored run and
// the scenario do not change.
func TestRescore(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	w.id("run")
	end(w, run.Filter{}, func(int) bool { return true })
	before := checked(w, "/runs/$run")["data"].(map[string]any)

	const path = "/v1/agent-testing/scenarios/$scenario/rescore"
	got := w.do(200, "POST", path, `{"limit":200,"assertions":[
		{"type":"NODE_REACHED","name":"Ends","config":{"node_id":"goodbye"},"is_required":false},
		{"id":"mine","type":"LLM_JUDGE","name":"Kind","config":{"prompt":"Is it kind?"},"is_required":false,"order":9},
		{"id":"said","type":"STRING_CHECK","config":{"value":"earliest"},"weight":3}]}`)["data"].(map[string]any)
	id := at(t, got, "runs", 0, "assertion_results", 0, "assertion_id").(string)
	like(t, got, `{"runs":[{"run_id":"$run","status":"FAILED","verdict":"PASSED","changed":true,"overall_score":1,"assertion_results":[
		{"assertion_id":"$id","type":"NODE_REACHED","name":"Ends","is_required":false,"weight":1,"status":"PASSED","passed":true,"score":1,
		"reasoning":"The agent visited the node \"goodbye\".","failure_code":null,"agreement":null},
		{"assertion_id":"said","type":"STRING_CHECK","name":"","is_required":true,"weight":3,"status":"PASSED","passed":true,"score":1,
		"reasoning":"One of the messages contains \"earliest\".","failure_code":null,"agreement":null}],"created_at":"$at"}],
		"left_out":[{"assertion_id":"mine","type":"LLM_JUDGE","name":"Kind","is_required":false}],
		"totals":{"runs":1,"passed":1,"failed":0,"error":0,"cancelled":0,"incomplete":0,"changed":1},"next_cursor":null}`,
		"$run", w.id("run"), "$id", id, "$at", before["created_at"].(string))

	judged := w.do(200, "POST", path, `{"assertions":[{"type":"LLM_JUDGE","config":{"prompt":"Is it kind?"}}]}`)["data"].(map[string]any)
	if first := at(t, judged, "runs", 0).(map[string]any); first["verdict"] != "INCOMPLETE" || first["changed"] != false || first["overall_score"] != nil {
		t.Errorf("a required judge is left out: got %v", first)
	}
	if own := w.do(200, "POST", path, "")["data"].(map[string]any); at(t, own, "totals", "runs") != 1.0 {
		t.Errorf("by its own assertions: got %v", own)
	}
	if after := checked(w, "/runs/$run")["data"].(map[string]any); after["status"] != "FAILED" || after["overall_score"] != before["overall_score"] {
		t.Errorf("the run has become %v", after)
	}
	if sc := w.do(200, "GET", "/v1/agent-testing/scenarios/$scenario", "")["data"].(map[string]any); len(sc["assertions"].([]any)) != 1 {
		t.Errorf("the scenario has become %v", sc)
	}
}

// TestRescorePages checks that rescoring page by page covers every ended run once.
func TestRescorePages(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	for range 3 {
		w.do(202, "POST", "/v1/agent-testing/scenarios/$scenario/run", `{}`)
	}
	end(w, run.Filter{}, func(i int) bool { return i < 2 })
	w.do(202, "POST", "/v1/agent-testing/scenarios/$scenario/run", `{}`) // this run stays pending
	seen, after := 0, ""
	for range 4 {
		page := w.do(200, "POST", "/v1/agent-testing/scenarios/$scenario/rescore", `{"limit":1`+after+`}`)["data"].(map[string]any)
		seen += len(page["runs"].([]any))
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		after = `,"after":"` + next + `"`
	}
	if seen != 3 {
		t.Errorf("%d runs are scored again, want those 3 that have ended", seen)
	}
}

func TestRescoreOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	all := &worlds{h: open(t)}
	w, other := all.next(), all.next()
	for _, c := range []struct {
		status                    int
		code, field, target, body string
	}{
		{404, "NOT_FOUND", "", "/scenarios/nowhere/rescore", `{}`},
		{404, "NOT_FOUND", "", "/scenarios/" + other.id("scenario") + "/rescore", `{}`},
		{400, "BAD_REQUEST", "limit", "/scenarios/$scenario/rescore", `{"limit":201}`},
		{400, "BAD_REQUEST", "after", "/scenarios/$scenario/rescore", `{"after":"x"}`},
		{400, "BAD_REQUEST", "assertions[0].config.pattern", "/scenarios/$scenario/rescore",
			`{"assertions":[{"type":"REGEX_MATCH","config":{"pattern":"("}}]}`},
	} {
		testError(w, c.status, c.code, c.field, "POST", c.target, c.body)
	}
}
