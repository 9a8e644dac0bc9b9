package probe

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

// Config configures a Prober. Only Resolver is required.
type Config struct {
	Resolver *resolve.Resolver `required:"always"` // resolves the hosts of trunks' servers

	Roots        *x509.CertPool                             // for verifying the certificates of servers; if nil, the system's
	Certificates []tls.Certificate                          // presented to a server that requests a client certificate
	Credentials  func() ([]tls.Certificate, *x509.CertPool) // replaces Certificates and Roots at each handshake; may be nil
	PublicHost   string                                     // host or IP address for From; if empty, the local address
	Local        netip.Addr                                 // local address of requests, if possible; zero lets the system choose
	UserAgent    string                                     // if empty, "callwright"
	AllowPrivate bool                                       // allow private and loopback addresses
	Self         *self.Server                               // addresses that are never probed; may be nil
	MaxIdle      int                                        // maximum number of connections that stay open between probes; 0 means 2000

	callwright.Runtime
}

// Prober sends OPTIONS to servers. It implements discovery.Prober and monitor.Prober, and is safe for concurrent use.
type Prober struct {
	cfg    Config
	known  tls.ClientSessionCache
	dialer net.Dialer
	idle   idle
}

var (
	_ discovery.Prober = (*Prober)(nil)
	_ monitor.Prober   = (*Prober)(nil)
)

// maxSessions is the maximum number of stored TLS sessions, which shorten the next handshake with a server.
const maxSessions = 10_000

// New returns a Prober, or an error if the configuration is invalid. The caller must call Close in the end.
func New(cfg Config) (*Prober, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return nil, err
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "callwright"
	}
	if strings.ContainsFunc(cfg.UserAgent, unicode.IsControl) {
		return nil, errors.New("probe: Config.UserAgent must not contain control characters")
	}
	if cfg.PublicHost != "" && !isHost(cfg.PublicHost) {
		return nil, fmt.Errorf("probe: Config.PublicHost must be a host name or an IP address, without a port or brackets, not %q", cfg.PublicHost)
	}
	if cfg.Credentials == nil {
		cfg.Credentials = peer.Fixed(cfg.Certificates, cfg.Roots)
	}
	return &Prober{
		cfg: cfg, dialer: net.Dialer{Control: peer.Guard(cfg.AllowPrivate, cfg.Self)},
		known: tls.NewLRUClientSessionCache(maxSessions),
		idle:  idle{connections: map[endpoint][]idleConnection{}, most: cmp.Or(cfg.MaxIdle, maxIdle)},
	}, nil
}

// Close closes the idle connections. Later probes close their connections immediately.
func (p *Prober) Close() { p.idle.close() }

// Probe sends OPTIONS to one address over a new connection and closes it. Answer.Error describes why no response was received.
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
		config = peer.Client(p.cfg.Credentials, nil, trunk.VerifyNone, d.Host) // not verified here, because the answer also describes invalid certificates
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
	r, took, err := c.ask(ctx, p.request(target, d.Transport))
	if err != nil {
		return err
	}
	answer.Code, answer.ResponseTime, answer.UserAgent = r.code, took, r.userAgent()
	answer.Headers, answer.Methods, answer.Codecs = r.headers, r.methods(), r.codecs()
	return nil
}

// certificate describes the server's certificate and whether it would pass verification for host.
func (p *Prober) certificate(state tls.ConnectionState, host string) *discovery.Certificate {
	leaf := state.PeerCertificates[0]
	_, roots := p.cfg.Credentials()
	return &discovery.Certificate{
		Version: tls.VersionName(state.Version), Chain: peer.VerifyChain(state, roots) == nil,
		Name: leaf.VerifyHostname(host) == nil, ExpiresAt: leaf.NotAfter.UTC(),
	}
}

func (p *Prober) request(target string, transport uri.Transport) request {
	return request{
		target: target, transport: transport, host: p.cfg.PublicHost, agent: p.cfg.UserAgent, token: rand.Text(),
	}
}

var errHost = errors.New("the host must be a host name or an IP address, without a port or brackets")

// isHost reports whether a text is a host name or an IP address, without a port.
func isHost(text string) bool {
	d, err := uri.ParseDestination(text)
	return err == nil && strings.EqualFold(strings.TrimSuffix(text, "."), d.Host)
}

// reasonOf returns a readable reason for a missing response.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, errNotSIP), errors.Is(err, errHuge), errors.Is(err, errHost):
		return err.Error()
	default:
		return peer.Reason(err)
	}
}
