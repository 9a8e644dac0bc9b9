package sipua

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/peer"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/resolve"
)

// Config is what a user agent is made of.
type Config struct {
	Listen       string            // host:port for TLS; port 0 takes any
	Certificates []tls.Certificate // shown to callers, and to a called peer that asks for one
	Roots        *x509.CertPool    // what peers' certificates chain to; nil: the system's
	PublicHost   string            // host or IP for Contact and Via; the listening address when empty
	Media        trunk.Media
	Routes       trunk.Routes

	MaxCalls            int               // both directions together; 0: 1000
	MaxConnections      int               // that others open; 0: 2000
	MaxConnectionsPerIP int               // 0: 200
	MaxCallsPerIP       int               // that come in from one address; 0: MaxCalls
	InvitesPerSecond    int               // from one address, and twice as many at once; 0: 50
	Ring                time.Duration     // how long a call may ring; 0: 60 s, at most 180 s
	SessionExpires      time.Duration     // session timer that we ask for (RFC 4028); 0: 30 min, at least 90 s; negative: none
	AllowPrivate        bool              // connect to private and loopback addresses too
	UserAgent           string            // for User-Agent and Server; empty: "callwright"
	Resolver            *resolve.Resolver // nil: one that asks the system's DNS
	Journal             trunk.Journal     // hears of every attempt at a call; nil: nobody does
	Logger              *slog.Logger      // nil discards
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
	retryAfter            = 5 * time.Second // with every 503
)

// UA is a SIP user agent. It is a call.Line.
type UA struct {
	config   Config
	log      *slog.Logger
	listener *listener
	server   *stack  // the connections of callers
	stacks   *stacks // the connections to those we call
	resolver *resolve.Resolver
	ids      callwright.UUIDs
	contact  sip.Uri       // without a user
	patience time.Duration // failover.Patience
	limit    time.Duration // failover.Limit

	sources    *sources
	challenger *challenger
	lookups    chan struct{} // holds one for each look-up of a route that is under way
	bindings   bindings

	context context.Context //nolint:containedctx // ends what calls do in the background when the UA closes
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	pending chan *pending

	mu       sync.Mutex
	calls    map[dialogKey]*phonecall
	invites  map[inviteKey]struct{} // of callers, while their calls live
	slots    int                    // taken by calls, also those that have no dialog yet
	entries  int                    // that the journal has not written to their end
	from     map[netip.Addr]int     // the slots of calls that have come in, by source
	draining bool
	closed   bool
	idle     chan struct{} // closed when draining, the last slot is free and the last entry is written
}

// dialogKey finds the call of a request: our tag is in its To header.
type dialogKey struct{ callID, localTag string }

// inviteKey is what an INVITE keeps on its way through forking proxies (RFC 3261, 8.2.2.2).
type inviteKey struct {
	callID, fromTag string
	cseq            uint32
}

var _ call.Line = (*UA)(nil)

// New starts a user agent: from its return on, calls are taken.
func New(cfg Config) (*UA, error) {
	cfg, err := complete(cfg)
	if err != nil {
		return nil, err
	}
	u := &UA{
		config: cfg, log: cfg.Logger, resolver: cfg.Resolver, patience: failover.Patience, limit: failover.Limit,
		bindings: bindings{all: map[string]*binding{}, every: keepAlive},
		sources:  newSources(cfg.InvitesPerSecond, time.Now), lookups: make(chan struct{}, maxLookups),
		pending: make(chan *pending, cfg.MaxCalls), from: map[netip.Addr]int{},
		calls: map[dialogKey]*phonecall{}, invites: map[inviteKey]struct{}{}, idle: make(chan struct{}),
	}
	serverTLS := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: cfg.Certificates}
	ln, err := listen(cfg.Listen, serverTLS, limits{
		read:  callBytes * cfg.InvitesPerSecond,
		total: cfg.MaxConnections, perAddress: cfg.MaxConnectionsPerIP, first: firstMessage, idle: maxIdle,
		barred: u.sources.barred, busy: u.carries,
	})
	if err != nil {
		return nil, fmt.Errorf("sip: listen: %w", err)
	}
	u.listener = ln
	u.context, u.cancel = context.WithCancel(context.Background())
	if u.contact, err = contactURI(cfg.PublicHost, ln.Addr()); err != nil {
		_ = ln.Close()
		return nil, err
	}
	u.challenger = newChallenger(u.contact.Host, time.Now)
	clientTLS := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots, Certificates: cfg.Certificates}
	u.stacks = &stacks{base: clientTLS, may: peer.Guard(cfg.AllowPrivate), handle: u.handle, open: map[profile]*shared{}}
	u.server = newStack(serverTLS, neverDial, func(req *sip.Request, tx *sip.ServerTx) { u.handle(u.server, req, tx) })
	u.wg.Go(func() { _ = u.server.tp.ServeTLS(ln) })
	u.wg.Go(u.watch)
	return u, nil
}

