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

// The statuses of a discovery.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed" // no server responded, the name does not resolve, or the node stopped
)

// Discovery is the search for SIP servers at one host, with its progress and its result.
type Discovery struct {
	ID          string // "disc_" and a UUID without dashes
	Org         callwright.OrgID
	Host        string
	Port        uint16        // port requested in addition to the usual ones; 0 if none
	Transport   uri.Transport // transport requested in addition to the usual ones; empty if none
	Status      Status
	Reason      string // reason for a failure
	Addresses   []netip.Addr
	SRV         []SRV
	Attempts    []Attempt
	Recommended *Recommendation
	StartedAt   time.Time
	CompletedAt *time.Time // nil while running
	Version     int64      // for compare-and-set
}

// SRV is a DNS record that names a SIP server of the host.
type SRV = resolve.SRV

// Attempt is the result of probing one address over one transport.
type Attempt struct {
	Address      netip.AddrPort // unspecified for a private address, which is neither probed nor revealed
	Transport    uri.Transport
	ResponseTime time.Duration // 0 without a response
	Code         int           // status of the response; 0 without one
	UserAgent    string        // Server or User-Agent header of the response, printable and truncated
	Error        string        // why no response arrived; quotes no text of the peer
	TLS          *Certificate  // from a TLS handshake; nil without one
}

// Certificate describes a TLS handshake and the peer's certificate in it.
type Certificate struct {
	Version   string // such as "TLS 1.3"
	Chain     bool   // the certificate chains to a trusted root
	Name      bool   // the certificate is valid for the host's name
	ExpiresAt time.Time
}

// Recommendation describes how to connect to the best server that responded.
type Recommendation struct {
	Port      uint16
	Transport uri.Transport
	UserAgent string
	System    fingerprint.Guess
	Codecs    []string // from SDP in the response, which is rare; empty if unknown
	Methods   []string // from the Allow header
}

// Prober probes addresses with OPTIONS requests. It is safe for concurrent use.
type Prober interface {
	// Probe probes one address, and waits for a response until ctx ends. The result contains p.Address and p.Transport. After a final
	// response it also contains the status and the response time, and no error; over TLS it describes the certificate, even an invalid one.
	// Otherwise it contains a human-readable error, and neither a status nor a response time. Probe sends no packet to a forbidden address.
	// It releases all resources before it returns.
	Probe(ctx context.Context, p Probe) Answer
}

// Probe describes one OPTIONS request to send.
type Probe struct {
	Address   netip.AddrPort
	Transport uri.Transport
	Host      string // host name in the Request-URI, and expected in the certificate
	User      string // user part of the Request-URI; some systems require an empty one
}

// Answer is the result of a probe: the Attempt, and details of the response that only recommendations need.
type Answer struct {
	Attempt
	Headers []fingerprint.Header
	Methods []string
	Codecs  []string
}

// Store stores discoveries. Given and returned values share no memory with stored ones. Every field is returned as stored; times are in UTC
// with microseconds. siptest.RunDiscoveryStore tests it.
type Store interface {
	// Begin adds a discovery with Version 1. It returns CodeDiscoveryInProgress if another discovery of the organization is running and
	// started after the time stale; of concurrent discoveries, on any nodes, only one is added. It returns CodeConflict if a discovery of
	// any organization has the same ID.
	Begin(ctx context.Context, d Discovery, stale time.Time) error
	// Update replaces the discovery whose stored Version is d.Version, and increments the Version. It returns CodeConflict if the stored
	// Version differs, and CodeNotFound if d.Org has no such discovery.
	Update(ctx context.Context, d Discovery) error
	// Get returns a discovery, or CodeNotFound if the organization has no such discovery.
	Get(ctx context.Context, org callwright.OrgID, id string) (Discovery, error)
	// Recent returns the latest Completed discovery of d.Org with d's host, port and transport that was completed at or after the time
	// since. It returns CodeNotFound if there is none.
	Recent(ctx context.Context, d Discovery, since time.Time) (Discovery, error)
	// DeleteOld deletes the discoveries of all organizations that started before the given time, even if they are running.
	DeleteOld(ctx context.Context, before time.Time) error
}
