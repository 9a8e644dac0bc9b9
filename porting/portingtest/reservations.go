package portingtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
)

func aReservation(number callwright.PhoneNumber, org callwright.OrgID, request string, since time.Time) porting.Reservation {
	return porting.Reservation{Number: number, Org: org, Request: request, Since: since}
}

// wantReserved checks the reservations that the store returns for the given numbers.
func (s store) wantReserved(t *testing.T, numbers []callwright.PhoneNumber, want ...porting.Reservation) {
	t.Helper()
	got, err := s.Reserved(t.Context(), numbers)
	slices.SortFunc(got, func(a, b porting.Reservation) int { return strings.Compare(string(a.Number), string(b.Number)) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v are reserved as %+v, %v; want %+v", numbers, got, err, want)
	}
}

func keepsReservations(t *testing.T, s store) {
	const one, two, three = callwright.PhoneNumber("+14155550100"), callwright.PhoneNumber("+14155550101"), callwright.PhoneNumber("+14155550102")
	all := []callwright.PhoneNumber{three, two, one}
	first, second := aReservation(one, "a", "r1", at), aReservation(two, "b", "r2", later(1))
	for _, r := range []porting.Reservation{first, second} {
		if err := s.Reserve(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	s.wantReserved(t, all, first, second)
	s.wantReserved(t, []callwright.PhoneNumber{two}, second)
	s.wantReserved(t, nil)
	foreign := aReservation(one, "b", "r3", later(2))
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error { // the transaction continues after the conflict
		if err := s.Reserve(ctx, foreign); !errors.Is(err, callwright.ErrConflict) {
			return fmt.Errorf("another organization's number gave %w", err)
		}
		return s.Reserve(ctx, aReservation(three, "b", "r3", later(2)))
	})
	if err != nil {
		t.Error(err)
	}
	first.Request, first.Since = "r4", later(3)
	third := aReservation(three, "b", "r3", later(2))
	if err := s.Reserve(t.Context(), first); err != nil { // as if the number were ported again
		t.Error(err)
	}
	s.wantReserved(t, all, first, second, third)
	wantCode(t, callwright.CodeNotFound, map[string]error{
		"another organization's": s.Unreserve(t.Context(), "b", one), "of no number": s.Unreserve(t.Context(), "a", "+1"),
	})
	undone := errors.New("undone")
	err = s.atomic.Do(t.Context(), func(ctx context.Context) error {
		return errors.Join(s.Unreserve(ctx, "a", one), s.Reserve(ctx, foreign), undone)
	})
	if !errors.Is(err, undone) {
		t.Error(err)
	}
	s.wantReserved(t, all, first, second, third)
	if err := errors.Join(s.Unreserve(t.Context(), "a", one), s.Reserve(t.Context(), foreign)); err != nil {
		t.Error(err)
	}
	s.wantReserved(t, all, foreign, second, third)
	wantCode(t, callwright.CodeNotFound, map[string]error{"what was released": s.Unreserve(t.Context(), "a", one)})
}

func reservesOnce(t *testing.T, s store) {
	const number = callwright.PhoneNumber("+14155550100")
	winner := callwrighttest.Race(t, func(writer int) error {
		return s.Reserve(t.Context(), aReservation(number, callwright.OrgID(fmt.Sprint("org", writer)), "r", at))
	})
	holder := callwright.OrgID(fmt.Sprint("org", winner))
	s.wantReserved(t, []callwright.PhoneNumber{number}, aReservation(number, holder, "r", at))
	callwrighttest.Race(t, func(int) error {
		err := s.Unreserve(t.Context(), holder, number)
		if errors.Is(err, callwright.ErrNotFound) {
			err = callwright.ErrConflict // Race expects CodeConflict from the losers
		}
		return err
	})
}

// reservesAsModel reserves and releases random numbers for random organizations, and compares the store with a map after each step.
func reservesAsModel(t *testing.T, s store) {
	random := rand.New(rand.NewPCG(17, 25))
	numbers := []callwright.PhoneNumber{"+14155550100", "+14155550101", "+14155550102"}
	model := map[callwright.PhoneNumber]porting.Reservation{}
	for step := range 200 {
		r := porting.Reservation{
			Number: numbers[random.IntN(len(numbers))], Org: callwright.OrgID(rune('a' + random.IntN(3))), Request: fmt.Sprint("r", step), Since: later(step),
		}
		held, taken := model[r.Number]
		mine := taken && held.Org == r.Org
		if random.IntN(2) == 0 {
			s.wantOnly(t, s.Reserve(t.Context(), r), !taken || mine, callwright.ErrConflict)
			if !taken || mine {
				model[r.Number] = r
			}
		} else {
			s.wantOnly(t, s.Unreserve(t.Context(), r.Org, r.Number), mine, callwright.ErrNotFound)
			if mine {
				delete(model, r.Number)
			}
		}
		var want []porting.Reservation
		for _, n := range numbers {
			if r, ok := model[n]; ok {
				want = append(want, r)
			}
		}
		s.wantReserved(t, numbers, want...)
	}
}

// wantOnly checks that err is nil if the operation is allowed, and otherwise that err is the given error.
func (store) wantOnly(t *testing.T, err error, allowed bool, otherwise error) {
	t.Helper()
	if allowed && err != nil || !allowed && !errors.Is(err, otherwise) {
		t.Errorf("allowed %t: %v", allowed, err)
	}
}

// reservesBeforeFree ends requests and reserves their numbers while other requests wait for the numbers. It checks that no request claims a
// number without seeing the number's reservation.
func reservesBeforeFree(t *testing.T, s store) {
	for i := range 10 {
		number := callwright.PhoneNumber(fmt.Sprint("+1415555010", i))
		r := aRequest(fmt.Sprint("r", i), number)
		s.insert(t, r)
		r.State = porting.Completed
		var running sync.WaitGroup
		running.Go(func() {
			err := callwright.Retry(t.Context(), func(ctx context.Context) error {
				return s.atomic.Do(ctx, func(ctx context.Context) error {
					return errors.Join(s.Reserve(ctx, aReservation(number, r.Org, r.ID, at)), s.UpdateRequest(ctx, r))
				})
			})
			if err != nil {
				t.Error(err)
			}
		})
		for writer := range 4 {
			running.Go(func() { s.follow(t, r.ID+fmt.Sprint(" after ", writer), number) })
		}
		running.Wait()
	}
}

// follow tries to insert a request of another organization for a number until the number is free. It checks that the inserting transaction
// then sees the reservation, and rolls the transaction back.
func (s store) follow(t *testing.T, id string, number callwright.PhoneNumber) {
	t.Helper()
	next := aRequest(id, number)
	next.Org = "b"
	reserved := errors.New("is reserved")
	for t.Context().Err() == nil {
		err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
			if err := s.InsertRequest(ctx, next); err != nil {
				return err
			}
			found, err := s.Reserved(ctx, []callwright.PhoneNumber{number})
			if len(found) > 0 {
				err = reserved
			}
			return err
		})
		switch {
		case errors.Is(err, reserved):
			return
		case err == nil:
			t.Errorf("%s took %s, which is reserved", id, number)
			return
		case !errors.Is(err, callwright.ErrConflict):
			t.Errorf("%s: %v", id, err)
			return
		}
	}
}
