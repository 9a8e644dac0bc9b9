package porting

import (
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Request is a request to port numbers of one account.
type Request struct {
	ID         string
	Org        callwright.OrgID
	State      State
	Numbers    []Number
	Account    Account
	TargetDate time.Time // requested date, midnight UTC; the carrier decides: see Number.FOC
	Documents  []string  // ids of proofs of ownership
	Failure    *Failure  // reason of a failure or a refusal; nil: none

	CallsFrom []netip.Prefix // sources of calls to the ported numbers; empty: Config.CallsFrom

	Webhook callwright.Secret // receives every entry of the history; encrypted at rest; empty: none

	SignedAt    time.Time // zero: not signed
	SignBy      time.Time // expiry of the letter
	Undelivered bool      // the mail with the letter cannot be delivered

	Gateway   string    // name of its gateway
	Sending   bool      // the gateway may have received it
	Ref       string    // the order's id at the gateway; empty: not known yet
	Version   int64     // the newest Snapshot.Version that was applied
	DueAt     time.Time // time of the next step; zero: never
	Misses    int       // consecutive failed attempts to reach the gateway
	HeldSince time.Time // start of a wait for a party other than the losing carrier; zero: none

	CancelAskedAt time.Time // zero: not asked, or the carrier has refused
	CancelAskedBy Actor
	CancelSent    bool // the gateway has received the cancellation

	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero: it has not ended
	Entries   int       // number of entries of its history
	Revision  int64     // counts changes
}

// CustomerType is the type of an account's customer.
type CustomerType string

// The types of customers.
const (
	Business CustomerType = "business"
	Personal CustomerType = "personal"
)

// Account is the account in the losing carrier's records. All fields but the customer's type are encrypted at rest.
type Account struct {
	CustomerType  CustomerType
	BusinessName  string // required for Business
	FirstName     string // of the authorized representative
	LastName      string
	AccountNumber callwright.Secret // shown masked: see Masked
	Email         string            // of the authorized representative, the signer
	NotifyEmails  []string          // receive every change, like the representative
	Address       Address           // of the service
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

// Entry is an entry of a request's history.
type Entry struct {
	Number int // counts from 1 without gaps
	At     time.Time
	From   State // empty: the request was created
	To     State // From: the state is the same
	Event  Event
	Detail Detail // state of the wait afterwards
	Actor  Actor
	Note   string // for example the customer's reason; may be empty
}

// Detail is the cause of a request's wait, or its result.
type Detail string

// The details.
const (
	DetailNone            Detail = ""
	DetailSignature       Detail = "awaiting_signature"
	DetailUndelivered     Detail = "loa_delivery_failed" // as before, but the letter does not reach the representative
	DetailQueued          Detail = "queued"              // the losing carrier has not accepted it yet
	DetailCarrier         Detail = "carrier_review"      // the losing carrier processes it
	DetailAction          Detail = "action_required"     // a party must act on a Failure of a number
	DetailConfirmed       Detail = "foc_confirmed"       // every open number has a confirmed date
	DetailCancelRequested Detail = "cancel_requested"    // the carrier has not agreed yet
	DetailPartly          Detail = "partially_ported"    // completed, but not all numbers are ported
	DetailTrunk           Detail = "waits_for_trunk"     // completed, but a ported number has no inbound trunk and receives no calls
)

// Status is the state of a request with its detail.
type Status struct {
	State  State
	Detail Detail
}

// Status returns the state of the request, with the event that it waits for or the reason of its end.
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

// WaitsFor returns the party that must act before a request can continue, or before a new one can succeed; empty: none.
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
		return ActOperator // the gateway does not answer
	}
	for _, n := range r.Numbers {
		if !n.State.Ended() && n.Failure != nil && n.Failure.Code.Remedy().Act != ActCarrier {
			return n.Failure.Code.Remedy().Act
		}
	}
	return ActCarrier
}

// ActBy returns the deadline of the party of WaitsFor; zero: none, or the request has ended.
func (r Request) ActBy() time.Time {
	switch {
	case r.State.Ended():
		return time.Time{}
	case r.State == WaitingForSignature:
		return r.SignBy
	}
	return r.FOC()
}

// waitsForTrunk reports whether a ported number has no inbound trunk.
func (r Request) waitsForTrunk() bool {
	return slices.ContainsFunc(r.Numbers, func(n Number) bool { return n.Inbound == WaitsForTrunk })
}

// held reports whether a party other than the losing carrier must act on a number that has not ended.
func (r Request) held() bool {
	return slices.ContainsFunc(r.Numbers, func(n Number) bool {
		return !n.State.Ended() && n.Failure != nil && n.Failure.Code.Remedy().Act != ActCarrier
	})
}

// FOC returns the earliest date that the losing carrier has confirmed for a number that has not ended; zero: none.
func (r Request) FOC() (first time.Time) {
	for _, n := range r.Numbers {
		if !n.State.Ended() && !n.FOC.IsZero() && (first.IsZero() || n.FOC.Before(first)) {
			first = n.FOC
		}
	}
	return first
}

// Masked returns an account number with only its last four characters visible, at most half of them.
func Masked(number callwright.Secret) string {
	text := []rune(number.Reveal())
	shown := min(4, len(text)/2)
	for i := range text[:len(text)-shown] {
		text[i] = '*'
	}
	return string(text)
}
