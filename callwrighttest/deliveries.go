package callwrighttest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// RunDeliveryStore tests a delivery.Store. newStore must return an empty store.
func RunDeliveryStore(t *testing.T, newStore func(t *testing.T) delivery.Store) {
	t.Helper()
	t.Run("counts attempts", func(t *testing.T) {
		t.Parallel()
		countsAttempts(t, newStore(t))
	})
	t.Run("ends what is pending", func(t *testing.T) {
		t.Parallel()
		endsDeliveries(t, newStore(t))
	})
	t.Run("lists page by page", func(t *testing.T) {
		t.Parallel()
		listsDeliveries(t, newStore(t))
	})
	t.Run("shares no memory", func(t *testing.T) {
		t.Parallel()
		sharesNoDelivery(t, newStore(t))
	})
	t.Run("forgets old deliveries", func(t *testing.T) {
		t.Parallel()
		forgetsDeliveries(t, newStore(t))
	})
}

var deliveryTime = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// aDelivery returns a pending delivery of organization a with a value in every field. after shifts its times.
func aDelivery(id string, after time.Duration) delivery.Delivery {
	since := deliveryTime.Add(after)
	next := since.Add(5 * time.Second)
	return delivery.Delivery{
		Org: "a", ID: "call/" + id, Kind: delivery.MessageCall, Subject: id, Host: "example.com:8443", State: delivery.Pending,
		Attempts: 1, Failure: "the answer is 503: »später«", Since: since, Last: since, Next: &next,
	}
}

