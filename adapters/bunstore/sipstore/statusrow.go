package sipstore

import (
	"cmp"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

type statusRow struct {
	bun.BaseModel `bun:"table:trunk_statuses"`

	TrunkID    string     `bun:"trunk_id,pk"`
	Org        string     `bun:"org"`
	Number     string     `bun:"number"`
	ProbeAt    time.Time  `bun:"probe_at"`
	LeaseUntil *time.Time `bun:"lease_until"`
	Version    int64      `bun:"version"`
	State      string     `bun:"state"`   // Status.Recorded, for counts; empty if there are no servers
	DownNS     int64      `bun:"down_ns"` // Status.Downtime in nanoseconds
	Group      string     `bun:"alert_group"`
	Document   statusJSON `bun:"document,type:jsonb"`
}

// statusJSON holds the fields that no query searches.
type statusJSON struct {
	Verify   sip.TLSVerification           `json:"verify,omitempty"`
	Alerting bool                          `json:"alerting,omitempty"`
	Failback failover.Failback             `json:"failback,omitempty"`
	Servers  []serverStatusJSON            `json:"servers"`
	Active   int                           `json:"active,omitempty"`
	History  historyJSON                   `json:"history"`
	Alerts   map[alert.Kind]alertStateJSON `json:"alerts"`
}

// serverStatusJSON identifies a server. The state of the server is in a separate row.
type serverStatusJSON struct {
	Server serverJSON `json:"server"`
}

type historyJSON struct {
	Days  []dayJSON  `json:"days"`
	Hours []hourJSON `json:"hours,omitempty"`
	Until time.Time  `json:"until,omitzero"`
}

// Go converts between these types and their domain types, as in agentstore/document.go.

type healthJSON struct {
	State        health.State  `json:"state"`
	Since        time.Time     `json:"since,omitzero"`
	Streak       int           `json:"streak,omitempty"`
	CheckedAt    time.Time     `json:"checked_at,omitzero"`
	ResponseTime time.Duration `json:"response_time_ns,omitempty"`
	Reason       string        `json:"reason,omitempty"`
	NotBefore    time.Time     `json:"not_before,omitzero"`
}

type dayJSON struct {
	Date time.Time     `json:"date"`
	Up   time.Duration `json:"up_ns,omitempty"`
	Down time.Duration `json:"down_ns,omitempty"`
}

// hourJSON contains the number of hours since 1970, and the nanoseconds of uptime and downtime in that hour. It is compact, because a
// status is written every minute.
type hourJSON [3]int64

func newHour(h health.Hour) hourJSON {
	return hourJSON{h.Start.Unix() / secondsPerHour, int64(h.Up), int64(h.Down)}
}

func (h hourJSON) hour() health.Hour {
	return health.Hour{Start: time.Unix(h[0]*secondsPerHour, 0).UTC(), Up: time.Duration(h[1]), Down: time.Duration(h[2])}
}

const secondsPerHour = 3600

type alertStateJSON struct {
	Raised      bool      `json:"raised,omitempty"`
	TriggeredAt time.Time `json:"triggered_at,omitzero"`
	ResolvedAt  time.Time `json:"resolved_at,omitzero"`
	Since       time.Time `json:"since,omitzero"`
	ClearSince  time.Time `json:"clear_since,omitzero"`
	Edges       int       `json:"edges,omitempty"`
}

func newStatusRow(s sip.Status) statusRow {
	row := statusRow{
		TrunkID: s.TrunkID, Org: string(s.Org), Number: string(s.Number), ProbeAt: sqldb.Stored(s.ProbeAt), Version: s.Version, Group: s.Group,
		Document: statusJSON{
			Verify: s.Verify, Alerting: s.Alerting, Failback: s.Failback, Active: s.Active,
			Servers: sqldb.Converted(s.Servers, func(s sip.ServerStatus) serverStatusJSON {
				return serverStatusJSON{serverJSON(s.Server)}
			}),
			History: historyJSON{
				Days:  sqldb.Converted(s.History.Days, func(d health.Day) dayJSON { return dayJSON(d) }),
				Hours: sqldb.Converted(s.History.Hours, newHour),
				Until: s.History.Until,
			},
		},
	}
	if len(s.Servers) > 0 {
		row.State, row.DownNS = string(s.Recorded), int64(s.Downtime())
	}
	if s.Alerts != nil {
		row.Document.Alerts = make(map[alert.Kind]alertStateJSON, len(s.Alerts))
	}
	for kind, state := range s.Alerts {
		row.Document.Alerts[kind] = alertStateJSON(state)
	}
	return row
}

func (r statusRow) status() sip.Status {
	d := r.Document
	s := sip.Status{
		TrunkID: r.TrunkID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number),
		Verify: d.Verify, Alerting: d.Alerting, Failback: d.Failback, Active: d.Active,
		Servers: sqldb.Converted(d.Servers, func(s serverStatusJSON) sip.ServerStatus {
			return sip.ServerStatus{Server: failover.Server(s.Server)}
		}),
		History: health.History{
			Days:  sqldb.Converted(d.History.Days, func(d dayJSON) health.Day { return health.Day(d) }),
			Hours: sqldb.Converted(d.History.Hours, hourJSON.hour),
			Until: d.History.Until,
		},
		Group: r.Group, Recorded: cmp.Or(health.State(r.State), health.Unchecked), ProbeAt: r.ProbeAt.UTC(), Version: r.Version,
	}
	if d.Alerts != nil {
		s.Alerts = make(alert.States, len(d.Alerts))
	}
	for kind, state := range d.Alerts {
		s.Alerts[kind] = alert.State(state)
	}
	return s
}
