package dialog

import "time"

// Effect is something that a call wants done, in the order given.
type Effect interface{ effect() }

// Body says which session description a message carries.
type Body uint8

// The bodies.
const (
	NoBody Body = iota
	Offer       // a new offer of ours
	Reply       // our answer to the peer's offer
)

// Send sends a request. The result of an INVITE, BYE or REFER comes back as a Response, with Local where the peer
// kept silent; that of a Stray does not.
type Send struct {
	Method    Method
	CSeq      uint32
	RemoteTag string
	Via       Path // where to: Request-URI, Route headers, next hop
	Body      Body
	Authorize bool    // with credentials for the challenge of the last response
	Session   Session // Session-Expires and Min-SE of an INVITE
	ReferTo   string
	Stray     bool // for a dialog that nobody wants: its result is of no interest
}

// Respond answers a request.
type Respond struct {
	Method      Method
	CSeq        uint32
	Status      int
	Body        Body
	Warning     string
	Unsupported []string      // with 420
	RetryAfter  time.Duration // with 500 and 503
	Session     Session       // of a 2xx to INVITE; Min-SE with 422
	Again       bool          // the same 2xx as before: its ACK has not come
}

// Arm starts a timer, or starts it again.
type Arm struct {
	Timer Timer
	After time.Duration
}

// Disarm stops a timer if it runs.
type Disarm struct{ Timer Timer }

// Ringing says, once, that the callee's phone rings.
type Ringing struct{}

// Established says that the call is answered on both sides. The peer's session description, where the last message had
// one for us, is to be applied first.
type Established struct{}

// Negotiate asks for a verdict on the offer of the peer's re-INVITE: Decide.
type Negotiate struct{}

// Renegotiated says that the peer has answered a later offer of ours; the answer is to be applied.
type Renegotiated struct{}

// Transferred says how a transfer went. A failed one leaves the call as it was.
type Transferred struct {
	OK     bool
	Status int // the final status of the new call or of the REFER; 0 when the peer stayed silent
}

// StopMedia says that nobody listens any more.
type StopMedia struct{}

// Ended says that the call is over. It comes once.
type Ended struct{ Ending }

// Ending is why a call is over.
type Ending struct {
	Cause  Cause
	Status int // the final answer to the INVITE; 0 without one
	Reason string
	ByPeer bool
	Rang   bool // an outbound call that got a 180 or 183
}

func (Send) effect()         {}
func (Respond) effect()      {}
func (Arm) effect()          {}
func (Disarm) effect()       {}
func (Ringing) effect()      {}
func (Established) effect()  {}
func (Negotiate) effect()    {}
func (Renegotiated) effect() {}
func (Transferred) effect()  {}
func (StopMedia) effect()    {}
func (Ended) effect()        {}

// Timer is one of a call's timers.
type Timer uint8

// The timers.
const (
	TimerRing       Timer = iota // the callee may ring no longer
	TimerCancel                  // the final answer to a cancelled INVITE has not come
	TimerRetransmit              // our 2xx has not been acknowledged yet: again
	TimerACK                     // our 2xx has not been acknowledged at all
	TimerBye                     // BYE has not been answered
	TimerRefresh                 // the session is to be refreshed by us
	TimerExpire                  // the session has not been refreshed
	TimerGlare                   // our re-INVITE may be tried again
	TimerTransfer                // the peer has not said how the transfer went
	TimerGrace                   // the transfer succeeded: the call may go
	timers
)

// Cause is why a call ended.
type Cause string

// The causes that the machine knows by itself. A Hangup or a Reject may bring others.
const (
	LocalHangup   Cause = "local_hangup"
	RemoteHangup  Cause = "remote_hangup"
	Busy          Cause = "busy"
	Rejected      Cause = "rejected"
	NoAnswer      Cause = "no_answer"
	Cancelled     Cause = "cancelled"
	Unreachable   Cause = "unreachable"
	AuthFailed    Cause = "auth_failed"
	NotAcceptable Cause = "not_acceptable"
	Overload      Cause = "overload"
	TransferDone  Cause = "transferred"
	NoACK         Cause = "no_ack"
)
