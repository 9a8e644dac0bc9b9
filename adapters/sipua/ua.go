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
	firstMessage = 10 * time.Second // for the first message of a caller's connection
	maxIdle      = 15 * time.Minute // of a caller's connection without a message, a keep-alive or a call
	callBytes    = 20 << 10         // that a caller's connection may send for each INVITE; a call has about 8 KB
)

// UA is a SIP user agent. It is a call.Line and a registration.Line, and TestLine is a testcall.Line.
type UA struct {
	cfg        Config
	log        *slog.Logger
	listener   *transport.Listener
	server     *transport.Stack // callers' connections
	pool       *transport.Pool  // connections to servers
	bindings   *binding.Client
	sources    *source.Limiter
	challenger *auth.Challenger
	attempts   *attempt.Logger
	registry   *registry
	incoming   chan *incomingCall
	lookups    chan struct{} // a semaphore: holds one value for each route look-up that runs
	admissions chan struct{} // likewise for each INVITE in admission
	contact    sip.Uri       // without a user
	patience   time.Duration // failover.Patience
	limit      time.Duration // failover.Limit

	context context.Context //nolint:containedctx // ends look-ups, media and Accept when the user agent closes
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	running atomic.Bool
	leaving atomic.Bool // OPTIONS is refused permanently
	unready atomic.Bool // OPTIONS is refused
}

var _ call.Line = (*UA)(nil)

// New returns a user agent that listens, and takes calls once it runs. Calls can be placed immediately.
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

// addressOf returns the IP address of a listener.
func addressOf(a net.Addr) netip.Addr {
	at, _ := netip.ParseAddrPort(a.String()) // the zero Addr stands for none
	return at.Addr()
}

// nameItself passes the addresses of the user agent, local and public, to Config.Self.
func (u *UA) nameItself() {
	if at, err := netip.ParseAddrPort(u.listener.Addr().String()); err == nil {
		u.cfg.Self.Listen(at)
		u.cfg.Self.Name(u.cfg.PublicHost, at.Port())
	}
}

// contactURI returns the URI for calls back to us, without a user part.
func contactURI(host string, listening net.Addr) (sip.Uri, error) {
	addr, err := netip.ParseAddrPort(listening.String())
	if err != nil {
		return sip.Uri{}, fmt.Errorf("sipua: listening address: %w", err)
	}
	if host == "" {
		if addr.Addr().IsUnspecified() {
			return sip.Uri{}, errors.New("sipua: Config.PublicHost is required to listen on every address")
		}
		host = addr.Addr().Unmap().String()
	}
	u := sip.Uri{Scheme: "sip", Host: message.Bracketed(host), Port: int(addr.Port())}
	u.UriParams.Add("transport", "tls")
	return u, nil
}

// Run takes calls and keeps registrations alive until ctx ends or the user agent is closed. From then on it refuses new
// calls; running calls continue until Close. Run may be called once.
func (u *UA) Run(ctx context.Context) error {
	if u.running.Swap(true) {
		return errors.New("sipua: Run may be called once")
	}
	if !u.registry.whileOpen(func() {
		u.wg.Go(func() { _ = u.server.Serve(u.listener) }) // until Close: calls continue while draining, and new ones get 503
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

// URI returns the URI at which the user agent can be called, without a user part.
func (u *UA) URI() string { return u.contact.String() }

// Calls returns the number of calls, including unanswered ones.
func (u *UA) Calls() int { return u.registry.count() }

// Leave answers OPTIONS with 503 from now on, so that proxies that probe this server send new calls elsewhere. Calls are taken as
// before, in both directions.
func (u *UA) Leave() { u.leaving.Store(true) }

// Ready sets whether this server answers OPTIONS with 200, as it does at first, or with 503, so that proxies which probe it send new
// calls elsewhere while it can take none. Calls are taken as before. After Leave it changes nothing.
func (u *UA) Ready(ready bool) { u.unready.Store(!ready) }

// Drain refuses new calls from now on, in both directions. Running calls continue.
func (u *UA) Drain() { u.registry.drain() }

// Close drains, hangs up all calls and closes the connections. It first waits until the peers have confirmed and the
// observer has heard of every end, or ctx ends. It may be called more than once.
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

// token returns an identifier that cannot be guessed.
func token() string { return rand.Text() }
