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

// Config configures a UA. Listen, Media and Routes are required, and either Certificates or Credentials.
type Config struct {
	Listen       string            `required:"always"`              // host:port for TLS; port 0 selects a free port
	Certificates []tls.Certificate `required:"without Credentials"` // presented to callers, and to servers that request a client certificate
	Media        trunk.Media       `required:"always"`
	Routes       trunk.Routes      `required:"always"`

	// Transfers decides whether a peer may transfer its call with REFER. If nil, all transfers are refused.
	Transfers trunk.Transfers

	// Credentials returns the certificates and the roots for the next handshake, so that they can be renewed. Open connections keep theirs.
	// If nil, Certificates and Roots are used.
	Credentials func() ([]tls.Certificate, *x509.CertPool)

	// Trusted reports whether an address belongs to a carrier or a proxy through which others call. Such an address is never blocked, and
	// its refused calls count against the callers and numbers behind it. Trusted must not block. If nil, no address is trusted.
	Trusted func(netip.Addr) bool

	// Serves reports whether this server expects calls to a number. Behind a trusted address, calls to other numbers have separate limits
	// for their rate and their route lookups. They are answered, but do not use up the limits of the served numbers. Serves must not block.
	// If nil, all numbers are served.
	Serves func(callwright.PhoneNumber) bool

	PublicHost string         // host or IP address for Contact and Via; if empty, the listening address
	Roots      *x509.CertPool // for verifying the certificates of servers; if nil, the system's

	MaxCalls            int                     // in both directions together; 0 means 1000
	MaxConnections      int                     // from callers; 0 means 2000
	MaxConnectionsPerIP int                     // from callers; 0 means 200
	MaxCallsPerIP       int                     // inbound calls from one address; 0 means MaxCalls
	InvitesPerSecond    int                     // from one address, with bursts of twice the number; 0 means 50
	Ring                time.Duration           // maximum ringing time, up to 180 s; 0 means 60 s
	SessionExpires      time.Duration           // requested session timer (RFC 4028), at least 90 s; 0 means 30 min, negative means none
	AllowPrivate        bool                    // allow connections and media to private and loopback addresses
	UserAgent           string                  // for the headers User-Agent and Server; if empty, "callwright"
	Resolver            *resolve.Resolver       // if nil, a resolver that uses the system's DNS
	Self                *self.Server            // addresses to which nothing is sent; New adds the listening address; may be nil
	Observer            calllog.AttemptObserver // receives every call attempt; may be nil

	callwright.Runtime
}

// The default values and limits of Config.
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

// complete validates a configuration and returns it with its default values.
func complete(cfg Config) (Config, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return cfg, err
	}
	switch {
	case cfg.Ring < 0 || cfg.Ring > maxRing:
		return cfg, fmt.Errorf("sipua: Config.Ring must be from 0 to %s", maxRing)
	case cfg.SessionExpires > 0 && cfg.SessionExpires < minSession:
		return cfg, fmt.Errorf("sipua: Config.SessionExpires must be at least %s (RFC 4028, section 4), 0 for %s, or negative for no session timer",
			minSession, defaultSession)
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
