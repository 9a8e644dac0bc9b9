package discovery

import (
	"context"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// Status is the status of a discovery.
type Status string

// The statuses.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed" // no server responded, or the name does not resolve
)

// Discovery is the discovery of one host.
type Discovery struct {
	ID          string // "disc_" and a UUID without dashes
	Org         callwright.OrgID
	Host        string
	Port        uint16        // requested in addition to the usual ports; 0: none
	Transport   uri.Transport // requested; empty: all
	Status      Status
	Reason      string // of a failure
	Addresses   []netip.Addr
	SRV         []SRV
	Attempts    []Attempt
	Recommended *Recommendation
	StartedAt   time.Time
	CompletedAt *time.Time // nil while it runs
	Version     int64      // for the compare-and-set
}

// SRV is one SRV record.
type SRV = resolve.SRV

// Attempt is one probe of one address.
type Attempt struct {
	Address      netip.AddrPort // unspecified for a private address, which is neither probed nor shown
	Transport    uri.Transport
	ResponseTime time.Duration // 0: no response
	Code         int           // of the response; 0: none
	UserAgent    string        // Server or User-Agent of the response, printable and shortened
	Error        string        // reason for the missing response; quotes no text of the peer
	TLS          *Certificate  // of a TLS handshake; nil: none
}

// Certificate describes the peer's certificate in a TLS handshake.
type Certificate struct {
	Version   string // such as "TLS 1.3"
	Chain     bool   // the certificate chains to a trusted root
	Name      bool   // the certificate names the host
	ExpiresAt time.Time
}

// Recommendation is the recommended way to connect.
type Recommendation struct {
	Port      uint16
	Transport uri.Transport
	UserAgent string
	System    fingerprint.Guess
	Codecs    []string // of an SDP in the response, which is rare; empty: unknown
	Methods   []string // of Allow
}

// Prober probes addresses with OPTIONS. It is safe for concurrent use.
type Prober interface {
	// Probe probes one address, and waits for a response until ctx ends. The attempt holds p.Address and p.Transport. An attempt
	// with a final response holds its code and the response time, no error, and over TLS the facts of the certificate, even of an
	// invalid one. Any other attempt holds an error for people and neither code nor response time. A forbidden address gets no
	// packet. All resources of the probe are released when Probe returns.
	Probe(ctx context.Context, p Probe) Answer
}

// Probe is one OPTIONS request.
type Probe struct {
	Address   netip.AddrPort
	Transport uri.Transport
	Host      string // for the Request-URI and the certificate
	User      string // of the Request-URI; empty: none, which some systems require
}

// Answer is the result of a probe.
type Answer struct {
	Attempt
	Headers []fingerprint.Header
	Methods []string
	Codecs  []string
}

// Store stores discoveries. Given and returned values share no memory with stored ones. Every field comes back unchanged; times are
// returned in UTC, exact to the microsecond. siptest.RunDiscoveryStore tests it.
type Store interface {
	// Begin adds a discovery with Version 1. It returns CodeDiscoveryInProgress while another discovery of the organization runs
	// that started after stale. Of concurrent discoveries, on any nodes, only one is added. It returns CodeConflict when any
	// organization's discovery has the same ID.
	Begin(ctx context.Context, d Discovery, stale time.Time) error
	// Update replaces the discovery whose stored Version is d.Version, and adds one to the Version. CodeConflict when the
	// stored Version differs, CodeNotFound when d.Org has no such discovery.
	Update(ctx context.Context, d Discovery) error
	// Get returns a discovery; CodeNotFound when the organization has no such discovery.
	Get(ctx context.Context, org callwright.OrgID, id string) (Discovery, error)
	// Recent returns the discovery of d.Org with d's host, port and transport and the status Completed that was completed last, at
	// since or later; CodeNotFound without one.
	Recent(ctx context.Context, d Discovery, since time.Time) (Discovery, error)
	// DeleteOld deletes the discoveries of all organizations that started before the given time, running ones too.
	DeleteOld(ctx context.Context, before time.Time) error
}