func complete(cfg Config) (Config, error) {
	switch {
	case cfg.Media == nil:
		return cfg, errors.New("sip: no media")
	case cfg.Routes == nil:
		return cfg, errors.New("sip: no routes")
	case len(cfg.Certificates) == 0:
		return cfg, errors.New("sip: no certificate")
	case cfg.Ring < 0 || cfg.Ring > maxRing:
		return cfg, fmt.Errorf("sip: a phone rings for at most %s", maxRing)
	case cfg.SessionExpires > 0 && cfg.SessionExpires < 90*time.Second:
		return cfg, errors.New("sip: a session lasts for 90 s at least (RFC 4028, section 4)")
	}
	cfg.MaxCalls = positive(cfg.MaxCalls, defaultMaxCalls)
	cfg.MaxConnections = positive(cfg.MaxConnections, defaultMaxConnections)
	cfg.MaxConnectionsPerIP = positive(cfg.MaxConnectionsPerIP, defaultMaxPerIP)
	cfg.MaxCallsPerIP = positive(cfg.MaxCallsPerIP, cfg.MaxCalls)
	cfg.InvitesPerSecond = positive(cfg.InvitesPerSecond, defaultInvites)
	if cfg.Ring == 0 {
		cfg.Ring = defaultRing
	}
	if cfg.SessionExpires == 0 {
		cfg.SessionExpires = defaultSession
	}
	cfg.SessionExpires = max(cfg.SessionExpires, 0)
	if cfg.UserAgent == "" {
		cfg.UserAgent = "callwright"
	}
	if hasControl(cfg.UserAgent) || hasControl(cfg.PublicHost) {
		return cfg, errControl
	}
	if cfg.Resolver == nil {
		var err error
		clock := callwright.SystemClock{}
		if cfg.Resolver, err = resolve.New(resolve.Config{DNS: net.DefaultResolver, Clock: clock}); err != nil {
			return cfg, err
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// contactURI is where we can be called back.
func contactURI(host string, listening net.Addr) (sip.Uri, error) {
	addr, err := netip.ParseAddrPort(listening.String())
	if err != nil {
		return sip.Uri{}, fmt.Errorf("sip: listening address: %w", err)
	}
	if host == "" {
		if addr.Addr().IsUnspecified() {
			return sip.Uri{}, errors.New("sip: listening on every address needs a public host to be called back at")
		}
		host = addr.Addr().Unmap().String()
	}
	u := sip.Uri{Scheme: "sip", Host: bracketed(host), Port: int(addr.Port())}
	u.UriParams.Add("transport", "tls")
	return u, nil
}

// Addr is where the user agent listens.
func (u *UA) Addr() net.Addr { return u.listener.Addr() }

// URI is where the user agent can be called, without a user part.
func (u *UA) URI() string { return u.contact.String() }

// Calls is the number of calls that live or come about.
func (u *UA) Calls() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.slots
}

// Drain refuses new calls from now on, in both directions. Those that run stay.
func (u *UA) Drain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.drain()
}

func (u *UA) drain() {
	if !u.draining {
		u.draining = true
		u.settle()
	}
}

// Close drains, hangs up what still runs, and stops. It waits until the peers have confirmed and the journal has written
// everything down, or ctx ends; connections are closed in either case. It may be called twice.
func (u *UA) Close(ctx context.Context) error {
	u.mu.Lock()
	u.drain()
	first := !u.closed
	u.closed = true
	calls := make([]*phonecall, 0, len(u.calls))
	for _, c := range u.calls {
		calls = append(calls, c)
	}
	u.mu.Unlock()
	for _, c := range calls {
		c.post(hangup(call.CauseLocalHangup, "closing"))
	}
	var err error
	select {
	case <-u.idle:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !first {
		return err
	}
	u.cancel()
	_ = u.listener.Close()
	u.server.close()
	u.stacks.close()
	u.wg.Wait()
	return err
}

// take reserves a place for a call.
func (u *UA) take() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.takeLocked()
}

func (u *UA) takeLocked() bool {
	if u.draining || u.slots >= u.config.MaxCalls {
		return false
	}
	u.slots++
	return true
}

// give frees a call's place.
func (u *UA) give() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.giveLocked()
}

func (u *UA) giveLocked() {
	u.slots--
	u.settle()
}

// hold and release count what the journal is yet to be told of.
func (u *UA) hold() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.entries++
}

func (u *UA) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.entries--
	u.settle()
}

// settle tells Close when nothing is left. The mutex is held.
func (u *UA) settle() {
	if !u.draining || u.slots > 0 || u.entries > 0 {
		return
	}
	select {
	case <-u.idle: // a call was refused while everything else was over already
	default:
		close(u.idle)
	}
}

// takeFor reserves a place for a call that comes in.
func (u *UA) takeFor(source netip.Addr) bool {
	source = sourceOf(source)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.from[source] >= u.config.MaxCallsPerIP || !u.takeLocked() {
		return false
	}
	u.from[source]++
	return true
}

func (u *UA) giveFor(source netip.Addr) {
	source = sourceOf(source)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.from[source]--; u.from[source] == 0 {
		delete(u.from, source)
	}
	u.giveLocked()
}

// remember makes a call findable by its dialog, and for Close. False says that it comes too late for that.
func (u *UA) remember(c *phonecall) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.calls[dialogKey{c.id.callID, c.id.localTag}] = c
	return true
}

// forget gives back what is held for a call. It is called once a call.
func (u *UA) forget(c *phonecall) {
	u.mu.Lock()
	delete(u.calls, dialogKey{c.id.callID, c.id.localTag})
	delete(u.invites, c.first)
	u.mu.Unlock()
	if c.flow.profile.host != "" {
		u.stacks.release(c.flow.profile)
	}
	if c.first != (inviteKey{}) {
		u.giveFor(c.flow.address.Addr())
		return
	}
	u.give()
}

// token is an identifier that nobody guesses.
func token() string { return rand.Text() }

var errClosed = callwright.Errorf(callwright.CodeUnavailable, "the telephone line is closed")
