package sipstore

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/discovery"
)

// Discoveries implements discovery.Store in memory.
type Discoveries struct{ Store *memstore.Store }

// Begin adds a discovery. It returns ErrDiscoveryInProgress if the organization has a running discovery that was started after the given
// time.
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

// Update replaces a discovery. It returns CodeConflict if the stored version differs, and CodeNotFound if the discovery is absent.
func (s Discoveries) Update(ctx context.Context, n discovery.Discovery) error {
	return with(ctx, s.Store, func(d *data) error { return d.discoveries.Replace(n) })
}

// Get returns a discovery, or CodeNotFound if the organization has no such discovery.
func (s Discoveries) Get(ctx context.Context, org callwright.OrgID, id string) (discovery.Discovery, error) {
	return read(ctx, s.Store, func(d *data) (discovery.Discovery, error) { return d.discoveries.Find(org, id) })
}

// Recent returns the organization's newest completed discovery of the same host, port and transport. It returns CodeNotFound if none was
// completed at or after the given time.
func (s Discoveries) Recent(ctx context.Context, n discovery.Discovery, since time.Time) (discovery.Discovery, error) {
	return read(ctx, s.Store, func(d *data) (discovery.Discovery, error) {
		last := func(a, b discovery.Discovery) int { return b.CompletedAt.Compare(*a.CompletedAt) }
		return d.discoveries.First(last, func(other discovery.Discovery) bool {
			same := other.Org == n.Org && other.Host == n.Host && other.Port == n.Port && other.Transport == n.Transport
			return same && other.Status == discovery.Completed && other.CompletedAt != nil && !other.CompletedAt.Before(since)
		})
	})
}

// DeleteOld deletes all discoveries that were started before the given time.
func (s Discoveries) DeleteOld(ctx context.Context, before time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		return d.discoveries.DeleteWhere(func(old discovery.Discovery) bool { return old.StartedAt.Before(before) })
	})
}
