package portingtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/portingtest"
)

var signed = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// simulated is a correct gateway that counts the orders of its carrier.
type simulated struct {
	*portgateway.Simulated

	mu       sync.Mutex
	now      time.Time
	orders   map[string]bool // keys of submitted orders
	extra    int             // number of additional orders that a fault has created at the carrier
	released chan struct{}   // closed at the end of the test
}

func (s *simulated) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Submit submits an order, and counts it unless the carrier refuses it.
func (s *simulated) Submit(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
	r, err := s.Simulated.Submit(ctx, sub)
	if _, refused := errors.AsType[*porting.Refusal](err); !refused {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.orders[sub.Key] = true
	}
	return r, err
}

// more counts a surplus order, and returns the number of surplus orders.
func (s *simulated) more() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra++
	return s.extra
}

// faulty is a gateway in which a test can replace each method of the simulated gateway, or change its result.
type faulty struct {
	*simulated

	capabilities func(c porting.Capabilities) porting.Capabilities
	check        func(all []porting.Portability) []porting.Portability
	submit       func(ctx context.Context, sub porting.Submission) (porting.Receipt, error)
	cancel       func(ctx context.Context, o porting.Order) error
	look         func(ctx context.Context, o porting.Order) (porting.Snapshot, error)
	change       func(o porting.Order, s *porting.Snapshot)       // modifies the snapshot that look returns
	number       func(o porting.Order, n *porting.NumberSnapshot) // modifies each number of that snapshot
	read         func(header map[string][]string, body []byte) ([]porting.Hint, error)
}

func (f *faulty) Capabilities() porting.Capabilities {
	return f.capabilities(f.simulated.Capabilities())
}

func (f *faulty) CheckNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]porting.Portability, error) {
	all, err := f.simulated.CheckNumbers(ctx, numbers)
	return f.check(all), err
}

func (f *faulty) Submit(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
	return f.submit(ctx, sub)
}

func (f *faulty) Cancel(ctx context.Context, o porting.Order) error { return f.cancel(ctx, o) }

func (f *faulty) Snapshot(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
	s, err := f.look(ctx, o)
	f.change(o, &s)
	for i := range s.Numbers {
		f.number(o, &s.Numbers[i])
	}
	return s, err
}

func (f *faulty) ReadEvents(header map[string][]string, body []byte) ([]porting.Hint, error) {
	return f.read(header, body)
}

// harness returns a gateway with a fault, whose carrier behaves as case c.
func harness(t *testing.T, c portingtest.GatewayCase, released chan struct{}, fault func(f *faulty)) portingtest.GatewayHarness {
	t.Helper()
	last := map[portingtest.GatewayCase]callwright.PhoneNumber{
		portingtest.Ports: "00", portingtest.PortsPartly: "06", portingtest.CancelsLater: "41", portingtest.RefusesToCancel: "50",
		portingtest.PortsDespiteCancel: "51", portingtest.ReportsUnknown: "60", portingtest.RefusesOrder: "61",
		portingtest.LosesAnswer: "62", portingtest.NeverAnswers: "63",
	}
	s := &simulated{now: signed, orders: map[string]bool{}, released: released}
	var err error
	if s.Simulated, err = portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier", Runtime: callwright.Runtime{Clock: s}}); err != nil {
		t.Fatal(err)
	}
	f := &faulty{
		simulated: s, capabilities: func(c porting.Capabilities) porting.Capabilities { return c },
		check: func(all []porting.Portability) []porting.Portability { return all }, submit: s.Submit, cancel: s.Cancel, look: s.Snapshot,
		change: func(porting.Order, *porting.Snapshot) {}, number: func(porting.Order, *porting.NumberSnapshot) {}, read: s.ReadEvents,
	}
	fault(f)
	return portingtest.GatewayHarness{
		Gateway: f, Numbers: []callwright.PhoneNumber{"+14155551234", "+141555501" + last[c]}, SignedAt: signed,
		Step: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.now = s.now.Add(6 * time.Hour)
		},
		Events: func(o porting.Order) (sent []portingtest.GatewayEvent) {
			for n := range 3 {
				header, body := s.Event(o, n)
				sent = append(sent, portingtest.GatewayEvent{Header: header, Body: body})
			}
			return sent
		},
		Orders: func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.orders) + s.extra
		},
	}
}

