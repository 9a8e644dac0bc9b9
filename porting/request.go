package porting

import (
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Request asks to port numbers of one account.
type Request struct {
	ID         string
	Org        callwright.OrgID
	State      State
	Numbers    []Number
	Account    Account
	TargetDate time.Time // the date asked for, midnight UTC; the carrier decides: see Number.FOC
	Documents  []string  // ids of proofs of ownership
	Failure    *Failure  // why it has failed or was declined; nil: it has not

	CallsFrom []netip.Prefix // from where calls to the ported numbers come; empty: Config.CallsFrom

	Webhook callwright.Secret // is told of every entry of the history; encrypted at rest; empty: none

	SignedAt    time.Time // zero: not signed
	SignBy      time.Time // the letter expires then
	Undelivered bool      // the mail with the letter cannot be delivered

	Gateway   string    // name of the gateway that it goes through
	Sending   bool      // the gateway may have received it
	Ref       string    // the order's id at the gateway; empty: not known yet
	Version   int64     // the newest Snapshot.Version that was applied
	DueAt     time.Time // when it is to be looked at again; zero: never
	Misses    int       // attempts to reach the gateway that have failed in a row
	HeldSince time.Time // since when somebody but the losing carrier must act on a number; zero: nobody must

	CancelAskedAt time.Time // zero: nobody has asked, or the carrier has refused
	CancelAskedBy Actor
	CancelSent    bool // the gateway has received the wish to cancel

	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero: it has not ended
	Entries   int       // of its history
	Revision  int64     // counts changes
}

// CustomerType says whose account it is.
type CustomerType string

// The types of customers.
const (
	Business CustomerType = "business"
	Personal CustomerType = "personal"
)

// Account is the account as the losing carrier knows it. Everything but the customer's type is encrypted at rest.
type Account struct {
	CustomerType  CustomerType
	BusinessName  string // required for Business
	FirstName     string // of the authorized representative
	LastName      string
	AccountNumber callwright.Secret // shown by its last characters only: see Masked
	Email         string            // of the authorized representative, who signs
	NotifyEmails  []string          // are told of every change, besides the representative
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
	From   State // empty: the request was made
	To     State // From: the state is the same
	Event  Event
	Detail Detail // what the request waits for afterwards
	Actor  Actor
	Note   string // such as the customer's reason; may be empty
}

// Detail says what a request waits for, or how it has ended.
type Detail string

// The details.
const (
	DetailNone            Detail = ""
	DetailSignature       Detail = "awaiting_signature"
	DetailUndelivered     Detail = "loa_delivery_failed" // as before, but the letter does not reach the representative
	DetailQueued          Detail = "queued"              // the losing carrier has not taken it yet
	DetailCarrier         Detail = "carrier_review"      // the losing carrier processes it
	DetailAction          Detail = "action_required"     // somebody must act on a Failure of a number
	DetailConfirmed       Detail = "foc_confirmed"       // every number that has not ended has a date
	DetailCancelRequested Detail = "cancel_requested"    // the carrier has not agreed yet
	DetailPartly          Detail = "partially_ported"    // completed, but not all numbers are ported
	DetailTrunk           Detail = "waits_for_trunk"     // completed, but a ported number has no inbound trunk: no calls come in
)

// Detail returns what the request waits for, or how it has ended.
func (r Request) Detail() Detail {
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

// WaitsFor returns who must act for a request to go on, or for a new one to do better; empty: nobody needs to.
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

// ActBy returns by when the party of WaitsFor must act; zero: nobody has said, or the request has ended.
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

// held reports whether somebody but the losing carrier must act on a number that has not ended.
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

// Masked returns an account number of which only the last four characters show, and not more than half of them.
func Masked(number callwright.Secret) string {
	text := []rune(number.Reveal())
	shown := min(4, len(text)/2)
	for i := range text[:len(text)-shown] {
		text[i] = '*'
	}
	return string(text)
}
