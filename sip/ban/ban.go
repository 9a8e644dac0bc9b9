// Package ban shares the bans of SIP sources among the nodes of a deployment, so that an operator can list and lift them centrally. A node
// bans a source immediately. Within seconds, the ban is stored in the database and enforced by the other nodes.
package ban

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

const (
	kind      = "sip-ban"
	syncEvery = 5 * time.Second

	// Most is the maximum number of bans that List returns and Service shares. The bans with the latest end are preferred.
	Most = 1000
)

// Ban is a ban of a source, whose requests are ignored.
type Ban struct {
	Source netip.Addr // IPv4 address, or first address of the IPv6 /64 network
	Since  time.Time
	Until  time.Time
	Node   string // id of the node that banned the source
}

// Line enforces bans; a SIP user agent implements it. Sources have the form that callwright.Source returns. A Line is safe for concurrent
// use. siptest.RunBanLine tests it.
type Line interface {
	// Bans returns the current bans, as a map from sources to end times. The caller may modify the map.
	Bans() map[netip.Addr]time.Time
	// Ban bans a source until a time. The time replaces the end of an earlier ban.
	Ban(source netip.Addr, until time.Time)
	// Lift ends the ban of a source, and resets the count of its suspicious requests. It does nothing if the source is not banned.
	Lift(source netip.Addr)
}

// List returns the current bans of all nodes, at most Most, latest end first.
func List(ctx context.Context, leases node.Leases, now time.Time) ([]Ban, error) {
	held, err := leases.Held(ctx, kind, now, Most)
	var all []Ban
	for _, l := range held {
		if source, err := netip.ParseAddr(l.Key); err == nil {
			all = append(all, Ban{Source: source, Since: l.RenewedAt, Until: l.ExpiresAt, Node: l.Node})
		}
	}
	return all, err
}

// Lift deletes the ban of an address and returns it. All nodes lift the ban within seconds. Lift returns CodeNotFound if the address is not
// banned.
func Lift(ctx context.Context, leases node.Leases, address netip.Addr, now time.Time) (Ban, error) {
	all, err := List(ctx, leases, now)
	if err != nil {
		return Ban{}, err
	}
	source := callwright.Source(address)
	i := slices.IndexFunc(all, func(b Ban) bool { return b.Source == source })
	if i < 0 {
		return Ban{}, callwright.NotFound("ban")
	}
	return all[i], leases.Release(ctx, kind, all[i].Node, []string{source.String()})
}

// Config configures a Service.
type Config struct {
	Leases node.Leases `required:"always"`
	Line   Line        `required:"always"`
	Node   string      `required:"always"`

	// Trusted reports whether a source must not be banned; its bans are lifted on all nodes. If nil, no source is trusted.
	Trusted func(netip.Addr) bool

	callwright.Runtime
}

// Service shares the bans of one node's Line with the other nodes.
type Service struct {
	cfg    Config
	shared map[netip.Addr]time.Time // end times of bans that are, or were, in the database
}

// New returns a service. It returns an error if a required field of c is missing.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Trusted == nil {
		c.Trusted = func(netip.Addr) bool { return false }
	}
	return &Service{cfg: c, shared: map[netip.Addr]time.Time{}}, nil
}

// Run shares bans every few seconds until ctx ends, and then returns nil. While the database fails, no bans are shared.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		if err := s.sync(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.DebugContext(ctx, "cannot share the bans of SIP sources", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sync stores the line's new bans in the database, adds bans of other nodes to the line, and lifts bans that were lifted elsewhere or
// concern trusted sources. It also deletes expired bans from the database.
func (s *Service) sync(ctx context.Context) error {
	now := s.cfg.Clock.Now()
	own := s.cfg.Line.Bans()
	for source, until := range own {
		if s.cfg.Trusted(source) {
			s.cfg.Line.Lift(source)
			continue
		}
		if s.shared[source].Equal(until) {
			continue
		}
		if _, err := s.cfg.Leases.Claim(ctx, kind, s.cfg.Node, []string{source.String()}, now, until); err != nil {
			return err
		}
		s.shared[source] = until
	}
	all, err := List(ctx, s.cfg.Leases, now)
	if err != nil {
		return err
	}
	stored := map[netip.Addr]bool{}
	for _, b := range all {
		if s.cfg.Trusted(b.Source) {
			if err := s.cfg.Leases.Release(ctx, kind, b.Node, []string{b.Source.String()}); err != nil {
				return err
			}
			continue
		}
		stored[b.Source] = true
		if _, banned := own[b.Source]; !banned {
			s.cfg.Line.Ban(b.Source, b.Until)
			s.shared[b.Source] = b.Until
		}
	}
	for source, until := range s.shared {
		switch {
		case stored[source]:
			continue
		case len(all) < Most && now.Before(until):
			s.cfg.Line.Lift(source)
			s.cfg.Logger.InfoContext(ctx, "the ban of a SIP source was lifted", "source", source)
		}
		delete(s.shared, source)
	}
	return s.deleteOld(ctx, now)
}

// deleteOld deletes expired bans from the database.
func (s *Service) deleteOld(ctx context.Context, now time.Time) error {
	ended, err := s.cfg.Leases.Expired(ctx, kind, now, Most)
	for _, l := range ended {
		err = errors.Join(err, s.cfg.Leases.Release(ctx, kind, l.Node, []string{l.Key}))
	}
	return err
}
