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

// stopTimeout limits a stop after the running calls have ended.
const stopTimeout = 30 * time.Second

// Platform is the running product. It is used from New to Stop, once.
type Platform struct {
	cfg  Config
	held locked
	app  *fx.App

	failed   chan error
	handler  atomic.Pointer[http.Handler] // nil: it does not run
	services Services
	reload   reloadParts
	info     Info
}

// Services are the domains of a platform that runs.
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

// Info describes a running platform: its addresses and its adapters. Its JSON is the file server.json of the data folder.
type Info struct {
	APIURL       string `json:"api_url"`
	SIPURI       string `json:"sip_uri"`
	CAFile       string `json:"ca_file"`      // of the test authority, whose certificate SIP peers see without SIPCert
	APIKeyFile   string `json:"api_key_file"` // empty: no key was made in this data folder
	DashboardURL string `json:"dashboard_url"`
	PID          int    `json:"pid"`

	NewAPIKey callwright.Secret `json:"-"` // of an organization that was made at this start; it cannot be read again
	RunsOn    []dashboard.Part  `json:"-"`
	Missing   []dashboard.Part  `json:"-"` // parts without which no calls are made
}

// New checks a configuration. Errors name a setting as the reference server's flag does, such as --sip-addr.
func New(c Config) (*Platform, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	return &Platform{cfg: c, failed: make(chan error, 1)}, nil
}

// Run starts the platform, and stops it when ctx ends. It returns nil after that, and an error as soon as the platform cannot start, or
// a part of it has failed, which the log names.
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

// Failed returns a channel that holds an error as soon as a part of the platform has failed permanently, which the log names. The
// platform has started, and must be stopped then.
func (p *Platform) Failed() <-chan error { return p.failed }

// Start locks the data folder and starts the platform. It returns when the platform is ready, after it has called Config.Ready, or an
// error, after which there is nothing to stop.
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
		return errors.Join(dig.RootCause(err), p.held.Close()) // without the way that the wiring took to it
	}
	if p.cfg.Ready != nil {
		p.cfg.Ready(p.info)
	} else {
		p.logReady(ctx)
	}
	return nil
}

// logReady logs the addresses of the platform, and the file of a key that was made at this start.
func (p *Platform) logReady(ctx context.Context) {
	attrs := []slog.Attr{slog.String("api_url", p.info.APIURL), slog.String("dashboard_url", p.info.DashboardURL), slog.String("sip_uri", p.info.SIPURI)}
	if p.info.NewAPIKey != "" {
		attrs = append(attrs, slog.String("api_key_file", p.info.APIKeyFile))
	}
	p.reload.Runtime.Logger.LogAttrs(ctx, slog.LevelInfo, "ready", attrs...)
}

// Stop lets running calls end, for ShutdownDelay and DrainTimeout at most, then stops all parts.
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

// ServeHTTP serves the API, the dashboard, the pages to sign letters at and the probes, all at the paths that the contract has: for a
// program with its own listener. It answers 503 while the platform does not run.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := p.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "the platform does not run", http.StatusServiceUnavailable)
}

// Services returns the domains. Call it after Start; before, it returns the zero value.
func (p *Platform) Services() Services { return p.services }

// Info returns the addresses and adapters of the platform. Call it after Start, or in Config.Ready; before, it returns the zero value.
func (p *Platform) Info() Info { return p.info }

// Reload reads the level of the log and the certificates again. It logs errors and keeps the previous value of a file that it cannot read.
func (p *Platform) Reload(ctx context.Context) { p.reload.reload(ctx) }

// lockFolder makes the data folder, locks it for this platform, and deletes the traces of a platform that was killed there.
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
