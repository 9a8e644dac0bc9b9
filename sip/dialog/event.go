package dialog

import "time"

// Method is a SIP method.
type Method string

// The methods of a call. Allow lists the accepted ones. UPDATE is not among them, so a session refresh is always a re-INVITE.
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

// Kind is the kind of an event: its column in the table.
type Kind uint8

// The kinds of events: commands of the call's owner, requests and responses of the peer, and timers.
const (
	KindDial Kind = iota
	KindIncoming
	KindRing
	KindAnswer
	KindReject
	KindHangup
	KindTransfer
	KindDecide
	KindReferral
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
	KindNotifyResult

	KindFired
	kinds
)

var kindNames = [kinds]string{
	"Dial", "Incoming", "Ring", "Answer", "Reject", "Hangup", "Transfer", "Decide", "Referral", "Undelivered",
	"ACK", "BYE", "INVITE", "CANCEL", "REFER", "NOTIFY", "OPTIONS",
	"1xx", "2xx", "refusal", "result of BYE", "result of REFER", "result of NOTIFY", "timer",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unknown"
}

// Dial starts an outbound call.
type Dial struct {
	Target string        // the URI to call
	Ring   time.Duration // longest wait for the answer; 0: unlimited
}

// Incoming is the INVITE that starts an inbound call.
type Incoming struct {
	Request
	Ring time.Duration // longest ringing; 0: unlimited
}

// Ring sends 180 to the caller.
type Ring struct{}

// Answer answers an inbound call with 200.
type Answer struct{}

// Reject refuses an inbound call with a final status of 300 and above.
type Reject struct {
	Status     int
	Cause      Cause
	Reason     string
	Warning    string        // Warning header, RFC 3261, 20.43
	RetryAfter time.Duration // with 503
}

// Hangup ends the call from our side, in any phase.
type Hangup struct {
	Cause  Cause
	Reason string
}

// Transfer asks the peer to call a URI (REFER).
type Transfer struct {
	To   string
	Wait time.Duration // longest wait for the final NOTIFY
}

// Decide is the media's decision on the offer of a re-INVITE, after Negotiate.
type Decide struct {
	Status  int // 200, or the refusal
	Warning string
}

// Referral decides on the peer's REFER, after Referred: 202 accepts it, 300 and above refuse it. After an acceptance it reports the
// progress of the call to the target: 1xx, 2xx once the target has our side of the call, or its failure.
type Referral struct {
	Status  int
	Warning string // with a refusal
}

// Undelivered reports that the transaction of the peer's INVITE is gone, by CANCEL or a lost connection, so that no
// response can be sent.
type Undelivered struct {
	Cancelled bool
	Release   string // of the CANCEL: see Ending
}

// Request is a request of the peer.
type Request struct {
	Method    Method
	CSeq      uint32
	RemoteTag string  // From tag
	Contact   string  // URI of the Contact; empty: none
	Routes    []Route // Record-Route, top down; of the first INVITE only
	Body      bool    // carries a session description
	Require   []string
	Release   string  // of a BYE or CANCEL: see Ending
	Session   Session // Session-Expires and Min-SE of an INVITE

	// Of a NOTIFY: the status of the sipfrag (RFC 3515, 2.4.5; 0: none), and the end of the subscription.
	Progress int
	Final    bool
}

// Response is a response of the peer, or reports that none will come.
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
	Release   string  // of a refusal: see Ending
	// Challenge marks a 401 or 407 that credentials of ours may answer. It is false for credentials that the peer has refused
	// already.
	Challenge bool
	// Local reports that the peer sent no response: 408 for a timeout, 503 for a transport error (RFC 3261, 8.1.3.1).
	Local bool
}

// Fired reports that a timer has expired.
type Fired struct{ Timer Timer }

func (Dial) kind() Kind        { return KindDial }
func (Incoming) kind() Kind    { return KindIncoming }
func (Ring) kind() Kind        { return KindRing }
func (Answer) kind() Kind      { return KindAnswer }
func (Reject) kind() Kind      { return KindReject }
func (Hangup) kind() Kind      { return KindHangup }
func (Transfer) kind() Kind    { return KindTransfer }
func (Decide) kind() Kind      { return KindDecide }
func (Referral) kind() Kind    { return KindReferral }
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
	case r.Method == NOTIFY && r.Status >= 200:
		return KindNotifyResult
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
