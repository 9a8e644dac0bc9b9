package porting

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Gateway passes orders to losing carriers. The suite portingtest.RunGateway tests a gateway; RunCarrierGateway tests it with a scripted
// carrier.
//
// An error that is neither a *Refusal nor documented at the method means that the carrier is unreachable or that its answer was not
// understood; the caller then retries. Every method returns such an error within 10 seconds after its context has ended. Carriers take
// days, and many send events late, twice or out of order. The service therefore uses an event only as a reason to call Snapshot, and also
// calls Snapshot regularly without an event.
type Gateway interface {
	// Capabilities returns the name and the limits of the gateway. They never change.
	Capabilities() Capabilities
	// CheckNumbers returns the portability of each number, in the order of numbers. It returns CodeNotImplemented if the gateway cannot
	// check numbers.
	CheckNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]Portability, error)
	// Submit sends an order to the carrier. It is idempotent by Order.Key: repeated calls return the same Receipt, and the carrier creates
	// only one order. This holds for concurrent calls, after an error such as a lost answer, and after the order has ended. Orders with
	// different keys have different Refs. A *Refusal is final: the carrier has no order with this key, and repeated calls are refused, too.
	Submit(ctx context.Context, s Submission) (Receipt, error)
	// Cancel asks the carrier to cancel an order whose CancelAskedAt is set. If Cancel returns nil, the carrier has received the
	// cancellation, and Snapshot later shows the result: the numbers become canceled, CancelRefused is set, or the numbers become ported
	// nevertheless. A repeated call changes nothing and returns the same result. Cancel returns a *Refusal if the carrier refuses, in which
	// case the order continues, and CodeNotFound if the carrier has no such order.
	Cancel(ctx context.Context, o Order) error
	// Snapshot returns the carrier's current state of an order. The Snapshot contains each number of the order once, in any order. From one
	// Snapshot to the next the State of a number stays the same or moves as NumberState.CanBecome allows; an empty State may occur in
	// between. Snapshot returns CodeNotFound if the carrier has no such order.
	Snapshot(ctx context.Context, o Order) (Snapshot, error)
}

// EventReader is implemented by gateways whose carriers send events.
type EventReader interface {
	// ReadEvents parses a carrier's message and returns a Hint for each order that it mentions, at least one. ReadEvents must not change
	// any state, because messages may arrive twice and in any order. Header names are in canonical form. ReadEvents returns CodeAuthFailure
	// if the message is not authentic, for example without headers or with a changed byte, and CodeBadRequest if it is malformed.
	ReadEvents(header map[string][]string, body []byte) ([]Hint, error)
}

// Hint reports that an order may have changed.
type Hint struct {
	Event string // id of the event, not empty; the same when the carrier repeats the event
	Ref   string // the order's Receipt.Ref
}

// Capabilities contains the name and the limits of a gateway.
type Capabilities struct {
	Name       string        // name of the gateway, stored with requests; not empty
	MaxNumbers int           // maximum per order; at least 1
	CutOff     time.Duration // minimum time from a cancellation to the confirmed date; not negative
	PollEvery  time.Duration // interval between snapshots of an order, if shorter than Config's; 0 means Config's interval
}

// Order contains the fields that every call about an order passes to the gateway. Most gateways need only Ref.
type Order struct {
	Key           string // idempotency key, unique to the request and constant
	Ref           string // Receipt.Ref; empty in Submit
	Numbers       []callwright.PhoneNumber
	TargetDate    time.Time // requested by the customer, midnight UTC
	SignedAt      time.Time
	CancelAskedAt time.Time // zero if no cancellation is requested
}

// Submission is an order with all data that the carrier needs to port its numbers.
type Submission struct {
	Order

	Account   Account
	PINs      map[callwright.PhoneNumber]callwright.Secret // only the numbers that have a PIN
	Documents []string                                     // document ids
}

// Receipt confirms that the carrier has accepted an order.
type Receipt struct {
	Ref string // the order's id at the gateway, from 1 to MaxRef bytes
}

// MaxRef is the maximum length of Receipt.Ref in bytes.
const MaxRef = 200

// Refusal is the error that a gateway returns when the carrier refuses permanently. Failure.Code must not be empty.
type Refusal struct{ Failure Failure }

// Error returns a message that contains the failure code.
func (r *Refusal) Error() string { return "the carrier refuses: " + string(r.Failure.Code) }

// Snapshot is the carrier's state of an order.
type Snapshot struct {
	Version       int64 // increases with every change at the carrier, for example a time in microseconds; 0 if the carrier reports none
	Numbers       []NumberSnapshot
	CancelRefused bool // the carrier refused the cancellation and continues the order; set only if CancelAskedAt is set
}

// NumberSnapshot is the carrier's state of a number.
type NumberSnapshot struct {
	Number   callwright.PhoneNumber
	State    NumberState // NumberSubmitted or later; empty if the gateway does not know the status that the carrier reports
	FOC      time.Time   // set if State is NumberConfirmed; zero if not confirmed
	PortedAt time.Time   // set if State is NumberPorted
	Failure  *Failure    // reason for a rejection (then never nil) or for a delay; Code is a constant of this package
}

// NumberType classifies a number by the service that it belongs to, for example mobile or landline.
type NumberType string

// The types of phone numbers.
const (
	Mobile      NumberType = "mobile"
	Landline    NumberType = "landline"
	TollFree    NumberType = "toll-free"
	VoIP        NumberType = "voip"
	UnknownType NumberType = "unknown"
)

// Portability reports whether a number can be ported. It may be an estimate: see Confirmed.
type Portability struct {
	Number      callwright.PhoneNumber
	Portable    bool
	Type        NumberType // never empty; UnknownType if not known
	PINRequired bool
	Failure     FailureCode // reason why the number cannot be ported; empty if it can
	Problem     string      // details of Failure, for example why Number is not a valid phone number; may be empty
	Confirmed   bool        // true if the gateway confirms it; false if derived from the number alone, see Service.Check
}
