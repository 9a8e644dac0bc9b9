package callwrighttest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// RunEndpointStore tests a delivery.EndpointStore. newStore must return an empty store.
func RunEndpointStore(t *testing.T, newStore func(t *testing.T) delivery.EndpointStore) {
	t.Helper()
	t.Run("keeps endpoints", func(t *testing.T) {
		t.Parallel()
		keepsEndpoints(t, newStore(t))
	})
	t.Run("compares and sets", func(t *testing.T) {
		t.Parallel()
		comparesEndpoints(t, newStore(t))
	})
	t.Run("lists what is paused", func(t *testing.T) {
		t.Parallel()
		listsPaused(t, newStore(t))
	})
}

func endpoint(org callwright.OrgID, host string) delivery.Endpoint {
	paused, trial := deliveryTime.Add(time.Hour), deliveryTime.Add(2*time.Hour)
	return delivery.Endpoint{
		Org: org, Host: host, Since: deliveryTime, Failures: 7, Failure: "no answer within »10 s«", Last: deliveryTime.Add(time.Minute),
		PausedAt: &paused, TrialAt: &trial,
	}
}

func storeEndpoint(t *testing.T, s delivery.EndpointStore, e delivery.Endpoint) delivery.Endpoint {
	t.Helper()
	if err := s.StoreEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Version++
	return e
}

func wantEndpoint(t *testing.T, s delivery.EndpointStore, want delivery.Endpoint) {
	t.Helper()
	if got, err := s.Endpoint(t.Context(), want.Org, want.Host); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func wantNoEndpoint(t *testing.T, s delivery.EndpointStore, org callwright.OrgID, host string) {
	t.Helper()
	if got, err := s.Endpoint(t.Context(), org, host); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %+v, %v, want none", got, err)
	}
}

func keepsEndpoints(t *testing.T, s delivery.EndpointStore) {
	wantNoEndpoint(t, s, "a", "example.com:8443")
	e := storeEndpoint(t, s, endpoint("a", "example.com:8443"))
	wantEndpoint(t, s, e)
	wantNoEndpoint(t, s, "a", "example.com")
	wantNoEndpoint(t, s, "b", "example.com:8443")
	e.Failures, e.PausedAt, e.TrialAt = 8, nil, nil
	e = storeEndpoint(t, s, e)
	wantEndpoint(t, s, e)
	for range 2 {
		if err := s.DeleteEndpoint(t.Context(), "b", "example.com:8443"); err != nil {
			t.Fatal(err)
		}
	}
	wantEndpoint(t, s, e)
	if err := s.DeleteEndpoint(t.Context(), "a", "example.com:8443"); err != nil {
		t.Fatal(err)
	}
	wantNoEndpoint(t, s, "a", "example.com:8443")
}

func comparesEndpoints(t *testing.T, s delivery.EndpointStore) {
	conflicts := func(e delivery.Endpoint) {
		t.Helper()
		if err := s.StoreEndpoint(t.Context(), e); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("version %d gave %v, want a conflict", e.Version, err)
		}
	}
	first := endpoint("a", "example.com")
	late := first
	late.Version = 1
	conflicts(late)
	second := storeEndpoint(t, s, first)
	conflicts(first)
	third := storeEndpoint(t, s, second)
	conflicts(second)
	wantEndpoint(t, s, third)
}

func listsPaused(t *testing.T, s delivery.EndpointStore) {
	failing := endpoint("a", "b.example.com")
	failing.PausedAt, failing.TrialAt = nil, nil
	storeEndpoint(t, s, failing)
	storeEndpoint(t, s, endpoint("b", "b.example.com"))
	c, a := storeEndpoint(t, s, endpoint("a", "c.example.com")), storeEndpoint(t, s, endpoint("a", "a.example.com"))
	for limit, want := range map[int][]delivery.Endpoint{10: {a, c}, 1: {a}} {
		if got, err := s.PausedEndpoints(t.Context(), "a", limit); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("up to %d: got %+v, %v", limit, got, err)
		}
	}
	if got, err := s.PausedEndpoints(t.Context(), "c", 10); err != nil || len(got) > 0 {
		t.Errorf("got %+v, %v, want none", got, err)
	}
}
