package sip

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
)

// Direction is the direction of a trunk's calls, seen from this platform.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// AuthMode is the way in which an inbound trunk authenticates its calls.
type AuthMode string

// The modes.
const (
	AuthIP       AuthMode = "ip"       // by the peer's address: the default
	AuthRegister AuthMode = "register" // by registration: we register with the customer's server, and calls use that connection
)

// Trunk configures the calls of one number in one direction.
type Trunk struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Direction Direction
	// Endpoint is the SIP URI of the customer's server: where calls go (outbound), or the registrar (inbound with
	// AuthRegister). It is empty for other inbound trunks.
	Endpoint  string
	Options   Options
	Headers   []header.Rule
	Failover  *failover.Config // outbound; nil: the endpoint alone
	Codecs    *CodecConfig     // nil: PCMU, PCMA and Opus, if they have an engine
	Alerts    *alert.Config    // nil: none
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // for the compare-and-set
}

// Options are a trunk's settings.
type Options struct {
	AuthMode AuthMode
	// Register holds the credentials of our registration. The password is the derived one, not the given one.
	Register Credentials
	// Call holds the credentials for calls: with them we answer the challenges of an outbound trunk's server, and
	// callers over an inbound trunk answer ours.
	Call        Credentials
	Port        int             // outbound: replaces the endpoint's port; 0: the endpoint's
	Transport   string          // outbound: "tls" or empty, which mean the same
	Verify      TLSVerification // of the server that we connect to; empty: VerifyFull
	AllowedIPs  []netip.Prefix  // inbound: addresses that may call; empty: all, over TLS and with SRTP
	SecureMedia *bool           // as given; media is always SRTP
	Transfers   TransferPolicy  // by the peers of calls; empty: TransferOrganization
	DTMF        DTMFMode        // the peers' way to send digits; empty: DTMFEvents
	Redirects   RedirectPolicy  // outbound: the redirections that are followed; empty: RedirectOff
}

// DTMFMode is the way in which the peer of a trunk's call sends digits.
type DTMFMode string

// The modes. Each mode accepts telephone-events. After the first one the other way is ignored for the rest of the call, so that a
// press is one digit.
const (
	DTMFEvents DTMFMode = "rfc2833" // as telephone-events (RFC 4733, formerly RFC 2833): the default
	DTMFInfo   DTMFMode = "info"    // by SIP INFO with application/dtmf-relay or application/dtmf, too
	DTMFInband DTMFMode = "inband"  // as tones in the audio, too
)

func (m DTMFMode) valid() bool { return m == "" || m == DTMFEvents || m == DTMFInfo || m == DTMFInband }
