package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// Line is the telephone network: it places calls and accepts them. agentstest.RunLine tests it.
type Line interface {
	// Dial places a call and waits until it is answered. An unanswered call is a *HangupReason: CauseCancelled when ctx ends first
	// or has ended before, or the *HangupReason that is the cause of ctx; CauseNoAnswer after the ringing time; otherwise the cause
	// of the peer's response, with ByPeer. In each case the peer stops ringing. SIPCode is the code of the last response, which
	// after a CANCEL is 487, if it comes soon. progress may be nil. It is called with ProgressRinging at most once, from any
	// goroutine.
	Dial(ctx context.Context, d DialRequest, progress func(Progress)) (Leg, error)
	// Accept waits for the next incoming call that its trunk admits. It returns the error of ctx when ctx ends, and
	// callwright.ErrUnavailable once the line is closed, also if it waits then. It may be called concurrently, as Dial may: each call
	// is returned once.
	Accept(ctx context.Context) (IncomingCall, error)
}

// DialRequest describes a call to place.
type DialRequest struct {
	CallID  string // ours, for logs
	Org     callwright.OrgID
	From    callwright.PhoneNumber // attached for outbound
	To      callwright.PhoneNumber
	Ring    time.Duration     // ringing time; 0: the line's default
	Headers map[string]string // SIP headers to add; only X- headers and User-to-User are sent
	// Variables are the call's variables, for the headers of the trunk's rules.
	Variables map[string]string
}

// Progress is a stage of a call before its answer.
type Progress string

// ProgressRinging stands for a 180, or a 183 without a body.
const ProgressRinging Progress = "ringing"

// IncomingCall is a call that rings. Exactly one of Answer and Reject ends the ringing, which the line has started.
type IncomingCall interface {
	// Caller returns the caller and the callee.
	Caller() CallerInfo
	// Answer takes the call and waits for the caller's ACK. It returns a *HangupReason if the caller has given up, with
	// CauseCancelled, or if the call was rejected. If the caller gives up during the answer, Answer may instead return a leg that
	// ends soon.
	Answer(ctx context.Context) (Leg, error)
	// Reject refuses the call with the cause's SIP code: CauseBusy 486, CauseRejected 603, CauseUnavailable 480, CauseOverload and
	// CauseInternal 503 with Retry-After, so that the caller's side tries another node. Any other cause is CodeBadRequest, and the
	// call keeps ringing.
	Reject(cause Cause) error
}

// CallerInfo describes an incoming call. From, To and Source are not empty.
type CallerInfo struct {
	ID      string // the line's id, unique among all calls; empty: none
	Org     callwright.OrgID
	TrunkID string
	From    string // as the caller states it: E.164 if valid, else the user part of its URI
	To      callwright.PhoneNumber
	Source  string            // the peer's address
	Headers map[string]string // X- headers and User-to-User of the INVITE, and no others
	// Variables are the variables that the trunk's rules make of the headers.
	Variables map[string]string
	// Parts are the parts of a multipart INVITE beside the session description (RFC 5621), such as ISUP or a location.
	Parts []Part
}

// Part is a part of a message's body.
type Part struct {
	Type        string // media type with its parameters
	Disposition string // Content-Disposition; empty without one
	Data        []byte
}

// Leg is one answered call. agentstest.RunLeg tests it. After Done the leg has no goroutines and holds no ports.
type Leg interface {
	conversation.Audio
	// Info returns the transport of the call. Only RedirectedTo may be empty.
	Info() LegInfo
	// Transfer asks the peer to call another number or SIP URI in our place (REFER, RFC 3515). It returns when the transfer has
	// succeeded, after which the leg ends by itself with CauseTransferred, or failed, after which the call continues. A leg that
	// has ended cannot be transferred.
	Transfer(ctx context.Context, to string) error
	// Hangup ends the call with CauseLocalHangup and waits until it has ended: Done is closed when it returns nil. For a call that
	// has ended it does nothing and returns nil. It may be called concurrently. If it crosses the peer's hang-up, either cause may
	// result.
	Hangup(ctx context.Context) error
	// Done is closed when the call has ended, on either side. Ending, which is zero before, and Stats are then final. After the
	// peer's hang-up, Ending has CauseRemoteHangup and ByPeer.
	Done() <-chan struct{}
	Ending() HangupReason
	Stats() Stats
}

