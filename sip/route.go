package sip

import (
	"context"
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/uri"
)

// Routes says where a call may go and who may come. Service implements it.
type Routes interface {
	// Outbound is the route for a call with from as the caller's number. CodeBadRequest with the field "from" when
	// that number is not attached for outbound.
	Outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Route, error)
	// Inbound is the route of a call that a peer makes to a number. CodeNotFound for a number that nobody has attached
	// for inbound. For a peer that its trunk does not admit it is CodeForbidden, together with the route, so that the
	// attempt can be written down.
	Inbound(ctx context.Context, to callwright.PhoneNumber, peer Peer) (Route, error)
}

// Peer is who makes an incoming call.
type Peer struct {
	Address netip.Addr
	// Registered are the trunks whose registration the call came over: the connection is one that we have made to their
	// server.
	Registered []string
}

// Route is what a call needs to know of its trunk.
type Route struct {
	Org       callwright.OrgID
	TrunkID   string
	Number    callwright.PhoneNumber
	Servers   []uri.URI       // outbound: where to call, in the order to try; always over TLS
	Failover  failover.Config // outbound: which failures send the call to the next server
	Codecs    []string        // SDP names in the order of preference
	Transcode bool            // see CodecConfig
	Headers   []header.Rule
	// Credentials answer a challenge to an outbound call. An inbound call is challenged when they have a username, and
	// has to prove them.
	Credentials Credentials
	Verify      TLSVerification // outbound: how the peer's certificate is checked
}

// Credentials are for digest challenges (RFC 3261, section 22).
type Credentials struct {
	Username string
	Password callwright.Secret
}

// TLSVerification says how the certificate of a trunk's peer is checked.
type TLSVerification string

// The ways to check a certificate. In every one of them TLS 1.2 or newer is spoken.
const (
	VerifyFull  TLSVerification = "full"  // the chain, and the trunk's host among the certificate's names: the default
	VerifyChain TLSVerification = "chain" // the chain only
	VerifyNone  TLSVerification = "none"  // anything; for a peer with a self-signed certificate
)
