package portingtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// GatewayCase selects the behavior of the carrier in a test of RunGateway.
type GatewayCase string

// These constants are the cases of RunGateway. In each case the carrier finally ports all numbers, unless the comment states otherwise.
const (
	Ports              GatewayCase = "ports"
	PortsPartly        GatewayCase = "ports partly"         // the last number is rejected
	CancelsLater       GatewayCase = "cancels later"        // cancels on request, immediately or later
	RefusesToCancel    GatewayCase = "refuses to cancel"    // refuses the request to cancel
	PortsDespiteCancel GatewayCase = "ports despite cancel" // ports all numbers before it has processed the request to cancel
	ReportsUnknown     GatewayCase = "reports unknown"      // reports an undocumented status of the last number for a while
	RefusesOrder       GatewayCase = "refuses order"        // refuses every order when it is submitted
	LosesAnswer        GatewayCase = "loses answer"         // accepts the first order, but its answer is lost
	NeverAnswers       GatewayCase = "never answers"        // never answers the requests that Submit, Cancel or Snapshot sends
)

// GatewayHarness contains a gateway under test, and functions that control its carrier.
type GatewayHarness struct {
	Gateway  porting.Gateway
	Numbers  []callwright.PhoneNumber             // the two numbers of every order; the carrier handles them as the case says
	SignedAt time.Time                            // SignedAt of all orders; their TargetDate is eight days later
	Step     func()                               // makes the carrier take its next step; after 50 steps every order must have ended
	Events   func(o porting.Order) []GatewayEvent // messages so far about an order, at least two after its end; nil if no EventReader
	Orders   func() int                           // returns the number of the carrier's orders; nil if the suite must not count them
}

// GatewayEvent is a carrier's HTTP message about an event.
type GatewayEvent struct {
	Header map[string][]string
	Body   []byte
}

// gatewaySteps is the number of steps after which a carrier must have ended every order.
const gatewaySteps = 50

// gatewayPatience is the time within which a method must return after its context has ended.
const gatewayPatience = 10 * time.Second

// gatewayTests lists the tests of RunGateway, each with the case that its carrier follows.
var gatewayTests = []struct {
	name string
	of   GatewayCase
	run  func(reporter, gateway)
}{
	{"says what it can do", Ports, saysWhatItCan},
	{"checks numbers in their order", Ports, checksNumbers},
	{"submits an order once", Ports, submitsOnce},
	{"knows no order that was not submitted", Ports, knowsNoOther},
	{"ports", Ports, ports},
	{"ports a part", PortsPartly, portsPartly},
	{"cancels", CancelsLater, cancels},
	{"goes on when the carrier refuses to cancel", RefusesToCancel, goesOn},
	{"ports what was ported before it was canceled", PortsDespiteCancel, portsDespite},
	{"leaves a number alone whose status it does not know", ReportsUnknown, reportsUnknown},
	{"passes a refusal on", RefusesOrder, refusesOrder},
	{"submits again when the answer was lost", LosesAnswer, losesAnswer},
	{"ends with its context", NeverAnswers, endsWithContext},
	{"takes events twice and in any order", Ports, takesEvents},
}

// reporter contains the methods of *testing.T that the suite calls. A recorder also implements it, to find out which tests a faulty gateway
// fails.
type reporter interface {
	Helper()
	Context() context.Context
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// RunGateway tests a porting.Gateway. newGateway returns a new gateway whose carrier has no orders and behaves as case c.
func RunGateway(t *testing.T, newGateway func(t *testing.T, c GatewayCase) GatewayHarness) {
	t.Helper()
	for _, test := range gatewayTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, gateway{newGateway(t, test.of)})
		})
	}
}

// gateway wraps the gateway under test with helpers.
type gateway struct{ GatewayHarness }

// submission returns a complete submission with a key, for the two numbers of the harness.
func (g gateway) submission(key string) porting.Submission {
	day := g.SignedAt.UTC().Truncate(24 * time.Hour)
	return porting.Submission{
		Order: porting.Order{
			Key: key, Numbers: slices.Clone(g.Numbers), TargetDate: day.AddDate(0, 0, 8), SignedAt: g.SignedAt,
		},
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: "Acme Bakery", FirstName: "Robin", LastName: "Doe", AccountNumber: "88231",
			Email:   "robin@example.com",
			Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
		PINs:      map[callwright.PhoneNumber]callwright.Secret{g.Numbers[0]: "4711"},
		Documents: []string{"doc_1"},
	}
}