// Explained is an optional ability of a Leg: the line records the reason of an unusual hang-up. agentstest.RunLeg tests it.
type Explained interface {
	// HangupFor is Hangup with a reason, which Ending then returns, unless the call had already ended.
	HangupFor(ctx context.Context, why HangupReason) error
}

// Transferable is an optional ability of a Leg: its peer may transfer this side to another number (REFER, RFC 5589). The leg places
// the call to it. When the target answers, the leg continues with the target's audio, at the same rate, and the call with the peer
// ends. A failed transfer leaves the leg unchanged, or ends it if the peer has hung up meanwhile.
type Transferable interface {
	// Transfers returns a channel of the transfers, each once, after its success or failure. Neither changes Rate or Ending. At
	// most 10 transfers are begun, and all are in the buffered channel before Done is closed: receiving is optional.
	Transfers() <-chan PeerTransfer
}

// PeerTransfer is a transfer of this side by the peer.
type PeerTransfer struct {
	To      callwright.PhoneNumber
	Failure *HangupReason // reason if the target did not answer; nil: it answered
}

// LegInfo describes the transport of a call.
type LegInfo struct {
	SIPCallID string // unique among all legs
	Peer      string // address and port of the signalling peer
	Codec     string
	SRTPSuite string
	TLS       string // for example "TLS 1.3"
	// RedirectedTo is the URI to which the call was redirected (3xx). Empty: it was not redirected.
	RedirectedTo string
}

// Stats counts a call's RTP packets as RFC 3550 does.
type Stats struct {
	Sent, Received, Lost, Late uint64
	Jitter, RoundTrip          time.Duration
	// Fault describes a fault of the other side's audio: a name, a colon and the details. Empty: none.
	Fault string
}

// HangupReason is the reason for which a call has ended or was not answered. It is the error of a call that was not established.
type HangupReason struct {
	Cause   Cause
	SIPCode int    // the peer's or our final response, or else the peer's last one; 0: none
	Reason  string // for people
	ByPeer  bool   // the peer's side ended it
	Release string // the peer's Reason for the end (RFC 3326), for example "Q.850;cause=16"; empty: none
	// Unconfirmed reports that our hang-up was not confirmed: the peer may still be in the call.
	Unconfirmed bool
}

// Error returns the cause and the reason.
func (e *HangupReason) Error() string {
	if e.Reason == "" {
		return string(e.Cause)
	}
	return string(e.Cause) + ": " + e.Reason
}

// Cause is one of the closed list of hang-up causes.
type Cause string

// The causes.
const (
	CauseLocalHangup   Cause = "local_hangup"
	CauseRemoteHangup  Cause = "remote_hangup"
	CauseBusy          Cause = "busy"           // 486, 600
	CauseRedirected    Cause = "redirected"     // 3xx that the trunk's policy does not follow
	CauseRejected      Cause = "rejected"       // 603, 403 and every other refusal
	CauseNoAnswer      Cause = "no_answer"      // rang for the whole ringing time, 408, 480
	CauseCancelled     Cause = "cancelled"      // given up before the answer
	CauseUnreachable   Cause = "unreachable"    // no connection, a wrong certificate, no server left to try
	CauseAuthFailed    Cause = "auth_failed"    // 401 or 407 to our credentials, or without any
	CauseMediaTimeout  Cause = "media_timeout"  // the peer has disappeared from the network
	CauseNotAcceptable Cause = "not_acceptable" // 488: no SRTP or no common codec
	CauseUnavailable   Cause = "unavailable"    // no agent can answer the call
	CauseOverload      Cause = "overload"       // 503: no port, too many calls, or draining
	CauseMaxDuration   Cause = "max_duration"
	CauseTransferred   Cause = "transferred"
	CauseNoACK         Cause = "no_ack" // the caller never confirmed our answer
	CauseNodeLost      Cause = "node_lost"
	CauseDrained       Cause = "drained"        // the node stopped, and Config.DrainTimeout was over
	CauseNoPathway     Cause = "no_pathway"     // the agent's pathway or persona is missing
	CauseModelRefused  Cause = "model_refused"  // the language model refuses the key or the request
	CauseModelFailed   Cause = "model_failed"   // another failure of the language model: see the reason
	CauseServiceFailed Cause = "service_failed" // a speech engine, or another required service, failed: see the reason
	CauseInternal      Cause = "internal"
)
