package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/node"
)

// Leases stores leases; it implements node.Leases.
type Leases struct{ Store *Store }

type leaseKey struct{ kind, key string }

// leases contains the stored leases.
type leases map[leaseKey]node.Lease

// New returns an empty set of leases.
func (leases) New() leases { return leases{} }

// Clone returns a copy. A transaction that fails restores the copy.
func (l leases) Clone() leases { return maps.Clone(l) }

// Claim claims the keys that are free, expired or already held by the node, until the given time. It returns their leases, sorted by key.
func (s Leases) Claim(
	ctx context.Context, kind, holder string, keys []string, now, until time.Time,
) (taken []node.Lease, err error) {
	err = memory.With(ctx, s.Store.core, func(d *leases) error {
		for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
			old, known := (*d)[leaseKey{kind, key}]
			expired := !old.ExpiresAt.After(now)
			if known && old.Node != holder && !expired {
				continue
			}
			lease := node.Lease{
				Kind: kind, Key: key, Node: holder, Fence: old.Fence, RenewedAt: now, ExpiresAt: until,
			}
			switch {
			case !known:
				lease.Fence = now.UnixMicro()
			case old.Node != holder || expired:
				lease.Fence++
			}
			(*d)[leaseKey{kind, key}] = lease
			taken = append(taken, lease)
		}
		return nil
	})
	return taken, err
}

// Renew extends all leases of a kind that the node holds, and returns them sorted by key.
func (s Leases) Renew(
	ctx context.Context, kind, holder string, now, until time.Time,
) (renewed []node.Lease, err error) {
	err = memory.With(ctx, s.Store.core, func(d *leases) error {
		for key, lease := range *d {
			if lease.Kind == kind && lease.Node == holder {
				lease.RenewedAt, lease.ExpiresAt = now, until
				(*d)[key] = lease
				renewed = append(renewed, lease)
			}
		}
		return nil
	})
	slices.SortFunc(renewed, func(a, b node.Lease) int { return cmp.Compare(a.Key, b.Key) })
	return renewed, err
}

// Release deletes the node's leases of these keys. It ignores keys that the node does not hold.
func (s Leases) Release(ctx context.Context, kind, holder string, keys []string) error {
	return memory.With(ctx, s.Store.core, func(d *leases) error {
		for _, key := range keys {
			if (*d)[leaseKey{kind, key}].Node == holder {
				delete(*d, leaseKey{kind, key})
			}
		}
		return nil
	})
}

// Held returns up to limit leases of a kind that have not expired, the latest deadline first.
func (s Leases) Held(ctx context.Context, kind string, now time.Time, limit int) ([]node.Lease, error) {
	found, err := s.find(ctx, kind, func(l node.Lease) bool { return l.ExpiresAt.After(now) })
	slices.Reverse(found)
	return found[:min(limit, len(found))], err
}

// Expired returns up to limit leases of a kind that have expired, the earliest deadline first.
func (s Leases) Expired(ctx context.Context, kind string, now time.Time, limit int) ([]node.Lease, error) {
	found, err := s.find(ctx, kind, func(l node.Lease) bool { return !l.ExpiresAt.After(now) })
	return found[:min(limit, len(found))], err
}

// find returns the wanted leases of a kind, the earliest deadline first.
func (s Leases) find(
	ctx context.Context, kind string, wanted func(node.Lease) bool,
) (found []node.Lease, err error) {
	err = memory.With(ctx, s.Store.core, func(d *leases) error {
		for _, lease := range *d {
			if lease.Kind == kind && wanted(lease) {
				found = append(found, lease)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b node.Lease) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.Key, b.Key))
	})
	return found, err
}
