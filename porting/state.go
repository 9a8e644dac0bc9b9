package porting

import (
	"slices"

	"github.com/callwright/callwright"
)

// State is the state of a request. Rules lists the legal transitions.
type State string

// The states of a request. The last three are final.
const (
	WaitingForSignature State = "waiting_for_signature" // the authorized representative must sign the letter
	Submitted           State = "submitted"             // signed, but not yet accepted by the losing carrier
	InProgress          State = "in_progress"           // the losing carrier processes it
	Completed           State = "completed"             // every number has ended, and at least one is ported
	Canceled            State = "canceled"              // no number is ported, and none was rejected
	Failed              State = "failed"                // no number is ported, because of a rejection or a missing signature
)

// States returns every State, in the order of a request's life.
func States() []State {
	return []State{WaitingForSignature, Submitted, InProgress, Completed, Canceled, Failed}
}

// Ended reports whether a state is final. A request that has ended never changes its state; the customer must create a new request to try
// again.
func (s State) Ended() bool { return s == Completed || s == Canceled || s == Failed }

// Event is the event that an Entry of a request's history records.
type Event string

// The events. The events up to CancelAsked concern the request itself; the later ones normally report the progress of the carrier's order.
const (
	Initiated        Event = "initiated"
	Signed           Event = "signed"
	Undelivered      Event = "letter_undelivered" // the mail with the letter cannot be delivered
	Resent           Event = "letter_resent"      // a new link to the letter was mailed
	Declined         Event = "declined"           // the signer refuses to sign
	SignatureExpired Event = "signature_expired"
	CancelAsked      Event = "cancel_asked"
	Accepted         Event = "accepted"       // the carrier processes the order
	Changed          Event = "changed"        // the order or its numbers changed, but not the state of the request
	CancelRefused    Event = "cancel_refused" // the carrier refuses to cancel, and the order continues
	Ported           Event = "ported"         // the last number has ended, and at least one is ported
	Rejected         Event = "rejected"       // the last number has ended: none is ported, and at least one is rejected
	Withdrawn        Event = "withdrawn"      // the last number has ended: all are canceled
)

// Events returns every Event, in the order of the constants.
func Events() []Event {
	return []Event{
		Initiated, Signed, Undelivered, Resent, Declined, SignatureExpired, CancelAsked, Accepted, Changed, CancelRefused, Ported, Rejected, Withdrawn,
	}
}

// Actor is the party or mechanism that causes an event.
type Actor string

// The actors. Rule.By lists the actors that may cause an event.
const (
	API      Actor = "api"      // the organization, authenticated by its API key
	Signer   Actor = "signer"   // the authorized representative, through the letter's link
	Carrier  Actor = "carrier"  // the losing carrier, through the gateway
	Mail     Actor = "mail"     // the mail server
	Timer    Actor = "timer"    // a deadline has passed
	Operator Actor = "operator" // the operator of this deployment
)

// Actors returns every Actor, in the order of the constants.
func Actors() []Actor { return []Actor{API, Signer, Carrier, Mail, Timer, Operator} }

// Rule is a legal transition of a request. An empty From means that the event creates the request.
type Rule struct {
	From  State
	Event Event
	To    State
	By    []Actor // actors that may cause the event
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

// Rules returns all legal transitions. At most one rule applies to a state and an event.
func Rules() []Rule {
	all := slices.Clone(rules)
	for i := range all {
		all[i].By = slices.Clone(all[i].By)
	}
	return all
}

// Next returns the state that follows event e. It returns CodeInvalidState if the event is illegal in state s, and CodeForbidden if the
// actor by may not cause the event.
func (s State) Next(e Event, by Actor) (State, error) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.From == s && r.Event == e })
	switch {
	case i < 0:
		return s, callwright.Errorf(callwright.CodeInvalidState, "a port request that is %s does not allow the event %s", s, e)
	case !slices.Contains(rules[i].By, by):
		return s, callwright.Errorf(callwright.CodeForbidden, "the event %s of a port request must not be caused by %s", e, by)
	}
	return rules[i].To, nil
}
