package sip

import (
	"context"
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/uri"
)

// Routes routes calls for a user agent; Service implements it.
type Routes interface {
	// Outbound returns the route of a call whose caller is from. CodeBadRequest with the field "from" when the number is not
	// attached for outbound calls.
	Outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Route, error)
	// Inbound returns the route of a call that a peer makes to a number. CodeNotFound for a number that is not attached for inbound
	// calls. For a peer that the trunk does not admit, it returns both the route and CodeForbidden, so that the attempt can be
	// logged. Digits without a plus are tried as E.164, and as a national number by ReadNumber with the default country of each
	// organization that has attached the result. CodeConflict when they match several attached numbers, or when the organization is
	// ambiguous. Route.Number is the matched number.
	Inbound(ctx context.Context, to callwright.PhoneNumber, peer Peer) (Route, error)
}

// Transfers decides on transfers by the peers of calls; Service implements it.
type Transfers interface {
	// Transfer returns the route of a call to a number to which the peer of a call over the route r transfers us. Its Number
	// is the caller of that call. CodeForbidden, with the reason, for a transfer that r.Transfers does not allow, and
	// without a number that can place the call.
	Transfer(ctx context.Context, r Route, to callwright.PhoneNumber) (Route, error)
}

// Peer is the sender of an incoming call.
type Peer struct {
	Address netip.Addr
	// Registered names the trunks whose registration uses the call's connection, which we have opened to their server.
	Registered []string
	// Contact is the user part of the Request-URI. A registrar calls the Contact that a trunk has registered with it:
	// Trunk.ContactUser.
	Contact string
	// Digits is the called number of the request if it has no plus: a national number, or E.164. It is empty for a number with a
	// plus.
	Digits string
}

// Route holds the settings with which a call uses its trunk.
type Route struct {
	Org     callwright.OrgID
	TrunkID string
	Number  callwright.PhoneNumber
	// Servers are the servers to try with an outbound call, in order, always over TLS. The certificates of callers over an inbound
	// route are verified against the names of its servers.
	Servers   []uri.URI
	Failover  failover.Config // outbound: which failures lead to the next server
	Codecs    []string        // SDP names in the order of preference
	Transcode bool            // see CodecConfig
	Headers   []header.Rule
	// Credentials answer the challenge to an outbound call. If they have a user name, an inbound call is challenged for
	// them.
	Credentials Credentials
	Verify      TLSVerification // outbound: verification of the peer's certificate
	Transfers   TransferPolicy  // permitted targets of transfers by the peer; empty: none
	DTMF        DTMFMode        // the peer's way to send digits; empty: DTMFEvents
	Redirects   RedirectPolicy  // outbound: see Redirect; empty: none is followed
	Foreign     bool            // a redirection led to a server that is not the trunk's
}

// Credentials are the user name and password of digest authentication (RFC 3261, section 22).
type Credentials struct {
	Username string
	Password callwright.Secret
}

// TLSVerification is the way to check the certificate of a trunk's peer.
type TLSVerification string

// The ways to check a certificate. TLS 1.2 or newer is required with each of them.
const (
	VerifyFull  TLSVerification = "full"  // the chain, and the trunk's host among the certificate's names: the default
	VerifyChain TLSVerification = "chain" // the chain only
	VerifyNone  TLSVerification = "none"  // no check, for a peer with a self-signed certificate
)
