package sipua

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
)

// Config configures a user agent.
type Config struct {
	Listen       string            `required:"always"`              // host:port for TLS; port 0 takes any free port
	Certificates []tls.Certificate `required:"without Credentials"` // shown to callers, and to servers that ask for one
	Media        trunk.Media       `required:"always"`
	Routes       trunk.Routes      `required:"always"`

	// Transfers decides on transfers by the peers of calls (REFER); nil refuses all.
	Transfers trunk.Transfers

	// Credentials returns the certificates and the roots for the next handshake, instead of Certificates and Roots, so that they can
	// be renewed; connections that are open keep theirs. nil: Certificates and Roots.
	Credentials func() ([]tls.Certificate, *x509.CertPool)

	// Trusted reports whether an address is a carrier's or a proxy's, which others call through: it is never blocked, and refused
	// calls count to the callers and numbers behind it. It must not block. nil: none is.
	Trusted func(netip.Addr) bool

	// Serves reports whether calls to a number are expected. Behind a trusted address calls to other numbers have a pace and look-ups of
	// their own: they are answered, but do not use up the limits of the served numbers. It must not block. nil: all are.
	Serves func(callwright.PhoneNumber) bool

	PublicHost string         // host or IP address for Contact and Via; empty: the listening address
	Roots      *x509.CertPool // of servers' certificates; nil: the system's

	MaxCalls            int                     // both directions together; 0: 1000
	MaxConnections      int                     // of callers; 0: 2000
	MaxConnectionsPerIP int                     // 0: 200
	MaxCallsPerIP       int                     // inbound calls of one address; 0: MaxCalls
	InvitesPerSecond    int                     // of one address, with bursts of twice as many; 0: 50
	Ring                time.Duration           // ringing time of a call; 0: 60 s, at most 180 s
	SessionExpires      time.Duration           // session timer that we ask for (RFC 4028); 0: 30 min, at least 90 s; negative: none
	AllowPrivate        bool                    // private and loopback addresses may be connected to, and may get media
	UserAgent           string                  // for User-Agent and Server; empty: "callwright"
	Resolver            *resolve.Resolver       // nil: one that asks the system's DNS
	Self                *self.Server            // where nothing is sent to; New adds where it listens; nil: only that
	Observer            calllog.AttemptObserver // hears of every attempt at a call; may be nil

	callwright.Runtime
}

// The defaults and bounds of Config.
const (
	defaultMaxCalls       = 1000
	defaultMaxConnections = 2000
	defaultMaxPerIP       = 200
	defaultInvites        = 50
	defaultRing           = 60 * time.Second
	maxRing               = 180 * time.Second
	defaultSession        = 30 * time.Minute
	minSession            = 90 * time.Second
)

// complete validates a configuration and sets its defaults.
func complete(cfg Config) (Config, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return cfg, err
	}
	switch {
	case cfg.Ring < 0 || cfg.Ring > maxRing:
		return cfg, fmt.Errorf("sipua: Config.Ring must be between 0 and %s", maxRing)
	case cfg.SessionExpires > 0 && cfg.SessionExpires < minSession:
		return cfg, fmt.Errorf("sipua: Config.SessionExpires must be at least %s (RFC 4028, section 4)", minSession)
	case message.HasControl(cfg.UserAgent):
		return cfg, errors.New("sipua: Config.UserAgent must not contain control characters")
	case message.HasControl(cfg.PublicHost):
		return cfg, errors.New("sipua: Config.PublicHost must not contain control characters")
	}
	if cfg.Credentials == nil {
		cfg.Credentials = peer.Fixed(cfg.Certificates, cfg.Roots)
	}
	cfg.MaxCalls = positive(cfg.MaxCalls, defaultMaxCalls)
	cfg.MaxConnections = positive(cfg.MaxConnections, defaultMaxConnections)
	cfg.MaxConnectionsPerIP = positive(cfg.MaxConnectionsPerIP, defaultMaxPerIP)
	cfg.MaxCallsPerIP = positive(cfg.MaxCallsPerIP, cfg.MaxCalls)
	cfg.InvitesPerSecond = positive(cfg.InvitesPerSecond, defaultInvites)
	cfg.Ring = cmp.Or(cfg.Ring, defaultRing)
	cfg.SessionExpires = max(cmp.Or(cfg.SessionExpires, defaultSession), 0)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "callwright")
	cfg.Self = cmp.Or(cfg.Self, new(self.Server))
	if cfg.Resolver == nil {
		var err error
		if cfg.Resolver, err = resolve.New(resolve.Config{DNS: net.DefaultResolver, Self: cfg.Self, Runtime: cfg.Runtime}); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
