package sipstore

import (
	"net/netip"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/uri"
)

type discoveryRow struct {
	bun.BaseModel `bun:"table:sip_discoveries"`

	ID          string       `bun:"id,pk"`
	Org         string       `bun:"org"`
	Host        string       `bun:"host"`
	Port        uint16       `bun:"port"`
	Transport   string       `bun:"transport"`
	Status      string       `bun:"status"`
	Reason      string       `bun:"reason"`
	Findings    findingsJSON `bun:"findings,type:jsonb"`
	StartedAt   time.Time    `bun:"started_at"`
	CompletedAt *time.Time   `bun:"completed_at"`
	Version     int64        `bun:"version"`
}

// findingsJSON is the JSON form of the findings of a discovery. Durations are in nanoseconds.
type findingsJSON struct {
	Addresses   []netip.Addr        `json:"addresses,omitempty"`
	SRV         []srvJSON           `json:"srv,omitempty"`
	Attempts    []attemptJSON       `json:"attempts,omitempty"`
	Recommended *recommendationJSON `json:"recommended,omitempty"`
}

type srvJSON struct {
	Service  string `json:"service"`
	Target   string `json:"target"`
	Port     uint16 `json:"port"`
	Priority uint16 `json:"priority"`
	Weight   uint16 `json:"weight"`
}

type attemptJSON struct {
	Address      netip.AddrPort   `json:"address"`
	Transport    uri.Transport    `json:"transport"`
	ResponseTime time.Duration    `json:"response_time_ns,omitempty"`
	Code         int              `json:"code,omitempty"`
	UserAgent    string           `json:"user_agent,omitempty"`
	Error        string           `json:"error,omitempty"`
	TLS          *certificateJSON `json:"tls,omitempty"`
}

type certificateJSON struct {
	Version   string    `json:"version,omitempty"`
	Chain     bool      `json:"chain,omitempty"`
	Name      bool      `json:"name,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

type recommendationJSON struct {
	Port      uint16        `json:"port"`
	Transport uri.Transport `json:"transport"`
	UserAgent string        `json:"user_agent,omitempty"`
	System    guessJSON     `json:"system"`
	Codecs    []string      `json:"codecs,omitempty"`
	Methods   []string      `json:"methods,omitempty"`
}

type guessJSON struct {
	System     string   `json:"system,omitempty"`
	Version    string   `json:"version,omitempty"`
	Confidence float64  `json:"confidence,omitempty"`
	Evidence   []string `json:"evidence,omitempty"`
	Note       string   `json:"note,omitempty"`
}

func newDiscoveryRow(d discovery.Discovery) discoveryRow {
	found := findingsJSON{
		Addresses: d.Addresses,
		SRV:       sqldb.Converted(d.SRV, func(r discovery.SRV) srvJSON { return srvJSON(r) }),
		Attempts:  sqldb.Converted(d.Attempts, newAttempt),
	}
	if r := d.Recommended; r != nil {
		found.Recommended = &recommendationJSON{
			Port: r.Port, Transport: r.Transport, UserAgent: r.UserAgent, System: guessJSON(r.System),
			Codecs: r.Codecs, Methods: r.Methods,
		}
	}
	return discoveryRow{
		ID: d.ID, Org: string(d.Org), Host: d.Host, Port: d.Port, Transport: string(d.Transport),
		Status: string(d.Status), Reason: d.Reason, Findings: found,
		StartedAt: sqldb.Stored(d.StartedAt), CompletedAt: sqldb.StoredIfSet(d.CompletedAt), Version: d.Version,
	}
}

func newAttempt(a discovery.Attempt) attemptJSON {
	return attemptJSON{
		Address: a.Address, Transport: a.Transport, ResponseTime: a.ResponseTime, Code: a.Code, UserAgent: a.UserAgent,
		Error: a.Error, TLS: (*certificateJSON)(a.TLS),
	}
}

func (r discoveryRow) discovery() discovery.Discovery {
	d := discovery.Discovery{
		ID: r.ID, Org: callwright.OrgID(r.Org), Host: r.Host, Port: r.Port, Transport: uri.Transport(r.Transport),
		Status: discovery.Status(r.Status), Reason: r.Reason, Addresses: r.Findings.Addresses,
		SRV:       sqldb.Converted(r.Findings.SRV, func(r srvJSON) discovery.SRV { return discovery.SRV(r) }),
		Attempts:  sqldb.Converted(r.Findings.Attempts, attemptJSON.attempt),
		StartedAt: sqldb.Stored(r.StartedAt), CompletedAt: sqldb.StoredIfSet(r.CompletedAt), Version: r.Version,
	}
	if r := r.Findings.Recommended; r != nil {
		d.Recommended = &discovery.Recommendation{
			Port: r.Port, Transport: r.Transport, UserAgent: r.UserAgent, System: fingerprint.Guess(r.System),
			Codecs: r.Codecs, Methods: r.Methods,
		}
	}
	return d
}

func (a attemptJSON) attempt() discovery.Attempt {
	return discovery.Attempt{
		Address: a.Address, Transport: a.Transport, ResponseTime: a.ResponseTime, Code: a.Code, UserAgent: a.UserAgent,
		Error: a.Error, TLS: (*discovery.Certificate)(a.TLS),
	}
}
