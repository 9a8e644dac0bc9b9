package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
)

// tornadoService returns a service whose sessions no node executes.
func (h *house) tornadoService(work callwright.Work, change ...func(*tornado.Config)) *tornado.Service {
	c := tornado.Config{
		Store: h.sessions(), Atomic: h.store, Work: work, Leases: memstore.Leases{Store: h.store}, Node: "n1",
		Pathways: h.areas.pathways, Runs: h.areas.tests, Fixer: noIdea{},
	}
	for _, f := range change {
		f(&c)
	}
	return must(tornado.New(c))
}

func (h *house) sessions() agentteststore.Sessions { return agentteststore.Sessions{Store: h.store} }

// noIdea is a Fixer that returns empty plans.
type noIdea struct{}

func (noIdea) Fix(context.Context, string, tornado.Brief) (tornado.Plan, error) {
	return tornado.Plan{}, nil
}

// change stores a change of the world's session, as the node that holds the session does.
func (w *world) change(change func(*tornado.Session)) {
	w.h.t.Helper()
	s := must(w.h.sessions().Session(w.h.t.Context(), w.org, w.id("tornado")))
	change(&s)
	if err := w.h.sessions().UpdateSession(w.h.t.Context(), s); err != nil {
		w.h.t.Fatal(err)
	}
}

func TestTornadoStarts(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	started := w.do(202, "POST", "/v1/agent-testing/tornado/start", `{"pathway_id":"$pathway"}`)["data"].(map[string]any)
	w.made["tornado"], _ = started["session_id"].(string)
	names := []string{"$id", w.id("tornado"), "$pathway", w.id("pathway"), "$scenario", w.id("scenario"), "$at", started["created_at"].(string)}
	like(t, started, `{"session_id":"$id","status":"RUNNING","pathway_id":"$pathway","max_iterations":5,"timeout_ms":900000,"created_at":"$at"}`, names...)
	got := checked(w, "/tornado/$tornado/status")["data"].(map[string]any)
	if elapsed, _ := got["elapsed_ms"].(float64); elapsed < 0 {
		t.Errorf("elapsed_ms: %v", got["elapsed_ms"])
	}
	delete(got, "elapsed_ms")
	like(t, got, `{"session_id":"$id","status":"RUNNING","stop_reason":null,"detail":null,"phase":"baseline","pathway_id":"$pathway",
		"persona_id":null,"current_iteration":0,"max_iterations":5,"total_scenarios":1,"passed_scenarios":0,"failed_scenarios":0,
		"unfixable_count":0,"unfixable_ids":[],"iterations":[],"timeout_ms":900000,"base_version":2,"forked_version":null,
		"base_moved":false,"scenario_ids":["$scenario"],"held_out_scenario_ids":[],"allow_node_ids":[],"deny_node_ids":[],"usage":[],
		"cost":null,"budget":null,"created_at":"$at","completed_at":null}`, names...)
	like(t, w.do(200, "GET", "/v1/agent-testing/tornado/active?pathway_id=$pathway", "")["data"], `{"session_id":"$id","status":"RUNNING",
		"pathway_id":"$pathway","persona_id":null,"current_iteration":0,"max_iterations":5,"total_scenarios":1,"passed_scenarios":0,
		"failed_scenarios":0,"created_at":"$at"}`, names...)
	const summary = `{"session_id":"$id","status":"RUNNING","phase":"baseline","stop_reason":null,"pathway_id":"$pathway","persona_id":null,
		"current_iteration":0,"max_iterations":5,"total_scenarios":1,"passed_scenarios":0,"failed_scenarios":0,"unfixable_count":0,
		"base_version":2,"forked_version":null,"created_at":"$at","completed_at":null}`
	like(t, w.do(200, "GET", "/v1/agent-testing/tornado", "")["data"], `{"sessions":[`+summary+`],"next_cursor":null}`, names...)
}

