package trusted

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

const (
	refreshEvery = time.Minute      // between two reads of the trunks
	rest         = 5 * time.Second  // pause after a read, before an unknown address or number can cause another read
	lookupTime   = 10 * time.Second // time limit for resolving the name of one server
	lookups      = 16               // names that are resolved concurrently
	pageSize     = 1000             // trunks per call of Store.Peers
)

// The shortest prefixes of a trunk's networks that are trusted, in bits. A wider network would disable blocking for most callers.
const (
	widest4 = 16
	widest6 = 32
)

// Config configures a Set.
type Config struct {
	Store    sip.Store         `required:"always"`
	Resolver *resolve.Resolver `required:"always"`
	Always   []netip.Prefix    // trusted regardless of the trunks

	callwright.Runtime
}

// Set is a set of trusted addresses that follows the trunks while Run runs. It is safe for concurrent use.
type Set struct {
	cfg     Config
	current atomic.Pointer[content]
	servers map[string][]netip.Addr // the last resolved addresses by server; only refresh uses it
	changed chan struct{}           // signals that a trunk has changed on this node
	asked   chan struct{}           // signals an unknown address or number: a trunk may have changed on another node
}

// content is the immutable content of a Set.
type content struct {
	addresses map[netip.Addr]bool
	networks  []netip.Prefix
	numbers   map[callwright.PhoneNumber]bool // numbers with an inbound trunk
	complete  bool                            // the trunks have been read, so numbers is complete
}

// New returns a Set that contains Config.Always only. Run adds the trunks' addresses.
func New(c Config) (*Set, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	s := &Set{cfg: c, changed: make(chan struct{}, 1), asked: make(chan struct{}, 1)}
	s.current.Store(&content{networks: c.Always})
	return s, nil
}

// Contains reports whether an address is trusted. It does not block.
func (s *Set) Contains(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	c := s.current.Load()
	known := c.addresses[a] || slices.ContainsFunc(c.networks, func(p netip.Prefix) bool { return p.Contains(a) })
	if !known {
		wake(s.asked)
	}
	return known
}

// Serves reports whether a number has a known inbound trunk. It returns true for every number until the trunks have been read. It does not
// block.
func (s *Set) Serves(n callwright.PhoneNumber) bool {
	c := s.current.Load()
	if !c.complete || c.numbers[n] {
		return true
	}
	wake(s.asked)
	return false
}

// Changed notifies the set that a trunk has changed on this node: Run then reads the trunks immediately. It does not block.
func (s *Set) Changed() { wake(s.changed) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run reads the trunks until ctx ends: at its start, after Changed, and every minute. A change by another node takes effect within 5
// seconds if an unknown address or number is looked up, otherwise within a minute. While the store fails or a name cannot be resolved, the
// previous addresses remain trusted. Run returns nil.
func (s *Set) Run(ctx context.Context) error {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	var failing callwright.Outage
	for ctx.Err() == nil {
		if err := s.refresh(ctx); err == nil || ctx.Err() == nil {
			failing.Note(ctx, s.cfg.Logger, "cannot read which addresses trunks name; those known so far stay trusted", err)
		}
		s.wait(ctx, tick.C)
	}
	return nil
}

// wait waits until the next read of the trunks is due, or until ctx ends.
func (s *Set) wait(ctx context.Context, tick <-chan time.Time) {
	resting := time.NewTimer(rest)
	defer resting.Stop()
	select {
	case <-ctx.Done():
		return
	case <-s.changed:
		return
	case <-tick:
		return
	case <-resting.C:
	}
	select {
	case <-ctx.Done():
	case <-s.changed:
	case <-s.asked:
	case <-tick:
	}
}

// refresh reads the trunks and resolves the names of their servers. If the store fails, it returns the error and leaves the set unchanged.
func (s *Set) refresh(ctx context.Context) error {
	next := &content{
		addresses: map[netip.Addr]bool{}, networks: slices.Clone(s.cfg.Always), numbers: map[callwright.PhoneNumber]bool{}, complete: true,
	}
	names := map[string]uri.URI{}
	for last := ""; ; {
		trunks, err := s.cfg.Store.Peers(ctx, last, pageSize)
		if err != nil {
			return err
		}
		for _, t := range trunks {
			if t.Direction == sip.Inbound {
				next.numbers[t.Number] = true
			}
			for _, network := range t.Options.AllowedIPs {
				next.add(network)
			}
			for _, server := range t.Peers() {
				names[server.String()] = server
			}
			last = t.ID
		}
		if len(trunks) < pageSize {
			break
		}
	}
	s.current.Store(next.with(s.servers)) // before resolving the names, which may take long
	s.servers = s.resolve(ctx, names)
	s.current.Store(next.with(s.servers))
	return nil
}

// with returns a copy of c that also contains the addresses of servers.
func (c *content) with(servers map[string][]netip.Addr) *content {
	more := *c
	more.addresses = maps.Clone(c.addresses)
	for _, addresses := range servers {
		for _, a := range addresses {
			more.addresses[a] = true
		}
	}
	return &more
}

// add adds a network of a trunk, unless it is wider than widest4 or widest6.
func (c *content) add(network netip.Prefix) {
	switch {
	case network.IsSingleIP():
		c.addresses[network.Addr()] = true
	case network.Bits() < widest4, network.Addr().Is6() && network.Bits() < widest6:
	case !slices.Contains(c.networks, network):
		c.networks = append(c.networks, network)
	}
}

// resolve returns the addresses of servers by name. A server whose name cannot be resolved keeps its previous addresses.
func (s *Set) resolve(ctx context.Context, names map[string]uri.URI) map[string][]netip.Addr {
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		resolved = map[string][]netip.Addr{}
		places   = make(chan struct{}, lookups)
	)
	for name, server := range names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			ctx, cancel := context.WithTimeout(ctx, lookupTime)
			defer cancel()
			addresses := s.servers[name]
			if targets, err := s.cfg.Resolver.Targets(ctx, server); err == nil {
				addresses = nil
				for _, t := range targets {
					addresses = append(addresses, t.Address.Addr().Unmap())
				}
			}
			mu.Lock()
			defer mu.Unlock()
			resolved[name] = addresses
		})
	}
	wg.Wait()
	return resolved
}
