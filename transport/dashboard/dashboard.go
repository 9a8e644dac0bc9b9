// Package dashboard serves web pages for the operators of a deployment: calls, agents, trunks, pathways, tests, ports, issues, speech and settings.
//
// The pages use the same services as the HTTP API. They are rendered on the server and do not require JavaScript. The script updates them,
// plays a recording from the clicked line of its transcript, shows local times, and asks before destructive actions.
package dashboard

import (
	"context"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
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
	agentpages "github.com/callwright/callwright/transport/dashboard/internal/agents"
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

// Sessions signs users in by their API keys; access.Service implements it.
type Sessions = page.Sessions

// Authenticator returns the principal of a request. It is the same interface as httpapi.Authenticator: see there.
type Authenticator = page.Authenticator

// Part is a part of the program and the name of its implementation, for the overview.
type Part = overview.Part

// Config configures a Dashboard. The dashboard has no pages for a domain whose service is nil.
type Config struct {
	Sessions      Sessions      `required:"without Authenticator"` // signs users in by their API keys at /login, such as access.Service
	SignInHint    string        // tells users on /login where they find their keys; may be empty
	Authenticator Authenticator // identifies users of the embedding program, instead of Sessions
	Prefix        string        // path below which the pages are, such as "/ops"; empty means the root
	Secure        bool          // browsers use TLS, possibly through a proxy

	Runs        []Part // parts of the program that the overview lists for operators
	Calls       *call.Service
	CallLog     *calllog.Service `required:"with Trunks"` // shows the SIP messages of calls; if nil, they are not shown
	Trunks      *sip.Service
	Setup       *setup.Service     `required:"with Trunks"`
	Discoveries *discovery.Service `required:"with Trunks"`
	TestCalls   *testcall.Service  `required:"with Trunks"`
	Proofs      *proof.Service     `required:"with Trunks"`
	Agents      *agents.Service    // web agents and the agents of inbound numbers
	Personas    *persona.Service   // if Agents is nil, there are no pages for personas
	Pathways    *pathway.Service
	Tests       *agenttest.Service
	Tornado     *tornado.Service // sessions that search for versions that pass their tests; if nil, none are shown
	Ports       *porting.Service // if Documents or Letters is nil, there are no pages for ports
	Documents   *document.Service
	Letters     *loa.Service
	Issues      *triage.Service
	Speech      *speech.Service
	Access      *access.Service // keys, sessions and webhook secrets; if nil, there are no settings

	Deliveries *delivery.Log // failed webhook messages, in the settings; if nil, they are not listed

	callwright.Runtime // IDs creates the ids of requests
}

// Dashboard serves the pages. It is an http.Handler.
type Dashboard struct{ site *page.Site }

// New validates the configuration and returns the handler, which must be mounted at Config.Prefix.
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

// areas returns the overview and the areas whose services are configured, in the order of the navigation.
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
	if c.Agents != nil {
		found = append(found, agentpages.New(agentpages.Config{
			Agents: c.Agents, Personas: c.Personas, Pathways: c.Pathways, Speech: c.Speech, Calls: c.Calls != nil,
		}))
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
		if c.Personas != nil {
			tests.Personas = c.Personas
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

// trunkPages returns the configuration of the pages for trunks.
func trunkPages(c Config) trunks.Config {
	return trunks.Config{
		Trunks: c.Trunks, CallLog: c.CallLog, Setup: c.Setup, Discoveries: c.Discoveries, TestCalls: c.TestCalls, Proofs: c.Proofs, Runtime: c.Runtime,
		CallPages: c.Calls != nil,
	}
}

// people returns a function that lists the valid keys among the newest access.MaxPage keys of an organization.
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

// resources returns the types of attachable resources for which the dashboard has pages.
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

// ServeHTTP answers a request below Config.Prefix.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.site.ServeHTTP(w, r) }

// Serves reports whether the dashboard has a page or another answer for a request, except the page "not found".
func (d *Dashboard) Serves(r *http.Request) bool { return d.site.Serves(r) }

// Close ends the connections of live pages, for which http.Server.Shutdown would wait, and waits until nothing is rendered for them or ctx
// ends. Browsers reconnect.
func (d *Dashboard) Close(ctx context.Context) error { return d.site.Close(ctx) }
