package sip

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// Direction is which way a trunk's calls go, seen from here.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// AuthMode is how the two sides of a trunk know each other.
type AuthMode string

// The modes.
const (
	AuthIP AuthMode = "ip" // by address: the default, and the only one that is built
)

// Trunk is one direction of one number.
type Trunk struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Direction Direction
	Endpoint  string // outbound: the SIP URI of the customer's server; inbound: empty
	Options   Options
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // for the compare-and-set
}

// Options are a trunk's settings.
type Options struct {
	AuthMode    AuthMode
	Call        Credentials     // for digest challenges of calls
	Port        int             // outbound: in place of the endpoint's; 0: the endpoint's
	Transport   string          // outbound: "tls" or empty, which is the same
	Verify      TLSVerification // outbound: empty means VerifyFull
	AllowedIPs  []netip.Prefix  // inbound: who may call; empty: everyone who can open TLS and offers SRTP
	SecureMedia *bool           // as given; media is always SRTP
}