func TestTornadoWithEverything(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	w.made["tornado"], _ = at(t, w.do(202, "POST", "/v1/agent-testing/tornado/start", `{"pathway_id":"$pathway","persona_id":"$persona",
		"scenario_ids":["$spare","$scenario"],"held_out_scenario_ids":["$scenario"],"version_number":1,"max_iterations":20,"timeout_ms":7200000,
		"budget":{"tokens":5000},"allow_node_ids":["greeting","goodbye"],"deny_node_ids":["goodbye"]}`), "data", "session_id").(string)
	began := time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)
	changes := graph.Changes{Nodes: []graph.Difference{{
		ID: "greeting", Name: "Greeting", Kind: graph.DifferenceChanged,
		Members: []graph.MemberDifference{{Path: "data.text", Before: `"Hi."`, After: `"Hello."`}, {Path: "data.new", After: "1"}},
	}}, Edges: []graph.Difference{{ID: "e1", Kind: graph.DifferenceRemoved}}, Reordered: true}
	plan := tornado.Plan{Fixes: []tornado.Fix{
		{ID: "b", Kind: analysis.FlowChange, Node: "goodbye", Edits: []tornado.Edit{{Op: tornado.RemoveEdge, Edge: "e1"}}},
		{Kind: analysis.PromptChange, Node: "greeting", Description: "Greet.", Edits: []tornado.Edit{{Op: tornado.SetText, Field: "text", Text: strings.Repeat("Hi there. ", 100)}}},
	}}
	w.change(func(s *tornado.Session) {
		s.State, s.Stop, s.Detail, s.Phase, s.Best, s.BaseMoved = tornado.CompletedPartial, tornado.StopBudget, "too little is left", tornado.Deciding, 4, true
		s.Passed, s.Failed, s.Unfixable = []string{"a"}, []string{"b"}, []string{"b"}
		s.EndedAt, s.Usage = s.CreatedAt.Add(90*time.Second), tornado.Usage{
			Runs: engine.Usage{Agent: llm.Usage{Input: 9, Output: 8}}, Analyst: llm.Usage{Input: 7, Output: 6}, Fixer: llm.Usage{Input: 5, Output: 4},
		}
		s.Iterations = []tornado.Iteration{
			{Version: 1, Outcome: tornado.IsBaseline, Trials: []string{"one"}, Failed: []string{"a", "b"}, Started: began, Completed: began},
			{Number: 1, Version: 3, Outcome: tornado.Rejected, Reason: "a got worse", Errors: []string{"c"}, Plan: &plan, Changes: &changes, Started: began, Completed: began},
			{Number: 2, Version: 4, Outcome: tornado.Accepted, Plan: &tornado.Plan{}, Changes: &changes, Passed: []string{"a"}, Failed: []string{"b"}, Unfixable: []string{"b"}, Trials: []string{"two", "three"}, Started: began, Completed: began},
			{Number: 3, Outcome: tornado.Refused, Plan: &plan, Changes: &changes, Started: began, Completed: began},
			{Number: 4, Outcome: tornado.NoPlan, Started: began},
		}
	})
	got := checked(w, "/tornado/$tornado/status")["data"].(map[string]any)
	names := []string{"$scenario", w.id("scenario"), "$spare", w.id("spare"), "$persona", w.id("persona")}
	for member, want := range map[string]string{
		"status": `"COMPLETED_PARTIAL"`, "stop_reason": `"budget"`, "detail": `"too little is left"`, "phase": "null", "persona_id": `"$persona"`,
		"current_iteration": "4", "max_iterations": "20", "timeout_ms": "7200000", "base_version": "1", "forked_version": "4", "base_moved": "true",
		"scenario_ids": `["$spare","$scenario"]`, "held_out_scenario_ids": `["$scenario"]`, "allow_node_ids": `["greeting","goodbye"]`,
		"deny_node_ids": `["goodbye"]`, "budget": `{"tokens":5000}`, "elapsed_ms": "90000", "unfixable_ids": `["b"]`, "unfixable_count": "1",
		"usage": `[{"role":"agent","input_tokens":9,"output_tokens":8},{"role":"analyzer","input_tokens":7,"output_tokens":6},
			{"role":"fixer","input_tokens":5,"output_tokens":4}]`,
	} {
		like(t, map[string]any{member: got[member]}, `{"`+member+`":`+want+`}`, names...)
	}
	trial := func(name string) string { return tornado.TrialID(w.id("tornado"), name) }
	like(t, at(t, got, "iterations", 0, "batch_ids"), `["`+trial("one")+`"]`)
	second := at(t, got, "iterations", 2)
	like(t, at(t, second, "batch_ids"), `["`+trial("two")+`","`+trial("three")+`"]`)
	if at(t, second, "batch_id") != trial("two") || at(t, second, "prompt_excerpt") != nil || at(t, second, "outcome") != "accepted" {
		t.Errorf("the second attempt is %v", second)
	}
	first := at(t, got, "iterations", 1).(map[string]any)
	excerpt, _ := first["prompt_excerpt"].(string)
	if !strings.HasSuffix(excerpt, "…") || !strings.HasPrefix(excerpt, "Hi there.") || len(excerpt) != 500 {
		t.Errorf("the excerpt is %q", excerpt)
	}
	delete(first, "prompt_excerpt")
	like(t, first, `{"iteration":1,"batch_id":null,"batch_ids":[],"started_at":"$at","completed_at":"$at","passed_ids":[],"failed_ids":[],
		"error_ids":["c"],"newly_unfixable_ids":[],"fix_plan":{"fixes":[{"id":"b","target_node":"goodbye","description":"","type":"flow_change"},
		{"id":"fix-2","target_node":"greeting","description":"Greet.","type":"prompt_change"}],"priority_order":["b","fix-2"]},
		"changes":{"against":1,"nodes":[{"id":"greeting","name":"Greeting","kind":"changed","members":[
		{"path":"data.text","before":"\"Hi.\"","after":"\"Hello.\""},{"path":"data.new","before":null,"after":"1"}]}],
		"edges":[{"id":"e1","name":null,"kind":"removed","members":[]}],"reordered":true},
		"version_number":3,"outcome":"rejected","outcome_reason":"a got worse"}`, "$at", first["started_at"].(string))
	for i, want := range []any{nil, 1.0, 1.0, 4.0, nil} {
		changes, _ := at(t, got, "iterations", i, "changes").(map[string]any)
		if changes["against"] != want {
			t.Errorf("attempt %d changes version %v, want %v", i, changes["against"], want)
		}
	}
	if last := at(t, got, "iterations", 4); at(t, last, "outcome") != "no_plan" || at(t, last, "completed_at") != nil || at(t, last, "fix_plan") != nil {
		t.Errorf("the last attempt is %v", last)
	}
	testError(w, 404, "NOT_FOUND", "", "GET", "/tornado/active?persona_id=$persona", "")
	testError(w, 409, "INVALID_STATE", "", "POST", "/tornado/$tornado/cancel", "")
}

