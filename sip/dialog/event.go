package dialog

import "time"

// Method is a SIP method.
type Method string

// The methods of a call. Allow lists the methods that we accept. It omits UPDATE, so a session refresh is always a re-INVITE.
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

// Event is an input of Call.Next: a command of the owner, a message of the peer, or an expired timer.
type Event interface{ kind() Kind }

// Kind is the kind of an event. It selects the handler in the table.
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

// String returns the name of the kind, or "unknown".
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unknown"
}

// Dial starts an outbound call.
type Dial struct {
	Target string        // URI to call
	Ring   time.Duration // maximum wait for the answer; 0 means no limit
}

// Incoming is the INVITE that starts an inbound call.
type Incoming struct {
	Request
	Ring time.Duration // maximum wait for Answer; 0 means no limit
}

// Ring sends 180 to the caller of an inbound call, once.
type Ring struct{}

// Answer answers an inbound call with 200.
type Answer struct{}

// Reject refuses an inbound call with a final status of 300 or above.
type Reject struct {
	Status     int
	Cause      Cause
	Reason     string
	Warning    string        // text of the Warning header (RFC 3261, section 20.43)
	RetryAfter time.Duration // for a 503
}

// Hangup ends the call on our side. It is legal in every phase except New.
type Hangup struct {
	Cause  Cause
	Reason string
}

// Transfer asks the peer with REFER to call a URI.
type Transfer struct {
	To   string
	Wait time.Duration // maximum wait for the final NOTIFY
}

// Decide accepts or refuses the offer of a re-INVITE, in response to Negotiate.
type Decide struct {
	Status  int // 200 to accept, 300 or above to refuse
	Warning string
}

// Referral accepts the peer's REFER with 202 or refuses it with 300 or above, in response to Referred. After an acceptance, further
// Referrals report the progress of the call to the target: 1xx, 2xx when the target has replaced the peer, or the status of its failure.
type Referral struct {
	Status  int
	Warning string // for a refusal
}

// Undelivered reports that no response to the peer's INVITE can be sent, because CANCEL or a lost connection has ended its transaction.
type Undelivered struct {
	Cancelled bool
	Release   string // Reason header of the CANCEL: see Ending
}

// Request is a request of the peer.
type Request struct {
	Method    Method
	CSeq      uint32
	RemoteTag string  // tag of the From header
	Contact   string  // URI of the Contact; may be empty
	Routes    []Route // Record-Route, top down; only of the first INVITE
	Body      bool    // contains a session description
	Require   []string
	Release   string  // Reason header of a BYE or CANCEL: see Ending
	Session   Session // Session-Expires and Min-SE of an INVITE

	// Progress and Final are set for a NOTIFY: Progress is the status of the sipfrag (RFC 3515, section 2.4.5), or 0 without one. Final
	// means that the NOTIFY ends the subscription.
	Progress int
	Final    bool
}

// Response is a response of the peer, or reports that no response will arrive.
type Response struct {
	Method    Method
	CSeq      uint32
	Status    int
	Reason    string
	RemoteTag string
	Contact   string
	Routes    []Route // Record-Route header, top down
	Body      bool
	Session   Session // of a 2xx to INVITE; for a 422, only Min-SE
	Release   string  // Reason header of a refusal: see Ending
	// Challenge marks a 401 or 407 that our credentials may answer. It is false if the peer has already refused these credentials.
	Challenge bool
	// Local means that the peer sent no response: Status is 408 for a timeout and 503 for a transport error (RFC 3261, section 8.1.3.1).
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
