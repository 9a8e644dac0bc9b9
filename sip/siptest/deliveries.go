package siptest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
)

// RunDeliveries tests a sip.Deliveries. newStore returns an empty store.
func RunDeliveries(t *testing.T, newStore func(t *testing.T) sip.Deliveries) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[sip.Deliveries, sip.Delivery]{
		New: newStore,
		Value: func(t *testing.T, number int) sip.Delivery {
			t.Helper()
			d := callwrighttest.Filled[sip.Delivery](t, number)
			d.Org, d.Number = "a", listed
			return d
		},
		Org:           func(d *sip.Delivery) *callwright.OrgID { return &d.Org },
		Insert:        func(s sip.Deliveries, ctx context.Context, d sip.Delivery) error { return s.AddDelivery(ctx, d, 10) },
		InsertedTwice: true,
		Find: func(s sip.Deliveries, ctx context.Context, d sip.Delivery) (sip.Delivery, error) {
			all, err := s.DeliveriesOf(ctx, d.Org, d.Number, callwright.Keyset{}, 10)
			for _, one := range all {
				if one.ID == d.ID {
					return one, err
				}
			}
			return sip.Delivery{}, cmp.Or(err, error(callwright.ErrNotFound))
		},
		Page: func(
			s sip.Deliveries, ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
		) ([]sip.Delivery, error) {
			return s.DeliveriesOf(ctx, org, listed, after, limit)
		},
		Place:     func(d sip.Delivery) callwright.Keyset { return callwright.Keyset{At: d.CreatedAt, ID: d.ID} },
		DeleteOld: sip.Deliveries.DeleteOldDeliveries,
		Time:      func(d sip.Delivery) time.Time { return d.CreatedAt },
	})
	tests := map[string]func(*testing.T, sip.Deliveries){
		"keeps every field":                     keepsDelivery,
		"adds each once":                        addsDeliveryOnce,
		"keeps the newest":                      keepsNewestDeliveries,
		"reports on pending ones":               reportsPendingDeliveries,
		"hides other organizations' deliveries": hidesDeliveries,
		"removes those of a trunk":              deletesDeliveries,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// delivery returns a pending delivery of the trunk t1 that was created the given number of seconds after the time in the variable at.
func delivery(id string, seconds int) sip.Delivery {
	return sip.Delivery{
		ID: id, Org: "a", TrunkID: "t1", Number: listed, State: sip.DeliveryPending, CreatedAt: at.Add(time.Duration(seconds) * time.Second),
	}
}

func addDeliveries(t *testing.T, s sip.Deliveries, keep int, all ...sip.Delivery) {
	t.Helper()
	for _, d := range all {
		if err := s.AddDelivery(t.Context(), d, keep); err != nil {
			t.Fatalf("add %s: %v", d.ID, err)
		}
	}
}

// wantDeliveries compares the ids of a page of organization a's deliveries with want, and returns the page.
func wantDeliveries(t *testing.T, s sip.Deliveries, after callwright.Keyset, limit int, want string) []sip.Delivery {
	t.Helper()
	got, err := s.DeliveriesOf(t.Context(), "a", listed, after, limit)
	var ids []string
	for _, d := range got {
		ids = append(ids, d.ID)
	}
	if err != nil || strings.Join(ids, " ") != want {
		t.Errorf("got %v, %v; want %s", ids, err, want)
	}
	return got
}

func keepsDelivery(t *testing.T, s sip.Deliveries) {
	d := callwrighttest.Filled[sip.Delivery](t, 0)
	d.State = sip.DeliveryPending
	addDeliveries(t, s, 10, d)
	for range 2 {
		got, err := s.DeliveriesOf(t.Context(), d.Org, d.Number, callwright.Keyset{}, 10)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], d) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, d)
		}
		d.State, d.To, d.Attempts, d.Error, d.DoneAt = sip.DeliverySent, "elsewhere", 7, "", new(at.Add(time.Hour))
		if err := s.ReportDelivery(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
}

func addsDeliveryOnce(t *testing.T, s sip.Deliveries) {
	sent := delivery("d1", 0)
	addDeliveries(t, s, 10, sent)
	sent.State = sip.DeliverySent
	if err := s.ReportDelivery(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	addDeliveries(t, s, 10, delivery("d1", 0))
	if got := wantDeliveries(t, s, callwright.Keyset{}, 10, "d1"); got[0].State != sip.DeliverySent {
		t.Errorf("it is %+v", got)
	}
}

func keepsNewestDeliveries(t *testing.T, s sip.Deliveries) {
	inbound, foreign := delivery("in", -1), delivery("foreign", -1)
	inbound.TrunkID, foreign.Org = "t2", "b"
	addDeliveries(t, s, 3, inbound, foreign)
	for i := range 5 {
		addDeliveries(t, s, 3, delivery(fmt.Sprint("d", i), i))
	}
	wantDeliveries(t, s, callwright.Keyset{}, 10, "d4 d3 d2 in")
	if got, err := s.DeliveriesOf(t.Context(), "b", listed, callwright.Keyset{}, 10); err != nil || len(got) != 1 {
		t.Errorf("another organization has %+v, %v", got, err)
	}
}

func reportsPendingDeliveries(t *testing.T, s sip.Deliveries) {
	addDeliveries(t, s, 10, delivery("d1", 0))
	for _, state := range []sip.DeliveryState{sip.DeliveryPending, sip.DeliveryGivenUp, sip.DeliverySent} {
		d := delivery("d1", 0)
		d.State, d.Error = state, string(state)
		if err := s.ReportDelivery(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if got := wantDeliveries(t, s, callwright.Keyset{}, 10, "d1"); got[0].State != sip.DeliveryGivenUp || got[0].Error != "given_up" {
		t.Errorf("it is %+v", got)
	}
	if err := s.ReportDelivery(t.Context(), delivery("d2", 0)); err != nil {
		t.Errorf("a report on an unknown one gave %v", err)
	}
	wantDeliveries(t, s, callwright.Keyset{}, 10, "d1")
}

func hidesDeliveries(t *testing.T, s sip.Deliveries) {
	addDeliveries(t, s, 10, delivery("d1", 0))
	foreign := delivery("d1", 0)
	foreign.Org, foreign.Error = "b", "changed"
	if err := s.ReportDelivery(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteDeliveries(t.Context(), sip.Trunk{ID: "t1", Org: "b", Number: listed}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.DeliveriesOf(t.Context(), "b", listed, callwright.Keyset{}, 10); err != nil || len(got) != 0 {
		t.Errorf("another organization sees %+v, %v", got, err)
	}
	if got := wantDeliveries(t, s, callwright.Keyset{}, 10, "d1"); got[0].Error != "" {
		t.Errorf("another organization has changed it to %+v", got)
	}
}

func deletesDeliveries(t *testing.T, s sip.Deliveries) {
	other := delivery("other", 9)
	other.TrunkID = "t2"
	addDeliveries(t, s, 10, delivery("d1", 0), delivery("d2", 0), other)
	if err := s.DeleteDeliveries(t.Context(), sip.Trunk{ID: "t1", Org: "a", Number: listed}); err != nil {
		t.Fatal(err)
	}
	wantDeliveries(t, s, callwright.Keyset{}, 10, "other")
}
