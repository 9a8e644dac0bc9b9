package sipstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

type serverRow struct {
	bun.BaseModel `bun:"table:trunk_servers"`

	Org        string            `bun:"org,pk"`
	Key        string            `bun:"server_key,pk"`
	ProbeAt    time.Time         `bun:"probe_at"`
	LeaseUntil *time.Time        `bun:"lease_until"`
	Version    int64             `bun:"version"`
	Document   watchedServerJSON `bun:"document,type:jsonb"`
}

type watchedServerJSON struct {
	Verify  sip.TLSVerification `json:"verify,omitempty"`
	Server  serverJSON          `json:"server"`
	Health  healthJSON          `json:"health"`
	Samples []time.Duration     `json:"samples_ns"`
}

// nameRow records that the status of a trunk refers to a server.
type nameRow struct {
	bun.BaseModel `bun:"table:trunk_server_names"`

	Org     string `bun:"org,pk"`
	Key     string `bun:"server_key,pk"`
	TrunkID string `bun:"trunk_id,pk"`
}

func newServerRow(w sip.WatchedServer) serverRow {
	return serverRow{
		Org: string(w.Org), Key: sip.ServerKey(w.Verify, w.Server), ProbeAt: sqldb.Stored(w.ProbeAt), Version: w.Version,
		Document: watchedServerJSON{Verify: w.Verify, Server: serverJSON(w.Server), Health: healthJSON(w.Health), Samples: w.Samples},
	}
}

func (r serverRow) server() sip.WatchedServer {
	d := r.Document
	return sip.WatchedServer{Org: callwright.OrgID(r.Org), Verify: d.Verify, ServerStatus: sip.ServerStatus{
		Server: failover.Server(d.Server), Health: health.Server(d.Health), ProbeAt: r.ProbeAt.UTC(), Samples: d.Samples, Version: r.Version,
	}}
}

// known converts rows to statuses and sets the recorded states of their servers.
func known(ctx context.Context, idb bun.IDB, rows []statusRow) ([]sip.Status, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := sqldb.Converted(rows, func(r statusRow) string { return r.TrunkID })
	var servers []serverRow
	names := idb.NewSelect().Model((*nameRow)(nil)).Column("org", "server_key").Where("trunk_id IN (?)", bun.List(ids))
	if err := idb.NewSelect().Model(&servers).Where("(org, server_key) IN (?)", names).Scan(ctx); err != nil {
		return nil, err
	}
	byOrg := map[string]map[string]sip.ServerStatus{}
	for _, row := range servers {
		if byOrg[row.Org] == nil {
			byOrg[row.Org] = map[string]sip.ServerStatus{}
		}
		byOrg[row.Org][row.Key] = row.server().ServerStatus
	}
	return sqldb.Converted(rows, func(r statusRow) sip.Status { return r.status().Known(byOrg[r.Org]) }), nil
}

// watchServers inserts the servers of a status that are not yet watched, and locks the others. It returns the keys and the recorded states
// of all of them.
func watchServers(ctx context.Context, idb bun.IDB, status sip.Status) (keys []string, known map[string]sip.ServerStatus, err error) {
	rows := sqldb.Converted(status.Servers, func(s sip.ServerStatus) serverRow {
		s.Version = 1
		return newServerRow(sip.WatchedServer{Org: status.Org, Verify: status.Verify, ServerStatus: s})
	})
	slices.SortFunc(rows, func(a, b serverRow) int { return strings.Compare(a.Key, b.Key) })
	rows = slices.CompactFunc(rows, func(a, b serverRow) bool { return a.Key == b.Key })
	known = map[string]sip.ServerStatus{}
	if len(rows) == 0 {
		return nil, known, nil
	}
	var stored []serverRow
	err = idb.NewInsert().Model(&rows).On("CONFLICT (org, server_key) DO UPDATE").Set("org = EXCLUDED.org").
		Returning("*").Scan(ctx, &stored)
	for _, row := range stored {
		keys, known[row.Key] = append(keys, row.Key), row.server().ServerStatus
	}
	return keys, known, err
}

