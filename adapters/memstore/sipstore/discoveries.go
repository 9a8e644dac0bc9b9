package sipstore

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/discovery"
)

// Discoveries is a discovery.Store.
type Discoveries struct{ Store *memstore.Store }

// Begin adds a discovery, unless another one of the organization runs.
func (s Discoveries) Begin(ctx context.Context, n discovery.Discovery, stale time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.discoveries.Rows() {
			if other.Org == n.Org && other.Status == discovery.Running && other.StartedAt.After(stale) {
				return callwright.ErrDiscoveryInProgress
			}
		}
		return d.discoveries.Insert(n)
	})
}

// Update replaces a discovery.
func (s Discoveries) Update(ctx context.Context, n discovery.Discovery) error {
	return with(ctx, s.Store, func(d *data) error { return d.discoveries.Replace(n) })
}

// Get returns one discovery.
func (s Discoveries) Get(ctx context.Context, org callwright.OrgID, id string) (discovery.Discovery, error) {
	return read(ctx, s.Store, func(d *data) (discovery.Discovery, error) { return d.discoveries.Find(org, id) })
}

// Recent returns the newest completed discovery of the same host, port and transport.
func (s Discoveries) Recent(ctx context.Context, n discovery.Discovery, since time.Time) (discovery.Discovery, error) {
	return read(ctx, s.Store, func(d *data) (discovery.Discovery, error) {
		last := func(a, b discovery.Discovery) int { return b.CompletedAt.Compare(*a.CompletedAt) }
		return d.discoveries.First(last, func(other discovery.Discovery) bool {
			same := other.Org == n.Org && other.Host == n.Host && other.Port == n.Port && other.Transport == n.Transport
			return same && other.Status == discovery.Completed && other.CompletedAt != nil && !other.CompletedAt.Before(since)
		})
	})
}

// DeleteOld deletes old discoveries.
func (s Discoveries) DeleteOld(ctx context.Context, before time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		return d.discoveries.DeleteWhere(func(old discovery.Discovery) bool { return old.StartedAt.Before(before) })
	})
}