// submit submits an order, and stops the test if it fails or the reference is invalid.
func (g gateway) submit(t reporter, key string) porting.Order {
	t.Helper()
	s := g.submission(key)
	r, err := g.Gateway.Submit(t.Context(), s)
	if err != nil || r.Ref == "" || len(r.Ref) > porting.MaxRef {
		t.Fatalf("submit gave the reference %q, %v", r.Ref, err)
	}
	s.Ref = r.Ref
	return s.Order
}

// look returns a snapshot, and checks that it contains each number once, with the fields that its state requires.
func (g gateway) look(t reporter, o porting.Order) porting.Snapshot {
	t.Helper()
	s, err := g.Gateway.Snapshot(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []callwright.PhoneNumber
	for _, n := range s.Numbers {
		numbers = append(numbers, n.Number)
		switch {
		case n.State == porting.NumberPorted && n.PortedAt.IsZero():
			t.Errorf("%s is ported, at no time", n.Number)
		case n.State == porting.NumberConfirmed && n.FOC.IsZero():
			t.Errorf("%s is confirmed, without a date", n.Number)
		case n.State == porting.NumberRejected && n.Failure == nil:
			t.Errorf("%s is rejected, without a reason", n.Number)
		}
		if f := n.Failure; f != nil && f.Code.Remedy().Code != f.Code {
			t.Errorf("%s has the failure %q, which porting does not know", n.Number, f.Code)
		}
	}
	slices.Sort(numbers)
	if !slices.Equal(numbers, slices.Sorted(slices.Values(o.Numbers))) {
		t.Errorf("the order has the numbers %v, its snapshot %v", o.Numbers, numbers)
	}
	return s
}

// end makes the carrier take gatewaySteps steps, and returns the last snapshot. It checks that every snapshot is a legal successor of the
// previous one.
func (g gateway) end(t reporter, o porting.Order) porting.Snapshot {
	t.Helper()
	was := map[callwright.PhoneNumber]porting.NumberState{}
	var last porting.Snapshot
	for range gatewaySteps {
		s := g.look(t, o)
		if s.Version < last.Version {
			t.Errorf("version %d comes after %d", s.Version, last.Version)
		}
		for _, n := range s.Numbers {
			if n.State == "" {
				continue
			}
			before := was[n.Number]
			if before != "" && before != n.State && !before.CanBecome(n.State) {
				t.Errorf("%s was %s and is %s", n.Number, before, n.State)
			}
			was[n.Number] = n.State
		}
		last = s
		g.Step()
	}
	return last
}

// states returns the states of an order's numbers in a snapshot, in the order of o.Numbers.
func states(o porting.Order, s porting.Snapshot) (all []porting.NumberState) {
	for _, number := range o.Numbers {
		for _, n := range s.Numbers {
			if n.Number == number {
				all = append(all, n.State)
			}
		}
	}
	return all
}

func (g gateway) wantEnd(t reporter, o porting.Order, want ...porting.NumberState) porting.Snapshot {
	t.Helper()
	s := g.end(t, o)
	if got := states(o, s); !slices.Equal(got, want) {
		t.Errorf("the numbers end %v, want %v", got, want)
	}
	return s
}

func saysWhatItCan(t reporter, g gateway) {
	c := g.Gateway.Capabilities()
	if c.Name == "" || c.MaxNumbers < 1 || c.CutOff < 0 || c != g.Gateway.Capabilities() {
		t.Errorf("got %+v, then %+v", c, g.Gateway.Capabilities())
	}
}

func checksNumbers(t reporter, g gateway) {
	backwards := slices.Clone(g.Numbers)
	slices.Reverse(backwards)
	for _, numbers := range [][]callwright.PhoneNumber{g.Numbers, backwards} {
		got, err := g.Gateway.CheckNumbers(t.Context(), numbers)
		if errors.Is(err, callwright.ErrNotImplemented) {
			return
		}
		if err != nil || len(got) != len(numbers) {
			t.Fatalf("got %+v, %v", got, err)
		}
		for i, p := range got {
			if p.Number != numbers[i] || p.Type == "" || p.Portable != (p.Failure == "") {
				t.Errorf("%d: got %+v for %s", i, p, numbers[i])
			}
		}
	}
}

func submitsOnce(t reporter, g gateway) {
	first := g.submit(t, "r1:1")
	refs := make([]string, 8)
	var all sync.WaitGroup
	for i := range refs {
		all.Go(func() {
			key := "r1:1"
			if i%2 == 1 {
				key = "r2:1"
			}
			r, err := g.Gateway.Submit(t.Context(), g.submission(key))
			if err != nil {
				t.Error(err)
			}
			refs[i] = r.Ref
		})
	}
	all.Wait()
	second := refs[1]
	for i, ref := range refs {
		if want := []string{first.Ref, second}[i%2]; ref != want {
			t.Errorf("%d: got the reference %q, want %q", i, ref, want)
		}
	}
	if first.Ref == second {
		t.Errorf("two orders have the reference %q", second)
	}
	g.wantOrders(t, 2)
	g.end(t, first)
	if again := g.submit(t, "r1:1"); again.Ref != first.Ref {
		t.Errorf("after its end the order has the reference %q, want %q", again.Ref, first.Ref)
	}
	g.wantOrders(t, 2)
}

func (g gateway) wantOrders(t reporter, want int) {
	t.Helper()
	if g.Orders == nil {
		return
	}
	if got := g.Orders(); got != want {
		t.Errorf("the carrier has %d orders, want %d", got, want)
	}
}

func knowsNoOther(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	o.Key, o.Ref = "r2:1", "absent"
	if _, err := g.Gateway.Snapshot(t.Context(), o); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a snapshot gave %v, want not found", err)
	}
	o.CancelAskedAt = o.SignedAt
	if err := g.Gateway.Cancel(t.Context(), o); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("canceling gave %v, want not found", err)
	}
}

