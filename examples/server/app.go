package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/riverwork"
	"github.com/callwright/callwright/adapters/rtpmedia"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/internal/testca"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/transport/access"
)

// modules is the whole server.
func modules() fx.Option {
	return fx.Options(
		fx.Module("base", fx.Provide(newLogger, newSecrets, newEngines, newAuthority)),
		fx.Module("storage", fx.Provide(newDatabase, fx.Annotate(newWork, fx.As(fx.Self()), fx.As(new(callwright.Work))))),
		fx.Module("telephone", fx.Provide(newTrunks, newMedia, newLine)),
		fx.Module("agents", fx.Provide(newAgents, newRecordings, newWebhooks, newCalls)),
		fx.Module("http", fx.Provide(newAccess, newListener, newMetrics, newAPI)),
		fx.Invoke(serve),
	)
}

func newAuthority(c config) (*testca.Authority, error) { return testca.Open(c.Data) }

// starting ends when the server is to stop although it has not started yet: a database may let it wait for long.
type starting struct{ context.Context } //nolint:containedctx // fx has no other way to give it to constructors

func newDatabase(lc fx.Lifecycle, begin starting, c config, s secrets, log *slog.Logger) (*bunstore.DB, error) {
	db, err := bunstore.Open(begin, c.DatabaseURL, bunstore.Config{Keyring: s.Keyring, Logger: log})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(db.Close))
	return db, nil
}

func newWork(begin starting, db *bunstore.DB, log *slog.Logger) (*riverwork.Work, error) {
	rc := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, PostgresDSN: db.PostgresDSN(), Logger: log}
	if err := riverwork.Migrate(begin, rc); err != nil {
		return nil, err
	}
	return riverwork.New(rc)
}

func newTrunks(c config, db *bunstore.DB, numbers *agents.Service) (*sip.Service, error) {
	return sip.New(sip.Config{
		Store: bunstore.Trunks{DB: db}, Atomic: db, Numbers: numbers, Codecs: codec.Names(), AllowPrivate: c.AllowPrivate,
	})
}

func newMedia(c config, log *slog.Logger) (*rtpmedia.Media, error) {
	return rtpmedia.New(rtpmedia.Config{
		IP: c.MediaIP, Advertise: c.PublicIP, Codecs: codec.New, Logger: log,
		Ports: rtpmedia.PortRange{Low: c.RTPPorts.low, High: c.RTPPorts.high},
	})
}

func newLine(
	lc fx.Lifecycle, c config, ca *testca.Authority, media *rtpmedia.Media, trunks *sip.Service, log *slog.Logger,
) (*sipua.UA, error) {
	certificate, err := ownCertificate(c, ca)
	if err != nil {
		return nil, err
	}
	roots, err := peerRoots(c, ca)
	if err != nil {
		return nil, err
	}
	ua, err := sipua.New(sipua.Config{
		Listen: c.SIPAddr, Certificates: []tls.Certificate{certificate}, Roots: roots, PublicHost: c.PublicIP.String(),
		Media: media, Routes: trunks, MaxCalls: mostLineCalls, AllowPrivate: c.AllowPrivate, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(ua.Close))
	return ua, nil
}

// ownCertificate is what SIP peers see: the one of --sip-cert, or one of the test authority's.
func ownCertificate(c config, ca *testca.Authority) (tls.Certificate, error) {
	if c.SIPCert != "" {
		certificate, err := tls.LoadX509KeyPair(c.SIPCert, c.SIPKey)
		if err != nil {
			return certificate, fmt.Errorf("--sip-cert and --sip-key: %w", err)
		}
		return certificate, nil
	}
	return ca.Issue("localhost", c.PublicIP.String())
}

// peerRoots is what peers' certificates may chain to: the system's roots, the server's own test authority, and those of
// --sip-roots.
func peerRoots(c config, ca *testca.Authority) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	files := []string{ca.CertFile()}
	if c.SIPRoots != "" {
		files = append(files, c.SIPRoots)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, errors.New(file + ": no certificate in it")
		}
	}
	return pool, nil
}

func newAgents(db *bunstore.DB) (*agents.Service, error) {
	return agents.New(agents.Config{Store: bunstore.Numbers{DB: db}, Atomic: db})
}

func newRecordings(lc fx.Lifecycle, c config) (*filestore.Recordings, error) {
	r, err := filestore.New(recordingsFolder(c))
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(r.Close))
	return r, nil
}

func newWebhooks(lc fx.Lifecycle, c config, db *bunstore.DB, log *slog.Logger) (*webhook.Sender, error) {
	s, err := webhook.New(webhook.Config{Tenants: bunstore.Tenants{DB: db}, AllowPrivate: c.AllowPrivate, Logger: log})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(s.Close))
	return s, nil
}

// callParts is everything that calls are made of.
type callParts struct {
	fx.In
	Config     config
	DB         *bunstore.DB
	Work       callwright.Work
	Line       *sipua.UA
	Trunks     *sip.Service
	Agents     *agents.Service
	Recordings *filestore.Recordings
	Webhooks   *webhook.Sender
	Engines    engines
	Listener   listener
	Log        *slog.Logger
}

func newCalls(p callParts) (*call.Service, error) {
	return call.New(call.Config{
		Store: bunstore.Calls{DB: p.DB}, Atomic: p.DB, Work: p.Work, Line: p.Line, Routes: p.Trunks, Agents: p.Agents,
		Model: p.Engines.Model, Recordings: p.Recordings, Notifier: p.Listener.notifier(p.Webhooks),
		Recognizer: p.Engines.Recognizer, Synthesizer: p.Engines.Synthesizer, Ready: p.Engines.Ready,
		Node: new(callwright.UUIDs).New(), MaxCalls: p.Config.room(), Logger: p.Log,
	})
}

func newAccess(db *bunstore.DB, s secrets) (*access.Service, error) {
	return access.New(access.Config{Store: bunstore.Tenants{DB: db}, Atomic: db, Secret: s.APIKeys})
}
