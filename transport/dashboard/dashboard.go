// Package dashboard serves pages for the people who run telephones: calls, trunks, pathways, tests, ports, issues and speech.
//
// The pages read and change things through the same services as the HTTP API. They are rendered on the server and work without a
// script; the script keeps them up to date, plays recordings from a line, and asks before destructive actions.
package dashboard

import (
	"context"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/agenttests"
	"github.com/callwright/callwright/transport/dashboard/internal/calls"
	"github.com/callwright/callwright/transport/dashboard/internal/issues"
	"github.com/callwright/callwright/transport/dashboard/internal/overview"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/pathways"
	"github.com/callwright/callwright/transport/dashboard/internal/ports"
	"github.com/callwright/callwright/transport/dashboard/internal/settings"
	speechpages "github.com/callwright/callwright/transport/dashboard/internal/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/trunks"
	"github.com/callwright/callwright/triage"
)

// Sessions signs people in by their API keys, as an access.Service does.
type Sessions = page.Sessions

// Authenticator returns the principal of a request. It equals httpapi.Authenticator: see there.
type Authenticator = page.Authenticator

// Part is a part of the program with its implementation, for the overview.
type Part = overview.Part

// Config configures a Dashboard. A domain whose service is nil has no pages.
type Config struct {
	Sessions      Sessions      `required:"without Authenticator"` // signs people in by their API keys at /login, such as an access.Service
	SignInHint    string        // where people find their keys, for /login; empty: nothing is said
	Authenticator Authenticator // identifies users in the embedding program, in place of Sessions
	Prefix        string        // below which the pages are, such as "/ops"; empty: at the root
	Secure        bool          // browsers reach the pages over TLS, if only through a proxy

	Runs        []Part // parts of the program, for the overview
	Calls       *call.Service
	CallLog     *calllog.Service `required:"with Trunks"` // shows the SIP messages of calls; nil: they are not shown
	Trunks      *sip.Service
	Setup       *setup.Service     `required:"with Trunks"`
	Discoveries *discovery.Service `required:"with Trunks"`
	TestCalls   *testcall.Service  `required:"with Trunks"`
	Proofs      *proof.Service     `required:"with Trunks"`
	Pathways    *pathway.Service
	Tests       *agenttest.Service
	Tornado     *tornado.Service // searches for versions that pass their tests; nil: no sessions are shown among the tests
	Ports       *porting.Service // with Documents and Letters: without one of them, ports have no pages
	Documents   *document.Service
	Letters     *loa.Service
	Issues      *triage.Service
	Speech      *speech.Service
	Access      *access.Service // keys, sessions and webhook secrets of organizations; nil: there are no settings

	Deliveries *delivery.Log // messages that webhooks have not taken, among the settings; nil: they are not listed

	callwright.Runtime // its IDs are of requests
}

// Dashboard is an http.Handler.
type Dashboard struct{ site *page.Site }

// New checks the configuration and returns the handler, to be mounted at Config.Prefix.
func New(c Config) (*Dashboard, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	site, err := page.New(page.Config{
		Areas: areas(c), Sessions: c.Sessions, SignInHint: c.SignInHint, Authenticator: c.Authenticator, Prefix: c.Prefix, Secure: c.Secure,
		Runtime: c.Runtime,
	})
	if err != nil {
		return nil, err
	}
	return &Dashboard{site}, nil
}

// areas returns the areas whose services there are, in the order of the navigation.
func areas(c Config) []page.Area {
	if c.Documents == nil || c.Letters == nil {
		c.Ports = nil
	}
	found := []page.Area{overview.New(overview.Config{
		Calls: c.Calls, Trunks: c.Trunks, Ports: c.Ports, Tests: c.Tests, Issues: c.Issues, Runs: c.Runs, Runtime: c.Runtime,
	})}
	if c.Calls != nil {
		found = append(found, calls.New(calls.Config{Calls: c.Calls, Log: c.CallLog}))
	}
	if c.Trunks != nil {
		found = append(found, trunks.New(trunkPages(c)))
	}
	if c.Pathways != nil {
		found = append(found, pathways.New(pathways.Config{Pathways: c.Pathways, Calls: c.Calls != nil, Tests: c.Tests != nil}))
	}
	if c.Tests != nil {
		tests := agenttests.Config{Tests: c.Tests, Tornado: c.Tornado, Issues: c.Issues != nil}
		if c.Pathways != nil {
			tests.Pathways = c.Pathways
		}
		found = append(found, agenttests.New(tests))
	}
	if c.Ports != nil {
		found = append(found, ports.New(ports.Config{Ports: c.Ports, Documents: c.Documents, Letters: c.Letters}))
	}
	if c.Issues != nil {
		shown := issues.Config{Issues: c.Issues, Calls: c.Calls, Pages: resources(c), Runtime: c.Runtime}
		if c.Access != nil {
			shown.Names, shown.People = c.Access.KeyNames, people(c)
		}
		found = append(found, issues.New(shown))
	}
	if c.Speech != nil {
		shown := speechpages.Config{Speech: c.Speech}
		if c.Access != nil {
			shown.Names = c.Access.KeyNames
		}
		found = append(found, speechpages.New(shown))
	}
	if c.Access != nil {
		found = append(found, settings.New(settings.Config{Access: c.Access, Deliveries: c.Deliveries, Areas: found, Runtime: c.Runtime}))
	}
	return found
}

// trunkPages returns the configuration of the pages of trunks.
func trunkPages(c Config) trunks.Config {
	return trunks.Config{
		Trunks: c.Trunks, CallLog: c.CallLog, Setup: c.Setup, Discoveries: c.Discoveries, TestCalls: c.TestCalls, Proofs: c.Proofs, Runtime: c.Runtime,
		CallPages: c.Calls != nil,
	}
}

// people returns a function that lists the newest keys of an organization that are in force.
func people(c Config) func(ctx context.Context, org callwright.OrgID) ([]issues.Person, error) {
	return func(ctx context.Context, org callwright.OrgID) ([]issues.Person, error) {
		keys, err := c.Access.Keys(ctx, org, callwright.Keyset{}, access.MaxPage)
		all := make([]issues.Person, 0, len(keys.Items))
		for _, k := range keys.Items {
			if k.InForce(c.Clock.Now()) {
				all = append(all, issues.Person{ID: k.ID, Name: k.Name})
			}
		}
		return all, err
	}
}

// resources returns the types of attachable resources with pages.
func resources(c Config) (types []triage.ResourceType) {
	for _, area := range []struct {
		of   triage.ResourceType
		here bool
	}{
		{triage.ResourceCall, c.Calls != nil}, {triage.ResourceRun, c.Tests != nil}, {triage.ResourcePathway, c.Pathways != nil},
		{triage.ResourcePort, c.Ports != nil},
	} {
		if area.here {
			types = append(types, area.of)
		}
	}
	return types
}

// ServeHTTP answers a request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.site.ServeHTTP(w, r) }

// Serves reports whether there is a page, or something else than the page that says that there is none, for a request.
func (d *Dashboard) Serves(r *http.Request) bool { return d.site.Serves(r) }

// Close ends the live pages, for whose end an http.Server would wait. Browsers come again.
func (d *Dashboard) Close(ctx context.Context) error { return d.site.Close(ctx) }
