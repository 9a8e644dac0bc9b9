package porting

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Gateway passes orders to losing carriers. portingtest.RunGateway tests one, RunCarrierGateway with a scripted carrier.
//
// An error that is not a *Refusal asks for another attempt: the carrier is out of reach, or its answer was not understood. Every method
// returns such an error within 10 seconds after its context has ended. Carriers take days, and many send events late, twice or in another
// order: an event is only a reason to call Snapshot, and Snapshot is called now and then without any.
type Gateway interface {
	// Capabilities returns what the gateway can do. It is the same at every call.
	Capabilities() Capabilities
	// CheckNumbers returns what is known of each number, in the order of the numbers. CodeNotImplemented: the gateway cannot
	// tell.
	CheckNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]Portability, error)
	// Submit gives an order to the carrier. It is idempotent by Order.Key: further calls return the same Receipt, and the carrier has one
	// order. That holds for concurrent calls, after an error such as a lost answer, and after the end of the order. Orders with other keys
	// have other Refs. A *Refusal is final: the carrier has no order of this key, and further calls are refused, too.
	Submit(ctx context.Context, s Submission) (Receipt, error)
	// Cancel asks the carrier to cancel an order whose CancelAskedAt is set. Without an error the carrier knows of the wish, and
	// Snapshot shows what it does: the numbers become canceled, or CancelRefused is set, or they become ported nevertheless.
	// Canceling again changes nothing, and succeeds or fails as before. A *Refusal: the carrier refuses, and the order goes on.
	// CodeNotFound: the carrier has no such order.
	Cancel(ctx context.Context, o Order) error
	// Snapshot returns the order as the carrier has it now, with each of its numbers once, in any order. From one Snapshot to the next
	// the State of a number stays or moves as NumberState.CanBecome allows, apart from an empty State in between. CodeNotFound: the
	// carrier has no such order.
	Snapshot(ctx context.Context, o Order) (Snapshot, error)
}

// EventReader is implemented by gateways whose carriers send events.
type EventReader interface {
	// ReadEvents returns which orders a message of the carrier is about, at least one. It changes nothing: messages may come twice and in
	// any order. CodeAuthFailure: the message is not the carrier's, such as without headers, or a byte of it has changed. CodeBadRequest:
	// it cannot be read. Header names are in their canonical form.
	ReadEvents(header map[string][]string, body []byte) ([]Hint, error)
}

// Hint says that something of an order may have changed.
type Hint struct {
	Event string // id of the event, not empty, and the same when the carrier sends it again
	Ref   string // of the order, as in its Receipt
}

// Capabilities says what a gateway can do.
type Capabilities struct {
	Name       string        // of the gateway, which requests keep; not empty
	MaxNumbers int           // of an order; at least 1
	CutOff     time.Duration // an order can be canceled until so long before its confirmed date; not negative
	PollEvery  time.Duration // how often an order is worth a look, if that is more often than Config says; 0: it is not
}

// Order is what a gateway is told of an order each time. Most need no more than Ref.
type Order struct {
	Key           string // the idempotency key: the same for the same request, and for no other
	Ref           string // from the Receipt; empty in Submit
	Numbers       []callwright.PhoneNumber
	TargetDate    time.Time // asked for by the customer, midnight UTC
	SignedAt      time.Time
	CancelAskedAt time.Time // zero: it is not to be canceled
}

// Submission is an order with all that the carrier needs to process it.
type Submission struct {
	Order

	Account   Account
	PINs      map[callwright.PhoneNumber]callwright.Secret // of those numbers that have one
	Documents []string                                     // ids
}

// Receipt says that the carrier has an order.
type Receipt struct {
	Ref string // the order's id at the gateway, from 1 to MaxRef bytes
}

// MaxRef is the maximum size of the id of an order at a gateway, in bytes.
const MaxRef = 200

// Refusal is the error of a gateway whose carrier has refused for good. The Code of its Failure is not empty.
type Refusal struct{ Failure Failure }

// Error returns what the failure means.
func (r *Refusal) Error() string { return "the carrier refuses: " + string(r.Failure.Code) }

// Snapshot is an order as the carrier has it.
type Snapshot struct {
	Version       int64 // rises with every change at the carrier, never falls, such as a time in microseconds; 0: the carrier tells none
	Numbers       []NumberSnapshot
	CancelRefused bool // the carrier goes on with an order that has a CancelAskedAt; never set for another order, or for a canceled one
}

// NumberSnapshot is a number of an order as the carrier has it.
type NumberSnapshot struct {
	Number   callwright.PhoneNumber
	State    NumberState // from NumberSubmitted; empty: the carrier reports what the gateway does not know
	FOC      time.Time   // set if State is NumberConfirmed; zero: not confirmed
	PortedAt time.Time   // set if State is NumberPorted
	Failure  *Failure    // why it is rejected, never nil then, or why it waits; its Code is one of this package
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

// Portability says whether a number can be ported, as far as that is known.
type Portability struct {
	Number      callwright.PhoneNumber
	Portable    bool
	Type        NumberType // never empty: UnknownType if it is not known
	PINRequired bool
	Failure     FailureCode // why it cannot be ported; empty: it can
	Problem     string      // says more than Failure, such as why what was asked about is no number, which Number then repeats; may be empty
	Confirmed   bool        // the gateway has said so; false: the number itself tells no more, see Service.Check
}
