package dialog

import "time"

// Effect is an action that the caller of Call.Next must execute. Effects must be executed in order.
type Effect interface{ effect() }

// Body selects the session description that a message contains.
type Body uint8

// The session descriptions that a message can contain.
const (
	NoBody Body = iota
	Offer       // a new offer of ours
	Reply       // our answer to the peer's offer
)

// Send sends a request. The result of an INVITE, BYE, REFER or NOTIFY must be reported as a Response, with Local set if the peer did not
// respond. The result of a request with Stray set must not be reported.
type Send struct {
	Method    Method
	CSeq      uint32
	RemoteTag string
	Via       Path // Request-URI, Route headers and next hop
	Body      Body
	Authorize bool    // include credentials for the challenges of this request
	Session   Session // Session-Expires and Min-SE of an INVITE
	ReferTo   string
	Notify    Progress // body of a NOTIFY
	Why       Cause    // cause of a BYE or CANCEL
	Stray     bool     // the request belongs to an unwanted dialog
}

// Progress is the body of a NOTIFY: the progress of the call that the peer's REFER requested (RFC 3515, section 2.4.5).
type Progress struct {
	Status  int
	Final   bool          // ends the subscription
	Expires time.Duration // remaining time of the subscription
	ID      uint32        // CSeq of the REFER; 0 for the first one of the dialog (RFC 3515, section 2.4.6)
}

// Respond sends a response to a request of the peer.
type Respond struct {
	Method      Method
	CSeq        uint32
	Status      int
	Body        Body
	Warning     string
	Unsupported []string      // option tags for a 420
	RetryAfter  time.Duration // for a 500 or 503
	Session     Session       // of a 2xx to INVITE; with 422, only Min-SE
	Again       bool          // retransmission of a 2xx whose ACK has not arrived
}

// Arm starts a timer, or restarts it if it is running.
type Arm struct {
	Timer Timer
	After time.Duration
}

// Disarm stops a timer if it is running.
type Disarm struct{ Timer Timer }

// Ringing reports, at most once, that the callee's phone is ringing.
type Ringing struct{}

// EarlyMedia reports, at most once and not after Ringing, that the callee's side sends audio before it answers.
type EarlyMedia struct{}

// Established reports that the call is answered and confirmed. The owner must first apply the session description of the peer's last
// message, if it contains one.
type Established struct{}

// Negotiate asks the owner's media to accept or refuse the offer of the peer's re-INVITE. The event Decide reports the decision.
type Negotiate struct{}

// Renegotiated reports that the peer has answered an offer of ours within the call. The owner must apply the answer.
type Renegotiated struct{}

// Transferred reports the result of a transfer that we requested. A failed transfer leaves the call unchanged.
type Transferred struct {
	OK       bool
	Status   int  // final status of the new call or of the REFER; 0 without a response
	Accepted bool // with Status 0: the peer has accepted the REFER, but reported no result
}

// Referred asks the call's owner to accept or refuse the peer's REFER. The event Referral reports the decision.
type Referred struct{ CSeq uint32 }

// StopMedia stops the call's media, at most once, because the call ends.
type StopMedia struct{}

// Ended reports, exactly once, that the call is over.
type Ended struct{ Ending }

// Ending describes why and by whom a call was ended.
type Ending struct {
	Cause   Cause
	Status  int // of the final response to the INVITE or, without one, of the last response; 0 without any
	Reason  string
	ByPeer  bool
	Rang    bool   // the call is outbound and received a 180 or 183
	Release string // Reason header of the peer's BYE, CANCEL or refusal (RFC 3326); may be empty
	// Unconfirmed means that our BYE received no response, so the peer may still be in the call.
	Unconfirmed bool
}

func (Send) effect()         {}
func (Respond) effect()      {}
func (Arm) effect()          {}
func (Disarm) effect()       {}
func (Ringing) effect()      {}
func (EarlyMedia) effect()   {}
func (Established) effect()  {}
func (Negotiate) effect()    {}
func (Renegotiated) effect() {}
func (Transferred) effect()  {}
func (Referred) effect()     {}
func (StopMedia) effect()    {}
func (Ended) effect()        {}

// Timer identifies one of a call's timers.
type Timer uint8

// The timers of a call. The comments state the meaning of their expiry.
const (
	TimerRing       Timer = iota // the call was not answered in time
	TimerCancel                  // no final response to a canceled INVITE has arrived
	TimerRetransmit              // our 2xx is due for retransmission
	TimerACK                     // no ACK of our 2xx has arrived
	TimerBye                     // no response to our BYE has arrived
	TimerRefresh                 // we must refresh the session
	TimerExpire                  // the session has expired
	TimerGlare                   // our re-INVITE may be retried
	TimerTransfer                // the peer has not reported the result of the transfer
	TimerGrace                   // neither side has ended the call after a successful transfer
	timers
)

// Cause is the hang-up cause of a call.
type Cause string

// The causes that this package sets. Hangup and Reject may have other causes.
const (
	LocalHangup   Cause = "local_hangup"
	RemoteHangup  Cause = "remote_hangup"
	Busy          Cause = "busy"
	Rejected      Cause = "rejected"
	Redirected    Cause = "redirected" // the INVITE was answered with 3xx
	NoAnswer      Cause = "no_answer"
	Cancelled     Cause = "cancelled"
	Unreachable   Cause = "unreachable"
	AuthFailed    Cause = "auth_failed"
	NotAcceptable Cause = "not_acceptable"
	Overload      Cause = "overload"
	TransferDone  Cause = "transferred"
	NoACK         Cause = "no_ack"
)
