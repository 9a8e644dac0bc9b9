package sipstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
)

// Statuses implements sip.Statuses in memory.
type Statuses struct{ Store *memstore.Store }

type leasedStatus struct {
	sip.Status
	until time.Time // end of the lease; zero without a lease
}

// StoreStatus stores a status and its servers that are not yet watched, and ends the lease of the status. Version 0 replaces any stored
// status of the organization's trunk. For any other version, StoreStatus returns CodeConflict if the stored version differs, and
// CodeNotFound if no status is stored.
func (s Statuses) StoreStatus(ctx context.Context, status sip.Status) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, found := d.statuses.Rows()[status.TrunkID]
		if err := replaces("status", status.Version, status.Org, found, stored.Version, stored.Org); err != nil {
			return err
		}
		status.Version = stored.Version + 1
		status = memory.Clone(status)
		for _, server := range status.Servers {
			key := serverKey{status.Org, sip.ServerKey(status.Verify, server.Server)}
			if _, watched := d.servers.Rows()[key]; !watched {
				server.Version = 1
				d.servers.Set(key, leasedServer{WatchedServer: sip.WatchedServer{Org: status.Org, Verify: status.Verify, ServerStatus: server}})
			}
		}
		status.Recorded = d.known(status).State()
		d.statuses.Set(status.TrunkID, leasedStatus{Status: status})
		d.deleteServers(stored.Status)
		return nil
	})
}

// RecordStatus stores the fields of a status that probes change, and ends its lease. It returns CodeConflict if the stored version differs,
// and CodeNotFound if the status is absent.
func (s Statuses) RecordStatus(ctx context.Context, status sip.Status) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, found := d.statuses.Rows()[status.TrunkID]
		if err := follows("status", status.Version, found && stored.Org == status.Org, stored.Version); err != nil {
			return err
		}
		next, status := stored.Status, memory.Clone(status)
		next.Group, next.Active, next.Recorded, next.History = status.Group, status.Active, status.Recorded, status.History
		next.Alerts, next.ProbeAt, next.Version = status.Alerts, status.ProbeAt, stored.Version+1
		d.statuses.Set(status.TrunkID, leasedStatus{Status: next})
		return nil
	})
}

// Group returns the lowest trunk id of a group and the number of its trunks. An empty group contains no trunks.
func (s Statuses) Group(ctx context.Context, org callwright.OrgID, group string) (first string, count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, stored := range d.statuses.Rows() {
			if stored.Org != org || stored.Group != group || group == "" {
				continue
			}
			if count++; first == "" || id < first {
				first = id
			}
		}
		return nil
	})
	return first, count, err
}

// replaces returns an error if a value must not replace the stored value. Version 0 may replace any value of the same organization, or be
// added. Any other version must equal the stored one: see follows.
func replaces(
	kind string, version int64, org callwright.OrgID, found bool, stored int64, owner callwright.OrgID,
) error {
	if version == 0 && (!found || owner == org) {
		return nil
	}
	if version == 0 {
		return callwright.ErrConflict
	}
	return follows(kind, version, found && owner == org, stored)
}

// follows returns CodeNotFound if no value is stored, and CodeConflict if the stored version differs from version.
func follows(kind string, version int64, found bool, stored int64) error {
	switch {
	case !found:
		return callwright.NotFound(kind)
	case version != stored:
		return callwright.ErrConflict
	default:
		return nil
	}
}

// Status returns the status of a trunk, or CodeNotFound if the organization has none.
func (s Statuses) Status(ctx context.Context, org callwright.OrgID, trunkID string) (status sip.Status, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		stored, ok := d.statuses.Rows()[trunkID]
		if !ok || stored.Org != org {
			return callwright.NotFound("status")
		}
		status = d.known(stored.Status)
		return nil
	})
	return status, err
}

// StatusesOf returns the statuses of the given trunks, sorted by number. It skips trunks without a status.
func (s Statuses) StatusesOf(
	ctx context.Context, org callwright.OrgID, trunkIDs []string,
) (found []sip.Status, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, id := range trunkIDs {
			if stored, ok := d.statuses.Rows()[id]; ok && stored.Org == org {
				found = append(found, d.known(stored.Status))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b sip.Status) int { return cmp.Compare(a.Number, b.Number) })
	return found, err
}

// DeleteStatus deletes the status of a trunk, and the servers that no other status lists. It returns no error if the status is absent.
func (s Statuses) DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error {
	return with(ctx, s.Store, func(d *data) error {
		if stored := d.statuses.Rows()[trunkID]; stored.Org == org {
			d.statuses.Delete(trunkID)
			d.deleteServers(stored.Status)
		}
		return nil
	})
}

// CountStatuses returns how many of an organization's statuses are in each public state, at most limit for each. It omits statuses without
// servers.
func (s Statuses) CountStatuses(ctx context.Context, org callwright.OrgID, limit int) (map[health.State]int, error) {
	counts := map[health.State]int{}
	err := with(ctx, s.Store, func(d *data) error {
		for _, stored := range d.statuses.Rows() {
			if state := stored.Recorded.Public(); stored.Org == org && len(stored.Servers) > 0 && counts[state] < limit {
				counts[state]++
			}
		}
		return nil
	})
	return counts, err
}

// WorstStatuses returns up to limit statuses in a public state, the longest downtime first.
func (s Statuses) WorstStatuses(
	ctx context.Context, org callwright.OrgID, state health.State, limit int,
) (found []sip.Status, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, stored := range d.statuses.Rows() {
			if stored.Org == org && len(stored.Servers) > 0 && stored.Recorded.Public() == state {
				found = append(found, d.known(stored.Status))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b sip.Status) int {
		return cmp.Or(cmp.Compare(b.Downtime(), a.Downtime()), cmp.Compare(a.Number, b.Number))
	})
	return found[:min(limit, len(found))], err
}

// ClaimStatuses leases up to limit statuses that are due at the first given time and not leased, and returns them in the order of their due
// times. The leases end at the second.
func (s Statuses) ClaimStatuses(
	ctx context.Context, now, until time.Time, limit int,
) (leased []sip.Status, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var due []leasedStatus
		for _, stored := range d.statuses.Rows() {
			if !stored.ProbeAt.After(now) && !stored.until.After(now) {
				due = append(due, stored)
			}
		}
		slices.SortFunc(due, func(a, b leasedStatus) int { return a.ProbeAt.Compare(b.ProbeAt) })
		for _, stored := range due[:min(limit, len(due))] {
			stored.until = until
			d.statuses.Set(stored.TrunkID, stored)
			leased = append(leased, d.known(stored.Status))
		}
		return nil
	})
	return leased, err
}
