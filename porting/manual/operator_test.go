package manual_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

const first, second = callwright.PhoneNumber("+14155550100"), callwright.PhoneNumber("+14155550101")

// submit submits an order of two numbers, of which the first has a PIN.
func submit(t *testing.T, g *manual.Gateway) porting.Order {
	t.Helper()
	s := porting.Submission{
		Order: porting.Order{Key: "r1:1", Numbers: []callwright.PhoneNumber{first, second}, SignedAt: signed},
		PINs:  map[callwright.PhoneNumber]callwright.Secret{first: "4711"},
	}
	receipt, err := g.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Ref = receipt.Ref
	return s.Order
}

var (
	foc     = signed.AddDate(0, 0, 8)
	failure = &porting.Failure{Code: porting.PINInvalid, Raw: "PIN?"}
)

// reach maps each state to the moves that bring a submitted number to it.
var reach = map[porting.NumberState][]manual.Move{
	porting.NumberSubmitted:  nil,
	porting.NumberInProgress: {{State: porting.NumberInProgress}},
	porting.NumberConfirmed:  {{State: porting.NumberConfirmed, FOC: foc}},
	porting.NumberPorted:     {{State: porting.NumberPorted}},
	porting.NumberRejected:   {{State: porting.NumberRejected, Failure: failure}},
	porting.NumberCanceled:   {{State: porting.NumberCanceled}},
}

