package portingtest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
)

// NewStore returns an empty store, and the callwright.Atomic of its transactions.
type NewStore func(t *testing.T) (porting.Store, callwright.Atomic)

// RunStore tests a porting.Store. atRest returns the data as the store keeps it. If atRest is nil, as for a store in memory, encryption is
// not tested.
func RunStore(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[porting.Store]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, store){
		"keeps every field":                        keepsRequest,
		"keeps every field of a history":           keepsHistory,
		"keeps nothing that was taken away":        clearsRequest,
		"shares no memory":                         sharesNoRequest,
		"hides other organizations'":               hidesRequests,
		"refuses an id twice":                      refusesRequestTwice,
		"has a number in one open request":         keepsNumbersUnique,
		"gives a number to one of many":            givesNumberOnce,
		"gives several numbers to one of many":     givesNumbersOnce,
		"frees numbers with every end":             freesNumbers,
		"names the open request of a number":       namesHolders,
		"adds nothing that it refuses":             addsNoRefused,
		"updates by compare-and-set":               updatesRequest,
		"ends a request for good":                  endsRequest,
		"pages without gaps":                       pagesRequests,
		"filters":                                  filtersRequests,
		"pages through states":                     pagesStates,
		"tells what waits for somebody":            tellsWaiting,
		"keeps reservations":                       keepsReservations,
		"reserves a number for one of many":        reservesOnce,
		"reserves numbers as a map would":          reservesAsModel,
		"reserves a number before it is free":      reservesBeforeFree,
		"finds a request by its order":             findsByRef,
		"has an order in one request":              keepsOrdersUnique,
		"tells what is due":                        tellsDue,
		"ends with a transaction":                  rollsBackRequest,
		"encrypts accounts, PINs and what is said": encryptsRequest,
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
	porting.Store

	atomic callwright.Atomic
	atRest callwrighttest.AtRest[porting.Store]
}

var at = time.Date(2026, 3, 2, 9, 8, 7, 123456000, time.UTC)

func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

// words contains characters that a faulty store might change: accents, quotes, a line break, markup, an emoji.
const words = "\u00c9va's\n\"<b>&\\ \U0001F600"