// nameServers makes a trunk refer to exactly the servers with the given keys, and deletes servers to which no trunk refers.
func nameServers(ctx context.Context, idb bun.IDB, status sip.Status, keys []string) error {
	var before []string
	err := idb.NewSelect().Model((*nameRow)(nil)).Column("server_key").
		Where("trunk_id = ?", status.TrunkID).Where("org = ?", status.Org).Scan(ctx, &before)
	if err != nil {
		return err
	}
	var added []nameRow
	for _, key := range keys {
		if !slices.Contains(before, key) {
			added = append(added, nameRow{Org: string(status.Org), Key: key, TrunkID: status.TrunkID})
		}
	}
	if len(added) > 0 {
		if _, err := idb.NewInsert().Model(&added).Returning("NULL").Exec(ctx); err != nil {
			return err
		}
	}
	gone := slices.DeleteFunc(before, func(key string) bool { return slices.Contains(keys, key) })
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	of := bun.List(gone)
	_, err = idb.NewDelete().Model((*nameRow)(nil)).Where("org = ?", status.Org).Where("server_key IN (?)", of).
		Where("trunk_id = ?", status.TrunkID).Exec(ctx)
	if err != nil {
		return err
	}
	// A separate statement locks the servers, so that the next statement sees rows that concurrent transactions have inserted.
	_, err = idb.NewUpdate().Model((*serverRow)(nil)).Set("version = version").Where("org = ?", status.Org).Where("server_key IN (?)", of).Exec(ctx)
	if err != nil {
		return err
	}
	named := idb.NewSelect().Model((*nameRow)(nil)).Column("server_key").Where("org = ?", status.Org).Where("server_key IN (?)", of)
	_, err = idb.NewDelete().Model((*serverRow)(nil)).Where("org = ?", status.Org).Where("server_key IN (?)", of).
		Where("server_key NOT IN (?)", named).Exec(ctx)
	return err
}

func (s Statuses) servers() sqldb.Rows[sip.WatchedServer, serverRow] {
	return sqldb.Rows[sip.WatchedServer, serverRow]{DB: s.DB.Core(), Kind: "server", Row: sqldb.Plain(newServerRow), Value: sqldb.Plain(serverRow.server)}
}

// StoreServer replaces a watched server and releases its lease. It returns CodeConflict if the stored version differs, and CodeNotFound if
// the server is absent.
func (s Statuses) StoreServer(ctx context.Context, w sip.WatchedServer) error {
	return s.servers().Replace(ctx, w)
}

// Server returns the watched server with the given key, or CodeNotFound if it is absent.
func (s Statuses) Server(ctx context.Context, org callwright.OrgID, key string) (sip.WatchedServer, error) {
	return s.servers().Find(ctx, org, key)
}

// ClaimServers leases up to limit servers that are due at the first given time, and returns them in the order of their due times. The
// leases end at the second. ClaimServers skips leased servers.
func (s Statuses) ClaimServers(ctx context.Context, now, until time.Time, limit int) ([]sip.WatchedServer, error) {
	var rows []serverRow
	err := s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		due := idb.NewSelect().Model((*serverRow)(nil)).Column("org", "server_key").
			Where("probe_at <= ?", sqldb.Stored(now)).Where("lease_until IS NULL OR lease_until <= ?", sqldb.Stored(now)).
			Order("probe_at").Limit(int64(limit))
		_, err := idb.NewUpdate().Model(&rows).Set("lease_until = ?", sqldb.Stored(until)).With("due", s.core().SkipLocked(due)).
			Where("(org, server_key) IN (SELECT org, server_key FROM due)").Returning("*").Exec(ctx)
		return err
	})
	// RETURNING guarantees no order.
	slices.SortFunc(rows, func(a, b serverRow) int { return a.ProbeAt.Compare(b.ProbeAt) })
	return sqldb.Converted(rows, serverRow.server), err
}

// WakeStatuses makes the statuses that refer to a server due at the given time, unless they are due earlier. It increments their versions,
// so that a caller with an older copy cannot store it.
func (s Statuses) WakeStatuses(ctx context.Context, org callwright.OrgID, key string, at time.Time) error {
	return s.core().Write(ctx, []any{org, key}, func(ctx context.Context, idb bun.IDB) error {
		naming := idb.NewSelect().Model((*nameRow)(nil)).Column("trunk_id").Where("org = ?", org).Where("server_key = ?", key)
		later := s.core().ForUpdate(idb.NewSelect().Model((*statusRow)(nil)).Column("trunk_id").
			Where("trunk_id IN (?)", naming).Where("org = ?", org).Where("probe_at > ?", sqldb.Stored(at)).Order("trunk_id"))
		_, err := idb.NewUpdate().Model((*statusRow)(nil)).Set("probe_at = ?", sqldb.Stored(at)).Set("version = version + 1").
			With("later", later).Where("trunk_id IN (SELECT trunk_id FROM later)").Exec(ctx)
		return err
	})
}
