// Package agenttests contains the pages for tests of agents: scenarios, runs, batches and simulation sets, the test results of a pathway,
// and the sessions that search for better versions.
package agenttests

import (
	"embed"
	"errors"
	"io/fs"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/*.html
var files embed.FS

// Config contains the services behind the pages. Tests is required.
type Config struct {
	Tests   *agenttest.Service
	Tornado *tornado.Service // if nil, there are no pages for sessions

	Pathways Pathways           // offers and draws tested pathways; if nil, there are no links to pathways, and users type their ids
	Personas agentform.Personas // offers personas; if nil, users type their ids
	Issues   bool               // the dashboard has pages for issues, to which these pages link
}

// Pathways reads pathways; pathway.Service implements it.
type Pathways interface {
	agenttest.Documents
	agentform.Pathways
}

type pages struct{ cfg Config }

// New returns the area with the pages for tests.
func New(c Config) page.Area {
	p := pages{cfg: c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible, because the folder is embedded
	}
	tabs := []option{
		{"/tests", "Scenarios"}, {"/tests/runs", "Runs"}, {batchesPath, "Batches"}, {setsPath, "Simulation sets"}, {"/tests/analytics", "Analytics"},
	}
	routes := []page.Route{
		{Pattern: "GET /tests", Serve: p.scenarios},
		{Pattern: "POST /tests/scenarios", Serve: p.createScenario},
		{Pattern: "GET /tests/scenarios/new", Serve: p.newScenario},
		{Pattern: "GET /tests/scenarios/{id}", Serve: p.scenario},
		{Pattern: "POST /tests/scenarios/{id}", Serve: p.updateScenario},
		{Pattern: "GET /tests/scenarios/{id}/edit", Serve: p.editScenario},
		{Pattern: "POST /tests/scenarios/{id}/delete", Serve: p.deleteScenario},
		{Pattern: "POST /tests/scenarios/{id}/runs", Serve: p.start},
		{Pattern: "GET /tests/runs", Serve: p.runs},
		{Pattern: "GET /tests/runs/{id}", Serve: p.run},
		{Pattern: "POST /tests/runs/{id}/cancel", Serve: p.cancelRun},
		{Pattern: "POST /tests/runs/{id}/analyze", Serve: p.analyze},
		{Pattern: "GET /tests/groups/{id}", Serve: p.group},
		{Pattern: "GET /tests/batches", Serve: p.batches},
		{Pattern: "POST /tests/batches", Serve: p.startBatch},
		{Pattern: "GET /tests/batches/new", Serve: p.newBatch},
		{Pattern: "GET /tests/batches/{id}", Serve: p.batch},
		{Pattern: "POST /tests/batches/{id}/cancel", Serve: p.cancelBatch},
		{Pattern: "GET /tests/sets", Serve: p.sets},
		{Pattern: "POST /tests/sets", Serve: p.startSet},
		{Pattern: "GET /tests/sets/new", Serve: p.newSet},
		{Pattern: "GET /tests/sets/{id}", Serve: p.set},
		{Pattern: "POST /tests/sets/{id}/cancel", Serve: p.cancelSet},
		{Pattern: "GET /tests/analytics", Serve: p.analytics},
	}
	if c.Tornado != nil {
		tabs = append(tabs, option{tornadoPath, "Tornado"})
		routes = append(routes,
			page.Route{Pattern: "GET /tests/tornado", Serve: p.sessions},
			page.Route{Pattern: "POST /tests/tornado", Serve: p.startSession},
			page.Route{Pattern: "GET /tests/tornado/new", Serve: p.newSession},
			page.Route{Pattern: "GET /tests/tornado/{id}", Serve: p.session},
			page.Route{Pattern: "GET /tests/tornado/{id}/iterations/{number}", Serve: p.iteration},
			page.Route{Pattern: "POST /tests/tornado/{id}/cancel", Serve: p.cancelSession},
		)
	}
	all := maps.Clone(funcs)
	all["tabs"] = func() []option { return tabs }
	all["haspathways"] = func() bool { return c.Pathways != nil }
	all["hasissues"] = func() bool { return c.Issues }
	all["hastornado"] = func() bool { return c.Tornado != nil }
	return drawing.In(page.Area{Title: "Tests", Path: "/tests", Templates: templates, Funcs: all, Routes: routes})
}

// pageSize is the maximum number of entries on a page of a list.
const pageSize = 50

// faultsOf is like page.FaultsOf, and also returns CodeNotImplemented as a fault of the whole form, which is then shown again.
func faultsOf(err error, fields ...string) (page.Faults, bool) {
	if errors.Is(err, callwright.ErrNotImplemented) {
		return page.Faults{"": callwright.MessageOf(err)}, true
	}
	return page.FaultsOf(err, nil, fields...)
}

// cancelled redirects to a page after a cancellation, with a notice of its success or its failure. An error that page.FaultsOf does not
// convert is returned instead.
func cancelled(to, notice string, err error) (page.Answer, error) {
	if err != nil {
		if _, ok := page.FaultsOf(err, nil); !ok {
			return nil, err
		}
		notice = "Nothing was cancelled: " + callwright.MessageOf(err) + "."
	}
	return page.SeeOther{To: to, Notice: notice}, nil
}