// aRequest returns a request of organization "a" in state WaitingForSignature.
func aRequest(id string, numbers ...callwright.PhoneNumber) porting.Request {
	r := porting.Request{
		ID: id, Org: "a", State: porting.WaitingForSignature, Account: porting.Account{CustomerType: porting.Personal},
		TargetDate: at.Truncate(24 * time.Hour), Gateway: "g", CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
	for _, n := range numbers {
		r.Numbers = append(r.Numbers, porting.Number{Number: n, State: porting.NumberPending})
	}
	return r
}

func anEntry(number int) porting.Entry {
	return porting.Entry{Number: number, At: later(number), To: porting.WaitingForSignature, Event: porting.Initiated, Actor: porting.API}
}

// FullRequest returns a request with every field set.
func FullRequest(id string) porting.Request {
	return porting.Request{
		ID: id, Org: "a", State: porting.InProgress,
		Numbers: []porting.Number{{
			Number: "+14155550100", State: porting.NumberRejected, PIN: "47 11", HasPIN: true,
			Failure: &porting.Failure{Code: porting.PINInvalid, Raw: words + "\x00"}, FOC: later(1), PortedAt: later(2), Inbound: porting.Registered,
		}},
		CallsFrom: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::1/128")},
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: words, FirstName: "Robin", LastName: words, AccountNumber: "88 231",
			Email: "robin@example.com", NotifyEmails: []string{"a@example.com", "b@example.com"},
			Address: porting.Address{Street: words, Street2: "2", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
		TargetDate: at.Truncate(24 * time.Hour), Documents: []string{"d1", "d2"}, Failure: &porting.Failure{Code: porting.AddressMismatch, Raw: words},
		Webhook: words, SignedAt: later(3), SignBy: later(4), Undelivered: true, Gateway: "g", Sending: true, Ref: "o1", Version: 5_000_000_000, DueAt: later(5), Misses: 6,
		HeldSince: later(7), CancelAskedAt: later(8), CancelAskedBy: porting.Timer, CancelSent: true, CreatedAt: at, UpdatedAt: later(9),
		EndedAt: later(10), Entries: 11, Revision: 1,
	}
}

func (s store) insert(t *testing.T, all ...porting.Request) {
	t.Helper()
	for _, r := range all {
		if err := s.InsertRequest(t.Context(), r); err != nil {
			t.Fatalf("insert %s: %v", r.ID, err)
		}
	}
}

func (s store) want(t *testing.T, want porting.Request) {
	t.Helper()
	got, err := s.Request(t.Context(), want.Org, want.ID)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v, %v\nwant %#v", got, err, want)
	}
}

func (s store) wantHistory(t *testing.T, id string, want ...porting.Entry) {
	t.Helper()
	got, err := s.History(t.Context(), "a", id)
	if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
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

func keepsRequest(t *testing.T, s store) {
	full := FullRequest("r1")
	callwrighttest.Full(t, full)
	s.insert(t, full, aRequest("r2", "+14155550101"))
	s.want(t, full)
	second := FullRequest("r2")
	second.Numbers[0].Number, second.Ref = "+14155550101", "o2"
	if err := s.UpdateRequest(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	second.Revision = 2
	s.want(t, second)
	s.want(t, full)
}

func keepsHistory(t *testing.T, s store) {
	full := porting.Entry{
		Number: 2, At: later(1), From: porting.Submitted, To: porting.InProgress, Event: porting.Accepted, Detail: porting.DetailCarrier,
		Actor: porting.Carrier, Note: words + "\x00",
	}
	callwrighttest.Full(t, full)
	r := aRequest("r1", "+14155550100")
	if err := s.InsertRequest(t.Context(), r, anEntry(1)); err != nil {
		t.Fatal(err)
	}
	s.wantHistory(t, "r1", anEntry(1))
	if err := s.UpdateRequest(t.Context(), r, full, anEntry(3)); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateRequest(t.Context(), r, anEntry(4)); !errors.Is(err, callwright.ErrConflict) {
		t.Fatal(err)
	}
	s.wantHistory(t, "r1", anEntry(1), full, anEntry(3))
	s.wantHistory(t, "absent")
}

func clearsRequest(t *testing.T, s store) {
	s.insert(t, FullRequest("r1"))
	bare := aRequest("r1", "+14155550100")
	if err := s.UpdateRequest(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.Revision = 2
	s.want(t, bare)
	_, err := s.RequestByRef(t.Context(), "g", "o1")
	wantCode(t, callwright.CodeNotFound, map[string]error{"the order that it had": err})
}

func sharesNoRequest(t *testing.T, s store) {
	r, e := FullRequest("r1"), []porting.Entry{anEntry(1)}
	if err := s.InsertRequest(t.Context(), r, e...); err != nil {
		t.Fatal(err)
	}
	callwrighttest.Spoil(&r)
	callwrighttest.Spoil(&e)
	for range 2 {
		s.want(t, FullRequest("r1"))
		s.wantHistory(t, "r1", anEntry(1))
		got, err := s.Request(t.Context(), "a", "r1")
		page, pageErr := s.Requests(t.Context(), "a", porting.Filter{Limit: 1})
		byRef, refErr := s.RequestByRef(t.Context(), "g", "o1")
		history, historyErr := s.History(t.Context(), "a", "r1")
		if err := errors.Join(err, pageErr, refErr, historyErr); err != nil {
			t.Fatal(err)
		}
		callwrighttest.Spoil(&got)
		callwrighttest.Spoil(&page)
		callwrighttest.Spoil(&byRef)
		callwrighttest.Spoil(&history)
	}
}

func hidesRequests(t *testing.T, s store) {
	r := aRequest("r1", "+14155550100")
	if err := s.InsertRequest(t.Context(), r, anEntry(1)); err != nil {
		t.Fatal(err)
	}
	foreign := r
	foreign.Org = "b"
	_, err := s.Request(t.Context(), "b", "r1")
	wantCode(t, callwright.CodeNotFound, map[string]error{
		"get": err, "update": s.UpdateRequest(t.Context(), foreign, anEntry(2)), "update absent": s.UpdateRequest(t.Context(), aRequest("r2")),
	})
	list, listErr := s.Requests(t.Context(), "b", porting.Filter{Limit: 10})
	history, historyErr := s.History(t.Context(), "b", "r1")
	if err := errors.Join(listErr, historyErr); err != nil || len(list)+len(history) != 0 {
		t.Errorf("got %+v, %+v, %v", list, history, err)
	}
	s.want(t, r)
	s.wantHistory(t, "r1", anEntry(1))
}

func refusesRequestTwice(t *testing.T, s store) {
	s.insert(t, aRequest("r1", "+14155550100"))
	foreign := aRequest("r1", "+14155550101")
	foreign.Org = "b"
	wantCode(t, callwright.CodeConflict, map[string]error{
		"its own": s.InsertRequest(t.Context(), aRequest("r1", "+14155550102")), "another's": s.InsertRequest(t.Context(), foreign),
	})
	if taken, err := s.ActiveNumbers(t.Context(), []callwright.PhoneNumber{"+14155550101", "+14155550102"}); err != nil || len(taken) > 0 {
		t.Errorf("what was refused has the numbers %v, %v", taken, err)
	}
}

func updatesRequest(t *testing.T, s store) {
	s.insert(t, aRequest("r1", "+14155550100"))
	changed := func(writer int) porting.Request {
		r := aRequest("r1", "+14155550100")
		r.Misses = writer + 1
		return r
	}
	winner := callwrighttest.Race(t, func(writer int) error { return s.UpdateRequest(t.Context(), changed(writer), anEntry(writer+1)) })
	want := changed(winner)
	want.Revision = 2
	s.want(t, want)
	s.wantHistory(t, "r1", anEntry(winner+1))
}

func endsRequest(t *testing.T, s store) {
	r := aRequest("r1", "+14155550100")
	s.insert(t, r)
	r.State, r.EndedAt = porting.Completed, later(1)
	if err := s.UpdateRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Revision = 2
	again := r
	again.State = porting.InProgress
	if err := s.UpdateRequest(t.Context(), again, anEntry(1)); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("what has ended goes on: %v", err)
	}
	s.want(t, r)
	s.wantHistory(t, "r1")
}

// pagesRequests checks the pages of requests with equal times, beside requests of another organization.
func pagesRequests(t *testing.T, s store) {
	want := s.insertTies(t, nil)
	s.wantPages(t, porting.Filter{Limit: 4}, want)
	s.wantPages(t, porting.Filter{Limit: 10}, want)
	s.wantPages(t, porting.Filter{Limit: 10, After: callwright.Keyset{At: later(100), ID: "r"}}, want)
	if page, err := s.Requests(t.Context(), "a", porting.Filter{}); err != nil || len(page) > 0 {
		t.Errorf("a page of none has %d, %v", len(page), err)
	}
}

// pagesStates checks the pages of a filter that selects requests by their states.
func pagesStates(t *testing.T, s store) {
	chosen := []porting.State{porting.Submitted, porting.Canceled, porting.Submitted}
	want := s.insertTies(t, chosen)
	s.wantPages(t, porting.Filter{Limit: 4, States: chosen}, want)
	s.wantPages(t, porting.Filter{Limit: 3, States: chosen[:1]}, slices.DeleteFunc(slices.Clone(want), func(id string) bool {
		r, err := s.Request(t.Context(), "a", id)
		return err != nil || r.State != chosen[0]
	}))
	s.wantPages(t, porting.Filter{Limit: 4, States: []porting.State{"absent"}}, nil)
}

// insertTies stores 35 requests in alternating states, in groups of ten with equal times, and as many of another organization. It returns
// the ids of the first organization's requests in the given states, newest first; nil means all states.
func (s store) insertTies(t *testing.T, of []porting.State) (ids []string) {
	t.Helper()
	for i := range 35 {
		r := aRequest(fmt.Sprintf("r%02d", i), callwright.PhoneNumber(fmt.Sprintf("+141555501%02d", i)))
		r.State, r.CreatedAt = porting.States()[i%len(porting.States())], later(i/10)
		foreign := aRequest(fmt.Sprintf("s%02d", i))
		foreign.Org, foreign.State, foreign.CreatedAt = "b", r.State, r.CreatedAt
		s.insert(t, r, foreign)
		if of == nil || slices.Contains(of, r.State) {
			ids = append(ids, r.ID)
		}
	}
	slices.Reverse(ids)
	return ids
}

// wantPages reads all pages of a filter, and checks the ids of the requests.
func (s store) wantPages(t *testing.T, f porting.Filter, want []string) {
	t.Helper()
	var seen []string
	for range len(want) + 1 {
		page, err := s.Requests(t.Context(), "a", f)
		if err != nil || len(page) > f.Limit {
			t.Fatalf("got %d, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			seen = append(seen, r.ID)
			f.After = callwright.Keyset{At: r.CreatedAt, ID: r.ID}
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("pages of %d of %v:\ngot  %v\nwant %v", f.Limit, f.States, seen, want)
	}
}

// tellsWaiting checks which requests WaitingRequests returns among requests of all states, of which some have a HeldSince.
func tellsWaiting(t *testing.T, s store) {
	var want []string
	for i := range 24 {
		r := aRequest(fmt.Sprintf("r%02d", i), callwright.PhoneNumber(fmt.Sprintf("+141555501%02d", i)))
		r.State, r.CreatedAt = porting.States()[i%3], later(i/6)
		if i%5 == 2 && r.State == porting.InProgress {
			r.HeldSince = later(100 - i)
		}
		ended := aRequest(fmt.Sprintf("e%02d", i))
		ended.State, ended.CreatedAt = porting.States()[3+i%3], r.CreatedAt
		foreign := aRequest(fmt.Sprintf("s%02d", i))
		foreign.Org, foreign.State, foreign.HeldSince, foreign.CreatedAt = "b", r.State, r.HeldSince, r.CreatedAt
		if s.insert(t, r, ended, foreign); r.State == porting.WaitingForSignature || !r.HeldSince.IsZero() {
			want = append(want, r.ID)
		}
	}
	for _, limit := range []int{0, 1, 5, len(want), 50} {
		found, err := s.WaitingRequests(t.Context(), "a", limit)
		var got []string
		for _, r := range found {
			got = append(got, r.ID)
		}
		if err != nil || !slices.Equal(got, want[:min(limit, len(want))]) {
			t.Errorf("at most %d: got %v, %v; want the first of %v", limit, got, err, want)
		}
	}
}

func filtersRequests(t *testing.T, s store) {
	for i, state := range porting.States() {
		r := aRequest(string(state), callwright.PhoneNumber(fmt.Sprintf("+1415555010%d", i)))
		r.State, r.CreatedAt = state, later(-i)
		s.insert(t, r)
	}
	for _, want := range [][]porting.State{porting.States(), {porting.Submitted}, {porting.Submitted, porting.Failed}} {
		f := porting.Filter{States: want, Limit: 10}
		if len(want) == len(porting.States()) {
			f.States = nil
		}
		list, err := s.Requests(t.Context(), "a", f)
		var got []porting.State
		for _, r := range list {
			got = append(got, r.State)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
}

func findsByRef(t *testing.T, s store) {
	r := aRequest("r1", "+14155550100")
	s.insert(t, r, aRequest("r2", "+14155550101"))
	_, before := s.RequestByRef(t.Context(), "g", "o1")
	_, empty := s.RequestByRef(t.Context(), "g", "")
	r.Ref = "o1"
	if err := s.UpdateRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Revision = 2
	_, other := s.RequestByRef(t.Context(), "another", "o1")
	wantCode(t, callwright.CodeNotFound, map[string]error{"before": before, "of none": empty, "of another gateway": other})
	if got, err := s.RequestByRef(t.Context(), "g", "o1"); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func tellsDue(t *testing.T, s store) {
	for i, due := range []int{3, 1, 2, 9, 0} {
		r := aRequest(fmt.Sprint("r", i), callwright.PhoneNumber(fmt.Sprintf("+1415555010%d", i)))
		r.Org = callwright.OrgID([]string{"a", "b"}[i%2])
		if due > 0 {
			r.DueAt = later(due)
		}
		s.insert(t, r)
	}
	for _, test := range []struct {
		now, limit int
		want       []porting.Name
	}{
		{0, 9, nil}, {1, 9, []porting.Name{{Org: "b", ID: "r1"}}},
		{3, 9, []porting.Name{{Org: "b", ID: "r1"}, {Org: "a", ID: "r2"}, {Org: "a", ID: "r0"}}},
		{8, 2, []porting.Name{{Org: "b", ID: "r1"}, {Org: "a", ID: "r2"}}},
	} {
		if got, err := s.DueRequests(t.Context(), later(test.now), test.limit); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("at %d: got %v, %v; want %v", test.now, got, err, test.want)
		}
	}
	r, err := s.Request(t.Context(), "b", "r1")
	if err != nil {
		t.Fatal(err)
	}
	r.DueAt = time.Time{}
	if err := s.UpdateRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := s.DueRequests(t.Context(), later(1), 9); err != nil || len(got) > 0 {
		t.Errorf("what is not to be looked at is due: %v, %v", got, err)
	}
}

var errRollback = errors.New("roll back")

func rollsBackRequest(t *testing.T, s store) {
	r := aRequest("r1", "+14155550100")
	s.insert(t, r)
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		changed := r
		changed.Ref, changed.DueAt, changed.State = "o1", at, porting.Failed
		return errors.Join(s.UpdateRequest(ctx, changed, anEntry(1)), s.InsertRequest(ctx, aRequest("r2", "+14155550101")), errRollback)
	})
	if !errors.Is(err, errRollback) || errors.Is(err, callwright.ErrConflict) {
		t.Fatal(err)
	}
	s.want(t, r)
	s.wantHistory(t, "r1")
	s.wantTaken(t, "+14155550100")
	_, getErr := s.Request(t.Context(), "a", "r2")
	_, refErr := s.RequestByRef(t.Context(), "g", "o1")
	wantCode(t, callwright.CodeNotFound, map[string]error{"the second": getErr, "the order": refErr})
	if due, err := s.DueRequests(t.Context(), later(1), 9); err != nil || len(due) > 0 {
		t.Errorf("%v are due, %v", due, err)
	}
}

func encryptsRequest(t *testing.T, s store) {
	r := aRequest(callwrighttest.VisibleID, "+14155550100")
	r.Numbers[0].PIN, r.Numbers[0].Failure = "hunter2-pin0", &porting.Failure{Code: porting.OtherFailure, Raw: "hunter2-raw0"}
	r.Account = porting.Account{
		BusinessName: "hunter2-firm", FirstName: "hunter2-frst", LastName: "hunter2-last", AccountNumber: "hunter2-acct",
		Email: "hunter2-mail", NotifyEmails: []string{"hunter2-also"},
		Address: porting.Address{Street: "hunter2-road", Street2: "hunter2-flat", City: "hunter2-city", Zip: "hunter2-zips"},
	}
	r.Failure, r.Webhook = &porting.Failure{Code: porting.OtherFailure, Raw: "hunter2-rawr"}, "hunter2-hook"
	e := anEntry(1)
	e.Note = "hunter2-note"
	second := e
	second.Number = 2
	s.atRest.Check(t, s.Store, func() error {
		return errors.Join(s.InsertRequest(t.Context(), r, e), s.UpdateRequest(t.Context(), r, second))
	}, "hunter2-pin0", "hunter2-raw0", "hunter2-firm", "hunter2-frst", "hunter2-last", "hunter2-acct", "hunter2-mail", "hunter2-also",
		"hunter2-road", "hunter2-flat", "hunter2-city", "hunter2-zips", "hunter2-rawr", "hunter2-note", "hunter2-hook")
}
