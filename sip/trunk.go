package sip

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
)

// Direction is the direction of a trunk's calls, from this platform's point of view.
type Direction string

// The directions of a trunk.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// AuthMode selects how an inbound trunk authenticates its calls.
type AuthMode string

// The authentication modes of inbound trunks.
const (
	AuthIP       AuthMode = "ip"       // by the peer's address; the default
	AuthRegister AuthMode = "register" // by our registration with the customer's server
)

// Trunk configures the calls of one number in one direction.
type Trunk struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Direction Direction
	// Endpoint is the SIP URI of the customer's server: the server that outbound calls use, or the registrar of an inbound trunk with
	// AuthRegister. It is empty for other inbound trunks.
	Endpoint  string
	Options   Options
	Headers   []header.Rule
	Failover  *failover.Config // only outbound; nil means that calls try only the endpoint
	Codecs    *CodecConfig     // nil means PCMU, PCMA and Opus, as far as they have an engine
	Alerts    *alert.Config    // nil means no alerts
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // for compare-and-set
}

// Options are the settings of a trunk other than its Endpoint, Headers, Failover, Codecs and Alerts.
type Options struct {
	AuthMode AuthMode
	// Register contains the credentials of our registration. Its password is the derived password, not the password that the customer gave.
	Register Credentials
	// Call contains the credentials for calls. We use them to answer the challenges of an outbound trunk's server; callers over an inbound
	// trunk use them to answer ours.
	Call        Credentials
	Port        int             // port for an endpoint without one; 0 if not set
	Transport   string          // "tls" or empty, which mean the same
	Verify      TLSVerification // verification of the server that we connect to; empty means VerifyFull
	AllowedIPs  []netip.Prefix  // inbound: addresses that may call; empty means all, or none with AuthRegister
	SecureMedia *bool           // stored as given, but without effect: media is always SRTP
	Transfers   TransferPolicy  // transfers by the peers of calls; empty means TransferOrganization
	DTMF        DTMFMode        // how the peers of calls send digits; empty means DTMFEvents
	Redirects   RedirectPolicy  // outbound: redirections to follow; empty means RedirectOff
}

// DTMFMode selects how the peer of a trunk's call sends digits.
type DTMFMode string

// The DTMF modes. Every mode accepts telephone-events. After the first digit, digits sent in another way are ignored for the rest of the
// call, so that one key press is one digit.
const (
	DTMFEvents DTMFMode = "rfc2833" // telephone-events (RFC 4733, formerly RFC 2833); the default
	DTMFInfo   DTMFMode = "info"    // also SIP INFO with application/dtmf-relay or application/dtmf
	DTMFInband DTMFMode = "inband"  // also tones in the audio
)

func (m DTMFMode) valid() bool { return m == "" || m == DTMFEvents || m == DTMFInfo || m == DTMFInband }
