package agenttests_test

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// maxPage is the maximum size of a compressed page, in bytes.
const maxPage = 60_000

// fits checks that the pages at the paths are compressed, and that each then has at most maxPage bytes.
func (h *house) fits(paths ...string) {
	h.t.Helper()
	for _, path := range paths {
		r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.URL+path, http.NoBody)
		h.check(err)
		r.Header.Set("Accept-Encoding", "gzip")
		got := pagetest.Do(h.t, h.client, r)
		if got.Status != http.StatusOK || got.Header.Get("Content-Encoding") != "gzip" || len(got.Body) > maxPage {
			h.t.Errorf("%s: %d, %s, %d bytes", path, got.Status, got.Header.Get("Content-Encoding"), len(got.Body))
		}
	}
}

// follow checks the links of a page to paths that begin with the given prefix, except links that begin with "#". Each link must lead to a
// page, and each of parts must occur in a link.
func (h *house) follow(path, body, below string, parts ...string) {
	h.t.Helper()
	base := must(url.Parse(h.URL + path))
	seen := map[string]bool{}
	for _, found := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(body, -1) {
		to := must(base.Parse(html.UnescapeString(found[1])))
		if strings.HasPrefix(found[1], "#") || !strings.HasPrefix(to.Path, below) {
			continue
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return strings.Contains(to.RequestURI()+"#"+to.Fragment, part) })
		if page := to.RequestURI(); !seen[page] {
			seen[page] = true
			h.want(http.StatusOK, page)
		}
	}
	if len(parts) > 0 {
		h.t.Errorf("%s has no links with %q", path, parts)
	}
}

// prose returns random words, which compress badly.
func prose(random *rand.Rand, words int) string {
	known := strings.Fields("the caller asks for a card and wants to pay his bill by Monday because nobody called back about contract or refund before")
	var b strings.Builder
	for range words {
		b.WriteString(known[random.IntN(len(known))] + " ")
	}
	return strings.TrimSpace(b.String())
}

// TestLongRun checks that the page of a run with 10,000 turns and 1,000 assertions is split into linked parts of limited size.
func TestLongRun(t *testing.T) {
	t.Parallel()
	h := open(t)
	random := rand.New(rand.NewPCG(1, 2))
	o := &engine.Outcome{Evidence: assert.Evidence{End: assert.EndMaxTurns}}
	for i := range 10_000 {
		o.Evidence.Turns = append(o.Evidence.Turns, assert.Turn{Role: []llm.Role{llm.RoleAgent, llm.RoleCaller}[i%2], Text: prose(random, 25), Node: "start"})
		o.Turns = append(o.Turns, engine.Turn{Index: i, Notes: []engine.Note{{Kind: "decision", Node: "start", Text: prose(random, 10)}}})
	}
	for i := range 1000 {
		n := i * 10
		text := o.Evidence.Turns[n].Text
		o.Results = append(o.Results, assert.Result{
			Type: assert.LLMJudge, Name: prose(random, 5), Outcome: []assert.Outcome{assert.Passed, assert.Passed, assert.Failed}[i%3], Reasoning: prose(random, 40),
			Quotes:  []assert.Quote{{Turn: n, Text: text[:20], Verified: true}, {Turn: 9999, Text: "a"}},
			Samples: []assert.Sample{{Verdict: assert.JudgePass, Reasoning: prose(random, 15)}, {Verdict: assert.JudgeFail, Reasoning: prose(random, 15)}},
		})
	}
	h.run("long", func(r *run.Run) { r.State, r.Outcome = run.Failed, o })
	const at = "/tests/runs/long"
	h.fits(at, at+"?turns=50", at+"?assertions=20", at+"?outcome=failed", at+"?turns=100&assertions=2")
	h.want(http.StatusOK, at, "Turns 0 to 99 of 10\u202f000", "Assertions 1 to 50 of 1\u202f000", `id="turn-99"`, `!id="turn-100"`, `id="assertion-50"`, `!id="assertion-51"`, `href="#turn-90"`,
		`href="`+at+`?turns=2#turn-100"`, `href="`+at+`?turns=100#turn-9999"`, "Failed (333)", `href="`+at+`?turns=2#conversation"`)
	h.want(http.StatusOK, at+"?turns=100", `id="turn-9999"`, `!rel="next"`, `href="#assertion-1"`, "and 980 more",
		`href="`+at+`?assertions=2&amp;turns=100#assertions"`)
	h.want(http.StatusOK, at+"?outcome=failed&assertions=7", `id="assertion-999"`, `!id="assertion-1000"`, `!id="assertion-3"`)
	h.want(http.StatusOK, at+"?turns=1000", `id="turn-9999"`)
	for _, bad := range []string{"?turns=0", "?assertions=x", "?outcome=good"} {
		h.want(http.StatusBadRequest, at+bad)
	}
	h.follow(at+"/analyze", h.post(at, at+"/analyze", url.Values{}, http.StatusOK, "Analyze again"), at, "outcome=failed", "turns=2", "assertions=2", "#turn-100")
}

