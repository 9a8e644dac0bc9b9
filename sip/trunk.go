package sip

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
)

// Direction is which way a trunk's calls go, seen from here.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// AuthMode is how the two sides of an inbound trunk know each other.
type AuthMode string

// The modes.
const (
	AuthIP       AuthMode = "ip"       // by address: the default
	AuthRegister AuthMode = "register" // we register with the customer's server, and calls come over that connection
)

// Trunk is one direction of one number.
type Trunk struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Direction Direction
	// Endpoint is the SIP URI of the customer's server: of an outbound trunk where calls go, of an inbound one with
	// AuthRegister the registrar, of any other inbound one empty.
	Endpoint  string
	Options   Options
	Headers   []header.Rule
	Failover  *failover.Config // outbound; nil: the endpoint alone
	Codecs    *CodecConfig     // nil: PCMU, PCMA and Opus, as far as there are engines for them
	Alerts    *alert.Config    // nil: none
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // for the compare-and-set
}

// Options are a trunk's settings.
type Options struct {
	AuthMode AuthMode
	// Register is what we register with. The password is the one derived for the PBX, not the one that was given.
	Register Credentials
	// Call is for digest challenges of calls: of an outbound trunk we answer the peer's with it, of an inbound one a
	// caller has to answer ours.
	Call        Credentials
	Port        int             // outbound: in place of the endpoint's; 0: the endpoint's
	Transport   string          // outbound: "tls" or empty, which is the same
	Verify      TLSVerification // of the certificate of a server that we connect to; empty means VerifyFull
	AllowedIPs  []netip.Prefix  // inbound: who may call; empty: everyone who can open TLS and offers SRTP
	SecureMedia *bool           // as given; media is always SRTP
}