func ports(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	g.wantEnd(t, o, porting.NumberPorted, porting.NumberPorted)
}

func portsPartly(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	g.wantEnd(t, o, porting.NumberPorted, porting.NumberRejected)
}

// cancel sets o.CancelAskedAt and cancels the order twice. It checks that both calls succeed or both fail.
func (g gateway) cancel(t reporter, o *porting.Order) error {
	t.Helper()
	o.CancelAskedAt = o.SignedAt.Add(time.Minute)
	err := g.Gateway.Cancel(t.Context(), *o)
	again := g.Gateway.Cancel(t.Context(), *o)
	if (err == nil) != (again == nil) {
		t.Errorf("canceling gave %v, and then %v", err, again)
	}
	return err
}

func cancels(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	if err := g.cancel(t, &o); err != nil {
		t.Fatal(err)
	}
	if s := g.wantEnd(t, o, porting.NumberCanceled, porting.NumberCanceled); s.CancelRefused {
		t.Error("the order is canceled, and the carrier refuses to")
	}
}

func goesOn(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	err := g.cancel(t, &o)
	refusal, refused := errors.AsType[*porting.Refusal](err)
	if err != nil && !refused {
		t.Fatal(err)
	}
	for i := 0; !refused && i < gatewaySteps; i++ {
		refused = g.look(t, o).CancelRefused
		g.Step()
	}
	if !refused || refusal != nil && refusal.Failure.Code == "" {
		t.Errorf("the carrier has not refused: %v", refusal)
	}
	o.CancelAskedAt = time.Time{}
	if s := g.wantEnd(t, o, porting.NumberPorted, porting.NumberPorted); s.CancelRefused {
		t.Error("nobody wants to cancel any more, and the carrier refuses to")
	}
}

func portsDespite(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	if err := g.cancel(t, &o); err != nil {
		t.Fatal(err)
	}
	g.wantEnd(t, o, porting.NumberPorted, porting.NumberPorted)
}

