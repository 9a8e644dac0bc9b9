package portingtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
)

// wantTaken checks which of three fixed numbers are in open requests.
func (s store) wantTaken(t *testing.T, want ...callwright.PhoneNumber) {
	t.Helper()
	got, err := s.ActiveNumbers(t.Context(), []callwright.PhoneNumber{"+14155550100", "+14155550101", "+14155550102"})
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("the numbers %v are taken, %v; want %v", got, err, want)
	}
}

// wantHolder checks the name of the open request that contains a number. The zero Name means that no open request may contain the number.
func (s store) wantHolder(t *testing.T, number callwright.PhoneNumber, want porting.Name) {
	t.Helper()
	got, err := s.OpenRequest(t.Context(), number)
	if got != want || (want == porting.Name{}) != errors.Is(err, callwright.ErrNotFound) || want != (porting.Name{}) && err != nil {
		t.Errorf("%s is in %+v, %v; want %+v", number, got, err, want)
	}
}

// wantOpen checks the number of an organization's open requests.
func (s store) wantOpen(t *testing.T, org callwright.OrgID, want int) {
	t.Helper()
	if n, err := s.CountOpen(t.Context(), org); err != nil || n != want {
		t.Errorf("%s has %d open requests, %v; want %d", org, n, err, want)
	}
}

func keepsNumbersUnique(t *testing.T, s store) {
	r := aRequest("r1", "+14155550100", "+14155550101")
	s.insert(t, r)
	s.wantTaken(t, "+14155550100", "+14155550101")
	s.wantOpen(t, "a", 1)
	s.wantOpen(t, "b", 0)
	second := aRequest("r2", "+14155550102", "+14155550101")
	second.Org = "b"
	err := s.InsertRequest(t.Context(), second)
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeConflict || e.Field != porting.ErrNumberActive.Field {
		t.Errorf("a number of another request gave %v", err)
	}
	s.wantTaken(t, "+14155550100", "+14155550101")
	for _, state := range []porting.State{porting.Submitted, porting.InProgress, porting.Failed} {
		r.State = state
		if err := s.UpdateRequest(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		r.Revision++
	}
	s.wantTaken(t)
	s.insert(t, second)
	s.wantTaken(t, "+14155550101", "+14155550102")
	if err := s.UpdateRequest(t.Context(), r); err != nil { // an ended request may be updated, but claims no numbers
		t.Fatal(err)
	}
	s.wantTaken(t, "+14155550101", "+14155550102")
	if none, err := s.ActiveNumbers(t.Context(), nil); err != nil || len(none) > 0 {
		t.Errorf("of no numbers %v are taken, %v", none, err)
	}
}

func givesNumberOnce(t *testing.T, s store) {
	winner := callwrighttest.Race(t, func(writer int) error {
		r := aRequest(fmt.Sprint("r", writer), "+14155550100")
		r.Org = callwright.OrgID(fmt.Sprint("org", writer))
		return s.InsertRequest(t.Context(), r)
	})
	if _, err := s.Request(t.Context(), callwright.OrgID(fmt.Sprint("org", winner)), fmt.Sprint("r", winner)); err != nil {
		t.Error(err)
	}
}

// givesNumbersOnce checks that one of several concurrent writers claims shared numbers, given in different orders, and that the others
// claim none.
func givesNumbersOnce(t *testing.T, s store) {
	shared := []callwright.PhoneNumber{"+14155550100", "+14155550101", "+14155550102"}
	winner := callwrighttest.Race(t, func(writer int) error {
		numbers := append(slices.Clone(shared), callwright.PhoneNumber(fmt.Sprint("+1415555020", writer)))
		if writer%2 == 1 {
			slices.Reverse(numbers)
		}
		return s.InsertRequest(t.Context(), aRequest(fmt.Sprint("r", writer), numbers...), anEntry(1))
	})
	s.wantTaken(t, shared...)
	s.wantOpen(t, "a", 1)
	for writer := range 8 {
		own := callwright.PhoneNumber(fmt.Sprint("+1415555020", writer))
		taken, err := s.ActiveNumbers(t.Context(), []callwright.PhoneNumber{own})
		if err != nil || (len(taken) > 0) != (writer == winner) {
			t.Errorf("%s: %v are taken, %v; writer %d has won", own, taken, err, winner)
		}
	}
}

// freesNumbers checks for each final state that the numbers of an ended request are free, and that one of several concurrent requests
// claims them.
func freesNumbers(t *testing.T, s store) {
	for i, state := range porting.States() {
		if !state.Ended() {
			continue
		}
		r := aRequest(string(state), callwright.PhoneNumber(fmt.Sprint("+1415555010", i)))
		s.insert(t, r)
		s.wantOpen(t, "a", 1)
		r.State = state
		if err := s.UpdateRequest(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		s.wantOpen(t, "a", 0)
		winner := callwrighttest.Race(t, func(writer int) error {
			next := aRequest(fmt.Sprint(state, " again ", writer), r.Numbers[0].Number)
			next.Org = "b"
			return s.InsertRequest(t.Context(), next)
		})
		ended := aRequest(fmt.Sprint(state, " ended"), r.Numbers[0].Number)
		ended.State = state
		s.insert(t, ended) // inserted as ended, it claims no number
		if _, err := s.Request(t.Context(), "b", fmt.Sprint(state, " again ", winner)); err != nil {
			t.Error(err)
		}
	}
}

// addsNoRefused checks that a refused request stores nothing, and that its transaction can continue.
func addsNoRefused(t *testing.T, s store) {
	s.insert(t, aRequest("r1", "+14155550100"))
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		refused := aRequest("r2", "+14155550102", "+14155550100", "+14155550101")
		refused.Ref, refused.DueAt = "o2", at
		if err := s.InsertRequest(ctx, refused, anEntry(1)); !errors.Is(err, callwright.ErrConflict) {
			return fmt.Errorf("a number of another request gave %w", err)
		}
		return s.InsertRequest(ctx, aRequest("r3", "+14155550101"), anEntry(1))
	})
	if err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Request(t.Context(), "a", "r2")
	_, refErr := s.RequestByRef(t.Context(), "g", "o2")
	wantCode(t, callwright.CodeNotFound, map[string]error{"what was refused": getErr, "its order": refErr})
	s.wantTaken(t, "+14155550100", "+14155550101")
	s.wantOpen(t, "a", 2)
	s.wantHistory(t, "r2")
	s.wantHistory(t, "r3", anEntry(1))
	if due, err := s.DueRequests(t.Context(), later(1), 9); err != nil || len(due) > 0 {
		t.Errorf("%v are due, %v", due, err)
	}
}

