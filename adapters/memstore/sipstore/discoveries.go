package sipstore

import (
	"context"
	"maps"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip/discovery"
)

// Discoveries is a discovery.Store.
type Discoveries struct{ Store *memstore.Store }

// Begin adds a discovery, unless another one of the organization runs.
func (s Discoveries) Begin(ctx context.Context, n discovery.Discovery, stale time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.discoveries {
			if other.Org == n.Org && other.Status == discovery.Running && other.StartedAt.After(stale) {
				return callwright.ErrDiscoveryInProgress
			}
		}
		if _, taken := d.discoveries[n.ID]; taken {
			return callwright.ErrConflict
		}
		n.Version = 1
		d.discoveries[n.ID] = memory.Clone(n)
		return nil
	})
}

// discovery returns a discovery of an organization.
func (d *data) discovery(org callwright.OrgID, id string) (discovery.Discovery, error) {
	found, ok := d.discoveries[id]
	if !ok || found.Org != org {
		return discovery.Discovery{}, callwright.NotFound("discovery")
	}
	return found, nil
}

// Update replaces a discovery.
func (s Discoveries) Update(ctx context.Context, n discovery.Discovery) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.discovery(n.Org, n.ID)
		if err != nil {
			return err
		}
		if stored.Version != n.Version {
			return callwright.ErrConflict
		}
		n.Version++
		d.discoveries[n.ID] = memory.Clone(n)
		return nil
	})
}

// Get returns one discovery.
func (s Discoveries) Get(ctx context.Context, org callwright.OrgID, id string) (found discovery.Discovery, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		stored, err := d.discovery(org, id)
		found = memory.Clone(stored)
		return err
	})
	return found, err
}

// Recent returns the newest completed discovery of the same host, port and transport.
func (s Discoveries) Recent(
	ctx context.Context, n discovery.Discovery, since time.Time,
) (newest discovery.Discovery, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, other := range d.discoveries {
			same := other.Org == n.Org && other.Host == n.Host && other.Port == n.Port && other.Transport == n.Transport
			if !same || other.Status != discovery.Completed || other.CompletedAt == nil || other.CompletedAt.Before(since) {
				continue
			}
			if newest.CompletedAt == nil || other.CompletedAt.After(*newest.CompletedAt) {
				newest = memory.Clone(other)
			}
		}
		if newest.CompletedAt == nil {
			return callwright.NotFound("discovery")
		}
		return nil
	})
	return newest, err
}

// DeleteOld deletes old discoveries.
func (s Discoveries) DeleteOld(ctx context.Context, before time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		maps.DeleteFunc(d.discoveries, func(_ string, old discovery.Discovery) bool { return old.StartedAt.Before(before) })
		return nil
	})
}
