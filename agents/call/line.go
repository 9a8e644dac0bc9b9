package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// Line connects to the telephone network: it places calls and accepts them. agentstest.RunLine tests it.
type Line interface {
	// Dial places a call and waits until it is answered. If the call is not answered, Dial returns a *HangupReason, and the peer stops
	// ringing. The Cause is CauseNoAnswer after the ringing time, the cause of the peer's response (with ByPeer) if it refuses the call,
	// and otherwise the cause of the line's failure. If ctx ends first or has ended before, Dial returns the cause of ctx if that is a
	// *HangupReason, and CauseCancelled otherwise. SIPCode is the code of the last response. After a CANCEL it is 487, if that response
	// arrives soon. progress may be nil. Dial calls it at most once with each Progress, from any goroutine.
	Dial(ctx context.Context, d DialRequest, progress func(Progress)) (Leg, error)
	// Accept waits for the next incoming call that its trunk admits. It returns the error of ctx when ctx ends, and
	// callwright.ErrUnavailable when the line is closed, even while it waits. Dial and Accept may be called concurrently: each incoming
	// call is returned once.
	Accept(ctx context.Context) (IncomingCall, error)
}

// DialRequest describes a call to place.
type DialRequest struct {
	CallID  string // our id of the call, for logs
	Org     callwright.OrgID
	From    callwright.PhoneNumber // a number that is attached for outbound calls
	To      callwright.PhoneNumber
	Ring    time.Duration     // ringing time; 0 means the line's default
	Headers map[string]string // additional SIP headers; only X- headers and User-to-User are sent
	// Variables contains the call's variables, which the trunk's rules can write into headers.
	Variables map[string]string
}

// Progress is a stage of a call before its answer.
type Progress string

// The stages of a call before its answer.
const (
	ProgressRinging    Progress = "ringing"     // a 180 response, or a 183 response without a body
	ProgressEarlyMedia Progress = "early_media" // a 183 response with a body: the callee's side sends audio, such as an announcement
)

// IncomingCall is a ringing call. The line has started the ringing. Call exactly one of Answer and Reject to end the ringing.
type IncomingCall interface {
	// Caller describes the call: its caller, its callee and its headers.
	Caller() CallerInfo
	// Answer answers the call and waits for the caller's ACK. It returns a *HangupReason if the call was rejected, or if the caller has
	// given up (CauseCancelled). If the caller gives up during the answer, Answer may instead return a leg that ends soon.
	Answer(ctx context.Context) (Leg, error)
	// Reject refuses the call with the cause's SIP code: 486 for CauseBusy, 603 for CauseRejected, 480 for CauseUnavailable, and 503 with
	// Retry-After for CauseOverload and CauseInternal, so that the caller's side tries another node. For any other cause it returns
	// CodeBadRequest, and the call keeps ringing.
	Reject(cause Cause) error
}

// CallerInfo describes an incoming call. From, To and Source are not empty.
type CallerInfo struct {
	ID      string // id that the line assigns, unique among all calls; may be empty
	Org     callwright.OrgID
	TrunkID string
	From    string // the caller's number in E.164 if valid, else the user part of its URI
	To      callwright.PhoneNumber
	Source  string            // address of the peer
	Headers map[string]string // X- headers and User-to-User of the INVITE; no other headers
	// Variables contains the variables that the trunk's rules derive from the headers.
	Variables map[string]string
	// Parts contains the parts of a multipart INVITE (RFC 5621) other than the session description, such as ISUP or a location.
	Parts []Part
}

// Part is one part of a multipart message body.
type Part struct {
	Type        string // media type with its parameters
	Disposition string // Content-Disposition; may be empty
	Data        []byte
}

// Leg is one answered call. agentstest.RunLeg tests it. After Done is closed, the leg has no goroutines and holds no ports.
type Leg interface {
	conversation.Audio
	// Info describes the transport of the call. Only RedirectedTo may be empty.
	Info() LegInfo
	// Transfer asks the peer to call another number or SIP URI in our place (REFER, RFC 3515). It returns nil when the transfer has
	// succeeded; the leg then ends with CauseTransferred. If the transfer fails, Transfer returns an error and the call continues. A leg
	// that has ended cannot be transferred.
	Transfer(ctx context.Context, to string) error
	// Hangup ends the call with CauseLocalHangup, and waits until the call has ended: if it returns nil, Done is closed. If the call has
	// already ended, it does nothing and returns nil. It may be called concurrently. If it crosses the peer's hang-up, either cause may
	// result.
	Hangup(ctx context.Context) error
	// Done returns a channel that is closed when the call has ended on either side. Ending is the zero value before that; then Ending and
	// Stats are final. After the peer's hang-up, Ending has CauseRemoteHangup and ByPeer.
	Done() <-chan struct{}
	Ending() HangupReason
	Stats() Stats
}

// Explained is an optional interface of a Leg: it hangs up with a given reason. agentstest.RunLeg tests it.
type Explained interface {
	// HangupFor hangs up like Hangup. Ending then returns the given reason, unless the call had already ended.
	HangupFor(ctx context.Context, why HangupReason) error
}

