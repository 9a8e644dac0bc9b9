package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/triage"
)

// stopTimeout limits the time for stopping all parts after the calls have ended.
const stopTimeout = 30 * time.Second

// Platform is an instance of the product. It can be started and stopped once.
type Platform struct {
	cfg  Config
	held locked
	app  *fx.App

	failed   chan error
	handler  atomic.Pointer[http.Handler] // nil while the platform is not running
	services Services
	reload   reloadParts
	info     Info
}

// Services contains the domain services of a running platform.
type Services struct {
	Access   *access.Service
	Calls    *call.Service
	Agents   *agents.Service
	Pathways *pathway.Service
	Personas *persona.Service
	Trunks   *sip.Service
	Ports    *porting.Service
	Issues   *triage.Service
	Tests    *agenttest.Service
	Speech   *speech.Service
}

// Info describes a running platform: its addresses and its adapters. Its JSON is the content of server.json in the data folder.
type Info struct {
	APIURL       string `json:"api_url"`
	SIPURI       string `json:"sip_uri"`
	CAFile       string `json:"ca_file"`      // PEM file of the test authority, which issues the certificate for SIP peers if SIPCert is empty
	APIKeyFile   string `json:"api_key_file"` // empty if no key was created in this data folder
	DashboardURL string `json:"dashboard_url"`
	PID          int    `json:"pid"`

	NewAPIKey callwright.Secret `json:"-"` // key of an organization that this start has created; it cannot be read again
	RunsOn    []dashboard.Part  `json:"-"`
	Missing   []dashboard.Part  `json:"-"` // missing parts without which no calls are possible
}

// New validates a configuration and completes it. Errors name a setting by the reference server's flag, such as --sip-addr.
func New(c Config) (*Platform, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	return &Platform{cfg: c, failed: make(chan error, 1)}, nil
}

// Run starts the platform, and stops it when ctx ends or a part fails. It returns nil after an orderly stop. Otherwise it returns the error
// of the start, of the failed part, or of the stop.
func (p *Platform) Run(ctx context.Context) error {
	if err := p.Start(ctx); err != nil {
		return err
	}
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-p.Failed():
	}
	return errors.Join(failed, p.Stop(context.WithoutCancel(ctx)))
}

// Failed returns a channel that receives an error when a part of the running platform has failed permanently. The log names the part. The
// caller must then stop the platform.
func (p *Platform) Failed() <-chan error { return p.failed }

// Start locks the data folder and starts the platform. It returns nil when the platform is ready and Config.Ready has returned. If Start
// returns an error, the platform need not be stopped.
func (p *Platform) Start(ctx context.Context) error {
	held, err := lockFolder(p.cfg)
	if err != nil {
		return err
	}
	p.held = held
	s := &p.services
	p.app = fx.New(
		fx.Supply(p.cfg, starting{ctx}, &p.info, failures(p.failed)), modules(), fx.NopLogger, fx.StopTimeout(p.cfg.ShutdownDelay+p.cfg.DrainTimeout+stopTimeout),
		fx.Populate(&s.Access, &s.Calls, &s.Agents, &s.Pathways, &s.Personas, &s.Trunks, &s.Ports, &s.Issues, &s.Tests, &s.Speech, &p.reload),
		fx.Invoke(func(a api) { p.handler.Store(&a.Handler) }), fx.Options(p.cfg.Options...),
	)
	if err := p.app.Start(ctx); err != nil {
		p.handler.Store(nil)
		return errors.Join(dig.RootCause(err), p.held.Close()) // without the chain of constructors that led to the error
	}
	if p.cfg.Ready != nil {
		p.cfg.Ready(p.info)
	} else {
		p.logReady(ctx)
	}
	return nil
}

// logReady logs the platform's addresses, and the file of the API key if this start has created one.
func (p *Platform) logReady(ctx context.Context) {
	attrs := []slog.Attr{slog.String("api_url", p.info.APIURL), slog.String("dashboard_url", p.info.DashboardURL), slog.String("sip_uri", p.info.SIPURI)}
	if p.info.NewAPIKey != "" {
		attrs = append(attrs, slog.String("api_key_file", p.info.APIKeyFile))
	}
	p.reload.Runtime.Logger.LogAttrs(ctx, slog.LevelInfo, "ready", attrs...)
}

// Stop accepts calls and requests for ShutdownDelay, lets running calls continue for up to DrainTimeout, and then stops all parts. It must
// follow a successful Start.
func (p *Platform) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.app.StopTimeout())
	defer cancel()
	err := p.app.Stop(ctx)
	p.handler.Store(nil)
	if err != nil {
		err = fmt.Errorf("stopping: %w", err)
	}
	return errors.Join(err, p.held.Close())
}

// ServeHTTP serves the API, the dashboard, the pages to sign letters and the probes, at the paths of the contract. It is for programs with
// their own listener. While the platform is not running, it answers 503.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := p.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "the platform is not running", http.StatusServiceUnavailable)
}

// Services returns the domain services. They are set when Config.Ready is called and when Start has returned.
func (p *Platform) Services() Services { return p.services }

// Info returns the addresses and adapters of the platform. It is complete when Config.Ready is called and when Start has returned.
func (p *Platform) Info() Info { return p.info }

// Reload reads the log level and the certificates again. If a file cannot be read or is invalid, it logs an error and keeps the previous
// value.
func (p *Platform) Reload(ctx context.Context) { p.reload.reload(ctx) }

// lockFolder creates and locks the data folder and checks it. It also deletes the server.json of a platform that was killed.
func lockFolder(c Config) (locked, error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("--data %s: %w: name a folder that this user may make and write", c.Data, err)
	}
	held, err := lock(c)
	if err != nil {
		return nil, err
	}
	err = checkWritable(c.Data)
	if err == nil {
		err = checkKeyFiles(c)
	}
	if err == nil {
		err = checkLost(c)
	}
	if stale := os.Remove(serverFilePath(c)); err == nil && !errors.Is(stale, fs.ErrNotExist) {
		err = stale
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}
