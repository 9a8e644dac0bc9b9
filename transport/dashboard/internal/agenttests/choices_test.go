package agenttests_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/dashboard"
)

// The pages with a choice of a pathway, and those that also have a choice of a persona.
var (
	pathwayPages = []string{
		"/tests", "/tests/runs", "/tests/batches", "/tests/sets", "/tests/batches/new", "/tests/sets/new", "/tests/tornado", "/tests/analytics",
		formPath, "/tests/tornado/new",
	}
	personaPages = pathwayPages[:7]
)

// person creates a persona of an organization and returns its id.
func (h *house) person(of callwright.OrgID, name, prompt string) string {
	h.t.Helper()
	r, err := h.people.Create(h.t.Context(), of, persona.Persona{Name: name}, persona.Version{Orchestration: prompt, Personality: prompt})
	h.check(err)
	return r.Persona.ID
}

// TestChoices checks that pathways and personas are chosen by name, that the chosen one stays chosen, and that those of other organizations
// are not offered.
func TestChoices(t *testing.T) {
	t.Parallel()
	h := open(t)
	asks := must(h.drawn.Create(t.Context(), org, pathway.Draft{Name: "<b>Asks"})).ID
	theirs := must(h.drawn.Create(t.Context(), "other", pathway.Draft{Name: "Their pathway"})).ID
	eva, stranger := h.person(org, "<i>Eva", "Sing."), h.person("other", "Their persona", "Sing.")
	for _, at := range pathwayPages {
		h.want(http.StatusOK, at, `<label for="pathway_id">Pathway</label><select`, `<option value="`+asks+`">&lt;b&gt;Asks</option>`,
			`<option value="p1">Pays</option>`, "!"+theirs, "!Their pathway", "!<b>Asks")
		if at != "/tests/analytics" { // which shows no report about a pathway without scenarios
			h.want(http.StatusOK, at+"?pathway_id="+asks, `<option value="`+asks+`" selected>&lt;b&gt;Asks</option>`, `<option value="p1">Pays</option>`)
			h.want(http.StatusOK, at+"?pathway_id="+theirs, `<label for="pathway_id">Pathway (id)</label><input id="pathway_id"`, `value="`+theirs+`"`, "!Their pathway")
		}
	}
	h.scenario("Pays", func(*scenario.Scenario) {})
	h.want(http.StatusOK, "/tests/analytics?pathway_id=p1", `<option value="p1" selected>Pays</option>`)
	h.want(http.StatusNotFound, "/tests/analytics?pathway_id="+theirs, "Pathway (id)", `id="fault-pathway_id"`, "!Their pathway")
	for _, at := range personaPages {
		h.want(http.StatusOK, at, `<label for="persona_id">Persona</label><select`, `<option value="" selected>All</option>`,
			`<option value="`+eva+`">&lt;i&gt;Eva</option>`, "!"+stranger, "!Their persona", "!<i>Eva")
		h.want(http.StatusOK, at+"?persona_id="+eva, `<option value="`+eva+`" selected>&lt;i&gt;Eva</option>`)
		h.want(http.StatusOK, at+"?persona_id="+stranger, `<label for="persona_id">Persona (id)</label><input id="persona_id"`, "!Their persona")
	}
	for path, at := range map[string]string{formPath: "/tests/scenarios", "/tests/tornado/new": "/tests/tornado"} {
		h.want(http.StatusOK, path, `name="pathway_id" required`, `<option value="" selected>Choose one</option>`)
		h.post(path, at, url.Values{"pathway_id": {asks}, "version_number": {"x"}}, http.StatusUnprocessableEntity, `<option value="`+asks+`" selected>`)
		h.post(path, at, url.Values{}, http.StatusUnprocessableEntity, `id="fault-`)
	}
}

// TestManyObjects checks that ids are typed where there are too many pathways or personas to choose from.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range pathway.MaxPage - 1 {
		must(h.drawn.Create(t.Context(), org, pathway.Draft{Name: fmt.Sprint("Pathway ", i)}))
	}
	for i := range 199 {
		h.person(org, fmt.Sprint("Persona ", i), "Sing.")
	}
	h.want(http.StatusOK, "/tests", ">Pathway</label><select", ">Pays</option>", ">Persona</label><select", ">Persona 0</option>")
	must(h.drawn.Create(t.Context(), org, pathway.Draft{Name: "One more"}))
	h.person(org, "One more", "Sing.")
	for _, at := range pathwayPages {
		h.want(http.StatusOK, at, `>Pathway (id)</label><input id="pathway_id"`, "!One more")
	}
	for _, at := range personaPages {
		h.want(http.StatusOK, at, `>Persona (id)</label><input id="persona_id"`)
	}
	h.want(http.StatusOK, formPath, `name="pathway_id" value="" required`)
}

// TestLargePersonas checks that a persona's id is typed if the personas are too large for a page of persona.Service.List.
func TestLargePersonas(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range persona.DefaultPage {
		h.person(org, fmt.Sprint("Persona ", i), strings.Repeat("é", persona.MaxPrompt))
	}
	h.want(http.StatusOK, "/tests", ">Persona (id)</label><input")
}

// TestNothingToChoose checks that ids are typed if the dashboard has neither pathways nor personas.
func TestNothingToChoose(t *testing.T) {
	t.Parallel()
	h := open(t)
	site := must(dashboard.New(dashboard.Config{Authenticator: somebody{}, Tests: h.tests}))
	t.Cleanup(func() { _ = site.Close(t.Context()) })
	h.Server = httptest.NewServer(site)
	t.Cleanup(h.Close)
	h.want(http.StatusOK, "/tests", ">Pathway (id)</label><input", ">Persona (id)</label><input")
	h.want(http.StatusOK, formPath, ">Pathway (id)</label><input", "!/pathways")
}

// TestNamesInLists checks that lists show the names of pathways and personas, and the ids of deleted ones.
func TestNamesInLists(t *testing.T) {
	t.Parallel()
	h := open(t)
	eva := h.person(org, "Eva", "Sing.")
	for i, b := range []group.Batch{{Pathway: "p1"}, {Pathway: "gone"}, {Persona: eva}, {Persona: "left"}} {
		b.ID, b.Org, b.Kind, b.State, b.CreatedAt, b.Revision = fmt.Sprint("b", i), org, group.OneEach, run.Passed, created, 1
		h.check(h.store.InsertBatch(t.Context(), b))
	}
	h.want(http.StatusOK, "/tests/batches", `pathway <a href="/tests/analytics?pathway_id=p1">Pays</a>`,
		`pathway <a href="/tests/analytics?pathway_id=gone"><code>gone</code></a>`, "<td>persona Eva</td>", "<td>persona <code>left</code></td>")
	h.scenario("Asks", func(*scenario.Scenario) {})
	h.check(h.found.InsertSession(t.Context(), tornado.Session{ID: "t1", Org: org, Pathway: "p1", CreatedAt: created, Revision: 1}))
	for _, at := range []string{"/tests", "/tests/tornado"} {
		h.want(http.StatusOK, at, `<td>pathway <a href="/tests/analytics?pathway_id=p1">Pays</a></td>`)
	}
	h.want(http.StatusOK, "/tests/analytics", `<a href="/tests/analytics?pathway_id=p1">Pays</a>`)
}
