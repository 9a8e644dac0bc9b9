package agenttests_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

func TestBatches(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/batches", "There are no batches yet")
	sc := h.scenario("<script>alert(1)</script>", func(*scenario.Scenario) {})
	b, runs, err := h.tests.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}, Trigger: group.ByCI})
	h.check(err)
	at := "/tests/batches/" + b.ID
	h.want(http.StatusOK, "/tests/batches?trigger_source=ci&pathway_id=p1", at, "pending", "p1", "data-live", "<td>CI</td>", `<option value="api">the API</option>`)
	h.want(http.StatusOK, "/tests/batches?status=PASSED", "None matches", "!"+b.ID)
	h.want(http.StatusOK, "/tests/batches?page=2", "!"+b.ID)
	h.want(http.StatusUnprocessableEntity, "/tests/batches?trigger_source=wind", `id="fault-trigger_source"`)
	h.want(http.StatusBadRequest, "/tests/batches?page=0")
	h.want(http.StatusOK, at, "0 of 1 runs have ended.", runs[0].ID, "&lt;script&gt;alert", "!<script>alert", "data-live", "Cancel the runs", "<dd>CI</dd>")
	h.want(http.StatusOK, "/tests/groups/"+b.ID, "<h1>Batch</h1>")
	h.want(http.StatusOK, "/tests/runs/"+runs[0].ID, "/tests/groups/"+b.ID)
	h.post(at, at+"/cancel", url.Values{}, http.StatusOK, "The batch is being cancelled.", "It is being cancelled.", "cancelled by a request")
	for _, path := range []string{"/tests/batches/none", "/tests/sets/" + b.ID, "/tests/groups/none"} {
		h.want(http.StatusNotFound, path)
	}
}

func TestSets(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/sets", "There are no simulation sets yet")
	sc := h.scenario("Pays", func(*scenario.Scenario) {})
	from := "/tests/scenarios/" + sc.ID
	h.post(from, from+"/runs", url.Values{"simulations_per_scenario": {"8"}}, http.StatusOK, "<h1>Simulation set</h1>", "0 of 8 runs have ended.", "dashboard")
	sets, more, err := h.tests.PageBatches(t.Context(), org, group.Filter{Kind: group.Simulations})
	if err != nil || more || len(sets) != 1 {
		t.Fatalf("%d sets, %t, %v", len(sets), more, err)
	}
	at := "/tests/sets/" + sets[0].ID
	for i := range 6 {
		h.run(fmt.Sprint("r", i), func(r *run.Run) {
			if r.Batch, r.Scenario, r.Trial = sets[0].ID, sc.ID, 10+i; i == 0 {
				r.State, r.Result.Failure = run.Failed, &run.Failure{Assertion: "a", Reason: "<b>no card"}
			}
		})
	}
	h.want(http.StatusOK, at, "83.3%", "43.6% to 97.0%", "flaky", "1 × ", "&lt;b&gt;no card", "/tests/runs/r0", "data-live", "!<b>no card")
	h.want(http.StatusOK, "/tests/groups/"+sets[0].ID, "<h1>Simulation set</h1>")
	h.want(http.StatusOK, "/tests/sets", at)
	h.post(at, at+"/cancel", url.Values{}, http.StatusOK, "The simulation set is being cancelled.")
}

// TestStatesOfSets checks that a set in the state PASSED is shown as completed, because some of its runs may have failed. A batch in this
// state is shown as passed.
func TestStatesOfSets(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i, c := range []struct {
		kind         group.Kind
		state        run.State
		path         string
		badge, share string
	}{
		{group.Simulations, run.Passed, "/tests/sets/", `class="badge plain"><span aria-hidden="true">•</span> completed</span>`, "1 of 4 runs passed"},
		{group.Simulations, run.Failed, "/tests/sets/", " failed</span>", "1 of 4 runs passed"},
		{group.Simulations, run.Running, "/tests/sets/", " running</span>", "!runs passed"},
		{group.OneEach, run.Passed, "/tests/batches/", " passed</span>", "!completed"},
	} {
		b := group.Batch{
			ID: fmt.Sprint("b", i), Org: org, Kind: c.kind, Trigger: group.ByAPI, Pathway: "p1", State: c.state, Simulations: 4, CreatedAt: created,
			Scenarios: []run.Subject{{Scenario: "s1", Name: "Pays", Pathway: "p1"}}, Counts: group.Counts{Passed: 1, Failed: 3}, Revision: 1,
		}
		h.check(h.store.InsertBatch(t.Context(), b))
		h.want(http.StatusOK, c.path+b.ID, c.badge, c.share)
		h.want(http.StatusOK, strings.TrimSuffix(c.path, "/")+"?status="+string(c.state), b.ID, c.badge)
	}
	h.want(http.StatusOK, "/tests/sets", `<option value="PASSED">completed</option>`)
	h.want(http.StatusOK, "/tests/batches", `<option value="PASSED">passed</option>`)
}

