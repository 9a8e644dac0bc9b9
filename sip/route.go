package sip

import (
	"context"
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/uri"
)

// Routes finds the routes of a user agent's calls; Service implements it.
type Routes interface {
	// Outbound returns the route of a call whose caller is the number from. It returns CodeBadRequest with the field "from" if the
	// organization has not attached this number for outbound calls.
	Outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Route, error)
	// Inbound returns the route of a call from a peer to a number; Route.Number is the matched number. Digits without a plus are tried as
	// E.164, and as a national number: ReadNumber reads them with the default country of each organization that has attached the result.
	//
	// Inbound returns CodeNotFound if the number is not attached for inbound calls, and CodeConflict if the digits match several attached
	// numbers or the organization is ambiguous. If the trunk does not admit the peer, Inbound returns both the route and CodeForbidden, so
	// that the attempt can be logged.
	Inbound(ctx context.Context, to callwright.PhoneNumber, peer Peer) (Route, error)
}

// Transfers decides whether the peer of a call may transfer it; Service implements it.
type Transfers interface {
	// Transfer returns the route of a new call to the given number, to which the peer of a call over route r transfers us. Route.Number of
	// the result is the caller of the new call. Transfer returns CodeForbidden, with the reason, if r.Transfers does not allow the transfer
	// or no number can place the call.
	Transfer(ctx context.Context, r Route, to callwright.PhoneNumber) (Route, error)
}

// Peer is the sender of an incoming call.
type Peer struct {
	Address netip.Addr
	// Registered contains the ids of the trunks whose registration uses the call's connection, which we have opened to their server.
	Registered []string
	// Contact is the user part of the Request-URI. If a registrar calls the Contact that a trunk has registered, it is Trunk.ContactUser.
	Contact string
	// Digits is the called number if the request contains it without a plus, in national form or E.164. Otherwise it is empty.
	Digits string
}

// Route contains the settings of a trunk that apply to a call.
type Route struct {
	Org     callwright.OrgID
	TrunkID string
	Number  callwright.PhoneNumber
	// Servers are the servers that an outbound call tries, in order, always over TLS. For an inbound route, they are the servers whose
	// names must match the caller's certificate.
	Servers   []uri.URI
	Failover  failover.Config // outbound: selects the failures after which the next server is tried
	Codecs    []string        // SDP names in the order of preference
	Transcode bool            // see CodecConfig.Transcode
	Headers   []header.Rule
	// Credentials answer the challenge to an outbound call. If they contain a user name, we challenge an inbound call for them.
	Credentials Credentials
	Verify      TLSVerification // outbound: verification of the server's certificate
	Transfers   TransferPolicy  // permitted targets of transfers by the peer; empty means none
	DTMF        DTMFMode        // how the peer sends digits; empty means DTMFEvents
	Redirects   RedirectPolicy  // outbound: see Redirect; empty means RedirectOff
	Foreign     bool            // a redirection led to a server that is not the trunk's
}

// Credentials are the user name and password of digest authentication (RFC 3261, section 22).
type Credentials struct {
	Username string
	Password callwright.Secret
}

// TLSVerification selects how the certificate of a trunk's peer is verified.
type TLSVerification string

// The verifications. All of them require TLS 1.2 or newer.
const (
	VerifyFull  TLSVerification = "full"  // the chain and the trunk's host name; the default
	VerifyChain TLSVerification = "chain" // only the chain
	VerifyNone  TLSVerification = "none"  // nothing, for a peer with a self-signed certificate
)
