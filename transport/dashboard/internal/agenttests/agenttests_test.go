package agenttests_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests", "There are no scenarios yet", `aria-current="page"`)
	a := h.scenario("<script>alert(1)</script>", func(s *scenario.Scenario) { s.Category, s.Required = scenario.HappyPath, true })
	b := h.scenario("Another", func(s *scenario.Scenario) { s.Enabled = false })
	h.run("r1", func(r *run.Run) { r.Scenario, r.State = a.ID, run.Failed })
	for path, texts := range map[string][]string{
		"/tests":                     {a.ID, b.ID, "&lt;script&gt;", "!<script>alert", "happy path", "required", "failed", "/tests/runs/r1", "data-live"},
		"/tests?category=HAPPY_PATH": {a.ID, "!" + b.ID},
		"/tests?enabled=false":       {b.ID, "!" + a.ID, "(disabled)"},
		"/tests?required=true":       {a.ID, "!" + b.ID},
		"/tests?pathway_id=p2":       {"No scenario matches", `value="p2"`},
	} {
		h.want(http.StatusOK, path, texts...)
	}
	h.want(http.StatusUnprocessableEntity, "/tests?category=x&enabled=perhaps", `id="fault-category"`, `id="fault-enabled"`)
	h.want(http.StatusBadRequest, "/tests?after=nothing")
	h.want(http.StatusOK, "/tests/scenarios/"+a.ID, "pays", "node reached", "&#34;node_id&#34;", "Be brief.", "/tests/runs/r1", "!<script>alert")
	h.want(http.StatusOK, "/tests/scenarios/"+a.ID, "Simulate it", "Run it with others")
	h.want(http.StatusOK, "/tests/scenarios/"+b.ID, "!Simulate it", "!Run it with others")
	h.want(http.StatusNotFound, "/tests/scenarios/none")
}

func TestStart(t *testing.T) {
	t.Parallel()
	h := open(t)
	sc := h.scenario("Pays", func(*scenario.Scenario) {})
	at := "/tests/scenarios/" + sc.ID
	for field, bad := range map[string]string{"version_number": "77", "request_data_override": "[]", "simulations_per_scenario": "201"} {
		h.post(at, at+"/runs", url.Values{field: {bad}}, http.StatusUnprocessableEntity, `id="fault-`+field+`"`, bad)
	}
	h.post(at, at+"/runs", url.Values{"version_number": {"two"}}, http.StatusUnprocessableEntity, "must be a whole number", `value="two"`)
	h.post(at, at+"/runs", url.Values{"version_number": {"2"}, "request_data_override": {`{"name":"Robin"}`}}, http.StatusOK,
		"The test was started.", "<h1>Run of Pays</h1>", "version 2", "pending", "data-live", "Cancel the run")
	runs, total, err := h.tests.ListRuns(t.Context(), org, run.Filter{})
	if err != nil || total != 1 {
		t.Fatalf("%d runs, %v", total, err)
	}
	h.want(http.StatusOK, at, runs[0].ID)
	run := "/tests/runs/" + runs[0].ID
	h.post(run, run+"/cancel", url.Values{}, http.StatusOK, "The run is being cancelled.", "cancelled", "!data-live", "!Cancel the run")
	h.post(at, run+"/cancel", url.Values{}, http.StatusOK, "Nothing was cancelled: the run has already ended.")
}

func TestRuns(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/runs", "Nothing was tested yet")
	for i := range 60 {
		h.run(fmt.Sprintf("r%02d", i), func(r *run.Run) { r.CreatedAt = created.Add(time.Duration(i) * time.Second) })
	}
	h.run("bad", func(r *run.Run) {
		r.State, r.Pathway, r.Result.Failure = run.Failed, "p2", &run.Failure{Reason: "<script>x"}
	})
	h.run("foreign", func(r *run.Run) { r.Org = "other" })
	text := h.want(http.StatusOK, "/tests/runs?status=PASSED", "/tests/runs/r59", "/tests/runs/r10", "!/tests/runs/r09", "!/tests/runs/bad", "!foreign")
	_, next, _ := strings.Cut(text, `<a href="?after=`)
	next, _, _ = strings.Cut(next, `"`)
	h.want(http.StatusOK, "/tests/runs?after="+strings.ReplaceAll(next, "&amp;", "&"), "/tests/runs/r09", "/tests/runs/r00", "!/tests/runs/r10", `!rel="next"`)
	h.want(http.StatusOK, "/tests/runs?pathway_id=p2", "/tests/runs/bad", "&lt;script&gt;x", "!<script>x", "!/tests/runs/r59")
	h.want(http.StatusOK, "/tests/runs?status=PASSED&order=asc", "/tests/runs/r00", "!/tests/runs/r59", "!data-live")
	h.want(http.StatusUnprocessableEntity, "/tests/runs?status=GOOD&order=up", `id="fault-order"`, `id="fault-status"`)
	h.want(http.StatusNotFound, "/tests/runs/foreign")
	h.want(http.StatusNotFound, "/tests/runs/none")
}