// TestLargeReport checks the size of a report about 400 runs of a pathway with 400 nodes, of which every third is the node of a failure.
func TestLargeReport(t *testing.T) {
	t.Parallel()
	h := open(t)
	random := rand.New(rand.NewPCG(3, 4))
	sc := h.scenario("Pays", func(*scenario.Scenario) {})
	var d graph.Document
	id := func(i int) string { return fmt.Sprintf("node-%03d-%x", i, i*7919) }
	add := func(to *[]json.RawMessage, format string, values ...any) {
		*to = append(*to, raws(fmt.Sprintf(format, values...))...)
	}
	for i := range 399 {
		add(&d.Nodes, `{"id": %q, "type": "Default", "data": {"name": %q, "text": "Hello.", "isStart": %t}}`, id(i), prose(random, 6)+strconv.Itoa(i), i == 0)
		add(&d.Edges, `{"id": "e%d", "source": %q, "target": %q, "data": {"label": %q}}`, i, id(i), id(i+1), prose(random, 4))
		if i%2 == 0 {
			add(&d.Edges, `{"id": "f%d", "source": %q, "target": %q, "data": {"label": %q}}`, i, id(i), id(min(399, i+1+random.IntN(40))), prose(random, 4)+" too")
		}
	}
	add(&d.Nodes, `{"id": %q, "type": "End Call", "data": {"name": "Bye", "text": "Bye."}}`, id(399))
	h.document(h.drawn, d)
	for i := range 400 {
		h.run(fmt.Sprint("r", i), func(r *run.Run) {
			r.Scenario, r.Version, r.CreatedAt = sc.ID, 2, time.Now().Add(-time.Duration(i)*time.Hour)
			way := []string{id(0), id(random.IntN(399)), id(random.IntN(399)), id(i)}
			if r.Summary = analytics.NewSummary(new(1.0), way, ""); i%3 == 0 {
				r.State, r.Summary = run.Failed, analytics.NewSummary(new(0.0), way, id(i))
			}
		})
	}
	const at = "/tests/analytics?pathway_id=p1&days=365"
	h.fits(at, at+"&view=-2000+-2000+20000+20000", at+"&nodes=8&sort=share")
	h.want(http.StatusOK, at, "Version 2 is drawn", "1 to 50 of 400", `href="?days=365&amp;nodes=2&amp;pathway_id=p1#failures"`, "failed</text>")
}

// TestLargeSession checks that the page of a session with 100 iterations shows 10 iterations at a time, the newest first, and that the
// session's pages have a limited size.
func TestLargeSession(t *testing.T) {
	t.Parallel()
	h := open(t)
	random := rand.New(rand.NewPCG(5, 6))
	s := tornado.Session{ID: "t1", Org: org, Pathway: "p1", Most: 100, CreatedAt: created, Revision: 1, Progress: tornado.Progress{State: tornado.Running}}
	for i := range 50 {
		sc := h.scenario(prose(random, 10)+strconv.Itoa(i), func(*scenario.Scenario) {})
		s.Scenarios, s.Failed = append(s.Scenarios, tornado.Scenario{ID: sc.ID}), append(s.Failed, sc.ID)
	}
	for i := range 100 {
		changes := &graph.Changes{}
		for n := range 20 {
			changes.Nodes = append(changes.Nodes, graph.Difference{ID: fmt.Sprint("n", n), Name: prose(random, 4), Kind: graph.DifferenceChanged,
				Members: []graph.MemberDifference{{Path: "data.prompt", Before: prose(random, 300), After: prose(random, 300)}}})
		}
		s.Iterations = append(s.Iterations, tornado.Iteration{
			Number: i, Version: i + 1, Outcome: tornado.Rejected, Reason: prose(random, 60), Started: created, Failed: s.Failed, Changes: changes,
			Plan: &tornado.Plan{Fixes: []tornado.Fix{{Kind: analysis.PromptChange, Node: "n1", Description: prose(random, 100)}}},
		})
	}
	h.check(h.found.InsertSession(t.Context(), s))
	const at = "/tests/tornado/t1"
	h.fits(at, at+"?iterations=10", at+"/iterations/50", "/tests/tornado")
	h.want(http.StatusOK, at, "1 to 10 of 100", `id="iteration-99"`, `id="iteration-90"`, `!id="iteration-89"`, "data-live")
	h.want(http.StatusOK, at+"?iterations=10", `id="iteration-9"`, `id="iteration-0"`)
}

// TestLargeGroups checks the size of the pages of groups with group.MaxScenarios scenarios. With one more scenario, the form for a batch
// must say that a group cannot contain all of them.
func TestLargeGroups(t *testing.T) {
	t.Parallel()
	h := open(t)
	random := rand.New(rand.NewPCG(7, 8))
	var ids []string
	for i := range group.MaxScenarios + 1 {
		ids = append(ids, h.scenario(prose(random, 18)+strconv.Itoa(i), func(*scenario.Scenario) {}).ID)
	}
	ids = ids[:group.MaxScenarios]
	set, err := h.tests.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: 10})
	h.check(err)
	b, _, err := h.tests.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids})
	h.check(err)
	for i := range 500 {
		h.run(fmt.Sprint("r", i), func(r *run.Run) {
			r.Batch, r.Scenario, r.Trial, r.State = set.ID, ids[i%len(ids)], 100+i, run.Failed
			r.Result.Failure = &run.Failure{Assertion: fmt.Sprint("a", i%3), Reason: prose(random, 60)}
		})
	}
	h.fits("/tests", "/tests/runs", "/tests/batches/new", "/tests/sets/new", "/tests/batches/"+b.ID, "/tests/sets/"+set.ID, "/tests/scenarios/"+ids[0])
	h.want(http.StatusOK, "/tests/batches/new", "There are more scenarios than can be started at once")
}
