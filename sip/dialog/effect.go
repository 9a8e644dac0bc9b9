package dialog

import "time"

// Effect is an action to carry out. Effects are ordered.
type Effect interface{ effect() }

// Body is the session description that a message carries.
type Body uint8

// The bodies.
const (
	NoBody Body = iota
	Offer       // our new offer
	Reply       // our answer to the peer's offer
)

// Send sends a request. The result of an INVITE, BYE, REFER or NOTIFY is reported as a Response, with Local if the peer did not
// respond. The result of a Stray is not reported.
type Send struct {
	Method    Method
	CSeq      uint32
	RemoteTag string
	Via       Path // Request-URI, Route headers and next hop
	Body      Body
	Authorize bool    // with credentials for the challenges of this request
	Session   Session // Session-Expires and Min-SE of an INVITE
	ReferTo   string
	Notify    Progress // of a NOTIFY
	Why       Cause    // of a BYE or CANCEL
	Stray     bool     // belongs to an unwanted dialog; its result is ignored
}

// Progress is the body of a NOTIFY: the progress of the call that the peer's REFER requested (RFC 3515, 2.4.5).
type Progress struct {
	Status  int
	Final   bool          // ends the subscription
	Expires time.Duration // of the subscription
	ID      uint32        // CSeq of the REFER; 0 for the first one of the dialog (RFC 3515, 2.4.6)
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
	Again       bool          // retransmission of a 2xx whose ACK has not come
}

// Arm starts or restarts a timer.
type Arm struct {
	Timer Timer
	After time.Duration
}

// Disarm stops a timer, if it runs.
type Disarm struct{ Timer Timer }

// Ringing reports, once, that the callee's phone rings.
type Ringing struct{}

// Established reports that both sides have answered. The owner first applies the session description of the peer's last message, if
// any.
type Established struct{}

// Negotiate asks the media to decide on the offer of the peer's re-INVITE. The event Decide reports the result.
type Negotiate struct{}

// Renegotiated reports the peer's answer to a later offer of ours. The owner applies it.
type Renegotiated struct{}

// Transferred reports the result of a transfer. A failed transfer leaves the call unchanged.
type Transferred struct {
	OK       bool
	Status   int  // final status of the new call or of the REFER; 0: no response
	Accepted bool // with Status 0: the peer has accepted the REFER, and reported no result
}

// Referred asks the call's owner to decide on the peer's REFER. The event Referral reports the result.
type Referred struct{ CSeq uint32 }

// StopMedia stops the media: the peer no longer listens.
type StopMedia struct{}

// Ended reports, once, that the call is over.
type Ended struct{ Ending }

// Ending is the reason why a call is over.
type Ending struct {
	Cause   Cause
	Status  int // of the final response to the INVITE, or of the last one if no final one came; 0: none came
	Reason  string
	ByPeer  bool
	Rang    bool   // an outbound call that received a 180 or 183
	Release string // Reason header of the peer's BYE, CANCEL or refusal (RFC 3326); empty: none
	// Unconfirmed reports that our BYE received no response: the peer may still be in the call.
	Unconfirmed bool
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
func (Referred) effect()     {}
func (StopMedia) effect()    {}
func (Ended) effect()        {}

// Timer is one of a call's timers.
type Timer uint8

// The timers.
const (
	TimerRing       Timer = iota // the ringing time is over
	TimerCancel                  // no final response to a canceled INVITE has come
	TimerRetransmit              // our 2xx is due for retransmission
	TimerACK                     // no ACK of our 2xx has come
	TimerBye                     // no response to BYE has come
	TimerRefresh                 // we must refresh the session
	TimerExpire                  // the session has expired
	TimerGlare                   // our re-INVITE may be retried
	TimerTransfer                // the peer has not reported the result of the transfer
	TimerGrace                   // the call may end after a successful transfer, by either side
	timers
)

// Cause is the hang-up cause of a call.
type Cause string

// The causes of the machine itself. Hangup and Reject may have other causes.
const (
	LocalHangup   Cause = "local_hangup"
	RemoteHangup  Cause = "remote_hangup"
	Busy          Cause = "busy"
	Rejected      Cause = "rejected"
	Redirected    Cause = "redirected" // 3xx
	NoAnswer      Cause = "no_answer"
	Cancelled     Cause = "cancelled"
	Unreachable   Cause = "unreachable"
	AuthFailed    Cause = "auth_failed"
	NotAcceptable Cause = "not_acceptable"
	Overload      Cause = "overload"
	TransferDone  Cause = "transferred"
	NoACK         Cause = "no_ack"
)
