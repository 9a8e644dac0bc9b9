package platform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/adapters/webhook"
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
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/registration"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/agentsapi"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
	"github.com/callwright/callwright/transport/httpapi/callsapi"
	"github.com/callwright/callwright/transport/httpapi/pathwaysapi"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
	"github.com/callwright/callwright/transport/httpapi/reference"
	"github.com/callwright/callwright/transport/httpapi/sipapi"
	"github.com/callwright/callwright/transport/httpapi/speechapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/transport/httpapi/webhooksapi"
	"github.com/callwright/callwright/triage"
)

func recordingsFolder(c Config) string { return filepath.Join(c.Data, "recordings") }

// listener is the HTTP listener. It is nil if the program serves HTTP itself. It is opened before any part starts, so that all parts can
// use its address.
type listener struct{ net.Listener }

func newListener(lc fx.Lifecycle, c Config, s shares, own *self.Server, rt callwright.Runtime) (listener, error) {
	if c.Addr == "" {
		return listener{}, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", c.Addr)
	if err != nil {
		return listener{}, notListening("--addr", c.Addr, err)
	}
	if at, err := netip.ParseAddrPort(l.Addr().String()); err == nil {
		own.Listen(at)
	}
	lc.Append(fx.StopHook(func() { _ = l.Close() }))
	return listener{httpapi.Connections{Total: s.http, PerAddress: s.httpPerAddress, Trusted: c.TrustedProxies, Runtime: rt}.Limit(l)}, nil
}

// url returns the URL of the API on this machine. Without a listener it is the public URL.
func (l listener) url(c Config) string {
	if l.Listener == nil {
		return c.PublicURL
	}
	return "http://" + l.Addr().String()
}

// publicURL returns the URL of the API for clients: --public-url, or else the URL on this machine.
func (l listener) publicURL(c Config) string { return cmp.Or(c.PublicURL, l.url(c)) }

func (l listener) notifier(s *webhook.Sender, c Config) callsapi.Notifier {
	return callsapi.NewNotifier(s, l.publicURL(c))
}

// newMetrics returns a registry of the metrics that /metrics serves.
func newMetrics(media *rtpmedia.Media, line *sipua.UA, ends callEnds, models modelMeter) *prometheus.Registry {
	r := prometheus.NewRegistry()
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "callwright", Name: name, Help: help}, value)
	}
	r.MustRegister(
		ends.count, ends.unrecognized,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("sip_calls", "Calls that SIP has under way.", func() float64 { return float64(line.Calls()) }),
		gauge("media_sessions", "Open media sessions.", func() float64 { return float64(media.Counters().Sessions) }),
		gauge("media_late_frames", "Frames sent 20 ms late or later.",
			func() float64 { return float64(media.Counters().LateFrames) }),
	)
	r.MustRegister(models.collectors()...)
	return r
}

// draining is set when the server begins to stop.
type draining struct{ atomic.Bool }

// api is the HTTP handler with its readiness check.
type api struct {
	http.Handler
	draining *draining
	ready    func(context.Context) error
}

// apiParts lists the dependencies of the API.
type apiParts struct {
	fx.In
	Config     Config
	DB         *bunstore.DB
	Work       *riverwork.Work
	Access     *access.Service
	Calls      *call.Service
	Agents     *agents.Service
	Pathways   *pathway.Service
	Personas   *persona.Service
	Trunks     *sip.Service
	CallLog    *calllog.Service
	Setup      *setup.Service
	Looks      *discovery.Service
	Tests      *testcall.Service
	Proofs     *proof.Service
	Issues     *triage.Service
	AgentTests *agenttest.Service
	Tornados   *tornado.Service
	Ports      *porting.Service
	Speech     *speech.Service
	Deliveries *delivery.Log
	Documents  *document.Service
	Letters    *loa.Service
	Gateways   portGateways
	Listener   listener
	Identity   identity
	Dashboard  *dashboard.Dashboard
	Metrics    *prometheus.Registry
	Runtime    callwright.Runtime
}

