package portingtest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// CarrierScript describes the behavior of a Carrier. The zero value describes a carrier that takes every order, and then accepts, confirms
// and ports the order's numbers in three steps.
type CarrierScript struct {
	// Steps are the steps of every order; each call of Carrier.Step executes one. Nil means Accepts, Confirms and Completes.
	Steps []CarrierStep
	// OnCancel contains the steps that a request to cancel inserts before an order's remaining steps. Nil means Cancels.
	OnCancel []CarrierStep
	// Refuses is the reason with which the carrier refuses every order. If empty, it accepts orders.
	Refuses porting.FailureCode
	// RefusesCancel is the reason with which the carrier immediately refuses every cancellation. If empty, it accepts the request to
	// cancel; a step in OnCancel may still refuse later.
	RefusesCancel porting.FailureCode
	// Idempotent makes Carrier.Create idempotent by key: further calls return the first order. Otherwise every call creates an order, as
	// with carriers that store the key only as a note; a gateway must then search with Carrier.Find first.
	Idempotent bool

	// LosesAnswer makes Carrier.Serve lose one answer: the first after an order was created.
	LosesAnswer bool
	// Fault returns the fault of the next request to Carrier.Serve. It is never called concurrently, so it may count requests. Nil means no
	// faults.
	Fault func() Fault

	hanging func() // called when a request begins to hang; may be nil
}

// CarrierStep is an action of a carrier on the numbers of an order that have not ended. The zero value does nothing, as carriers often do
// for days.
type CarrierStep struct {
	State        porting.NumberState // new state; empty means unchanged; skips numbers that cannot move to it
	Last         bool                // applies only to the order's last number
	Unknown      bool                // the numbers have an undocumented status until a later step sets State
	FOC          time.Time           // FOC of confirmed or ported numbers, and PortedAt of ported ones; zero means noon UTC, June 3, 2030
	Failure      porting.FailureCode // reason for a rejection or a delay; may be empty
	RefuseCancel bool                // refuses the request to cancel, and continues the order
	Event        EventFault          // fault of the event that the step sends
}

// These variables are the usual steps of an order.
var (
	Accepts   = CarrierStep{State: porting.NumberInProgress}
	Confirms  = CarrierStep{State: porting.NumberConfirmed}
	Completes = CarrierStep{State: porting.NumberPorted}
	Cancels   = CarrierStep{State: porting.NumberCanceled}
)

// EventFault is a fault in the delivery of a carrier's event.
type EventFault string

// These constants are the faults in the delivery of an event. The zero value means no fault.
const (
	SentOnce  EventFault = ""      // immediately and once
	SentTwice EventFault = "twice" // both times with the same id
	SentLate  EventFault = "late"  // after the next event of the order
	NotSent   EventFault = "not"
)

// CarrierOrder is an order as its carrier stores it.
type CarrierOrder struct {
	Ref           string
	Key           string                   // the key passed to Carrier.Create
	Numbers       []porting.NumberSnapshot // an empty State means a status that the carrier does not document
	Version       int64                    // increases with every change
	CancelAsked   bool
	CancelRefused bool
}

// CarrierEvent is an event that reports a change of a carrier's order.
type CarrierEvent struct {
	ID  string // unchanged when the event is repeated
	Ref string
}

// Carrier is a fake carrier for tests of gateways. It behaves as its script says, and imitates no real carrier's API. A test therefore
// supplies an HTTP handler that translates the requests of a real carrier's API to Carrier's methods, and their results to that API's
// answers. Serve adds the faults of the script; the Handler of adapters/portgateway/carrierhttp produces these faults over HTTP.
// RunCarrierGateway is a complete suite on this basis. All methods may be called concurrently.
type Carrier struct {
	script CarrierScript

	mu     sync.Mutex
	orders []*carried
	lost   bool // whether CarrierScript.LosesAnswer has lost its answer
}