func reportsUnknown(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	seen := false
	for range gatewaySteps {
		seen = seen || slices.Contains(states(o, g.look(t, o)), "")
		g.Step()
	}
	if !seen {
		t.Error("no snapshot has a number with a status that is not known")
	}
	g.wantEnd(t, o, porting.NumberPorted, porting.NumberPorted)
}

func refusesOrder(t reporter, g gateway) {
	for range 2 {
		_, err := g.Gateway.Submit(t.Context(), g.submission("r1:1"))
		refusal, ok := errors.AsType[*porting.Refusal](err)
		if !ok || refusal.Failure.Code == "" || refusal.Error() == "" {
			t.Errorf("got %v, want a refusal with a reason", err)
		}
	}
	g.wantOrders(t, 0)
}

func losesAnswer(t reporter, g gateway) {
	r, err := g.Gateway.Submit(t.Context(), g.submission("r1:1"))
	if _, refused := errors.AsType[*porting.Refusal](err); refused {
		t.Fatalf("the answer was lost, and got %v", err)
	}
	o := g.submit(t, "r1:1")
	if err == nil && r.Ref != o.Ref { // the gateway has retried by itself
		t.Errorf("the answer was lost, and got the reference %q, then %q", r.Ref, o.Ref)
	}
	g.wantOrders(t, 1)
	g.wantEnd(t, o, porting.NumberPorted, porting.NumberPorted)
}

func endsWithContext(t reporter, g gateway) {
	s := g.submission("r1:1")
	taken := s.Order
	taken.Ref, taken.CancelAskedAt = "r1", s.SignedAt
	for name, call := range map[string]func(context.Context) error{
		"submit":   func(ctx context.Context) error { _, err := g.Gateway.Submit(ctx, s); return err },
		"cancel":   func(ctx context.Context) error { return g.Gateway.Cancel(ctx, taken) },
		"snapshot": func(ctx context.Context) error { _, err := g.Gateway.Snapshot(ctx, taken); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		cancel()
		select {
		case err := <-done:
			if _, refused := errors.AsType[*porting.Refusal](err); err == nil || refused {
				t.Errorf("%s: the carrier has not answered, and got %v", name, err)
			}
		case <-time.After(gatewayPatience):
			t.Errorf("%s goes on after the end of its context", name)
		}
	}
}

func takesEvents(t reporter, g gateway) {
	o := g.submit(t, "r1:1")
	last := g.wantEnd(t, o, porting.NumberPorted, porting.NumberPorted)
	reader, reads := g.Gateway.(porting.EventReader)
	if g.Events == nil || !reads {
		if reads {
			t.Error("the gateway reads events, and the harness has none")
		}
		return
	}
	events := g.Events(o)
	if len(events) < 2 {
		t.Fatalf("the carrier has sent %d events about an order from its beginning to its end", len(events))
	}
	backwards := slices.Clone(events)
	slices.Reverse(backwards)
	ids := map[string]int{}
	for _, e := range slices.Concat(events, backwards) {
		hints, err := reader.ReadEvents(e.Header, e.Body)
		if err != nil || len(hints) == 0 {
			t.Fatalf("got %v, %v", hints, err)
		}
		for _, h := range hints {
			ids[h.Event]++
			if h.Ref != o.Ref || h.Event == "" {
				t.Errorf("got %+v, want the reference %q", h, o.Ref)
			}
		}
		changed := slices.Clone(e.Body)
		changed[len(changed)/2] ^= 1
		if _, err := reader.ReadEvents(e.Header, changed); !errors.Is(err, callwright.ErrAuthFailure) {
			t.Errorf("a changed message gave %v, want %s", err, callwright.CodeAuthFailure)
		}
		if _, err := reader.ReadEvents(nil, e.Body); !errors.Is(err, callwright.ErrAuthFailure) {
			t.Errorf("a message without a header gave %v, want %s", err, callwright.CodeAuthFailure)
		}
	}
	for id, times := range ids {
		if times%2 != 0 {
			t.Errorf("the event %q has another id when it comes again", id)
		}
	}
	if again := g.look(t, o); again.Version < last.Version || !slices.Equal(states(o, again), states(o, last)) {
		t.Errorf("events have changed the order: %+v, then %+v", last, again)
	}
}