func newAPI(p apiParts) (api, error) {
	stopping := new(draining)
	ready := func(ctx context.Context) error {
		if stopping.Load() {
			return callwright.Errorf(callwright.CodeUnavailable, "the server is stopping").Because(httpapi.ErrStopping)
		}
		if err := checkDisk(p.Config.Data); err != nil {
			return err
		}
		if err := p.DB.Ping(ctx); err != nil {
			return err
		}
		return p.Work.Check()
	}
	h, err := httpapi.New(httpapi.Config{
		Access: authenticator(p.Config, p.Access), Atomic: p.DB, Idempotency: orgstore.IdempotencyStore{DB: p.DB}, Areas: []httpapi.Area{
			callsapi.New(callsapi.Config{Calls: p.Calls, URL: p.Listener.publicURL(p.Config)}),
			agentsapi.New(agentsapi.Config{Agents: p.Agents, Personas: p.Personas}),
			sipapi.New(sipapi.Config{Trunks: p.Trunks, Calls: p.CallLog, Setup: p.Setup, Discoveries: p.Looks, TestCalls: p.Tests, Proofs: p.Proofs}),
			pathwaysapi.New(pathwaysapi.Config{Pathways: p.Pathways}), triageapi.New(triageapi.Config{Issues: p.Issues}),
			portingapi.New(portingapi.Config{Ports: p.Ports, Documents: p.Documents, Letters: p.Letters}),
			agenttestapi.New(agenttestapi.Config{Tests: p.AgentTests, Tornados: p.Tornados}),
			speechapi.New(speechapi.Config{Speech: p.Speech, URL: p.Listener.publicURL(p.Config)}),
			webhooksapi.New(webhooksapi.Config{Deliveries: p.Deliveries}),
		},
		Voices: p.Speech, Reference: reference.Handler(p.Config.PublicURL), Metrics: promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{}), Runtime: p.Runtime,
		Warnings: p.Identity.Warnings,
		Ready:    ready,
	})
	if err != nil {
		return api{}, err
	}
	all := route(h, portingapi.GatewayEvents(p.Ports, p.Runtime.Logger, p.Gateways...), p.Dashboard)
	return api{httpapi.TrustProxies(p.Config.TrustedProxies, all), stopping, ready}, nil
}

// authenticator returns the configured Authenticator, or else the service that checks API keys.
func authenticator(c Config, keys *access.Service) httpapi.Authenticator {
	if c.Authenticator != nil {
		return c.Authenticator
	}
	return keys
}

// probeSize is the size of the file that checkDisk writes, in bytes.
const probeSize = 64 << 10

// checkDisk returns CodeUnavailable if it cannot write a file to the data folder. Calls could not be recorded then.
func checkDisk(folder string) error {
	probe := filepath.Join(folder, "server.probe")
	err := os.WriteFile(probe, make([]byte, probeSize), 0o600)
	_ = os.Remove(probe) // an undeletable file is overwritten by the next probe
	if err != nil {
		return callwright.Errorf(callwright.CodeUnavailable, "the disk of the data folder is full or fails").Because(err)
	}
	return nil
}

// parts contains what the function serve needs: the parts of the platform that it starts and stops, and their settings.
type parts struct {
	fx.In
	Config        Config
	Authority     *testca.Authority
	Secrets       secrets
	DB            *bunstore.DB
	Access        *access.Service
	API           api
	Dashboard     *dashboard.Dashboard
	Listener      listener
	Work          *riverwork.Work
	Monitor       *monitor.Service
	Registrations *registration.Service
	Calls         *call.Service
	Pathways      *pathway.Service
	Issues        *triage.Service
	AgentTests    *agenttest.Service
	Tornados      *tornado.Service
	Line          *sipua.UA
	RunsOn        runsOn
	Info          *Info
	Runtime       callwright.Runtime
	Failures      failures
}

// answerTimeout limits two waits when the server stops: for clients to read their answers, and for the turns of chats to finish.
const answerTimeout = 10 * time.Second

// serve starts the parts in the order of their dependencies, and stops them in reverse order. At the stop:
//   - the server deletes server.json, reports that it is not ready, answers OPTIONS with 503, and waits for ShutdownDelay;
//   - it withdraws its registrations, so that calls to them immediately reach another node;
//   - it accepts no calls, and lets running calls end, including calls over a registration, whose connection stays open;
//   - it stops the service tornado, agent tests and probing, and then durable work;
//   - it finishes or interrupts the turns of chats;
//   - it closes the streams of feeds, tests and live pages, because HTTP would wait for them, and then HTTP;
//   - it closes the SIP user agent.
func serve(lc fx.Lifecycle, p parts) {
	lc.Append(fx.StartHook(p.firstStart))
	lc.Append(runUntilStop(endless(p.Access.Run))) // stops after HTTP, to store the last uses of keys
	if p.Listener.Listener != nil {
		lc.Append(p.served(httpapi.NewServer(p.API)))
	}
	lc.Append(fx.StopHook(p.Dashboard.Close))
	lc.Append(fx.StopHook(p.Issues.Close))
	lc.Append(fx.StopHook(p.AgentTests.Close))
	lc.Append(fx.StopHook(p.Tornados.Close))
	lc.Append(fx.StopHook(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		_ = p.Pathways.Close(ctx) // the callers of interrupted turns have been answered
	}))
	lc.Append(runUntilStop(func(ctx context.Context) { p.fail("work", func() error { return p.Work.Run(ctx) }) }))
	lc.Append(runUntilStop(endless(p.Monitor.Run)))
	lc.Append(runUntilStop(endless(p.AgentTests.Run)))
	lc.Append(runUntilStop(endless(p.Tornados.Run)))
	lc.Append(runUntilStop(endless(p.Calls.Run)))
	lc.Append(runUntilStop(endless(p.Registrations.Run)))
	lc.Append(runUntilStop(func(ctx context.Context) { followReadiness(ctx, p.API.ready, p.Line.Ready) }))
	lc.Append(fx.StopHook(p.leave))
	lc.Append(fx.Hook{
		OnStart: func(ctx context.Context) error {
			if err := p.works(ctx); err != nil {
				return err
			}
			return p.announce()
		},
		OnStop: func(context.Context) error { return os.Remove(serverFilePath(p.Config)) },
	})
}

