package manual_test

import (
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

// clock stands still.
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

// lossy loses the answer to the first InsertOrder.
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

// frozen is a store with a database that does not answer.
type frozen struct{ manual.Store }

func (frozen) InsertOrder(ctx context.Context, _ manual.Order) error {
	<-ctx.Done()
	return ctx.Err()
}

func (frozen) Order(ctx context.Context, _ string) (manual.Order, error) {
	<-ctx.Done()
	return manual.Order{}, ctx.Err()
}

// operator handles all orders as the carrier of a case.
type operator struct {
	t       *testing.T
	gateway *manual.Gateway
	store   manual.Store
	of      portingtest.GatewayCase
	steps   int
}

// orders returns all orders.
func (op *operator) orders() []manual.Order {
	op.t.Helper()
	page, err := op.gateway.Orders(op.t.Context(), false, callwright.Keyset{}, 0)
	if err != nil {
		op.t.Fatal(err)
	}
	return page.Items
}

// step takes the carrier's next step with every order.
func (op *operator) step() {
	op.steps++
	for _, o := range op.orders() {
		if o.Ended() {
			continue
		}
		if op.of == portingtest.ReportsUnknown && op.steps < 4 {
			op.puzzle(o, op.steps)
			continue
		}
		if !o.CancelAskedAt.IsZero() && !o.CancelRefused {
			op.answer(o)
			continue
		}
		op.advance(o)
	}
}

// puzzle sets the last number to a state of a newer release.
func (op *operator) puzzle(o manual.Order, step int) {
	op.t.Helper()
	o.Numbers[1].State = map[int]porting.NumberState{1: "reserved", 2: "reserved", 3: porting.NumberInProgress}[step]
	if err := op.store.UpdateOrder(op.t.Context(), o); err != nil {
		op.t.Fatal(err)
	}
}

// answer answers a wish to cancel.
func (op *operator) answer(o manual.Order) {
	switch op.of {
	case portingtest.RefusesToCancel:
		if _, err := op.gateway.RefuseCancel(op.t.Context(), o.Ref); err != nil {
			op.t.Fatal(err)
		}
	case portingtest.PortsDespiteCancel:
		op.move(o, manual.Move{State: porting.NumberPorted})
	default:
		op.move(o, manual.Move{State: porting.NumberCanceled})
	}
}

// advance moves an order one step further.
func (op *operator) advance(o manual.Order) {
	switch {
	case o.Numbers[0].State == porting.NumberSubmitted:
		op.move(o, manual.Move{State: porting.NumberInProgress})
	case o.Numbers[0].State == porting.NumberInProgress && op.of == portingtest.PortsPartly:
		op.move(o, manual.Move{
			Numbers: []callwright.PhoneNumber{o.Numbers[1].Number}, State: porting.NumberRejected,
			Failure: &porting.Failure{Code: porting.PINInvalid, Raw: "PIN?"},
		})
		op.of = portingtest.Ports
	case o.Numbers[0].State == porting.NumberInProgress:
		op.move(o, manual.Move{State: porting.NumberConfirmed, FOC: signed.AddDate(0, 0, 8)})
	default:
		op.move(o, manual.Move{State: porting.NumberPorted, PortedAt: signed.Add(time.Minute)})
	}
}

func (op *operator) move(o manual.Order, m manual.Move) {
	op.t.Helper()
	if _, err := op.gateway.Move(op.t.Context(), o.Ref, m); err != nil {
		op.t.Fatal(err)
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
		op := &operator{t: t, gateway: g, store: config.Store, of: c}
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

// TestWishAgain: a cancellation newer than a refused one is not refused.
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