// namesHolders checks OpenRequest while a number moves from one organization's request to another's.
func namesHolders(t *testing.T, s store) {
	first, second := aRequest("r1", "+14155550100", "+14155550101"), aRequest("r2", "+14155550101")
	second.Org = "b"
	s.wantHolder(t, "+14155550101", porting.Name{})
	s.insert(t, first, aRequest("r3", "+14155550102"))
	for _, number := range []callwright.PhoneNumber{"+14155550100", "+14155550101"} {
		s.wantHolder(t, number, porting.Name{Org: "a", ID: "r1"})
	}
	first.State = porting.Canceled
	if err := s.UpdateRequest(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s.wantHolder(t, "+14155550101", porting.Name{})
	s.insert(t, second)
	s.wantHolder(t, "+14155550101", porting.Name{Org: "b", ID: "r2"})
	s.wantHolder(t, "+14155550100", porting.Name{})
}

// keepsOrdersUnique checks that an insertion and an update are refused if another request already has the same order of the same gateway.
// An order of another gateway may have the same reference.
func keepsOrdersUnique(t *testing.T, s store) {
	first, second, third := aRequest("r1", "+14155550100"), aRequest("r2", "+14155550101"), aRequest("r3", "+14155550102")
	first.Ref, third.Ref, third.Org = "o1", "o1", "b"
	s.insert(t, first, second)
	taking := second
	taking.Ref = "o1"
	wantCode(t, callwright.CodeConflict, map[string]error{
		"insert": s.InsertRequest(t.Context(), third), "update": s.UpdateRequest(t.Context(), taking, anEntry(1)),
	})
	s.wantTaken(t, "+14155550100", "+14155550101")
	s.want(t, second)
	s.wantHistory(t, "r2")
	third.Gateway = "another"
	s.insert(t, third)
	for gateway, want := range map[string]string{"g": "r1", "another": "r3"} {
		if got, err := s.RequestByRef(t.Context(), gateway, "o1"); err != nil || got.ID != want {
			t.Errorf("the order of %s is that of %q, %v; want %s", gateway, got.ID, err, want)
		}
	}
}