// BackgroundPlayer is an optional interface of a Leg: it mixes a sound into all audio to the peer. agentstest.RunLeg tests it.
type BackgroundPlayer interface {
	// PlayBackground repeats the samples of loop without end, and adds them to all following audio to the peer, silence included, except
	// digits and holds. It replaces an earlier loop; a nil loop ends the sound. Frame.Out, Queued and Flush do not include the sound. The
	// samples are at Rate, and must not change afterwards.
	PlayBackground(loop []int16)
}

// Transferable is an optional interface of a Leg whose peer may transfer this side to another number (REFER, RFC 5589). The leg places the
// call to the target. When the target answers, the leg continues with the target's audio at the same rate, and the call with the peer ends.
// A failed transfer leaves the leg unchanged, or ends it if the peer has hung up meanwhile.
type Transferable interface {
	// Transfers returns a channel that receives each transfer once, after its success or failure. A transfer changes neither Rate nor
	// Ending. The leg begins at most 10 transfers. The buffered channel contains all of them before Done is closed, so receiving is
	// optional.
	Transfers() <-chan PeerTransfer
}

// PeerTransfer reports a transfer of this side by the peer.
type PeerTransfer struct {
	To      callwright.PhoneNumber
	Failure *HangupReason // reason if the target did not answer; nil if it answered
}

// LegInfo describes the transport of a call.
type LegInfo struct {
	SIPCallID string // unique among all legs
	Peer      string // address and port of the signaling peer
	Codec     string
	SRTPSuite string
	TLS       string // for example "TLS 1.3"
	// RedirectedTo is the URI to which the call was redirected (3xx). It is empty if the call was not redirected.
	RedirectedTo string
}

// Stats holds the statistics of a call's RTP packets (RFC 3550). Late counts the packets that arrived too late to be played.
type Stats struct {
	Sent, Received, Lost, Late uint64
	Jitter, RoundTrip          time.Duration
	// Fault describes a fault of the other side's audio: a name, a colon and the details. It is empty if there is no fault.
	Fault string
}

// HangupReason is the reason why a call has ended or was not answered. It is also the error of a call that was not established.
type HangupReason struct {
	Cause   Cause
	SIPCode int    // final response of either side, else the peer's last response; 0 means none
	Reason  string // human-readable; may be empty
	ByPeer  bool   // whether the peer's side ended the call
	Release string // the peer's Reason header for the end (RFC 3326), for example "Q.850;cause=16"; may be empty
	// Unconfirmed reports that our hang-up was not confirmed: the peer may still be in the call.
	Unconfirmed bool
}

// Error returns the cause, followed by the reason if there is one.
func (e *HangupReason) Error() string {
	if e.Reason == "" {
		return string(e.Cause)
	}
	return string(e.Cause) + ": " + e.Reason
}

// Cause names why a call ended. Its values are the constants below.
type Cause string

// The causes of a call's end.
const (
	CauseLocalHangup   Cause = "local_hangup"
	CauseRemoteHangup  Cause = "remote_hangup"
	CauseBusy          Cause = "busy"           // 486, 600
	CauseRedirected    Cause = "redirected"     // 3xx that the trunk's policy does not follow
	CauseRejected      Cause = "rejected"       // 603, 403 and every other refusal
	CauseNoAnswer      Cause = "no_answer"      // no answer within the ringing time, 408, 480
	CauseCancelled     Cause = "cancelled"      // given up before the answer
	CauseUnreachable   Cause = "unreachable"    // no connection, an invalid certificate, or no server left to try
	CauseAuthFailed    Cause = "auth_failed"    // 401 or 407 in response to our credentials, or because we have none
	CauseMediaTimeout  Cause = "media_timeout"  // the peer has disappeared from the network
	CauseNotAcceptable Cause = "not_acceptable" // 488: no SRTP or no common codec
	CauseUnavailable   Cause = "unavailable"    // no agent can answer the call
	CauseOverload      Cause = "overload"       // 503: no free port, too many calls, or draining
	CauseMaxDuration   Cause = "max_duration"
	CauseTransferred   Cause = "transferred"
	CauseNoACK         Cause = "no_ack" // the caller did not confirm our answer
	CauseNodeLost      Cause = "node_lost"
	CauseDrained       Cause = "drained"        // the node was stopped, and Config.DrainTimeout was over
	CauseNoPathway     Cause = "no_pathway"     // the agent's pathway or persona is missing
	CauseNoAgent       Cause = "no_agent"       // the number called has no task, pathway, persona or brain
	CauseModelRefused  Cause = "model_refused"  // the language model refuses the key or the request
	CauseModelFailed   Cause = "model_failed"   // the language model failed otherwise: see the reason
	CauseServiceFailed Cause = "service_failed" // a speech engine, or another required service, failed: see the reason
	CauseFax           Cause = "fax"            // a fax machine answered
	CauseAnnouncement  Cause = "announcement"   // the network played an announcement
	CauseSIT           Cause = "sit"            // the network played special information tones
	CauseInternal      Cause = "internal"
)
