package manualtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

// NewStore returns an empty store, and the callwright.Atomic of its transactions.
type NewStore func(t *testing.T) (manual.Store, callwright.Atomic)

// RunStore tests a manual.Store. atRest returns the data as the store keeps it. If atRest is nil, as for a store in memory, encryption is
// not tested.
func RunStore(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[manual.Store]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, store){
		"keeps every field":                keepsOrder,
		"keeps nothing that was taken":     clearsOrder,
		"shares no memory":                 sharesNoOrder,
		"refuses an order twice":           refusesTwice,
		"inserts once":                     insertsOnce,
		"updates by compare-and-set":       updatesOrder,
		"says what is absent":              saysAbsent,
		"pages without gaps":               pagesOrders,
		"tells what is open":               tellsOpen,
		"ends with a transaction":          rollsBack,
		"encrypts accounts, PINs and more": encryptsOrder,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, atomic := newStore(t)
			test(t, store{s, atomic, atRest})
		})
	}
}

// store wraps the store under test with helpers.
type store struct {
	manual.Store

	atomic callwright.Atomic
	atRest callwrighttest.AtRest[manual.Store]
}

var at = time.Date(2026, 3, 2, 9, 8, 7, 123456000, time.UTC)

func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

// words contains characters that a faulty store might change: accents, quotes, a line break, markup, an emoji.
const words = "\u00c9va's\n\"<b>&\\ \U0001F600"

// anOrder returns an order with one number in state NumberSubmitted.
func anOrder(ref string) manual.Order {
	return manual.Order{
		Ref: ref, Key: "key of " + ref, CreatedAt: at, UpdatedAt: at, Revision: 1,
		Numbers: []porting.NumberSnapshot{{Number: "+14155550100", State: porting.NumberSubmitted}},
	}
}

// fullOrder returns an order with every field set.
func fullOrder(ref string) manual.Order {
	o := manual.Order{
		Ref: ref, Key: "key of " + ref, CancelAskedAt: later(1), CancelRefused: true, CreatedAt: at, UpdatedAt: later(2), Revision: 1,
		Numbers: []porting.NumberSnapshot{{
			Number: "+14155550100", State: porting.NumberConfirmed, FOC: later(3), PortedAt: later(4),
			Failure: &porting.Failure{Code: porting.PINInvalid, Raw: words},
		}},
	}
	o.Submission = porting.Submission{
		Order: porting.Order{
			Key: o.Key, Ref: ref, Numbers: []callwright.PhoneNumber{"+14155550100"}, TargetDate: at.Truncate(24 * time.Hour),
			SignedAt: later(5), CancelAskedAt: later(6),
		},
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: words, FirstName: "Robin", LastName: words, AccountNumber: "88 231",
			Email: "robin@example.com", NotifyEmails: []string{"a@example.com"},
			Address: porting.Address{Street: words, Street2: "2", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
		PINs: map[callwright.PhoneNumber]callwright.Secret{"+14155550100": "47 11"}, Documents: []string{"d1", "d2"},
	}
	return o
}

func (s store) insert(t *testing.T, all ...manual.Order) {
	t.Helper()
	for _, o := range all {
		if err := s.InsertOrder(t.Context(), o); err != nil {
			t.Fatalf("insert %s: %v", o.Ref, err)
		}
	}
}

func (s store) want(t *testing.T, want manual.Order) {
	t.Helper()
	got, err := s.Order(t.Context(), want.Ref)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v, %v\nwant %#v", got, err, want)
	}
}

func wantCode(t *testing.T, want callwright.Code, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		if callwright.CodeOf(err) != want {
			t.Errorf("%s gave %v, want %s", name, err, want)
		}
	}
}

