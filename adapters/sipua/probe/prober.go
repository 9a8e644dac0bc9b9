package probe

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// Config is what a Prober is made of.
type Config struct {
	Resolver     *resolve.Resolver // finds the servers of trunks
	Roots        *x509.CertPool    // what peers' certificates chain to; nil: the system's
	Certificates []tls.Certificate // shown to a peer that asks for one
	PublicHost   string            // host or IP for From; the local address when empty
	UserAgent    string            // empty: "callwright"
	AllowPrivate bool              // ask private and loopback addresses too
	Clock        callwright.Clock
}

// Prober asks servers. It is a discovery.Prober and a monitor.Prober, and safe for concurrent use.
type Prober struct {
	config Config
	tls    *tls.Config
	dialer net.Dialer
	idle   idle
}

var (
	_ discovery.Prober = (*Prober)(nil)
	_ monitor.Prober   = (*Prober)(nil)
)

// maxSessions is how many servers' TLS sessions are remembered, so that the next handshake is a short one.
const maxSessions = 10_000

// New makes a Prober; Resolver and Clock are required. Close it in the end.
func New(cfg Config) (*Prober, error) {
	if cfg.Resolver == nil || cfg.Clock == nil {
		return nil, errors.New("probe: Resolver and Clock are required")
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "callwright"
	}
	if strings.ContainsFunc(cfg.UserAgent, unicode.IsControl) {
		return nil, errors.New("probe: UserAgent holds a control character")
	}
	if cfg.PublicHost != "" && !isHost(cfg.PublicHost) {
		return nil, fmt.Errorf("probe: PublicHost %q is no host", cfg.PublicHost)
	}
	return &Prober{
		config: cfg, dialer: net.Dialer{Control: peer.Guard(cfg.AllowPrivate)},
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots, Certificates: cfg.Certificates,
			ClientSessionCache: tls.NewLRUClientSessionCache(maxSessions),
		},
		idle: idle{connections: map[flow][]parked{}, most: maxIdle},
	}, nil
}

// Close ends the connections that wait for the next probe, and leaves none to wait from then on.
func (p *Prober) Close() { p.idle.close() }

// Probe asks one address, over a connection that does not outlive the question.
func (p *Prober) Probe(ctx context.Context, d discovery.Probe) discovery.Answer {
	answer := discovery.Answer{Attempt: discovery.Attempt{Address: d.Address, Transport: d.Transport}}
	if err := p.probe(ctx, d, &answer); err != nil {
		answer.Error = reasonOf(err)
	}
	return answer
}

func (p *Prober) probe(ctx context.Context, d discovery.Probe, answer *discovery.Answer) error {
	if !isHost(d.Host) {
		return errHost
	}
	var config *tls.Config
	if d.Transport == uri.TLS {
		config = peer.Client(p.tls, trunk.VerifyNone, d.Host) // what is wrong with the certificate is part of the answer
		config.ClientSessionCache = nil
	}
	c, err := p.connect(ctx, d.Address, d.Transport, config)
	if err != nil {
		return err
	}
	defer c.Close()
	if secure, ok := c.Conn.(*tls.Conn); ok {
		answer.TLS = p.certificate(secure.ConnectionState(), d.Host)
	}
	target := targetOf(d.User, d.Host, d.Address.Port(), d.Transport)
	r, took, err := c.ask(ctx, p.question(target, d.Transport))
	if err != nil {
		return err
	}
	answer.Code, answer.ResponseTime, answer.UserAgent = r.code, took, r.userAgent()
	answer.Headers, answer.Methods, answer.Codecs = r.headers, r.methods(), r.codecs()
	return nil
}

// certificate says what the handshake has shown.
func (p *Prober) certificate(state tls.ConnectionState, host string) *discovery.Certificate {
	leaf := state.PeerCertificates[0]
	return &discovery.Certificate{
		Version: tls.VersionName(state.Version), Chain: peer.VerifyChain(state, p.config.Roots) == nil,
		Name: leaf.VerifyHostname(host) == nil, ExpiresAt: leaf.NotAfter.UTC(),
	}
}

func (p *Prober) question(target string, transport uri.Transport) question {
	return question{
		target: target, transport: transport, host: p.config.PublicHost, agent: p.config.UserAgent, token: rand.Text(),
	}
}

var errHost = errors.New("no host name and no address")

// isHost says whether a text can stand in a request as a host and as nothing else.
func isHost(text string) bool {
	d, err := uri.ParseDestination(text)
	return err == nil && strings.EqualFold(strings.TrimSuffix(text, "."), d.Host)
}

// reasonOf says why there is no answer, in our own words.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, errNotSIP), errors.Is(err, errHuge):
		return err.Error()
	case errors.Is(err, errHost):
		return "the host is " + err.Error()
	default:
		return peer.Reason(err)
	}
}
