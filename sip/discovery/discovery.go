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

// Status is where a discovery stands.
type Status string

// The statuses.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed" // nothing answered, or the name leads nowhere
)

// Discovery is one look at a host.
type Discovery struct {
	ID          string // "disc_" and a UUID without dashes
	Org         callwright.OrgID
	Host        string
	Port        uint16        // asked for besides the usual ones; 0: none
	Transport   uri.Transport // asked for; empty: all
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
	Address      netip.AddrPort // unspecified for one that is not public, which is neither asked nor shown
	Transport    uri.Transport
	ResponseTime time.Duration // 0: no answer
	Code         int           // of the answer; 0: none
	UserAgent    string        // as Server or User-Agent says, printable and short
	Error        string        // why there was no answer, in our own words
	TLS          *Certificate  // over TLS
}

// Certificate is what a TLS handshake has shown.
type Certificate struct {
	Version   string // such as "TLS 1.3"
	Chain     bool   // it chains to a root that we trust
	Name      bool   // it names the host
	ExpiresAt time.Time
}

// Recommendation is how to connect.
type Recommendation struct {
	Port      uint16
	Transport uri.Transport
	UserAgent string
	System    fingerprint.Guess
	Codecs    []string // of an SDP in the answer, which is rare; empty: unknown
	Methods   []string // of Allow
}

// Prober asks addresses with OPTIONS. It is safe for concurrent use.
type Prober interface {
	// Probe asks one address until ctx ends. An attempt with a final response has its code and the response time, and over
	// TLS the facts of the certificate, whatever is wrong with it. Any other attempt has an error for people. An address that
	// must not be reached from here gets no packet. Nothing of the probe is left when Probe returns.
	Probe(ctx context.Context, p Probe) Answer
}

// Probe is one question.
type Probe struct {
	Address   netip.AddrPort
	Transport uri.Transport
	Host      string // for the Request-URI and the certificate
	User      string // of the Request-URI; empty: without a user part, which some systems insist on
}

// Answer is what came back.
type Answer struct {
	Attempt
	Headers []fingerprint.Header
	Methods []string
	Codecs  []string
}

// Store keeps discoveries.
type Store interface {
	// Begin adds a discovery with Version 1, unless one of that organization runs that began after stale: that is
	// CodeDiscoveryInProgress. Of two that come at once, on whichever nodes, one alone is added.
	Begin(ctx context.Context, d Discovery, stale time.Time) error
	// Update replaces the one whose stored Version is d.Version and adds one to it; CodeConflict when somebody else was
	// first, CodeNotFound when it is absent.
	Update(ctx context.Context, d Discovery) error
	// Get is one discovery; CodeNotFound when the organization has none.
	Get(ctx context.Context, org callwright.OrgID, id string) (Discovery, error)
	// Recent is the organization's newest completed discovery of the same host, port and transport that completed at since
	// or later; CodeNotFound when there is none.
	Recent(ctx context.Context, d Discovery, since time.Time) (Discovery, error)
	// Forget removes those that began before the given time.
	Forget(ctx context.Context, before time.Time) error
}
