package porting

import (
	"slices"

	"github.com/callwright/callwright"
)

// State is the state of a request.
type State string

// The states. The last three are final.
const (
	WaitingForSignature State = "waiting_for_signature" // of the authorized representative under the letter
	Submitted           State = "submitted"             // signed; on its way to the carrier
	InProgress          State = "in_progress"           // the losing carrier processes it
	Completed           State = "completed"             // every number has ended, and at least one is ported
	Canceled            State = "canceled"              // no number is ported, and none was rejected
	Failed              State = "failed"                // no number is ported
)

// States returns all states in the order of a request's life.
func States() []State {
	return []State{WaitingForSignature, Submitted, InProgress, Completed, Canceled, Failed}
}

// Ended reports whether a state is final. A request that has ended never changes its state: a new request tries again.
func (s State) Ended() bool { return s == Completed || s == Canceled || s == Failed }

// Event is an event of a request.
type Event string

// The events. Those up to CancelAsked concern the request itself, the others the order at the carrier.
const (
	Initiated        Event = "initiated"
	Signed           Event = "signed"
	Undelivered      Event = "letter_undelivered" // the mail with the letter cannot be delivered
	Resent           Event = "letter_resent"      // another link to the letter was mailed
	Declined         Event = "declined"           // the signer refuses to sign
	SignatureExpired Event = "signature_expired"
	CancelAsked      Event = "cancel_asked"
	Accepted         Event = "accepted"       // the carrier processes the order
	Changed          Event = "changed"        // the order or its numbers, but not the state of the request
	CancelRefused    Event = "cancel_refused" // the order continues
	Ported           Event = "ported"         // the last number has ended, and at least one is ported
	Rejected         Event = "rejected"       // the last number has ended: none is ported, and at least one is rejected
	Withdrawn        Event = "withdrawn"      // the last number has ended: all are canceled
)

// Events returns all events.
func Events() []Event {
	return []Event{
		Initiated, Signed, Undelivered, Resent, Declined, SignatureExpired, CancelAsked, Accepted, Changed, CancelRefused, Ported, Rejected, Withdrawn,
	}
}

// Actor is the cause of an event.
type Actor string

// The actors.
const (
	API      Actor = "api"      // the organization, with its key
	Signer   Actor = "signer"   // the authorized representative, with the link of the letter
	Carrier  Actor = "carrier"  // the losing carrier, through the gateway
	Mail     Actor = "mail"     // the mail server
	Timer    Actor = "timer"    // a deadline has passed
	Operator Actor = "operator" // the operator of this deployment
)

// Actors returns all actors.
func Actors() []Actor { return []Actor{API, Signer, Carrier, Mail, Timer, Operator} }

// Rule is a legal transition. An empty From means that the request does not exist yet.
type Rule struct {
	From  State
	Event Event
	To    State
	By    []Actor // actors that may cause it
}

// rules lists all legal transitions.
var rules = []Rule{
	{"", Initiated, WaitingForSignature, []Actor{API, Operator}},

	{WaitingForSignature, Signed, Submitted, []Actor{Signer, Operator}},
	{WaitingForSignature, Undelivered, WaitingForSignature, []Actor{Mail}},
	{WaitingForSignature, Resent, WaitingForSignature, []Actor{API, Operator}},
	{WaitingForSignature, Declined, Canceled, []Actor{Signer}},
	{WaitingForSignature, SignatureExpired, Failed, []Actor{Timer}},
	{WaitingForSignature, CancelAsked, Canceled, []Actor{API, Operator}},

	{Submitted, CancelAsked, Submitted, []Actor{API, Operator}},
	{Submitted, CancelRefused, Submitted, []Actor{Carrier}},
	{Submitted, Accepted, InProgress, []Actor{Carrier, Operator}},
	{Submitted, Rejected, Failed, []Actor{Carrier, Timer, Operator}},
	{Submitted, Withdrawn, Canceled, []Actor{API, Carrier, Operator}},

	{InProgress, Changed, InProgress, []Actor{Carrier, Timer, Operator}},
	{InProgress, CancelAsked, InProgress, []Actor{API, Timer, Operator}},
	{InProgress, CancelRefused, InProgress, []Actor{Carrier}},
	{InProgress, Ported, Completed, []Actor{Carrier, Timer, Operator}},
	{InProgress, Rejected, Failed, []Actor{Carrier, Operator}},
	{InProgress, Withdrawn, Canceled, []Actor{Carrier, Operator}},
}

// Rules returns all legal transitions. A pair of a state and an event has at most one.
func Rules() []Rule {
	all := slices.Clone(rules)
	for i := range all {
		all[i].By = slices.Clone(all[i].By)
	}
	return all
}

// Next returns the state that follows. CodeInvalidState: the event cannot happen in this state. CodeForbidden: this actor may not
// cause the event.
func (s State) Next(e Event, by Actor) (State, error) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.From == s && r.Event == e })
	switch {
	case i < 0:
		return s, callwright.Errorf(callwright.CodeInvalidState, "a port request that is %s cannot be %s", s, e)
	case !slices.Contains(rules[i].By, by):
		return s, callwright.Errorf(callwright.CodeForbidden, "the event %s of a port request is not for %s to cause", e, by)
	}
	return rules[i].To, nil
}