// check runs the suite on a gateway with a fault, and returns the reports of the failed tests by name.
func check(t *testing.T, fault func(f *faulty)) (failed map[string][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		failed = portingtest.CheckGateway(t.Context(), func(c portingtest.GatewayCase) portingtest.GatewayHarness {
			return harness(t, c, released, fault)
		})
		close(released)
	})
	return failed
}

func TestRunGatewayPassesARightGateway(t *testing.T) {
	t.Parallel()
	if failed := check(t, func(*faulty) {}); len(failed) > 0 {
		t.Errorf("a gateway without a fault fails %q", failed)
	}
}

// TestRunGatewayCatchesFaults checks that every test of the suite fails for a gateway with the fault that the test must detect.
func TestRunGatewayCatchesFaults(t *testing.T) {
	t.Parallel()
	catches := map[string]bool{}
	for _, all := range [][]fault{faultsOfOrders(), faultsOfSnapshots(), faultsOfCanceling(), faultsOfAnswers(), faultsOfEvents()} {
		for _, f := range all {
			catches[f.caughtBy] = true
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				if failed := check(t, f.make); len(failed[f.caughtBy]) == 0 || !strings.Contains(strings.Join(failed[f.caughtBy], "\n"), f.report) {
					t.Errorf("%q does not report %q; failed: %q", f.caughtBy, f.report, failed)
				}
			})
		}
	}
	for _, name := range portingtest.GatewayTests() {
		if !catches[name] {
			t.Errorf("no fault is for %q to catch", name)
		}
	}
}

// fault is a fault of a gateway, and the report that must result from it.
type fault struct {
	name     string
	caughtBy string // name of the test that must fail
	report   string // text that the report must contain
	make     func(f *faulty)
}

func faultsOfOrders() []fault {
	const once = "submits an order once"
	return []fault{
		{"changes its capabilities", "says what it can do", "then", func(f *faulty) {
			f.capabilities = func(c porting.Capabilities) porting.Capabilities { c.MaxNumbers = f.more(); return c }
		}},
		{"has no name", "says what it can do", "Name:", func(f *faulty) {
			f.capabilities = func(c porting.Capabilities) porting.Capabilities { c.Name = ""; return c }
		}},
		{"checks numbers in another order", "checks numbers in their order", "got", func(f *faulty) {
			f.check = func(all []porting.Portability) []porting.Portability {
				slices.SortFunc(all, func(a, b porting.Portability) int { return strings.Compare(string(a.Number), string(b.Number)) })
				return all
			}
		}},
		{"checks only some numbers", "checks numbers in their order", "got", func(f *faulty) {
			f.check = func(all []porting.Portability) []porting.Portability { return all[:1] }
		}},
		{"gives an order another reference each time", once, "got the reference", func(f *faulty) {
			f.submit = func(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
				r, err := f.simulated.Submit(ctx, sub)
				return porting.Receipt{Ref: fmt.Sprint(r.Ref, f.more())}, err
			}
		}},
		{"makes two orders of one key", once, "the carrier has", func(f *faulty) {
			f.submit = func(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
				f.more()
				return f.simulated.Submit(ctx, sub)
			}
		}},
		{"gives two orders one reference", once, "two orders have", func(f *faulty) {
			f.submit = func(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
				sub.Key = "r1:1"
				return f.simulated.Submit(ctx, sub)
			}
		}},
		{"forgets the keys of orders that have ended", once, "after its end", func(f *faulty) {
			f.submit = func(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
				if f.Now().After(signed) {
					sub.Key += " again"
				}
				return f.simulated.Submit(ctx, sub)
			}
		}},
		{"knows every order", "knows no order that was not submitted", "a snapshot gave", func(f *faulty) {
			f.look = func(context.Context, porting.Order) (porting.Snapshot, error) { return porting.Snapshot{}, nil }
		}},
		{"cancels what it does not know", "knows no order that was not submitted", "canceling gave", func(f *faulty) {
			f.cancel = func(context.Context, porting.Order) error { return nil }
		}},
	}
}