func storeDeliveries(t *testing.T, s delivery.Store, all ...delivery.Delivery) {
	t.Helper()
	for _, d := range all {
		if err := s.StoreDelivery(t.Context(), d, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}

// wantDeliveries checks that the store lists exactly the wanted deliveries of an organization since deliveryTime, in descending order of
// Since. An empty state selects all states.
func wantDeliveries(t *testing.T, s delivery.Store, org callwright.OrgID, state delivery.State, want ...delivery.Delivery) {
	t.Helper()
	got, err := s.Deliveries(t.Context(), org, state, deliveryTime, callwright.Keyset{}, 100)
	if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%q of %s: got %+v, %v\nwant %+v", state, org, got, err, want)
	}
}

func countsAttempts(t *testing.T, s delivery.Store) {
	first, other := aDelivery("c1", 0), aDelivery("c1", 0)
	other.Org = "b"
	again := first
	again.Since, again.Last, again.Host, again.Failure = first.Since.Add(time.Hour), first.Since.Add(time.Hour), "example.org", "no answer"
	again.State, again.Next = delivery.GivenUp, nil
	storeDeliveries(t, s, first, other, again)
	want := again
	want.Since, want.Attempts = first.Since, 2
	wantDeliveries(t, s, "a", "", want)
	wantDeliveries(t, s, "b", "", other)
	wantDeliveries(t, s, "c", "")
}

func endsDeliveries(t *testing.T, s delivery.Store) {
	taken, dropped, lost := aDelivery("c1", 3*time.Hour), aDelivery("c2", 2*time.Hour), aDelivery("c3", time.Hour)
	lost.State, lost.Next = delivery.GivenUp, nil
	storeDeliveries(t, s, taken, dropped, lost)
	at := deliveryTime.Add(4 * time.Hour)
	end := func(org callwright.OrgID, id string, state delivery.State, attempts int, failure string) {
		t.Helper()
		if err := s.FinishDelivery(t.Context(), delivery.Delivery{Org: org, ID: id, State: state, Attempts: attempts, Failure: failure, Last: at}); err != nil {
			t.Fatal(err)
		}
	}
	end("a", taken.ID, delivery.Delivered, 1, "")
	end("a", dropped.ID, delivery.GivenUp, 0, "the trunk has been removed")
	end("a", lost.ID, delivery.Delivered, 1, "")
	end("a", "call/c9", delivery.Delivered, 1, "")
	end("b", taken.ID, delivery.GivenUp, 1, "of another organization")
	taken.State, taken.Attempts, taken.Last, taken.Next = delivery.Delivered, 2, at, nil
	dropped.State, dropped.Failure, dropped.Last, dropped.Next = delivery.GivenUp, "the trunk has been removed", at, nil
	wantDeliveries(t, s, "a", "", taken, dropped, lost)
	wantDeliveries(t, s, "a", delivery.Pending)
	wantDeliveries(t, s, "b", "")
}

func listsDeliveries(t *testing.T, s delivery.Store) {
	old, a, b, c := aDelivery("c0", -time.Microsecond), aDelivery("c1", 0), aDelivery("c2", 0), aDelivery("c3", time.Hour)
	b.State, b.Next = delivery.Delivered, nil
	storeDeliveries(t, s, old, a, b, c)
	wantDeliveries(t, s, "a", "", c, b, a)
	wantDeliveries(t, s, "a", delivery.Pending, c, a)
	wantDeliveries(t, s, "a", delivery.Delivered, b)
	var after callwright.Keyset
	for _, want := range []delivery.Delivery{c, b, a} {
		got, err := s.Deliveries(t.Context(), "a", "", deliveryTime, after, 1)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
		after = callwright.Keyset{At: got[0].Since, ID: got[0].ID}
	}
	if got, err := s.Deliveries(t.Context(), "a", "", deliveryTime, after, 1); err != nil || len(got) > 0 {
		t.Errorf("after the end there are %+v, %v", got, err)
	}
}

func sharesNoDelivery(t *testing.T, s delivery.Store) {
	given, want := aDelivery("c1", 0), aDelivery("c1", 0)
	storeDeliveries(t, s, given)
	Spoil(&given)
	wantDeliveries(t, s, "a", "", want)
	got, err := s.Deliveries(t.Context(), "a", "", deliveryTime, callwright.Keyset{}, 10)
	if err != nil || len(got) != 1 {
		t.Fatalf("listed %+v, %v", got, err)
	}
	Spoil(&got)
	wantDeliveries(t, s, "a", "", want)
}

func forgetsDeliveries(t *testing.T, s delivery.Store) {
	old, foreign, kept := aDelivery("c1", 0), aDelivery("c1", 0), aDelivery("c2", time.Hour)
	foreign.Org = "b"
	storeDeliveries(t, s, old, foreign)
	if err := s.StoreDelivery(t.Context(), kept, kept.Since); err != nil {
		t.Fatal(err)
	}
	wantDeliveries(t, s, "a", "", kept)
	wantDeliveries(t, s, "b", "", foreign)
}

// NewDeliveryLog returns a log that uses a store, and fails the test on an error.
func NewDeliveryLog(t testing.TB, s delivery.Store) *delivery.Log {
	t.Helper()
	log, err := delivery.NewLog(delivery.LogConfig{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// WantDeliveries checks the listed deliveries of an organization, in descending order of their first failure. Each wanted delivery is a
// text of kind, subject, host, state and attempts, such as "call c1 example.com given_up 11". WantDeliveries also checks that the pending
// deliveries, and no others, contain a time of the next attempt, that each delivery contains a failure, and that no field contains a whole
// URL.
func WantDeliveries(t testing.TB, log *delivery.Log, org callwright.OrgID, want ...string) {
	t.Helper()
	page, err := log.List(t.Context(), org, "", callwright.Keyset{}, delivery.MaxPage)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range page.Items {
		got = append(got, fmt.Sprint(d.Kind, " ", d.Subject, " ", d.Host, " ", d.State, " ", d.Attempts))
		if (d.Next != nil) != (d.State == delivery.Pending) || d.Failure == "" || d.Last.Before(d.Since) || strings.Contains(fmt.Sprint(d), "://") {
			t.Errorf("there is %+v", d)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the deliveries are %q, want %q", got, want)
	}
}
