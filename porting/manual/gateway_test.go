package manual_test

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/porting/portingtest"
)

var signed = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// clock is a callwright.Clock that always returns the same time.
type clock struct{}

func (clock) Now() time.Time { return signed.Add(time.Hour) }

func newGateway(t *testing.T, c manual.Config) *manual.Gateway {
	t.Helper()
	c.Clock = clock{}
	g, err := manual.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lossy is a store whose first InsertOrder stores the order but returns CodeUnavailable.
type lossy struct {
	manual.Store

	lost atomic.Bool
}

func (s *lossy) InsertOrder(ctx context.Context, o manual.Order) error {
	err := s.Store.InsertOrder(ctx, o)
	if err == nil && !s.lost.Swap(true) {
		return callwright.ErrUnavailable
	}
	return err
}

// frozen is a store whose InsertOrder and Order block until their context ends.
type frozen struct{ manual.Store }

func (frozen) InsertOrder(ctx context.Context, _ manual.Order) error {
	<-ctx.Done()
	return ctx.Err()
}

func (frozen) Order(ctx context.Context, _ string) (manual.Order, error) {
	<-ctx.Done()
	return manual.Order{}, ctx.Err()
}

// operator simulates the operator, who copies orders to a scripted carrier and the carrier's news back to the gateway.
type operator struct {
	t       *testing.T
	gateway *manual.Gateway
	store   manual.Store
	carrier *portingtest.Carrier
}

// orders returns the first page of the gateway's orders.
func (op *operator) orders() []manual.Order {
	op.t.Helper()
	page, err := op.gateway.Orders(op.t.Context(), false, callwright.Keyset{}, 0)
	op.must(err)
	return page.Items
}

func (op *operator) must(err error) {
	op.t.Helper()
	if err != nil {
		op.t.Fatal(err)
	}
}

// step passes all orders and cancellations to the carrier, makes the carrier take its next step, and enters the result.
func (op *operator) step() {
	var all []portingtest.CarrierOrder
	for _, o := range op.orders() {
		taken, err := op.carrier.Create(o.Ref, o.Submission.Numbers)
		op.must(err)
		if !o.CancelAskedAt.IsZero() {
			_, err := op.carrier.Cancel(taken.Ref)
			op.must(err)
		}
		all = append(all, taken)
	}
	op.carrier.Step()
	for i, o := range op.orders() {
		now, err := op.carrier.Order(all[i].Ref)
		op.must(err)
		if now.CancelRefused && !o.CancelRefused {
			_, err := op.gateway.RefuseCancel(op.t.Context(), o.Ref)
			op.must(err)
		}
		for i, n := range now.Numbers {
			op.enter(o.Ref, i, n)
		}
	}
}

// enter records the carrier's state of a number. If that state is unknown, it stores a state that only a newer release could know, and
// replaces this state directly in the store as soon as the carrier's state is known.
func (op *operator) enter(ref string, i int, n porting.NumberSnapshot) {
	const reserved = "reserved"
	o, err := op.store.Order(op.t.Context(), ref)
	op.must(err)
	was := &o.Numbers[i].State
	switch {
	case n.State == *was:
	case n.State == "", *was == reserved:
		*was = cmp.Or(n.State, reserved)
		o.Numbers[i].FOC = n.FOC
		op.must(op.store.UpdateOrder(op.t.Context(), o))
	default:
		m := manual.Move{Numbers: []callwright.PhoneNumber{n.Number}, State: n.State, Failure: n.Failure}
		if m.State == porting.NumberConfirmed {
			m.FOC = n.FOC
		}
		_, err := op.gateway.Move(op.t.Context(), ref, m)
		op.must(err)
	}
}

func TestConforms(t *testing.T) {
	t.Parallel()
	portingtest.RunGateway(t, func(t *testing.T, c portingtest.GatewayCase) portingtest.GatewayHarness {
		config := manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}}
		switch c {
		case portingtest.RefusesOrder:
			config.MaxNumbers = 1
		case portingtest.LosesAnswer:
			config.Store = &lossy{Store: config.Store}
		case portingtest.NeverAnswers:
			config.Store = frozen{config.Store}
		default:
		}
		g := newGateway(t, config)
		script := portingtest.ScriptOf(c)
		script.Idempotent = true
		op := &operator{t: t, gateway: g, store: config.Store, carrier: portingtest.NewCarrier(script)}
		return portingtest.GatewayHarness{
			Gateway: g, Numbers: []callwright.PhoneNumber{"+14155550100", "+14155550101"}, SignedAt: signed,
			Step: op.step, Orders: func() int { return len(op.orders()) },
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := manual.New(manual.Config{}); err == nil {
		t.Error("a gateway without a store was made")
	}
	store := portingstore.ManualOrders{Store: memstore.New()}
	if _, err := manual.New(manual.Config{Store: store, MaxNumbers: -1}); err == nil {
		t.Error("a gateway for less than no numbers was made")
	}
	for cutOff, want := range map[time.Duration]time.Duration{0: 48 * time.Hour, -1: 0, time.Hour: time.Hour} {
		c := newGateway(t, manual.Config{Store: store, CutOff: cutOff}).Capabilities()
		if c != (porting.Capabilities{Name: manual.Name, MaxNumbers: porting.MaxNumbers, CutOff: want}) {
			t.Errorf("cut-off %s: got %+v", cutOff, c)
		}
	}
}

// TestWishAgain checks that a cancellation that is newer than a refused one does not count as refused.
func TestWishAgain(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	o := submit(t, g)
	wish := func(minute int, refused bool) {
		t.Helper()
		o.CancelAskedAt = signed.Add(time.Duration(minute) * time.Minute)
		if err := g.Cancel(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if s, err := g.Snapshot(t.Context(), o); err != nil || s.CancelRefused != refused {
			t.Errorf("minute %d: refused is %t, %v", minute, s.CancelRefused, err)
		}
	}
	wish(1, false)
	for range 2 {
		if _, err := g.RefuseCancel(t.Context(), o.Ref); err != nil {
			t.Fatal(err)
		}
	}
	wish(1, true)
	wish(2, false)
	if _, err := g.Move(t.Context(), o.Ref, manual.Move{State: porting.NumberCanceled}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.RefuseCancel(t.Context(), o.Ref); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("refusing to cancel what is canceled gave %v", err)
	}
}