// served returns a hook that serves HTTP from start to stop.
func (p parts) served(server *http.Server) fx.Hook {
	return fx.Hook{
		OnStart: func(context.Context) error {
			go p.fail("http", func() error { return server.Serve(p.Listener) })
			return nil
		},
		OnStop: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, answerTimeout)
			defer cancel()
			if err := server.Shutdown(ctx); err != nil {
				return server.Close() // a client may still read, but the other parts must stop, too
			}
			return nil
		},
	}
}

// readinessPeriod is the interval between two readiness checks of a node that has been ready, and the timeout of each check. Until the node
// is ready for the first time, the interval is a tenth of readinessPeriod.
const readinessPeriod = 5 * time.Second

// followReadiness passes the state of /readyz to the function tell, repeatedly until ctx ends. It begins when the node is ready for the
// first time, because some parts are still starting until then.
func followReadiness(ctx context.Context, check func(context.Context) error, tell func(ready bool)) {
	ticker := time.NewTicker(readinessPeriod / 10)
	defer ticker.Stop()
	for begun := false; ; {
		limited, cancel := context.WithTimeout(ctx, readinessPeriod)
		err := check(limited)
		cancel()
		if !begun && err == nil {
			begun = true
			ticker.Reset(readinessPeriod)
		}
		if begun && ctx.Err() == nil {
			tell(err == nil)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// leave reports this node as draining. It then waits for ShutdownDelay, during which the node still accepts work, until peers and load
// balancers have noticed.
func (p parts) leave(ctx context.Context) {
	p.API.draining.Store(true)
	p.Line.Leave()
	p.Runtime.Logger.InfoContext(ctx, "draining", "calls", p.Calls.Live(), "delay", p.Config.ShutdownDelay)
	timer := time.NewTimer(p.Config.ShutdownDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// runUntilStop returns a hook that runs f from start to stop. At the stop it cancels f's context and waits until f has returned.
func runUntilStop(f func(ctx context.Context)) fx.Hook {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	return fx.Hook{
		OnStart: func(context.Context) error {
			running.Go(func() { f(ctx) })
			return nil
		},
		OnStop: func(context.Context) error {
			cancel()
			running.Wait()
			return nil
		},
	}
}

// failures receives the error of the first failed part.
type failures chan<- error

// fail calls run and logs its error. It also sends the error to Failures, unless the error of another part still waits there. It ignores
// http.ErrServerClosed.
func (p parts) fail(part string, run func() error) {
	if err := run(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		p.Runtime.Logger.Error("the platform must stop, because a part of it failed", "part", part, "error", err)
		select {
		case p.Failures <- fmt.Errorf("%s: %w", part, err):
		default: // another part has already failed
		}
	}
}

// startPatience limits the wait for durable work to start.
const startPatience = 90 * time.Second

// works waits until durable work runs, because the server is not ready without it. It returns an error after startPatience.
func (p parts) works(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := p.Work.Check()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// announce sets the Info of the platform, and writes server.json for tools on this machine.
func (p parts) announce() error {
	i := p.Info
	i.APIURL, i.SIPURI, i.CAFile, i.PID = p.Listener.url(p.Config), p.Line.URI(), p.Authority.CertFile(), os.Getpid()
	i.DashboardURL, i.RunsOn, i.Missing = p.Listener.publicURL(p.Config)+"/", p.RunsOn.list(), p.RunsOn.missing()
	if _, err := os.Stat(apiKeyFile(p.Config)); err == nil {
		i.APIKeyFile = apiKeyFile(p.Config)
	}
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(serverFilePath(p.Config), append(text, '\n'))
}

// serverFilePath returns the path of server.json, which contains the Info while the platform is ready.
func serverFilePath(c Config) string { return filepath.Join(c.Data, "server.json") }
