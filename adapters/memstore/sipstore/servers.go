package sipstore

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip"
)

// serverKey identifies a watched server by its organization and its sip.ServerKey.
type serverKey struct {
	org callwright.OrgID
	key string
}

type leasedServer struct {
	sip.WatchedServer
	until time.Time // end of the lease; zero without a lease
}

// known returns a copy of a status that contains the stored states of its servers.
func (d *data) known(status sip.Status) sip.Status {
	servers := map[string]sip.ServerStatus{}
	for _, server := range status.Servers {
		key := sip.ServerKey(status.Verify, server.Server)
		if stored, watched := d.servers.Rows()[serverKey{status.Org, key}]; watched {
			servers[key] = stored.ServerStatus
		}
	}
	return memory.Clone(status.Known(servers))
}

// namedBy reports whether a status lists the server with the key k.
func (k serverKey) namedBy(status sip.Status) bool {
	return status.Org == k.org && slices.ContainsFunc(status.Servers, func(s sip.ServerStatus) bool {
		return sip.ServerKey(status.Verify, s.Server) == k.key
	})
}

// deleteServers deletes the servers of a replaced or deleted status that no stored status lists.
func (d *data) deleteServers(former sip.Status) {
	for _, server := range former.Servers {
		key := serverKey{former.Org, sip.ServerKey(former.Verify, server.Server)}
		named := false
		for _, stored := range d.statuses.Rows() {
			named = named || key.namedBy(stored.Status)
		}
		if !named {
			d.servers.Delete(key)
		}
	}
}

// StoreServer stores the health, samples and next probe of a watched server, and ends its lease. It returns CodeConflict if the stored
// version differs, and CodeNotFound if the server is absent.
func (s Statuses) StoreServer(ctx context.Context, w sip.WatchedServer) error {
	return with(ctx, s.Store, func(d *data) error {
		key := serverKey{w.Org, sip.ServerKey(w.Verify, w.Server)}
		stored, found := d.servers.Rows()[key]
		if err := follows("server", w.Version, found, stored.Version); err != nil {
			return err
		}
		next, w := stored.WatchedServer, memory.Clone(w)
		next.Health, next.ProbeAt, next.Samples, next.Version = w.Health, w.ProbeAt, w.Samples, stored.Version+1
		d.servers.Set(key, leasedServer{WatchedServer: next})
		return nil
	})
}

// Server returns a watched server by its sip.ServerKey, or CodeNotFound if the organization has no such server.
func (s Statuses) Server(ctx context.Context, org callwright.OrgID, key string) (w sip.WatchedServer, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		stored, found := d.servers.Rows()[serverKey{org, key}]
		if !found {
			return callwright.NotFound("server")
		}
		w = memory.Clone(stored.WatchedServer)
		return nil
	})
	return w, err
}

// ClaimServers leases up to limit servers that are due at the first given time and not leased, and returns them in the order of their due
// times. The leases end at the second.
func (s Statuses) ClaimServers(ctx context.Context, now, until time.Time, limit int) (leased []sip.WatchedServer, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var due []serverKey
		for key, stored := range d.servers.Rows() {
			if !stored.ProbeAt.After(now) && !stored.until.After(now) {
				due = append(due, key)
			}
		}
		slices.SortFunc(due, func(a, b serverKey) int { return d.servers.Rows()[a].ProbeAt.Compare(d.servers.Rows()[b].ProbeAt) })
		for _, key := range due[:min(limit, len(due))] {
			stored := d.servers.Rows()[key]
			stored.until = until
			d.servers.Set(key, stored)
			leased = append(leased, memory.Clone(stored.WatchedServer))
		}
		return nil
	})
	return leased, err
}

// WakeStatuses makes the statuses that list a server due at the given time, unless they are due earlier. It raises their versions, so that
// a caller that read them before can no longer record them.
func (s Statuses) WakeStatuses(ctx context.Context, org callwright.OrgID, key string, at time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		for id, stored := range d.statuses.Rows() {
			if (serverKey{org, key}).namedBy(stored.Status) && stored.ProbeAt.After(at) {
				stored.ProbeAt = at
				stored.Version++
				d.statuses.Set(id, stored)
			}
		}
		return nil
	})
}