// TestStartGroups starts groups with the forms, and checks that the forms show their faults.
func TestStartGroups(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/batches/new", "There are no enabled scenarios yet")
	a, b := h.scenario("First", func(*scenario.Scenario) {}), h.scenario("Second", func(s *scenario.Scenario) { s.Category = scenario.HappyPath })
	off := h.scenario("Off", func(s *scenario.Scenario) { s.Enabled = false })
	h.want(http.StatusOK, "/tests/batches/new?category=HAPPY_PATH", b.ID, "!"+a.ID)
	h.want(http.StatusOK, "/tests/batches/new?pathway_id=p9", "No enabled scenario matches")
	h.want(http.StatusUnprocessableEntity, "/tests/sets/new?category=x", `id="fault-category"`)
	h.want(http.StatusOK, "/tests/sets/new?scenario_id="+b.ID, `value="`+b.ID+`" type="checkbox" checked`, "!"+off.ID, `!value="`+a.ID+`" type="checkbox" checked`)
	both := []string{a.ID, b.ID}
	for field, bad := range map[string]string{
		"version_number": "77", "budget.tokens": "-1", "budget.cost": "much", "concurrency": "33", "scenario_ids": "none",
	} {
		form := url.Values{"scenario_ids": both, "version_number": {""}}
		form.Set(field, bad)
		h.post("/tests/batches/new", "/tests/batches?pathway_id=p1", form, http.StatusUnprocessableEntity, `id="fault-`+strings.ReplaceAll(field, ".", "-")+`"`, `action="/tests/batches?pathway_id=p1"`)
	}
	h.post("/tests/batches/new", "/tests/batches", url.Values{}, http.StatusUnprocessableEntity, "must have 1 to 100 ids")
	other := h.scenario("Other", func(s *scenario.Scenario) { s.Pathway = "p3" })
	h.post("/tests/batches/new", "/tests/batches", url.Values{"scenario_ids": {a.ID, other.ID}, "publish_on_pass": {"true"}}, http.StatusUnprocessableEntity,
		`id="fault-publish_on_pass"`, "requires that all scenarios test the same version of the same pathway")
	h.post("/tests/sets/new", "/tests/sets", url.Values{"scenario_ids": both, "simulations_per_scenario": {"201"}}, http.StatusUnprocessableEntity,
		`id="fault-simulations_per_scenario"`, `value="201"`, `value="`+a.ID+`" type="checkbox" checked`)
	h.post("/tests/batches/new", "/tests/batches", url.Values{"scenario_ids": both, "budget.tokens": {"5000"}, "concurrency": {"1"}}, http.StatusOK,
		"<h1>Batch</h1>", "0 of 2 runs have ended.", "Tokens at most</dt><dd>5\u202f000", "1 at most", "data-live", "dashboard")
	h.post("/tests/sets/new", "/tests/sets", url.Values{"scenario_ids": both, "simulations_per_scenario": {"3"}, "attribute_flakes": {"true"}},
		http.StatusOK, "<h1>Simulation set</h1>", "0 of 6 runs have ended.")
}

// TestAnalyticsOfScriptedRuns checks that runs without a model do not count by default, and that the page states their number and the
// reason.
func TestAnalyticsOfScriptedRuns(t *testing.T) {
	t.Parallel()
	h := open(t)
	const at = "/tests/analytics?pathway_id=p1"
	add := func(id string, scripted bool) {
		h.run(id, func(r *run.Run) { r.Scripted, r.CreatedAt = scripted, time.Now().Add(-time.Hour) })
	}
	add("r1", true)
	h.want(http.StatusOK, at, "No language model took part in 1 run.", "!No run of these days", "!0 runs have ended")
	h.want(http.StatusOK, "/tests/runs/r1", "left out: no language model took part")
	add("r2", true)
	h.want(http.StatusOK, at, "No language model took part in 2 runs.", "decides by rules alone", `include_scripted=true&amp;pathway_id=p1">Count all</a>`)
	h.want(http.StatusOK, at+"&version_number=2", "No run of these days", "!took part")
	h.want(http.StatusOK, at+"&include_scripted=true", "2 runs have ended", "!took part")
	add("r3", false)
	h.want(http.StatusOK, at, "1 run has ended", "No language model took part in 2 runs.")
	h.want(http.StatusOK, "/tests/runs/r3", "!left out")
}