// carried is an order with its remaining steps and its events.
type carried struct {
	CarrierOrder

	left   []CarrierStep
	events []CarrierEvent
	late   []CarrierEvent // sent after the next event
}

// NewCarrier returns a carrier with a script and without orders.
func NewCarrier(s CarrierScript) *Carrier {
	if s.Steps == nil {
		s.Steps = []CarrierStep{Accepts, Confirms, Completes}
	}
	if s.OnCancel == nil {
		s.OnCancel = []CarrierStep{Cancels}
	}
	return &Carrier{script: s}
}

// ScriptOf returns the script that makes a Carrier behave as the given case of RunGateway requires.
func ScriptOf(c GatewayCase) CarrierScript {
	last := func(s CarrierStep) CarrierStep { s.Last = true; return s }
	switch c {
	case PortsPartly:
		rejects := last(CarrierStep{State: porting.NumberRejected, Failure: porting.PINInvalid})
		return CarrierScript{Steps: []CarrierStep{Accepts, rejects, Confirms, Completes}}
	case CancelsLater:
		return CarrierScript{OnCancel: []CarrierStep{{}, Cancels}}
	case RefusesToCancel:
		return CarrierScript{OnCancel: []CarrierStep{{RefuseCancel: true}}}
	case PortsDespiteCancel:
		return CarrierScript{OnCancel: []CarrierStep{Completes}}
	case ReportsUnknown:
		return CarrierScript{Steps: []CarrierStep{Accepts, last(CarrierStep{Unknown: true}), {}, Confirms, Completes}}
	case RefusesOrder:
		return CarrierScript{Refuses: porting.AccountNumberMismatch}
	case LosesAnswer:
		return CarrierScript{LosesAnswer: true}
	case NeverAnswers:
		return CarrierScript{Fault: func() Fault { return Hangs }}
	default:
		return CarrierScript{}
	}
}

// Create creates an order, and returns it. If CarrierScript.Idempotent is set and the key has an order, Create returns that order. It
// returns a *porting.Refusal if the script refuses orders.
func (c *Carrier) Create(key string, numbers []callwright.PhoneNumber) (CarrierOrder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.script.Refuses != "" {
		return CarrierOrder{}, refusal(c.script.Refuses)
	}
	if o := c.find(func(o *carried) bool { return c.script.Idempotent && o.Key == key }); o != nil {
		return o.clone(), nil
	}
	o := &carried{CarrierOrder: CarrierOrder{Ref: fmt.Sprintf("order-%d", len(c.orders)+1), Key: key, Version: 1}, left: c.script.Steps}
	for _, number := range numbers {
		o.Numbers = append(o.Numbers, porting.NumberSnapshot{Number: number, State: porting.NumberSubmitted})
	}
	c.orders = append(c.orders, o)
	o.send(SentOnce)
	return o.clone(), nil
}

func refusal(code porting.FailureCode) *porting.Refusal {
	return &porting.Refusal{Failure: porting.Failure{Code: code, Raw: "scripted"}}
}

// find returns the first order for which the given function returns true, or nil if there is none.
func (c *Carrier) find(is func(o *carried) bool) *carried {
	if i := slices.IndexFunc(c.orders, is); i >= 0 {
		return c.orders[i]
	}
	return nil
}

func (c *Carrier) get(is func(o *carried) bool) (CarrierOrder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.find(is)
	if o == nil {
		return CarrierOrder{}, callwright.NotFound("order")
	}
	return o.clone(), nil
}

// Order returns the order with the given reference. It returns CodeNotFound if there is none.
func (c *Carrier) Order(ref string) (CarrierOrder, error) {
	return c.get(func(o *carried) bool { return o.Ref == ref })
}

// Find returns the first order with the given key. It returns CodeNotFound if there is none.
func (c *Carrier) Find(key string) (CarrierOrder, error) {
	return c.get(func(o *carried) bool { return o.Key == key })
}

// Orders returns all orders, oldest first.
func (c *Carrier) Orders() (all []CarrierOrder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.orders {
		all = append(all, o.clone())
	}
	return all
}