func TestTornadosThatCannotStart(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	with := func(members string) string { return `{"pathway_id":"$pathway",` + members + `}` }
	for _, c := range []struct {
		status            int
		code, field, body string
	}{
		{400, "BAD_REQUEST", "pathway_id", `{}`},
		{404, "NOT_FOUND", "pathway_id", `{"pathway_id":"nowhere"}`},
		{404, "NOT_FOUND", "persona_id", with(`"persona_id":"nobody"`)},
		{404, "NOT_FOUND", "scenario_ids", with(`"scenario_ids":["nothing"]`)},
		{404, "NOT_FOUND", "scenario_ids", with(`"scenario_ids":["$spoken"]`)},
		{400, "BAD_REQUEST", "scenario_ids", with(`"scenario_ids":[]`)},
		{404, "NOT_FOUND", "version_number", with(`"version_number":9`)},
		{400, "BAD_REQUEST", "version_number", with(`"version_number":0`)},
		{400, "BAD_REQUEST", "max_iterations", with(`"max_iterations":21`)},
		{400, "BAD_REQUEST", "timeout_ms", with(`"timeout_ms":999`)},
		{400, "BAD_REQUEST", "timeout_ms", with(`"timeout_ms":7200001`)},
		{400, "BAD_REQUEST", "budget.tokens", with(`"budget":{"tokens":0}`)},
		{400, "BAD_REQUEST", "allow_node_ids[1]", with(`"allow_node_ids":["greeting","nowhere"]`)},
		{400, "BAD_REQUEST", "deny_node_ids[0]", with(`"deny_node_ids":["nowhere"]`)},
		{400, "BAD_REQUEST", "held_out_scenario_ids", with(`"held_out_scenario_ids":["$scenario"]`)},
		{400, "BAD_REQUEST", "held_out_scenario_ids", with(`"held_out_scenario_ids":["nothing"]`)},
		{400, "BAD_REQUEST", "colour", with(`"colour":"red"`)},
	} {
		testError(w, c.status, c.code, c.field, "POST", "/tornado/start", c.body)
	}
	running := w.id("tornado")
	answer := w.do(409, "POST", "/v1/agent-testing/tornado/start", `{"pathway_id":"$pathway"}`)
	if message, _ := at(t, answer, "errors", 0, "message").(string); !strings.Contains(message, running) || at(t, answer, "errors", 0, "error") != "CONFLICT" {
		t.Errorf("a second session: %v", answer)
	}
	testError(w, 409, "CONFLICT", "pathway_id", "POST", "/tornado/start", `{"pathway_id":"$pathway"}`)
	for i := range tornado.MaxRunning {
		s := must(h.sessions().Session(t.Context(), w.org, running))
		s.ID, s.Pathway = fmt.Sprint("more-", i), fmt.Sprint("p", i)
		if i == 0 { // one session exists already
			continue
		}
		if err := h.sessions().InsertSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	testError(w, 429, "TOO_MANY_REQUESTS", "", "POST", "/tornado/start", `{"pathway_id":"$pathway"}`)

	without := &house{t: t, store: h.store}
	without.Handler = contracttest.Handler(t, must(httpapi.New(httpapi.Config{
		Access: h.access, Atomic: h.store, Idempotency: h.answers(), Runtime: callwright.Runtime{Logger: h.logger}, Areas: []httpapi.Area{agenttestapi.New(agenttestapi.Config{
			Tests: h.areas.tests, Tornados: h.tornadoService(memstore.NewWork(h.store, nil), func(c *tornado.Config) { c.Fixer = nil }),
		})},
	})))
	testError(&world{without, w.org, w.key, w.made}, 501, "NOT_IMPLEMENTED", "", "POST", "/tornado/start", `{"pathway_id":"$pathway"}`)
}

func TestTornadosAreFound(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	testError(w, 400, "BAD_REQUEST", "pathway_id", "GET", "/tornado/active", "")
	testError(w, 404, "NOT_FOUND", "", "GET", "/tornado/active?pathway_id=$pathway", "")
	testError(w, 404, "NOT_FOUND", "", "GET", "/tornado/nothing/status", "")
	testError(w, 404, "NOT_FOUND", "", "POST", "/tornado/nothing/cancel", "")
	session := must(h.sessions().Session(t.Context(), w.org, w.id("tornado")))
	for i := range 3 {
		s := session
		s.ID, s.CreatedAt, s.State, s.Stop, s.Persona = fmt.Sprint("old-", i), s.CreatedAt.Add(-time.Duration(i+1)*time.Hour), tornado.Stuck, tornado.StopNoPlan, "p"
		if i == 2 {
			s.Pathway = "other"
		}
		if err := h.sessions().InsertSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	list := func(query string) (ids []string, next string) {
		t.Helper()
		data := checked(w, "/tornado"+query)["data"]
		for _, s := range at(t, data, "sessions").([]any) {
			ids = append(ids, at(t, s, "session_id").(string))
		}
		next, _ = at(t, data, "next_cursor").(string)
		return ids, next
	}
	for query, want := range map[string]string{
		"": session.ID + " old-0 old-1 old-2", "?pathway_id=$pathway": session.ID + " old-0 old-1", "?persona_id=p": "old-0 old-1 old-2",
		"?status=STUCK": "old-0 old-1 old-2", "?status=RUNNING": session.ID, "?pathway_id=other&persona_id=p&status=STUCK": "old-2", "?pathway_id=none": "",
	} {
		if ids, next := list(query); strings.Join(ids, " ") != want || next != "" {
			t.Errorf("%q gives %v %q, want %s", query, ids, next, want)
		}
	}
	first, next := list("?limit=3")
	if rest, last := list("?limit=3&cursor=" + next); len(first) != 3 || strings.Join(rest, " ") != "old-2" || last != "" {
		t.Errorf("the pages are %v, %v %q", first, rest, last)
	}
	for query, field := range map[string]string{"?limit=21": "limit", "?cursor=x": "cursor", "?status=stuck": "status", "?offset=1": "offset"} {
		testError(w, 400, "BAD_REQUEST", field, "GET", "/tornado"+query, "")
	}
}

func TestTornadoIsCancelledAndStartedOnce(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	h.key, h.org = strings.TrimPrefix(w.key, "Bearer "), w.org
	key := header{"Idempotency-Key", "once"}
	const target = "/v1/agent-testing/tornado/start"
	first := h.want(202, "POST", target, w.fill(`{"pathway_id":"$pathway"}`), key)
	if again := h.want(202, "POST", target, w.fill(`{"pathway_id":"$pathway"}`), key); fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("first %v, again %v", first, again)
	}
	other := h.want(409, "POST", target, w.fill(`{"pathway_id":"$pathway","max_iterations":1}`), key)
	if at(t, other, "errors", 0, "error") != "IDEMPOTENCY_CONFLICT" {
		t.Errorf("another body gives %v", other)
	}
	w.made["tornado"], _ = at(t, first, "data", "session_id").(string)
	for range 2 { // no node holds the session, so it keeps running
		like(t, w.do(200, "POST", "/v1/agent-testing/tornado/$tornado/cancel", ""), `{"data":{"cancelled":true},"errors":null}`)
	}
	if s := must(h.sessions().Session(t.Context(), w.org, w.id("tornado"))); !s.Cancel {
		t.Error("it is not to be cancelled")
	}
}

func TestTornadoEvents(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	server := httptest.NewServer(h)
	defer server.Close()
	id := w.id("tornado")
	c, _ := w.events(server, "/tornado/$tornado", "")
	_, shows := c.progress()
	if shows["session_id"] != id || shows["phase"] != "baseline" || shows["current_iteration"] != 0.0 {
		t.Errorf("first %v", shows)
	}
	w.change(func(s *tornado.Session) {
		s.Phase, s.Iterations = tornado.Screening, []tornado.Iteration{{Outcome: tornado.IsBaseline}, {Number: 1}}
	})
	seen, shows := c.progress()
	if shows["phase"] != "screening" || shows["current_iteration"] != 1.0 || shows["iterations"] != nil {
		t.Errorf("then %v", shows)
	}
	c.leave()
	w.change(func(s *tornado.Session) { s.State, s.Stop, s.EndedAt = tornado.AllPassed, tornado.StopAllPassed, began })
	c, _ = w.events(server, "/tornado/$tornado", seen)
	last, shows := c.progress()
	if shows["status"] != "COMPLETED_ALL_PASSED" || shows["stop_reason"] != "all_passed" || shows["phase"] != nil || shows["completed_at"] == nil {
		t.Errorf("at the end %v", shows)
	}
	c.wantEnd()
	if _, answer := w.events(server, "/tornado/$tornado", last); answer.status != http.StatusNoContent {
		t.Errorf("with the final state: %d", answer.status)
	}

	other := (&worlds{h: h, count: 1}).next()
	testError(w, 404, "NOT_FOUND", "", "GET", "/tornado/nothing/events", "")
	testError(other, 404, "NOT_FOUND", "", "GET", "/tornado/"+id+"/events", "")
	open, _ := other.events(server, "/tornado/$tornado", "")
	open.progress()
	for range tornado.MaxWatchers - 1 {
		must(h.areas.tornados.Watch(t.Context(), other.org, other.id("tornado"), 0))
	}
	testError(other, 429, "TOO_MANY_REQUESTS", "", "GET", "/tornado/$tornado/events", "")
	h.areas.tornados.Close()
	open.wantEnd()
	testError(w, 503, "SERVICE_UNAVAILABLE", "", "GET", "/tornado/$tornado/events", "")
	if _, err := h.areas.tornados.Watch(t.Context(), w.org, id, 0); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("after the end: %v", err)
	}
}