// TestAnalyticsOfNewestRuns checks that at most agenttest.MaxScan runs count, and that the page says so if there are more runs.
func TestAnalyticsOfNewestRuns(t *testing.T) {
	t.Parallel()
	h := open(t)
	const at, notice = "/tests/analytics?pathway_id=p1", "The newest 5\u202f000 runs of these days count."
	runs := make([]run.Run, agenttest.MaxScan+1)
	for i := range runs {
		runs[i] = run.Run{
			ID: fmt.Sprint("r", i), Org: org, Scenario: "s1", Pathway: "p1", Version: 1, State: run.Passed, Revision: 1,
			CreatedAt: time.Now().Add(-time.Hour), EndedAt: time.Now(),
		}
	}
	h.check(h.store.InsertRuns(t.Context(), runs[1:]))
	h.want(http.StatusOK, at, "5\u202f000 runs have ended", "!"+notice)
	h.check(h.store.InsertRuns(t.Context(), runs[:1]))
	h.want(http.StatusOK, at, "5\u202f000 runs have ended", notice)
}

func TestAnalytics(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests/analytics", "No pathway has scenarios yet")
	sc := h.scenario("<script>alert(1)</script>", func(*scenario.Scenario) {})
	h.want(http.StatusOK, "/tests/analytics", `href="/tests/analytics?pathway_id=p1"`, "1 scenario")
	h.want(http.StatusOK, "/tests/analytics?pathway_id=p1", "No run of these days has ended")
	for i := range 6 {
		h.run(fmt.Sprint("r", i), func(r *run.Run) {
			r.Scenario, r.CreatedAt = sc.ID, time.Now().Add(-time.Hour)
			if r.Summary = analytics.NewSummary(new(0.75), []string{"start", "<b>paid"}, ""); i == 0 {
				r.State, r.Summary = run.Failed, analytics.NewSummary(new(0.0), []string{"start", "<b>paid"}, "<b>paid")
			}
			if i == 1 {
				r.State, r.Summary = run.Failed, analytics.NewSummary(new(0.0), []string{"start"}, "start")
			}
		})
	}
	h.run("v2", func(r *run.Run) {
		r.Scenario, r.Version, r.CreatedAt = sc.ID, 2, time.Now().Add(-time.Hour)
		r.Summary = analytics.NewSummary(new(1.0), []string{"start", "<b>paid"}, "")
	})
	const at = "/tests/analytics?pathway_id=p1&days=7"
	h.want(http.StatusOK, at, "71.4%", "7 runs have ended", "stable", "<svg", "1 of 6 scored runs", "&lt;b&gt;paid", "&lt;script&gt;alert", "!<script>alert",
		"!<b>paid", "Version 2</a>", "100.0%", "version_number=1", `href="/pathways/p1/versions/2"`)
	h.want(http.StatusOK, at+"&version_number=1", "66.7%", "6 runs have ended", "shown here", "Version 1 is drawn", "1 of 6 failed", "shade s1",
		"not visited", "1 node of the runs is not in it", `href="/pathways/p1/versions/1?node=start#node"`, "view=", "3.0% to 56.4%", `id="failures"`)
	text := h.want(http.StatusOK, at+"&version_number=1&sort=node&order=asc", `aria-sort="ascending"`)
	if strings.Index(text, `<th scope="row">&lt;b&gt;paid`) > strings.Index(text, `<th scope="row">start`) {
		t.Error("the nodes are not sorted by name")
	}
	h.want(http.StatusOK, at+"&version_number=3", "No run of these days", "Version 2</a>")
	h.want(http.StatusUnprocessableEntity, at+"&version_number=-1", `id="fault-version_number"`)
	for _, bad := range []string{"&sort=colour", "&nodes=0", "&daily=x"} {
		h.want(http.StatusBadRequest, at+bad)
	}
	h.want(http.StatusUnprocessableEntity, "/tests/analytics?pathway_id=p1&days=1000", `id="fault-days"`, `value="1000"`)
	h.want(http.StatusUnprocessableEntity, "/tests/analytics?pathway_id=p1&days=week", "must be a whole number")
	h.want(http.StatusNotFound, "/tests/analytics?pathway_id=p2", `id="fault-pathway_id"`)
}

// TestDaysOfAnalytics checks that runs count on the days of the browser's time zone, which the page names, or of UTC if the zone is
// unknown. The test uses two zones whose dates always differ.
func TestDaysOfAnalytics(t *testing.T) {
	t.Parallel()
	h := open(t)
	sc, ended := h.scenario("Pays", func(*scenario.Scenario) {}), time.Now().Add(-time.Hour)
	h.run("r", func(r *run.Run) { r.Scenario, r.CreatedAt = sc.ID, ended })
	const at = "/tests/analytics?pathway_id=p1&days=7"
	h.want(http.StatusOK, at, "Day (UTC)", `<th scope="row">`+ended.UTC().Format(time.DateOnly))
	for _, name := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} {
		zone, err := time.LoadLocation(name)
		h.check(err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+at, nil)
		h.check(err)
		r.AddCookie(&http.Cookie{Name: "callwright_zone", Value: name})
		h.read(pagetest.Do(t, h.client, r), http.StatusOK, at, "Day ("+name+")", `<th scope="row">`+ended.In(zone).Format(time.DateOnly))
	}
}
