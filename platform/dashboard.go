package platform

import (
	"net/http"
	"strings"

	"go.uber.org/fx"

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
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
	"github.com/callwright/callwright/triage"
)

// dashboardParts lists the dependencies of the dashboard.
type dashboardParts struct {
	fx.In
	Config     Config
	Access     *access.Service
	Deliveries *delivery.Log
	Listener   listener
	Calls      *call.Service
	CallLog    *calllog.Service
	Trunks     *sip.Service
	Setup      *setup.Service
	Looks      *discovery.Service
	TestCalls  *testcall.Service
	Proofs     *proof.Service
	Agents     *agents.Service
	Personas   *persona.Service
	Pathways   *pathway.Service
	AgentTests *agenttest.Service
	Tornados   *tornado.Service
	Ports      *porting.Service
	Documents  *document.Service
	Letters    *loa.Service
	Issues     *triage.Service
	Speech     *speech.Service
	RunsOn     runsOn
	Runtime    callwright.Runtime
}

// signInHint is the text on the sign-in page about the location of the first key.
const signInHint = "The server prints a key at its first start and keeps it in the file api-key of its data folder. " +
	"`callwright admin keys create` makes another."

func newDashboard(p dashboardParts) (*dashboard.Dashboard, error) {
	c := dashboard.Config{
		Sessions: p.Access, SignInHint: signInHint, Secure: strings.HasPrefix(p.Listener.publicURL(p.Config), "https:"),
		Runs: append(p.RunsOn.missing(), p.RunsOn.list()...), Calls: p.Calls, CallLog: p.CallLog,
		Trunks: p.Trunks, Setup: p.Setup, Discoveries: p.Looks, TestCalls: p.TestCalls, Proofs: p.Proofs,
		Agents: p.Agents, Personas: p.Personas, Pathways: p.Pathways, Tests: p.AgentTests, Tornado: p.Tornados, Ports: p.Ports, Documents: p.Documents, Letters: p.Letters,
		Issues: p.Issues, Speech: p.Speech, Access: p.Access, Deliveries: p.Deliveries, Runtime: p.Runtime,
	}
	if p.Config.Authenticator != nil {
		c.Authenticator, c.Sessions, c.Access = p.Config.Authenticator, nil, nil
	}
	return dashboard.New(c)
}

// route returns a handler that passes requests to the API, to the handler of the carriers' events and, for all other paths, to the
// dashboard. A program that requests an unknown page receives the API's 404 instead of a redirect to the sign-in. A ServeMux is not used,
// because it would redirect unclean paths, and a redirect repeats the secrets in a path.
func route(api, events http.Handler, pages *dashboard.Dashboard) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, portingapi.EventsBelow):
			events.ServeHTTP(w, r)
		case httpapi.Serves(r.URL.Path), r.Method == http.MethodConnect, httpapi.FromProgram(r) && !pages.Serves(r):
			api.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}
