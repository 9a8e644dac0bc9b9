package portingtest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// CarrierScript is the behaviour of a Carrier. The zero value accepts every order, and accepts, confirms and ports it with three
// steps.
type CarrierScript struct {
	// Steps are the steps of every order, one for each call of Carrier.Step. Nil: Accepts, Confirms and Completes.
	Steps []CarrierStep
	// OnCancel are steps that come before those left after a request to cancel. Nil: Cancels.
	OnCancel []CarrierStep
	// Refuses is why the carrier takes no order. Empty: it takes orders.
	Refuses porting.FailureCode
	// RefusesCancel is the reason for which the carrier refuses a cancellation immediately; OnCancel has the later refusals. Empty:
	// it accepts the request.
	RefusesCancel porting.FailureCode
	// Idempotent makes Carrier.Create return the first order of a key at further calls. False: it creates another order, like carriers
	// that only note a key, so that the gateway must first look for it with Carrier.Find.
	Idempotent bool

	// LosesAnswer makes Carrier.Serve lose the first answer after the carrier has an order.
	LosesAnswer bool
	// Fault returns the fault of the next request to Carrier.Serve. Calls are not concurrent, so that it may count. Nil: no faults.
	Fault func() Fault

	hanging func() // is called when a request begins to hang; nil: none
}

// CarrierStep is an action of a carrier on the unended numbers of an order. The zero value does nothing: carriers take days.
type CarrierStep struct {
	State        porting.NumberState // of the numbers from now on; empty: as before. A number that cannot become that stays unchanged
	Last         bool                // the order's last number only
	Unknown      bool                // the numbers have a status that the carrier's documents do not name, until another step gives them a State
	FOC          time.Time           // the date confirmed by NumberConfirmed, and the time of NumberPorted; zero: noon UTC of June 3, 2030
	Failure      porting.FailureCode // why the numbers are rejected, or wait; empty: nothing holds them up
	RefuseCancel bool                // the carrier answers the request to cancel: it continues
	Event        EventFault          // of the event of the step
}

// The usual steps of a carrier.
var (
	Accepts   = CarrierStep{State: porting.NumberInProgress}
	Confirms  = CarrierStep{State: porting.NumberConfirmed}
	Completes = CarrierStep{State: porting.NumberPorted}
	Cancels   = CarrierStep{State: porting.NumberCanceled}
)

// EventFault is a fault in an event of a carrier.
type EventFault string

// The faults of events.
const (
	SentOnce  EventFault = ""      // nothing goes wrong
	SentTwice EventFault = "twice" // with the same id
	SentLate  EventFault = "late"  // after the event of the next step
	NotSent   EventFault = "not"
)

// CarrierOrder is an order as its carrier has it.
type CarrierOrder struct {
	Ref           string
	Key           string                   // as in Carrier.Create
	Numbers       []porting.NumberSnapshot // an empty State stands for a status that the carrier's documents do not name
	Version       int64                    // rises with every change
	CancelAsked   bool
	CancelRefused bool
}

// CarrierEvent is an event about a changed order of a carrier.
type CarrierEvent struct {
	ID  string // the same when the event is sent again
	Ref string
}

// Carrier is a carrier that does what its script says, for tests of gateways. It speaks the language of no real carrier: a handler of
// yours has the requests of that carrier's API call the methods, and words their results as that carrier does. Serve adds the faults of
// the script, and the Handler of adapters/portgateway/carrierhttp plays them over HTTP. RunCarrierGateway makes a whole suite of that. All
// methods may be called concurrently.
type Carrier struct {
	script CarrierScript

	mu     sync.Mutex
	orders []*carried
	lost   bool // the answer of CarrierScript.LosesAnswer
}

// carried is an order with its remaining steps.
type carried struct {
	CarrierOrder

	left   []CarrierStep
	events []CarrierEvent
	late   []CarrierEvent // are sent after the next event
}

// NewCarrier returns a carrier without orders.
func NewCarrier(s CarrierScript) *Carrier {
	if s.Steps == nil {
		s.Steps = []CarrierStep{Accepts, Confirms, Completes}
	}
	if s.OnCancel == nil {
		s.OnCancel = []CarrierStep{Cancels}
	}
	return &Carrier{script: s}
}

// ScriptOf returns the script of a carrier for a case of RunGateway.
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

// Create makes an order, and returns it. A *porting.Refusal: the script refuses orders.
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

// find returns the first order of which a function is true; nil: there is none.
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

// Order returns an order. CodeNotFound: there is none.
func (c *Carrier) Order(ref string) (CarrierOrder, error) {
	return c.get(func(o *carried) bool { return o.Ref == ref })
}

// Find returns the first order of a key. CodeNotFound: there is none.
func (c *Carrier) Find(key string) (CarrierOrder, error) {
	return c.get(func(o *carried) bool { return o.Key == key })
}

// Orders returns all orders, the oldest first.
func (c *Carrier) Orders() (all []CarrierOrder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.orders {
		all = append(all, o.clone())
	}
	return all
}

// Events returns the carrier's events about an order so far, in the order of their arrival. An order that has ended has sent late
// events, too.
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

// Cancel asks to cancel an order. Asking again changes nothing. CodeNotFound: there is none. A *porting.Refusal: the script refuses
// immediately.
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

// Step applies the next step of the script to every order.
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

// apply applies a step.
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

// moves reports whether the step changes a number.
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

// send sends an event, and delayed ones.
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

// clone returns a copy that shares no memory with the order.
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