func faultsOfSnapshots() []fault {
	const ports, part = "ports", "ports a part"
	return []fault{
		{"forgets orders", ports, "not found", func(f *faulty) {
			f.look = func(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
				if f.Now().Sub(signed) > 24*time.Hour {
					return porting.Snapshot{}, callwright.NotFound("order")
				}
				return f.simulated.Snapshot(ctx, o)
			}
		}},
		{"leaves a number out", ports, "its snapshot", func(f *faulty) {
			f.change = func(_ porting.Order, s *porting.Snapshot) { s.Numbers = s.Numbers[:min(1, len(s.Numbers))] }
		}},
		{"goes back", ports, "was ported and is in_progress", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) {
				if n.State == porting.NumberPorted && f.Now().Sub(signed) > 11*24*time.Hour {
					n.State = porting.NumberInProgress
				}
			}
		}},
		{"counts versions down", ports, "comes after", func(f *faulty) {
			f.change = func(_ porting.Order, s *porting.Snapshot) { s.Version = -s.Version }
		}},
		{"ports at no time", ports, "at no time", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) { n.PortedAt = time.Time{} }
		}},
		{"confirms no date", ports, "without a date", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) { n.FOC = time.Time{} }
		}},
		{"never ends", ports, "the numbers end", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) { n.State = porting.NumberInProgress }
		}},
		{"rejects without a reason", part, "without a reason", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) { n.Failure = nil }
		}},
		{"has codes of its own", part, "does not know", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) {
				if n.Failure != nil {
					n.Failure = &porting.Failure{Code: "E17"}
				}
			}
		}},
		{"ports what was rejected", part, "the numbers end", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) {
				if n.State == porting.NumberRejected {
					n.State, n.PortedAt = porting.NumberPorted, signed
				}
			}
		}},
		{"guesses what it does not know", "leaves a number alone whose status it does not know", "no snapshot has", func(f *faulty) {
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) {
				if n.State == "" {
					n.State = porting.NumberInProgress
				}
			}
		}},
	}
}

func faultsOfCanceling() []fault {
	const goesOn = "goes on when the carrier refuses to cancel"
	return []fault{
		{"does not cancel", "cancels", "the numbers end", func(f *faulty) {
			f.look = func(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
				o.CancelAskedAt = time.Time{}
				return f.simulated.Snapshot(ctx, o)
			}
		}},
		{"fails to cancel again", "cancels", "and then", func(f *faulty) {
			f.cancel = func(ctx context.Context, o porting.Order) error {
				if f.more() > 1 {
					return callwright.ErrConflict
				}
				return f.simulated.Cancel(ctx, o)
			}
		}},
		{"hides that the carrier refuses", goesOn, "has not refused", func(f *faulty) {
			f.change = func(_ porting.Order, s *porting.Snapshot) { s.CancelRefused = false }
		}},
		{"refuses what nobody wants", goesOn, "nobody wants", func(f *faulty) {
			f.change = func(_ porting.Order, s *porting.Snapshot) { s.CancelRefused = true }
		}},
		{"takes the wish for the deed", "ports what was ported before it was canceled", "the numbers end", func(f *faulty) {
			f.number = func(o porting.Order, n *porting.NumberSnapshot) {
				if !o.CancelAskedAt.IsZero() {
					n.State = porting.NumberCanceled
				}
			}
		}},
	}
}

