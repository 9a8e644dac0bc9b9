package porting

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Gateway passes orders to losing carriers. portingtest.RunGateway tests one, RunCarrierGateway with a scripted carrier.
//
// After an error that is not a *Refusal the caller retries: the carrier is out of reach, or its answer was not understood. Every
// method returns such an error within 10 seconds after its context has ended. Carriers take days, and many send events late, twice
// or out of order. An event is only a reason to call Snapshot, which is also called regularly without an event.
type Gateway interface {
	// Capabilities returns the capabilities of the gateway. They are constant.
	Capabilities() Capabilities
	// CheckNumbers returns the portability of each number, in the order of the numbers. CodeNotImplemented: the gateway cannot
	// check numbers.
	CheckNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]Portability, error)
	// Submit gives an order to the carrier. It is idempotent by Order.Key: further calls return the same Receipt, and the carrier
	// has one order. This holds for concurrent calls, after an error such as a lost answer, and after the end of the order. Orders
	// with different keys have different Refs. A *Refusal is final: the carrier has no order of this key, and further calls are
	// refused, too.
	Submit(ctx context.Context, s Submission) (Receipt, error)
	// Cancel asks the carrier to cancel an order whose CancelAskedAt is set. Without an error the carrier has received the
	// cancellation, and Snapshot shows the result: the numbers become canceled, or CancelRefused is set, or they become ported
	// nevertheless. A repeated call changes nothing, and succeeds or fails as before. A *Refusal: the carrier refuses, and the
	// order continues. CodeNotFound: the carrier has no such order.
	Cancel(ctx context.Context, o Order) error
	// Snapshot returns the carrier's current state of the order, with each of its numbers once, in any order. From one Snapshot to
	// the next the State of a number stays or moves as NumberState.CanBecome allows, apart from an empty State in between.
	// CodeNotFound: the carrier has no such order.
	Snapshot(ctx context.Context, o Order) (Snapshot, error)
}

// EventReader is implemented by gateways whose carriers send events.
type EventReader interface {
	// ReadEvents returns hints about the orders of a carrier's message, at least one. It changes nothing: messages may come twice
	// and in any order. CodeAuthFailure: the message is not authentic, for example without headers, or with a changed byte.
	// CodeBadRequest: it cannot be read. Header names are in their canonical form.
	ReadEvents(header map[string][]string, body []byte) ([]Hint, error)
}

// Hint reports that an order may have changed.
type Hint struct {
	Event string // id of the event, not empty; the same when the carrier sends the event again
	Ref   string // of the order, as in its Receipt
}

// Capabilities describes a gateway.
type Capabilities struct {
	Name       string        // of the gateway, stored with requests; not empty
	MaxNumbers int           // of an order; at least 1
	CutOff     time.Duration // shortest time before its confirmed date at which an order can be canceled; not negative
	PollEvery  time.Duration // interval of snapshots of an order, if shorter than Config's; 0: Config's interval
}

// Order is the part of an order that each call of a gateway receives. Most gateways need only Ref.
type Order struct {
	Key           string // the idempotency key: the same for the same request, and for no other
	Ref           string // from the Receipt; empty in Submit
	Numbers       []callwright.PhoneNumber
	TargetDate    time.Time // requested by the customer, midnight UTC
	SignedAt      time.Time
	CancelAskedAt time.Time // zero: not to cancel
}

// Submission is an order with all data that the carrier needs.
type Submission struct {
	Order

	Account   Account
	PINs      map[callwright.PhoneNumber]callwright.Secret // of the numbers with a PIN
	Documents []string                                     // ids
}

// Receipt confirms that the carrier has an order.
type Receipt struct {
	Ref string // the order's id at the gateway, from 1 to MaxRef bytes
}

// MaxRef is the maximum size of the id of an order at a gateway, in bytes.
const MaxRef = 200

// Refusal is the error of a gateway whose carrier has refused permanently. The Code of its Failure is not empty.
type Refusal struct{ Failure Failure }

// Error returns the meaning of the failure.
func (r *Refusal) Error() string { return "the carrier refuses: " + string(r.Failure.Code) }

// Snapshot is the carrier's state of an order.
type Snapshot struct {
	Version       int64 // rises with every change at the carrier and never falls, for example a time in microseconds; 0: the carrier reports none
	Numbers       []NumberSnapshot
	CancelRefused bool // the carrier continues an order with a CancelAskedAt; never set for other or canceled orders
}

// NumberSnapshot is the carrier's state of a number.
type NumberSnapshot struct {
	Number   callwright.PhoneNumber
	State    NumberState // NumberSubmitted or later; empty: the carrier reports a status that the gateway does not know
	FOC      time.Time   // set if State is NumberConfirmed; zero: not confirmed
	PortedAt time.Time   // set if State is NumberPorted
	Failure  *Failure    // reason of a rejection, never nil then, or of a wait; its Code is one of this package
}

// NumberType is the kind of a number.
type NumberType string

// The kinds of numbers.
const (
	Mobile      NumberType = "mobile"
	Landline    NumberType = "landline"
	TollFree    NumberType = "toll-free"
	VoIP        NumberType = "voip"
	UnknownType NumberType = "unknown"
)

// Portability describes whether a number can be ported, as far as known.
type Portability struct {
	Number      callwright.PhoneNumber
	Portable    bool
	Type        NumberType // never empty: UnknownType if it is unknown
	PINRequired bool
	Failure     FailureCode // reason for which it cannot be ported; empty: it can
	Problem     string      // details of Failure, for example the error of an invalid number, which Number then repeats; may be empty
	Confirmed   bool        // confirmed by the gateway; false: derived from the number itself, see Service.Check
}