// TestMove checks that Move follows NumberState.CanBecome for every pair of states, except that no move leads to NumberSubmitted.
func TestMove(t *testing.T) {
	t.Parallel()
	for from, before := range reach {
		for to, moves := range reach {
			if to == porting.NumberSubmitted {
				continue
			}
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				t.Parallel()
				g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
				o := submit(t, g)
				for _, m := range before {
					m.Numbers = []callwright.PhoneNumber{second}
					if _, err := g.Move(t.Context(), o.Ref, m); err != nil {
						t.Fatal(err)
					}
				}
				was, err := g.Order(t.Context(), o.Ref)
				if err != nil {
					t.Fatal(err)
				}
				m := moves[0]
				m.Numbers = []callwright.PhoneNumber{second}
				got, err := g.Move(t.Context(), o.Ref, m)
				if !from.CanBecome(to) {
					if !errors.Is(err, callwright.ErrInvalidState) {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil || got.Revision != was.Revision+1 || got.Numbers[1].State != to || got.Numbers[0].State != porting.NumberSubmitted {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		}
	}
}

// TestStays checks moves of a number that has not ended: it can be held up and continue, get another date, and lose its date again.
func TestStays(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	o := submit(t, g)
	later := foc.AddDate(0, 0, 1)
	for i, step := range []struct {
		manual.Move

		want string
	}{
		{manual.Move{Failure: failure}, "in_progress pin_invalid"},
		{manual.Move{State: porting.NumberInProgress}, "in_progress"},
		{manual.Move{State: porting.NumberConfirmed, FOC: foc}, "foc_confirmed 2026-03-10"},
		{manual.Move{State: porting.NumberConfirmed, FOC: later}, "foc_confirmed 2026-03-11"},
		{manual.Move{Failure: failure}, "foc_confirmed 2026-03-11 pin_invalid"},
		{manual.Move{State: porting.NumberConfirmed, FOC: later}, "foc_confirmed 2026-03-11"},
		{manual.Move{State: porting.NumberInProgress, Failure: failure}, "in_progress pin_invalid"},
		{manual.Move{State: porting.NumberConfirmed, FOC: foc}, "foc_confirmed 2026-03-10"},
		{manual.Move{State: porting.NumberPorted}, "ported 2026-03-10"},
	} {
		got, err := g.Move(t.Context(), o.Ref, step.Move)
		if err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		for _, n := range got.Numbers {
			text := string(n.State)
			if !n.FOC.IsZero() {
				text += " " + n.FOC.Format(time.DateOnly)
			}
			if n.Failure != nil {
				text += " " + string(n.Failure.Code)
			}
			if text != step.want || n.State == porting.NumberPorted && !n.PortedAt.Equal(clock{}.Now()) {
				t.Errorf("step %d: got %s at %s, want %s", i+1, text, n.PortedAt, step.want)
			}
		}
		if !got.Ended() {
			if _, err := g.Move(t.Context(), o.Ref, step.Move); !errors.Is(err, callwright.ErrInvalidState) {
				t.Errorf("step %d again gave %v", i+1, err)
			}
		}
	}
}

// TestRefusedMoves checks that an invalid move is refused and changes no number.
func TestRefusedMoves(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	o := submit(t, g)
	if _, err := g.Move(t.Context(), o.Ref, manual.Move{Numbers: []callwright.PhoneNumber{second}, State: porting.NumberPorted}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		manual.Move

		code  callwright.Code
		field string
	}{
		"an unknown state":         {manual.Move{State: "lost"}, callwright.CodeBadRequest, "state"},
		"a state before":           {manual.Move{State: porting.NumberSubmitted}, callwright.CodeBadRequest, "state"},
		"no date":                  {manual.Move{State: porting.NumberConfirmed}, callwright.CodeBadRequest, "foc"},
		"a date before the order":  {manual.Move{State: porting.NumberConfirmed, FOC: signed.AddDate(-1, 0, 0)}, callwright.CodeBadRequest, "foc"},
		"a date for nothing":       {manual.Move{State: porting.NumberPorted, FOC: foc}, callwright.CodeBadRequest, "foc"},
		"a time of no port":        {manual.Move{State: porting.NumberCanceled, PortedAt: signed}, callwright.CodeBadRequest, "ported_at"},
		"a port in the future":     {manual.Move{State: porting.NumberPorted, PortedAt: foc}, callwright.CodeBadRequest, "ported_at"},
		"nothing":                  {manual.Move{}, callwright.CodeBadRequest, "failure"},
		"no reason":                {manual.Move{State: porting.NumberRejected}, callwright.CodeBadRequest, "failure"},
		"a reason to be ported":    {manual.Move{State: porting.NumberPorted, Failure: failure}, callwright.CodeBadRequest, "failure"},
		"an unknown code":          {manual.Move{Failure: &porting.Failure{Code: "mood"}}, callwright.CodeBadRequest, "failure.code"},
		"too many words":           {manual.Move{Failure: &porting.Failure{Code: porting.OtherFailure, Raw: strings.Repeat("x", 1001)}}, callwright.CodeBadRequest, "failure.raw"},
		"another order's number":   {manual.Move{State: porting.NumberPorted, Numbers: []callwright.PhoneNumber{first, "+14155550102"}}, callwright.CodeBadRequest, "numbers[1]"},
		"one that has ended":       {manual.Move{State: porting.NumberPorted, Numbers: []callwright.PhoneNumber{first, second}}, callwright.CodeInvalidState, ""},
		"to hold one that has":     {manual.Move{Failure: failure, Numbers: []callwright.PhoneNumber{first, second}}, callwright.CodeInvalidState, ""},
		"to reject one that ended": {manual.Move{State: porting.NumberRejected, Failure: failure, Numbers: []callwright.PhoneNumber{second}}, callwright.CodeInvalidState, ""},
	} {
		_, err := g.Move(t.Context(), o.Ref, test.Move)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != test.code || e.Field != test.field {
			t.Errorf("%s: got %v, want %s about %q", name, err, test.code, test.field)
		}
	}
	got, err := g.Order(t.Context(), o.Ref)
	if err != nil || got.Revision != 2 || got.Numbers[0].State != porting.NumberSubmitted {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := g.Move(t.Context(), "absent", manual.Move{State: porting.NumberPorted}); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an absent order gave %v", err)
	}
	if _, err := g.RefuseCancel(t.Context(), o.Ref); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("refusing what nobody wants gave %v", err)
	}
}

// TestPINs checks that PINs are stored until the last number has ended, and then erased.
func TestPINs(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	o := submit(t, g)
	for i, number := range []callwright.PhoneNumber{first, second} {
		got, err := g.Move(t.Context(), o.Ref, manual.Move{Numbers: []callwright.PhoneNumber{number}, State: porting.NumberPorted})
		if err != nil || len(got.Submission.PINs) != 1-i {
			t.Errorf("after number %d there are %d PINs, %v", i+1, len(got.Submission.PINs), err)
		}
	}
	if _, err := g.Move(t.Context(), o.Ref, manual.Move{State: porting.NumberCanceled}); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("moving all numbers of an order that has ended gave %v", err)
	}
}

// TestMovesAtOnce checks that concurrent moves of different numbers are all stored.
func TestMovesAtOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	o := submit(t, g)
	var all sync.WaitGroup
	for _, number := range o.Numbers {
		all.Go(func() {
			m := manual.Move{Numbers: []callwright.PhoneNumber{number}, State: porting.NumberPorted}
			if _, err := g.Move(t.Context(), o.Ref, m); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := g.Order(t.Context(), o.Ref); err != nil || !got.Ended() || got.Revision != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestMovesTheOthers checks that a move of all numbers skips numbers that are already in the new state.
func TestMovesTheOthers(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	o := submit(t, g)
	begin := manual.Move{Numbers: []callwright.PhoneNumber{second}, State: porting.NumberInProgress}
	if _, err := g.Move(t.Context(), o.Ref, begin); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Move(t.Context(), o.Ref, begin); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("moving one again gave %v", err)
	}
	begin.Numbers = nil
	got, err := g.Move(t.Context(), o.Ref, begin)
	if err != nil || got.Revision != 3 || got.Numbers[0].State != porting.NumberInProgress {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := g.Move(t.Context(), o.Ref, begin); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("moving all again gave %v", err)
	}
}

func TestOrders(t *testing.T) {
	t.Parallel()
	g := newGateway(t, manual.Config{Store: portingstore.ManualOrders{Store: memstore.New()}})
	want := map[string]bool{}
	for i := range manual.MaxPage + 5 {
		key := fmt.Sprint("r", i)
		receipt, err := g.Submit(t.Context(), porting.Submission{Order: porting.Order{Key: key, Numbers: []callwright.PhoneNumber{first}}})
		if err != nil {
			t.Fatal(err)
		}
		want[receipt.Ref] = true
	}
	var sizes []int
	for after := (callwright.Keyset{}); len(sizes) == 0 || !after.IsZero(); {
		page, err := g.Orders(t.Context(), true, after, manual.MaxPage*2)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Items {
			delete(want, o.Ref)
		}
		sizes, after = append(sizes, len(page.Items)), page.Next
	}
	if !slices.Equal(sizes, []int{manual.MaxPage, 5}) || len(want) > 0 {
		t.Errorf("pages of %v leave out %v", sizes, want)
	}
}