// Events returns the events that the carrier has sent about an order, in the order of their arrival. A late event is included after the
// next event, or once the order has no remaining steps. Events returns nil for an unknown order.
func (c *Carrier) Events(ref string) []CarrierEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.find(func(o *carried) bool { return o.Ref == ref })
	if o == nil {
		return nil
	}
	if len(o.left) == 0 {
		return slices.Concat(o.events, o.late)
	}
	return slices.Clone(o.events)
}

// Cancel asks the carrier to cancel an order. A repeated call changes nothing. It returns CodeNotFound if the order is absent, and a
// *porting.Refusal if the script refuses cancellations immediately.
func (c *Carrier) Cancel(ref string) (CarrierOrder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.find(func(o *carried) bool { return o.Ref == ref })
	switch {
	case o == nil:
		return CarrierOrder{}, callwright.NotFound("order")
	case c.script.RefusesCancel != "":
		return CarrierOrder{}, refusal(c.script.RefusesCancel)
	case !o.CancelAsked:
		o.CancelAsked, o.left = true, slices.Concat(c.script.OnCancel, o.left)
		o.Version++
	}
	return o.clone(), nil
}

// Step applies the next step of the script to every order that has one left.
func (c *Carrier) Step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.orders {
		if len(o.left) > 0 {
			step := o.left[0]
			o.left = o.left[1:]
			o.apply(step)
		}
	}
}

// apply applies a step. If the order changes, apply increments its version and sends an event.
func (o *carried) apply(s CarrierStep) {
	if s.FOC.IsZero() {
		s.FOC = time.Date(2030, time.June, 3, 12, 0, 0, 0, time.UTC)
	}
	changed := s.RefuseCancel && !o.CancelRefused
	o.CancelRefused = o.CancelRefused || s.RefuseCancel
	for i := range o.Numbers {
		if n := &o.Numbers[i]; (i == len(o.Numbers)-1 || !s.Last) && s.moves(*n) {
			s.move(n)
			changed = true
		}
	}
	if changed {
		o.Version++
		o.send(s.Event)
	}
}

// moves reports whether the step changes a number. It returns false for numbers that have ended.
func (s CarrierStep) moves(n porting.NumberSnapshot) bool {
	switch {
	case n.State.Ended():
		return false
	case s.State == "" || s.State == n.State:
		return s.Unknown || s.Failure != ""
	}
	return n.State == "" || n.State.CanBecome(s.State)
}

func (s CarrierStep) move(n *porting.NumberSnapshot) {
	if s.Unknown {
		n.State = ""
	} else if s.State != "" {
		n.State = s.State
	}
	n.FOC, n.PortedAt, n.Failure = time.Time{}, time.Time{}, nil
	if n.State == porting.NumberConfirmed || n.State == porting.NumberPorted {
		n.FOC = s.FOC
	}
	if n.State == porting.NumberPorted {
		n.PortedAt = s.FOC
	}
	if s.Failure != "" {
		n.Failure = &refusal(s.Failure).Failure
	}
}

// send records an event as its fault requires: once, twice, later, or not at all. Late events follow the next event that is recorded.
func (o *carried) send(f EventFault) {
	e := CarrierEvent{ID: fmt.Sprintf("%s-%d", o.Ref, o.Version), Ref: o.Ref}
	switch f {
	case NotSent:
		return
	case SentLate:
		o.late = append(o.late, e)
		return
	case SentTwice:
		o.events = append(o.events, e)
	case SentOnce:
	}
	o.events = append(append(o.events, e), o.late...)
	o.late = nil
}

// clone returns a deep copy of the order.
func (o *carried) clone() CarrierOrder {
	c := o.CarrierOrder
	c.Numbers = slices.Clone(c.Numbers)
	for i, n := range c.Numbers {
		if n.Failure != nil {
			f := *n.Failure
			c.Numbers[i].Failure = &f
		}
	}
	return c
}
