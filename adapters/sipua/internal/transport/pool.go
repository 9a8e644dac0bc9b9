package transport

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// linger returns how long an unused stack keeps its connections open for the next call: 600*T1, which is 5 minutes. Late responses, which
// may arrive for 64*T1, have arrived by then.
func linger() time.Duration { return 600 * sip.T1 }

// ErrClosed means that the user agent is closed.
var ErrClosed = callwright.Errorf(callwright.CodeUnavailable, "the telephone line is closed")

// Pool holds the stacks of outbound connections, one for each profile. It is safe for concurrent use.
type Pool struct {
	cfg    PoolConfig
	ctx    context.Context //nolint:containedctx // ends the sending of dialogs when the pool closes
	cancel context.CancelFunc

	mu     sync.Mutex
	stacks map[Profile]*shared
	closed bool
}

// PoolConfig configures a Pool. Credentials, Resolver and Handle are required.
type PoolConfig struct {
	Credentials peer.Credentials
	Resolver    *resolve.Resolver
	Handle      Handler      // handles requests that arrive over outbound connections
	Control     peer.Control // refuses addresses; if nil, all are allowed
	Local       netip.Addr   // local address of connections, if peer.Source allows it
}

type shared struct {
	*Stack

	uses int
	idle *time.Timer
}

// NewPool returns a pool without stacks.
func NewPool(cfg PoolConfig) *Pool {
	p := &Pool{cfg: cfg, stacks: map[Profile]*shared{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Targets resolves a server to at least one address (RFC 3263), or returns an error. It takes at most 5 s.
func (p *Pool) Targets(ctx context.Context, server uri.URI) ([]resolve.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return p.cfg.Resolver.Targets(ctx, server)
}

// Hold returns the stack of a profile, and creates it if there is none. It returns nil if the pool is closed. Each successful Hold requires
// a Release.
func (p *Pool) Hold(profile Profile) *Stack {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	s := p.stacks[profile]
	if s == nil {
		s = &shared{Stack: newStack(peer.Client(p.cfg.Credentials, nil, profile.Verify, profile.Host), p.cfg.Control, p.cfg.Handle, new(framers).of)}
		s.profile, s.local = profile, p.cfg.Local
		p.stacks[profile] = s
	}
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	s.uses++
	return s.Stack
}

// Release ends one Hold of a profile's stack. The stack is closed when it has been unused for the duration of linger.
func (p *Pool) Release(profile Profile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stacks[profile]
	if s == nil {
		return
	}
	if s.uses--; s.uses == 0 {
		s.idle = time.AfterFunc(linger(), func() { p.release(profile, s) })
	}
}

func (p *Pool) release(profile Profile, s *shared) {
	p.mu.Lock()
	unused := p.stacks[profile] == s && s.uses == 0
	if unused {
		delete(p.stacks, profile)
	}
	p.mu.Unlock()
	if unused {
		s.Close()
	}
}

// Uses returns the number of holds that have not been released. Each registration, and each dialog over an outbound connection, holds a
// stack.
func (p *Pool) Uses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.stacks {
		n += s.uses
	}
	return n
}

// Close closes all stacks with their connections. Hold then returns nil.
func (p *Pool) Close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	stacks := p.stacks
	p.stacks = nil
	p.mu.Unlock()
	for _, s := range stacks {
		if s.idle != nil {
			s.idle.Stop()
		}
		s.Close()
	}
}
