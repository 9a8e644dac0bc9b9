package trusted

import (
	"context"
	"errors"
	"log/slog"
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
	refreshEvery = time.Minute      // between two looks at the trunks
	lookupTime   = 10 * time.Second // for one server's name
	lookups      = 16               // names at a time
	pageSize     = 1000             // trunks that one statement reads
)

// The widest networks of trunks that count, in bits of the prefix. A wider one names no carrier: it would end blocking for everybody.
const (
	widest4 = 16
	widest6 = 32
)

// Config configures a Set. Store and Resolver are required.
type Config struct {
	Store    sip.Store
	Resolver *resolve.Resolver
	Always   []netip.Prefix // trusted whatever the trunks say
	Logger   *slog.Logger   // nil: discards
}

// Set is a set of trusted addresses. It is safe for concurrent use.
type Set struct {
	cfg     Config
	current atomic.Pointer[content]
	servers map[string][]netip.Addr // the addresses of each server when it was resolved last; of refresh alone
}

// content is an immutable set.
type content struct {
	addresses map[netip.Addr]bool
	networks  []netip.Prefix
}

// New returns a set of Config.Always alone; Run adds the trunks' addresses.
func New(c Config) (*Set, error) {
	if c.Store == nil || c.Resolver == nil {
		return nil, errors.New("trusted: Config.Store and Config.Resolver are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{cfg: c}
	s.current.Store(&content{networks: c.Always})
	return s, nil
}

// Contains reports whether an address is trusted. It does not wait for anything.
func (s *Set) Contains(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	c := s.current.Load()
	return c.addresses[a] || slices.ContainsFunc(c.networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Run follows the trunks until ctx ends: at once, and every minute from then on. While the trunks cannot be read, or a name cannot
// be resolved, what was known stays.
func (s *Set) Run(ctx context.Context) error {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	var failing callwright.Outage
	for {
		if err := s.refresh(ctx); err == nil || ctx.Err() == nil {
			failing.Note(ctx, s.cfg.Logger, "cannot read which addresses trunks name; those known so far stay trusted", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// refresh reads the trunks and resolves the names of their servers.
func (s *Set) refresh(ctx context.Context) error {
	next := &content{addresses: map[netip.Addr]bool{}, networks: slices.Clone(s.cfg.Always)}
	names := map[string]uri.URI{}
	for last := ""; ; {
		trunks, err := s.cfg.Store.Peers(ctx, last, pageSize)
		if err != nil {
			return err
		}
		for _, t := range trunks {
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
	s.servers = s.resolve(ctx, names)
	for _, addresses := range s.servers {
		for _, a := range addresses {
			next.addresses[a] = true
		}
	}
	s.current.Store(next)
	return nil
}

// add adds a network of a trunk, unless it is too wide.
func (c *content) add(network netip.Prefix) {
	switch {
	case network.IsSingleIP():
		c.addresses[network.Addr()] = true
	case network.Bits() < widest4, network.Addr().Is6() && network.Bits() < widest6:
	case !slices.Contains(c.networks, network):
		c.networks = append(c.networks, network)
	}
}

// resolve returns the addresses of servers. A server whose name cannot be resolved keeps those from before.
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
