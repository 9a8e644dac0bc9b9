package agenttests_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/tornado", "There are no sessions yet")
	sc := h.scenario("<script>alert(1)</script>", func(*scenario.Scenario) {})
	h.check(h.found.InsertSession(t.Context(), tornado.Session{
		ID: "t1", Org: org, Pathway: "p0", Scenarios: []tornado.Scenario{{ID: sc.ID}, {ID: "gone"}}, Most: 5, CreatedAt: created,
		EndedAt: created.Add(time.Minute), Revision: 1,
		Progress: tornado.Progress{
			State: tornado.CompletedPartial, Stop: tornado.StopNoProgress, Detail: "<i>detail", Base: 1, Best: 2, Passed: []string{sc.ID}, Failed: []string{"gone"},
			Iterations: []tornado.Iteration{
				{Outcome: tornado.IsBaseline, Version: 1, Failed: []string{sc.ID, "gone"}, Started: created},
				{
					Number: 1, Version: 2, Outcome: tornado.Accepted, Reason: "one more passes", Trials: []string{"screen"}, Passed: []string{sc.ID}, Started: created,
					Plan: &tornado.Plan{Fixes: []tornado.Fix{{Kind: analysis.PromptChange, Node: "n1", Description: "Ask for the <b>card"}}},
					Changes: &graph.Changes{Nodes: []graph.Difference{{
						ID: "n1", Name: "Pay", Kind: graph.DifferenceChanged,
						Members: []graph.MemberDifference{{Path: "data.prompt", Before: `"</del><script>"`, After: `"Ask for the card."`}},
					}}},
				},
				{Number: 2, Version: 3, Outcome: tornado.Rejected, Reason: "fails what passed", Started: created},
			},
		},
	}))
	h.want(http.StatusOK, "/tests/tornado", "/tests/tornado/t1", "completed partial", "2 of 5", "no progress")
	h.want(http.StatusOK, "/tests/tornado?status=STUCK", "No session matches")
	h.want(http.StatusUnprocessableEntity, "/tests/tornado?status=x", `id="fault-status"`)
	h.want(http.StatusOK, "/tests/tornado/t1", "&lt;i&gt;detail", "Iteration 2: version 3, a change of version 2", "accepted", "rejected", "one more passes",
		"Ask for the &lt;b&gt;card", "data.prompt", "<ins>&#34;Ask for the card.&#34;</ins>", "!</del><script>", "gone", "!data-live", "!Cancel the session",
		"/tests/tornado/t1/iterations/0", "/pathways/p0/diff?from=1&amp;to=2", "1 node and 0 edges differ")
	h.want(http.StatusOK, "/tests/tornado/t1/iterations/1", "<h1>Iteration 1: version 2, a change of version 1</h1>", "accepted", "one more passes",
		"Ask for the &lt;b&gt;card", "data.prompt", "<ins>&#34;Ask for the card.&#34;</ins>", "!</del><script>", "&lt;script&gt;alert(1)", "!<script>alert",
		"/tests/groups/"+tornado.TrialID("t1", "screen"), "/pathways/p0/diff?from=1&amp;to=2", "!data-live")
	h.want(http.StatusOK, "/tests/tornado/t1/iterations/0", "<h1>Baseline: version 1</h1>", "gone", "&lt;script&gt;alert(1)")
	for _, path := range []string{"/tests/tornado/t1/iterations/3", "/tests/tornado/t1/iterations/x", "/tests/tornado/none/iterations/0"} {
		h.want(http.StatusNotFound, path)
	}
	h.want(http.StatusNotFound, "/tests/tornado/none")
}

// TestRunningIteration checks that the page of an iteration is live until the iteration has an outcome.
func TestRunningIteration(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.check(h.found.InsertSession(t.Context(), tornado.Session{
		ID: "t1", Org: org, Pathway: "p0", Most: 5, CreatedAt: created, Revision: 1,
		Progress: tornado.Progress{State: tornado.Running, Base: 1, Best: 1, Iterations: []tornado.Iteration{
			{Outcome: tornado.IsBaseline, Version: 1, Started: created, Completed: created}, {Number: 1, Version: 2, Started: created},
		}},
	}))
	h.want(http.StatusOK, "/tests/tornado/t1/iterations/0", "!data-live")
	h.want(http.StatusOK, "/tests/tornado/t1/iterations/1", "data-live", "under way")
}

// TestNoSession checks that, without a Fixer, the page shows no form, but the reason why no session can be started, and that a submitted
// form is refused.
func TestNoSession(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *tornado.Config) { c.Fixer = nil })
	h.want(http.StatusOK, "/tests/tornado/new", "No session can be started: this server has no model that proposes changes to pathways", `!name="pathway_id"`)
	h.post(formPath, "/tests/tornado", url.Values{"pathway_id": {"p1"}}, http.StatusUnprocessableEntity, "No session can be started")
}

func TestStartSession(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.scenario("Pays", func(*scenario.Scenario) {})
	const form = "/tests/tornado/new"
	h.want(http.StatusOK, form+"?pathway_id=p7", `value="p7"`)
	for field, bad := range map[string]string{
		"max_iterations": "21", "timeout_minutes": "500", "version_number": "x", "budget.tokens": "-1", "pathway_id": "p9",
	} {
		values := url.Values{"pathway_id": {"p1"}}
		values.Set(field, bad)
		h.post(form, "/tests/tornado", values, http.StatusUnprocessableEntity, `id="fault-`+strings.ReplaceAll(field, ".", "-")+`"`, bad)
	}
	h.post(form, "/tests/tornado", url.Values{"pathway_id": {"p1"}, "timeout_minutes": {"0"}}, http.StatusUnprocessableEntity, "must be from 1 to 120")
	h.post(form, "/tests/tornado", url.Values{"pathway_id": {"p1"}}, http.StatusOK, "The session begins", "running", "data-live", "Cancel the session")
	h.post(form, "/tests/tornado", url.Values{"pathway_id": {"p1"}}, http.StatusUnprocessableEntity, "has the running session")
	sessions, err := h.found.FindSessions(t.Context(), org, tornado.Filter{Limit: 2})
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	at := "/tests/tornado/" + sessions[0].ID
	h.post(at, at+"/cancel", url.Values{}, http.StatusOK, "The session is being cancelled.", "It is being cancelled.")
}
