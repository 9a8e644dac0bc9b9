package sipua

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/attempt"
	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	"github.com/callwright/callwright/adapters/sipua/internal/binding"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	"github.com/callwright/callwright/adapters/sipua/internal/source"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/failover"
)

const (
	firstMessage = 10 * time.Second // for the first message on a caller's connection
	maxIdle      = 15 * time.Minute // for a caller's connection without a message, a keep-alive or a call
	callBytes    = 20 << 10         // bytes per second for each allowed INVITE per second; a call needs about 8 KB
)

// UA is a SIP user agent. It implements call.Line and registration.Line, and TestLine returns a testcall.Line. It is safe for concurrent
// use.
type UA struct {
	cfg        Config
	log        *slog.Logger
	listener   *transport.Listener
	server     *transport.Stack // for the connections of callers
	pool       *transport.Pool  // for the connections to servers
	bindings   *binding.Client
	sources    *source.Limiter
	challenger *auth.Challenger
	attempts   *attempt.Logger
	registry   *registry
	incoming   chan *incomingCall
	lookups    chan struct{} // semaphore of the running route lookups
	admissions chan struct{} // semaphore of the INVITEs in admission
	contact    sip.Uri       // without a user part
	patience   time.Duration // failover.Patience, except in tests
	limit      time.Duration // failover.Limit, except in tests

	context context.Context //nolint:containedctx // ends look-ups, media and Accept when the user agent closes
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	running atomic.Bool
	leaving atomic.Bool // answer OPTIONS with 503 permanently
	unready atomic.Bool // answer OPTIONS with 503
}

var _ call.Line = (*UA)(nil)

// New returns a user agent that already listens. It can place calls immediately, and accepts calls while Run is running.
func New(cfg Config) (*UA, error) {
	cfg, err := complete(cfg)
	if err != nil {
		return nil, err
	}
	u := &UA{
		cfg: cfg, log: cfg.Logger, patience: failover.Patience, limit: failover.Limit,
		sources:  source.NewLimiter(cfg.InvitesPerSecond, cfg.Trusted, time.Now),
		registry: newRegistry(cfg.MaxCalls, cfg.MaxCallsPerIP),
		incoming: make(chan *incomingCall, cfg.MaxCalls), lookups: make(chan struct{}, maxLookups),
		admissions: make(chan struct{}, maxAdmissions),
	}
	u.attempts = &attempt.Logger{
		Observer: cfg.Observer, Opened: u.registry.openLog, Closed: u.registry.closeLog, IDs: cfg.IDs,
	}
	u.listener, err = transport.Listen(cfg.Listen, peer.Credentials(cfg.Credentials).Server(), transport.Limits{
		Total: cfg.MaxConnections, PerSource: cfg.MaxConnectionsPerIP, ReadRate: callBytes * cfg.InvitesPerSecond,
		First: firstMessage, Idle: maxIdle, Blocked: u.sources.Blocked, Known: u.sources.Known, Busy: u.registry.carries,
	})
	if err != nil {
		return nil, fmt.Errorf("sipua: listen: %w", err)
	}
	if u.contact, err = contactURI(cfg.PublicHost, u.listener.Addr()); err != nil {
		_ = u.listener.Close()
		return nil, err
	}
	u.nameItself()
	u.context, u.cancel = context.WithCancel(context.Background())
	u.challenger = auth.NewChallenger(u.contact.Host, time.Now)
	handler := transport.Handler{Pace: u.pace, Malformed: u.countFaulty, Request: u.handle}
	u.server = transport.NewServer(u.listener, handler)
	u.pool = transport.NewPool(transport.PoolConfig{
		Credentials: cfg.Credentials,
		Resolver:    cfg.Resolver, Handle: handler, Control: peer.Guard(cfg.AllowPrivate, cfg.Self), Local: addressOf(u.listener.Addr()),
	})
	u.bindings = binding.New(binding.Config{Pool: u.pool, Contact: u.contact, Agent: cfg.UserAgent, Runtime: cfg.Runtime})
	return u, nil
}

// addressOf returns the IP address of a listener, or the zero Addr if it has none.
func addressOf(a net.Addr) netip.Addr {
	at, _ := netip.ParseAddrPort(a.String()) // the zero AddrPort after an error
	return at.Addr()
}

// nameItself adds the listening address and the public host to Config.Self, so that no call is placed to this user agent.
func (u *UA) nameItself() {
	if at, err := netip.ParseAddrPort(u.listener.Addr().String()); err == nil {
		u.cfg.Self.Listen(at)
		u.cfg.Self.Name(u.cfg.PublicHost, at.Port())
	}
}

// contactURI returns the URI for our Contact, without a user part. It returns an error if host is empty and the listener listens on every
// address.
func contactURI(host string, listening net.Addr) (sip.Uri, error) {
	addr, err := netip.ParseAddrPort(listening.String())
	if err != nil {
		return sip.Uri{}, fmt.Errorf("sipua: listening address: %w", err)
	}
	if host == "" {
		if addr.Addr().IsUnspecified() {
			return sip.Uri{}, errors.New("sipua: Config.PublicHost is required if Config.Listen means every address, such as 0.0.0.0")
		}
		host = addr.Addr().Unmap().String()
	}
	u := sip.Uri{Scheme: "sip", Host: message.Bracketed(host), Port: int(addr.Port())}
	u.UriParams.Add("transport", "tls")
	return u, nil
}

// Run accepts calls and keeps registrations alive until ctx ends or the user agent is closed. It then refuses new calls, while running
// calls continue until Close. A second call of Run returns an error, and a first call after Close returns nil.
func (u *UA) Run(ctx context.Context) error {
	if u.running.Swap(true) {
		return errors.New("sipua: Run must be called only once")
	}
	if !u.registry.whileOpen(func() {
		u.wg.Go(func() { _ = u.server.Serve(u.listener) }) // until Close, because calls continue while draining, and new ones receive 503
	}) {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(u.context, cancel)()
	u.bindings.Run(ctx)
	u.Drain()
	return nil
}

// Addr returns the listening address.
func (u *UA) Addr() net.Addr { return u.listener.Addr() }

// URI returns the URI by which the user agent can be called, without a user part.
func (u *UA) URI() string { return u.contact.String() }

// Calls returns the number of calls in both directions, including unanswered ones.
func (u *UA) Calls() int { return u.registry.count() }

// Leave makes OPTIONS receive 503 from now on, so that proxies that probe this server send new calls elsewhere. It does not affect calls in
// either direction.
func (u *UA) Leave() { u.leaving.Store(true) }

// Ready sets whether OPTIONS receives 200, which is the default, or 503, so that proxies that probe this server send new calls elsewhere.
// It does not affect calls. It has no effect after Leave.
func (u *UA) Ready(ready bool) { u.unready.Store(!ready) }

// Drain makes the user agent refuse new calls in both directions. Running calls continue.
func (u *UA) Drain() { u.registry.drain() }

// Close refuses new calls and hangs up all calls. It waits until the peers have confirmed and the observer has received the end of every
// call, or until ctx ends, and then closes the connections. It returns the error of ctx if ctx ended first. It may be called more than
// once.
func (u *UA) Close(ctx context.Context) error {
	legs, first := u.registry.close()
	for _, l := range legs {
		l.Close()
	}
	var err error
	select {
	case <-u.registry.idle:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !first {
		return err
	}
	u.cancel()
	_ = u.listener.Close()
	u.server.Close()
	u.pool.Close()
	u.wg.Wait()
	return err
}

// token returns a random identifier for a Call-ID or tag, which cannot be guessed.
func token() string { return rand.Text() }