func TestRun(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.run("r1", func(r *run.Run) {
		r.State = run.Failed
		r.Outcome = &engine.Outcome{
			Evidence: assert.Evidence{
				Turns: []assert.Turn{
					{Role: llm.RoleAgent, Text: "Hello. <script>a</script>", Node: "start"}, {Role: llm.RoleCaller, Text: "I want to pay my bill now."},
					{Role: llm.RoleAgent, Text: "Goodbye."},
				},
				Visits: []assert.Visit{{Node: "start", Turn: -1}, {Node: "paid", Turn: 1}}, Graph: assert.Graph{"start": {Name: "The <b>start"}},
				Variables: map[string]any{"name": "</pre><script>"}, End: assert.EndByAgent,
				Webhooks: []assert.Webhook{{Method: "POST", URL: "https://x.example/pay"}},
			},
			Results: []assert.Result{
				{Type: assert.StringCheck, Name: "greets", Outcome: assert.Passed, Turn: new(0), Expected: "Hello", Actual: "Hello."},
				{
					Type: assert.LLMJudge, Name: "takes the payment", Required: true, Outcome: assert.Failed, Code: assert.CodeMissingStep, Score: new(0.25),
					Reasoning: "It never asked for <i>a card</i>.", Agreement: new(2.0 / 3), Node: "start",
					Quotes: []assert.Quote{
						{Turn: 1, Text: "pay my bill", Verified: true}, {Turn: 1, Text: "my bill now", Verified: true}, {Turn: 99, Text: "made up"},
					},
					Samples: []assert.Sample{{Verdict: assert.JudgeFail, Reasoning: "no card", Model: "m1"}, {Verdict: assert.JudgePass}, {Verdict: assert.CannotJudge}},
				},
			},
			Turns: []engine.Turn{{Index: 0, Took: 320 * time.Millisecond, Notes: []engine.Note{{Kind: "decision", Node: "start", Text: "<b>greet"}}}, {Index: 7}},
		}
	})
	h.want(http.StatusOK, "/tests/runs/r1", `id="turn-0"`, `id="turn-2"`, `!id="turn-3"`, `href="#turn-1"`, `!href="#turn-99"`, `href="#assertion-2"`,
		"<mark>pay my bill</mark><mark> now</mark>.", "I want to ", "not found there", "&lt;script&gt;a", "!<script>a", "!</pre><script>", "The &lt;b&gt;start",
		`href="/issues?resource_type=run&amp;search=Test&#43;fails`, "Analyze this run", "missing step", "It never asked for &lt;i&gt;", "3 votes, 66.7% agree", "no card", "(m1)", "cannot judge", "320 ms", "&lt;b&gt;greet", "the agent ended it",
		"&#34;Hello.&#34;", "0.75", "https://x.example/pay", "!data-live", "!Cancel the run")
	h.post("/tests/runs/r1", "/tests/runs/r1/analyze", url.Values{}, http.StatusOK, "At fault", "no model took part", "Analyze again", "!never asked for <i>")
	h.run("good", func(*run.Run) {})
	h.want(http.StatusOK, "/tests/runs/good", "!Analyze this run")
	h.post("/tests/runs/r1", "/tests/runs/good/analyze", url.Values{}, http.StatusUnprocessableEntity, "only a run that is FAILED or ERROR")
	h.post("/tests/runs/r1", "/tests/runs/none/analyze", url.Values{}, http.StatusNotFound)
	h.run("r2", func(r *run.Run) { r.State = run.Running })
	h.want(http.StatusOK, "/tests/runs/r2", "running", "data-live", "The conversation goes on.", `data-ask="Cancel this run?"`,
		"<dt>Turns</dt><dd>–</dd>", "<dt>Took</dt><dd>–</dd>", "<dt>Tokens</dt><dd>–</dd>", "<dt>Cost</dt><dd>–</dd>")
	h.want(http.StatusOK, "/tests/runs?status=RUNNING", `<td class="number">–</td><td class="number">–</td>`)
}