func keepsOrder(t *testing.T, s store) {
	full := fullOrder("o1")
	callwrighttest.Full(t, full)
	s.insert(t, full, anOrder("o2"))
	s.want(t, full)
	second := fullOrder("o2")
	if err := s.UpdateOrder(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	second.Revision = 2
	s.want(t, second)
	s.want(t, full)
	if page, err := s.Orders(t.Context(), false, callwright.Keyset{}, 9); err != nil || !reflect.DeepEqual(page, []manual.Order{full, second}) {
		t.Errorf("the page has %#v, %v", page, err)
	}
}

func clearsOrder(t *testing.T, s store) {
	s.insert(t, fullOrder("o1"))
	bare := anOrder("o1")
	if err := s.UpdateOrder(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.Revision = 2
	s.want(t, bare)
}

func sharesNoOrder(t *testing.T, s store) {
	given := fullOrder("o1")
	s.insert(t, given)
	callwrighttest.Spoil(&given)
	got, err := s.Order(t.Context(), "o1")
	if err != nil {
		t.Fatal(err)
	}
	callwrighttest.Spoil(&got)
	page, err := s.Orders(t.Context(), true, callwright.Keyset{}, 9)
	if err != nil {
		t.Fatal(err)
	}
	callwrighttest.Spoil(&page)
	s.want(t, fullOrder("o1"))
}

func refusesTwice(t *testing.T, s store) {
	s.insert(t, anOrder("o1"))
	sameKey, sameRef := anOrder("o2"), anOrder("o1")
	sameKey.Key, sameRef.Key = "key of o1", "another"
	wantCode(t, callwright.CodeConflict, map[string]error{
		"the key again": s.InsertOrder(t.Context(), sameKey), "the reference again": s.InsertOrder(t.Context(), sameRef),
	})
	s.want(t, anOrder("o1"))
}

func insertsOnce(t *testing.T, s store) {
	made := func(writer int) manual.Order {
		o := anOrder("o1")
		o.UpdatedAt = later(writer)
		return o
	}
	winner := callwrighttest.Race(t, func(writer int) error { return s.InsertOrder(t.Context(), made(writer)) })
	s.want(t, made(winner))
}

func updatesOrder(t *testing.T, s store) {
	s.insert(t, anOrder("o1"))
	changed := func(writer int) manual.Order {
		o := anOrder("o1")
		o.UpdatedAt = later(writer)
		return o
	}
	winner := callwrighttest.Race(t, func(writer int) error { return s.UpdateOrder(t.Context(), changed(writer)) })
	want := changed(winner)
	want.Revision = 2
	s.want(t, want)
}

func saysAbsent(t *testing.T, s store) {
	_, err := s.Order(t.Context(), "absent")
	wantCode(t, callwright.CodeNotFound, map[string]error{"an order": err, "an update": s.UpdateOrder(t.Context(), anOrder("absent"))})
}

// refs returns the Refs of all orders, or of the open ones. It reads them in pages of two.
func (s store) refs(t *testing.T, open bool) (refs []string) {
	t.Helper()
	for after := (callwright.Keyset{}); ; {
		page, err := s.Orders(t.Context(), open, after, 2)
		if err != nil || len(page) > 2 {
			t.Fatalf("a page of 2 has %d orders, %v", len(page), err)
		}
		for _, o := range page {
			refs = append(refs, o.Ref)
			after = callwright.Keyset{At: o.CreatedAt, ID: o.Ref}
		}
		if len(page) < 2 {
			return refs
		}
	}
}

func pagesOrders(t *testing.T, s store) {
	for i, ref := range []string{"o5", "o3", "o4", "o1", "o2"} {
		o := anOrder(ref)
		o.CreatedAt = later(i / 2) // ascending order: o5 and o3, then o4 and o1, then o2
		s.insert(t, o)
	}
	for _, open := range []bool{false, true} {
		if got, want := s.refs(t, open), []string{"o3", "o5", "o1", "o4", "o2"}; !slices.Equal(got, want) {
			t.Errorf("open %t: got %v, want %v", open, got, want)
		}
	}
}

func tellsOpen(t *testing.T, s store) {
	var want []string
	for i, states := range [][]porting.NumberState{
		{porting.NumberSubmitted},
		{porting.NumberPorted, porting.NumberRejected, porting.NumberCanceled},
		{porting.NumberPorted, porting.NumberConfirmed},
		{porting.NumberInProgress, porting.NumberCanceled},
	} {
		o := anOrder(fmt.Sprint("o", i))
		o.Numbers = nil
		for n, state := range states {
			o.Numbers = append(o.Numbers, porting.NumberSnapshot{Number: callwright.PhoneNumber(fmt.Sprint("+1415555010", n)), State: state})
		}
		s.insert(t, o)
		if i != 1 {
			want = append(want, o.Ref)
		}
	}
	if got := s.refs(t, true); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	ended := anOrder("o0")
	ended.Numbers[0].State = porting.NumberPorted
	if err := s.UpdateOrder(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.refs(t, true), " "); got != "o2 o3" {
		t.Errorf("got %s after the end of the first", got)
	}
}

var errRollback = errors.New("rolled back")

func rollsBack(t *testing.T, s store) {
	s.insert(t, anOrder("o1"))
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		return errors.Join(s.UpdateOrder(ctx, fullOrder("o1")), s.InsertOrder(ctx, anOrder("o2")), errRollback)
	})
	if !errors.Is(err, errRollback) || errors.Is(err, callwright.ErrConflict) {
		t.Fatal(err)
	}
	s.want(t, anOrder("o1"))
	_, err = s.Order(t.Context(), "o2")
	wantCode(t, callwright.CodeNotFound, map[string]error{"the second": err})
}

func encryptsOrder(t *testing.T, s store) {
	o := fullOrder(callwrighttest.VisibleID)
	o.Submission.Account = porting.Account{
		BusinessName: "hunter2-firm", FirstName: "hunter2-frst", LastName: "hunter2-last", AccountNumber: "hunter2-acct",
		Email: "hunter2-mail", NotifyEmails: []string{"hunter2-also"},
		Address: porting.Address{Street: "hunter2-road", Street2: "hunter2-flat", City: "hunter2-city", Zip: "hunter2-zips"},
	}
	o.Submission.PINs["+14155550100"] = "hunter2-pin0"
	o.Numbers[0].Failure.Raw = "hunter2-raw0"
	s.atRest.Check(t, s.Store, func() error {
		return errors.Join(s.InsertOrder(t.Context(), o), s.UpdateOrder(t.Context(), o))
	}, "hunter2-pin0", "hunter2-raw0", "hunter2-firm", "hunter2-frst", "hunter2-last", "hunter2-acct", "hunter2-mail", "hunter2-also",
		"hunter2-road", "hunter2-flat", "hunter2-city", "hunter2-zips")
}