func faultsOfAnswers() []fault {
	const lost, refuses, ends = "submits again when the answer was lost", "passes a refusal on", "ends with its context"
	refusal := &porting.Refusal{Failure: porting.Failure{Code: porting.OtherFailure}}
	// The function submits makes Submit pass each error to change and return the result.
	submits := func(f *faulty, change func(err error) error) {
		f.submit = func(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
			r, err := f.simulated.Submit(ctx, sub)
			if err != nil {
				err = change(err)
			}
			return r, err
		}
	}
	return []fault{
		{"takes a refusal for silence", refuses, "want a refusal", func(f *faulty) {
			submits(f, func(error) error { return callwright.ErrUnavailable })
		}},
		{"refuses without a reason", refuses, "with a reason", func(f *faulty) {
			submits(f, func(error) error { return &porting.Refusal{} })
		}},
		{"leaves an order that was refused", refuses, "the carrier has", func(f *faulty) {
			submits(f, func(err error) error { f.more(); return err })
		}},
		{"takes a lost answer for a refusal", lost, "the answer was lost", func(f *faulty) {
			submits(f, func(error) error { return refusal })
		}},
		{"orders again when the answer was lost", lost, "the carrier has 2", func(f *faulty) {
			submits(f, func(err error) error { f.more(); return err })
		}},
		{"submits without an answer", ends, "submit: ", func(f *faulty) {
			submits(f, func(error) error { return nil })
		}},
		{"takes silence for a refusal", ends, "submit: ", func(f *faulty) {
			submits(f, func(error) error { return refusal })
		}},
		{"ignores the context of a submission", ends, "submit goes on", func(f *faulty) {
			f.submit = func(ctx context.Context, sub porting.Submission) (porting.Receipt, error) {
				r, err := f.simulated.Submit(ctx, sub)
				return r, f.ignore(ctx, err)
			}
		}},
		{"ignores the context of a cancellation", ends, "cancel goes on", func(f *faulty) {
			f.cancel = func(ctx context.Context, o porting.Order) error { return f.ignore(ctx, f.simulated.Cancel(ctx, o)) }
		}},
		{"ignores the context of a snapshot", ends, "snapshot goes on", func(f *faulty) {
			f.look = func(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
				s, err := f.simulated.Snapshot(ctx, o)
				return s, f.ignore(ctx, err)
			}
		}},
	}
}

// ignore returns err. If the context has ended, ignore first blocks until the end of the test.
func (f *faulty) ignore(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		<-f.released
	}
	return err
}

func faultsOfEvents() []fault {
	const events = "takes events twice and in any order"
	// The function reads makes ReadEvents call change for each hint before it returns the hints.
	reads := func(f *faulty, change func(h *porting.Hint)) {
		f.read = func(header map[string][]string, body []byte) ([]porting.Hint, error) {
			hints, err := f.simulated.ReadEvents(header, body)
			for i := range hints {
				change(&hints[i])
			}
			return hints, err
		}
	}
	return []fault{
		{"believes everybody", events, "a changed message gave", func(f *faulty) {
			f.read = func(map[string][]string, []byte) ([]porting.Hint, error) {
				return []porting.Hint{{Event: "1", Ref: "1"}}, nil
			}
		}},
		{"reads nothing", events, "got []", func(f *faulty) {
			f.read = func(map[string][]string, []byte) ([]porting.Hint, error) { return nil, nil }
		}},
		{"names events anew", events, "another id", func(f *faulty) {
			reads(f, func(h *porting.Hint) { h.Event = fmt.Sprint(f.more()) })
		}},
		{"names no events", events, "want the reference", func(f *faulty) {
			reads(f, func(h *porting.Hint) { h.Event = "" })
		}},
		{"mixes orders up", events, "want the reference", func(f *faulty) {
			reads(f, func(h *porting.Hint) { h.Ref += "1" })
		}},
		{"changes orders by events", events, "events have changed", func(f *faulty) {
			heard := false
			reads(f, func(*porting.Hint) { heard = true })
			f.number = func(_ porting.Order, n *porting.NumberSnapshot) {
				if heard {
					n.State, n.FOC = porting.NumberConfirmed, signed
				}
			}
		}},
	}
}
