package porting

import (
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Request is a request to port numbers of one account at a losing carrier.
type Request struct {
	ID         string
	Org        callwright.OrgID
	State      State
	Numbers    []Number
	Account    Account
	TargetDate time.Time // requested date, midnight UTC; the carrier decides the actual one: see Number.FOC
	Documents  []string  // ids of proofs of ownership
	Failure    *Failure  // reason why the request failed or was canceled; may be nil

	CallsFrom []netip.Prefix // addresses that may send calls to the ported numbers; empty means Config.CallsFrom

	Webhook callwright.Secret // URL that receives every history entry; encrypted at rest; may be empty

	SignedAt    time.Time // zero if not signed
	SignBy      time.Time // deadline for the signature, at which the letter expires
	Undelivered bool      // the mail with the letter cannot be delivered

	Gateway   string    // Capabilities.Name of its gateway
	Sending   bool      // the gateway may have received the order
	Ref       string    // the order's id at the gateway; empty if not yet known
	Version   int64     // the newest Snapshot.Version that was applied
	DueAt     time.Time // time of the next step; zero means never
	Misses    int       // consecutive failed attempts to reach the gateway
	HeldSince time.Time // time since which a number is held up: a party other than the losing carrier must act; zero if none is

	CancelAskedAt time.Time // zero if not requested, or if the carrier has refused
	CancelAskedBy Actor
	CancelSent    bool // the gateway has received the cancellation

	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero if the request has not ended
	Entries   int       // number of history entries
	Revision  int64     // increases by 1 with each update
}

// CustomerType distinguishes business accounts from personal ones.
type CustomerType string

// The types of a losing carrier's customers.
const (
	Business CustomerType = "business"
	Personal CustomerType = "personal"
)

// Account is the account as the losing carrier's records show it. All fields except CustomerType are encrypted at rest.
type Account struct {
	CustomerType  CustomerType
	BusinessName  string // required if CustomerType is Business
	FirstName     string // first name of the authorized representative
	LastName      string
	AccountNumber callwright.Secret // shown masked: see function Masked
	Email         string            // address of the authorized representative, who signs the letter
	NotifyEmails  []string          // further addresses that receive the mails about the request
	Address       Address           // service address
}

// Address is a service address.
type Address struct {
	Street  string
	Street2 string // may be empty
	City    string
	State   string
	Zip     string
	Country string // ISO 3166-1 alpha-2
}

// Entry is one entry of a request's history: an event and its effect on the request.
type Entry struct {
	Number int // counts from 1 without gaps
	At     time.Time
	From   State // empty if the event created the request
	To     State // equals From if the event did not change the state
	Event  Event
	Detail Detail // the request's detail after the event
	Actor  Actor
	Note   string // for example the customer's reason; may be empty
}

// Detail refines a State: it describes what an open request waits for, or how a completed request ended.
type Detail string

// The details. DetailNone is the detail of ended requests without a special result.
const (
	DetailNone            Detail = ""
	DetailSignature       Detail = "awaiting_signature"
	DetailUndelivered     Detail = "loa_delivery_failed" // waits for the signature, but the letter cannot be delivered
	DetailQueued          Detail = "queued"              // the losing carrier has not accepted it yet
	DetailCarrier         Detail = "carrier_review"      // the losing carrier processes it
	DetailAction          Detail = "action_required"     // a party other than the losing carrier must act on a Failure of a number
	DetailConfirmed       Detail = "foc_confirmed"       // every number that has not ended has a confirmed date
	DetailCancelRequested Detail = "cancel_requested"    // the carrier has not yet agreed to cancel
	DetailPartly          Detail = "partially_ported"    // completed, but not all numbers are ported
	DetailTrunk           Detail = "waits_for_trunk"     // completed, but a ported number has no inbound trunk and receives no calls
)

// Status is the state of a request together with its detail.
type Status struct {
	State  State
	Detail Detail
}

// Status returns the state of the request and its detail, which is derived from the numbers and the other fields.
func (r Request) Status() Status { return Status{r.State, r.detail()} }

func (r Request) detail() Detail {
	switch {
	case r.State == Completed && slices.ContainsFunc(r.Numbers, func(n Number) bool { return n.State != NumberPorted }):
		return DetailPartly
	case r.State == Completed && r.waitsForTrunk():
		return DetailTrunk
	case r.State.Ended():
		return DetailNone
	case r.State == WaitingForSignature && r.Undelivered:
		return DetailUndelivered
	case r.State == WaitingForSignature:
		return DetailSignature
	case !r.CancelAskedAt.IsZero():
		return DetailCancelRequested
	case r.State == Submitted:
		return DetailQueued
	case r.held():
		return DetailAction
	case !r.FOC().IsZero() && !slices.ContainsFunc(r.Numbers, func(n Number) bool { return !n.State.Ended() && n.State != NumberConfirmed }):
		return DetailConfirmed
	}
	return DetailCarrier
}

// WaitsFor returns the party that must act before an open request can continue, before a ported number can receive calls, or before a new
// request can succeed after a failure. It returns an empty Party if no party must act.
func (r Request) WaitsFor() Party {
	switch {
	case r.State.Ended() && r.Failure != nil:
		return r.Failure.Code.Remedy().Act
	case r.waitsForTrunk():
		return ActCustomer
	case r.State.Ended():
		return ""
	case r.State == WaitingForSignature && r.Undelivered:
		return ActCustomer
	case r.State == WaitingForSignature:
		return ActSigner
	case r.Misses >= alarmAfter/2:
		return ActOperator // repeated attempts to reach the gateway have failed
	}
	for _, n := range r.Numbers {
		if !n.State.Ended() && n.Failure != nil && n.Failure.Code.Remedy().Act != ActCarrier {
			return n.Failure.Code.Remedy().Act
		}
	}
	return ActCarrier
}

// ActBy returns the deadline of an open request: SignBy before the signature, and afterwards the earliest confirmed date, or zero if none
// is confirmed. It returns zero if the request has ended.
func (r Request) ActBy() time.Time {
	switch {
	case r.State.Ended():
		return time.Time{}
	case r.State == WaitingForSignature:
		return r.SignBy
	}
	return r.FOC()
}

// waitsForTrunk reports whether a ported number receives no calls because it has no inbound trunk.
func (r Request) waitsForTrunk() bool {
	return slices.ContainsFunc(r.Numbers, func(n Number) bool { return n.Inbound == WaitsForTrunk })
}

// held reports whether a party other than the losing carrier must act on a number that has not ended.
func (r Request) held() bool {
	return slices.ContainsFunc(r.Numbers, func(n Number) bool {
		return !n.State.Ended() && n.Failure != nil && n.Failure.Code.Remedy().Act != ActCarrier
	})
}

// FOC returns the earliest date that the losing carrier has confirmed for a number that has not ended, or the zero time if it has confirmed
// none.
func (r Request) FOC() (first time.Time) {
	for _, n := range r.Numbers {
		if !n.State.Ended() && !n.FOC.IsZero() && (first.IsZero() || n.FOC.Before(first)) {
			first = n.FOC
		}
	}
	return first
}

// Masked returns an account number with all characters but the last four replaced by asterisks. It shows at most half of the characters.
func Masked(number callwright.Secret) string {
	text := []rune(number.Reveal())
	shown := min(4, len(text)/2)
	for i := range text[:len(text)-shown] {
		text[i] = '*'
	}
	return string(text)
}
