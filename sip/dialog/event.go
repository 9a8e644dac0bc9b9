package dialog

import "time"

// Method is a SIP method.
type Method string

// The methods that a call knows. Allow lists what we take; UPDATE is not among them, so that a refresh of the session
// is always a re-INVITE.
const (
	INVITE  Method = "INVITE"
	ACK     Method = "ACK"
	BYE     Method = "BYE"
	CANCEL  Method = "CANCEL"
	OPTIONS Method = "OPTIONS"
	REFER   Method = "REFER"
	NOTIFY  Method = "NOTIFY"

	Allow = "INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY"
)

// Event is something that happens to a call.
type Event interface{ kind() Kind }

// Kind is the column of the table that an event belongs to.
type Kind uint8

// The kinds of events: commands of the call's owner, requests of the peer, responses of the peer, timers.
const (
	KindDial Kind = iota
	KindIncoming
	KindRing
	KindAnswer
	KindReject
	KindHangup
	KindTransfer
	KindDecide
	KindUndelivered

	KindACK
	KindBYE
	KindINVITE
	KindCANCEL
	KindREFER
	KindNOTIFY
	KindOPTIONS

	KindProvisional
	KindSuccess
	KindRefusal
	KindByeResult
	KindReferResult

	KindFired
	kinds
)

var kindNames = [kinds]string{
	"Dial", "Incoming", "Ring", "Answer", "Reject", "Hangup", "Transfer", "Decide", "Undelivered",
	"ACK", "BYE", "INVITE", "CANCEL", "REFER", "NOTIFY", "OPTIONS",
	"1xx", "2xx", "refusal", "result of BYE", "result of REFER", "timer",
}

// String is the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unknown"
}

// Dial starts an outbound call.
type Dial struct {
	Target string        // the URI to call
	Ring   time.Duration // how long to wait for the answer; 0: for ever
}

// Incoming is the INVITE that starts an inbound call.
type Incoming struct {
	Request
	Ring time.Duration // how long it may ring; 0: for ever
}

// Ring lets the caller hear ringing (180).
type Ring struct{}

// Answer takes an inbound call (200).
type Answer struct{}

// Reject refuses an inbound call with a final status of 300 and above.
type Reject struct {
	Status     int
	Cause      Cause
	Reason     string
	Warning    string        // Warning header, RFC 3261, 20.43
	RetryAfter time.Duration // with 503
}

// Hangup ends the call from our side, whatever it takes.
type Hangup struct {
	Cause  Cause
	Reason string
}

// Transfer asks the peer to call a URI in our place (REFER).
type Transfer struct {
	To   string
	Wait time.Duration // how long to wait for the final NOTIFY
}

// Decide is the media's verdict on the offer of a re-INVITE, which Negotiate asked for.
type Decide struct {
	Status  int // 200, or the refusal
	Warning string
}

// Undelivered says that the transaction of the peer's INVITE is gone, so that no answer reaches it: cancelled, or its
// connection lost.
type Undelivered struct{ Cancelled bool }

// Request is what a call has to know of a request of the peer.
type Request struct {
	Method    Method
	CSeq      uint32
	RemoteTag string  // From tag
	Contact   string  // URI of the Contact; empty without one
	Routes    []Route // Record-Route, top down; of the first INVITE only
	Body      bool    // there is a session description
	Require   []string
	Session   Session // Session-Expires and Min-SE of an INVITE

	// With NOTIFY: the status of the sipfrag (RFC 3515, 2.4.5), 0 without one, and whether the subscription is over.
	Progress int
	Final    bool
}

// Response is what a call has to know of a response of the peer, or that none will come.
type Response struct {
	Method    Method
	CSeq      uint32
	Status    int
	Reason    string
	RemoteTag string
	Contact   string
	Routes    []Route // Record-Route, top down
	Body      bool
	Session   Session // of a 2xx to INVITE, and Min-SE of a 422
	Challenge bool    // 401 or 407 that we hold credentials for; a stale nonce counts as one that was not tried
	Stale     bool
	// Local says that the peer sent nothing: 408 when it kept silent, 503 when it can't be reached (RFC 3261, 8.1.3.1).
	Local bool
}

// Fired says that a timer has run out.
type Fired struct{ Timer Timer }

func (Dial) kind() Kind        { return KindDial }
func (Incoming) kind() Kind    { return KindIncoming }
func (Ring) kind() Kind        { return KindRing }
func (Answer) kind() Kind      { return KindAnswer }
func (Reject) kind() Kind      { return KindReject }
func (Hangup) kind() Kind      { return KindHangup }
func (Transfer) kind() Kind    { return KindTransfer }
func (Decide) kind() Kind      { return KindDecide }
func (Undelivered) kind() Kind { return KindUndelivered }
func (Fired) kind() Kind       { return KindFired }

func (r Request) kind() Kind {
	switch r.Method {
	case ACK:
		return KindACK
	case BYE:
		return KindBYE
	case INVITE:
		return KindINVITE
	case CANCEL:
		return KindCANCEL
	case REFER:
		return KindREFER
	case NOTIFY:
		return KindNOTIFY
	case OPTIONS:
		return KindOPTIONS
	default:
		return kinds
	}
}

func (r Response) kind() Kind {
	switch {
	case r.Method == BYE && r.Status >= 200:
		return KindByeResult
	case r.Method == REFER && r.Status >= 200:
		return KindReferResult
	case r.Method != INVITE:
		return kinds
	case r.Status < 200:
		return KindProvisional
	case r.Status < 300:
		return KindSuccess
	default:
		return KindRefusal
	}
}
