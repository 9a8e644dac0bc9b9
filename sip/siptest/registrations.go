package siptest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
)

// RunRegistrations tests a sip.Registrations. newStore returns an empty store.
func RunRegistrations(t *testing.T, newStore func(t *testing.T) sip.Registrations) {
	t.Helper()
	tests := map[string]func(*testing.T, sip.Registrations){
		"keeps every field":                        keepsRegistration,
		"hides other organizations' registrations": hidesRegistrations,
		"puts by compare-and-set":                  comparesRegistrations,
		"puts a new one in place of an old":        supplantsRegistration,
		"leases what nobody has":                   leasesUnclaimed,
		"gives a node what is due":                 leasesDueToNode,
		"leases the most overdue first":            leasesOverdueFirst,
		"leases each to one node":                  leasesRegistrationOnce,
		"knows whose they are, and releases":       knowsAndReleases,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func registrationOf(trunkID string, org callwright.OrgID, nextAt time.Time) sip.Registration {
	return sip.Registration{
		TrunkID: trunkID, Org: org, Number: "+15550000001", State: sip.Registering, Since: at, NextAt: nextAt,
	}
}

func register(t *testing.T, s sip.Registrations, all ...sip.Registration) {
	t.Helper()
	for _, r := range all {
		if err := s.StoreRegistration(t.Context(), r); err != nil {
			t.Fatalf("put %s: %v", r.TrunkID, err)
		}
	}
}

func getRegistration(t *testing.T, s sip.Registrations, org callwright.OrgID, trunkID string) sip.Registration {
	t.Helper()
	got, err := s.Registration(t.Context(), org, trunkID)
	if err != nil {
		t.Fatalf("registration of %s: %v", trunkID, err)
	}
	return got
}

// given returns the sorted ids of the trunks whose registrations a node claims.
func given(t *testing.T, s sip.Registrations, node string, now time.Time, limit int) string {
	t.Helper()
	got, err := s.ClaimRegistrations(t.Context(), node, now, limit)
	if err != nil {
		t.Fatalf("give to %s: %v", node, err)
	}
	ids := make([]string, 0, len(got))
	for _, r := range got {
		ids = append(ids, r.TrunkID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func keepsRegistration(t *testing.T, s sip.Registrations) {
	want := callwrighttest.Filled[sip.Registration](t, 0)
	want.Version = 0
	register(t, s, want)
	want.Version = 1
	if got := getRegistration(t, s, want.Org, want.TrunkID); !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	want.State, want.ExpiresAt, want.Failures, want.Reason = sip.Refused, time.Time{}, 7, ""
	want.Since, want.NextAt = at, at.Add(time.Hour)
	register(t, s, want)
	want.Version = 2
	if got := getRegistration(t, s, want.Org, want.TrunkID); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	taken, err := s.ClaimRegistrations(t.Context(), "n1", at, 10)
	if err != nil || len(taken) != 1 || !reflect.DeepEqual(taken[0], want) {
		t.Errorf("taken %+v, %v\nwant  %+v", taken, err, want)
	}
}

func hidesRegistrations(t *testing.T, s sip.Registrations) {
	register(t, s, registrationOf("t1", "a", at))
	if _, err := s.Registration(t.Context(), "b", "t1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's registration gave %v, want not found", err)
	}
	foreign := registrationOf("t1", "b", at)
	if err := s.StoreRegistration(t.Context(), foreign); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("another organization's new registration gave %v, want a conflict", err)
	}
	foreign.Version = 1
	if err := s.StoreRegistration(t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's change gave %v, want not found", err)
	}
	if err := s.DeleteRegistration(t.Context(), "b", "t1"); err != nil {
		t.Errorf("another organization's removal gave %v", err)
	}
	mine := getRegistration(t, s, "a", "t1")
	if err := s.DeleteRegistration(t.Context(), "a", "t1"); err != nil {
		t.Errorf("removal: %v", err)
	}
	if _, err := s.Registration(t.Context(), "a", "t1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a removed registration gave %v, want not found", err)
	}
	if err := s.StoreRegistration(t.Context(), mine); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a change of a removed registration gave %v, want not found", err)
	}
}

func comparesRegistrations(t *testing.T, s sip.Registrations) {
	register(t, s, registrationOf("t1", "a", at))
	winner := callwrighttest.Race(t, func(i int) error {
		mine := registrationOf("t1", "a", at)
		mine.Version, mine.Failures = 1, i
		return s.StoreRegistration(t.Context(), mine)
	})
	if got := getRegistration(t, s, "a", "t1"); got.Failures != winner || got.Version != 2 {
		t.Errorf("writer %d has won; stored is %+v", winner, got)
	}
}

func supplantsRegistration(t *testing.T, s sip.Registrations) {
	old := registrationOf("t1", "a", at.Add(time.Hour))
	register(t, s, old)
	if got := given(t, s, "n1", at, 1); got != "t1" {
		t.Fatalf("n1 got %q", got)
	}
	changed := registrationOf("t1", "a", at.Add(time.Hour))
	changed.Number = "+15550000002"
	register(t, s, changed)
	old.Version = 1
	if err := s.StoreRegistration(t.Context(), old); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("who had read the old one got %v, want a conflict", err)
	}
	if got := getRegistration(t, s, "a", "t1"); got.Version < 2 || got.Number != "+15550000002" {
		t.Errorf("stored is %+v", got)
	}
	if got, err := s.RegistrationsOf(t.Context(), "n1"); err != nil || len(got) != 0 {
		t.Errorf("n1 still has %v, %v", got, err)
	}
	if got := given(t, s, "n2", at, 1); got != "t1" {
		t.Errorf("n2 got %q", got)
	}
}

// leasesUnclaimed checks that a node claims registrations without a node even before they are due, because it must first connect to the
// registrar.
func leasesUnclaimed(t *testing.T, s sip.Registrations) {
	register(t, s, registrationOf("t1", "a", at.Add(time.Hour)))
	for _, step := range []struct {
		node string
		want string
	}{{"n1", "t1"}, {"n1", ""}, {"n2", ""}} {
		if got := given(t, s, step.node, at, 10); got != step.want {
			t.Errorf("%s got %q, want %q", step.node, got, step.want)
		}
	}
	if err := s.ReleaseRegistrations(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	if got := given(t, s, "n2", at, 10); got != "t1" {
		t.Errorf("n2 got %q of what n1 had", got)
	}
	if got := given(t, s, "n1", at, 10); got != "" {
		t.Errorf("n1 got %q of what is n2's now", got)
	}
}

func leasesDueToNode(t *testing.T, s sip.Registrations) {
	register(t, s, registrationOf("t1", "a", at), registrationOf("t2", "b", at.Add(time.Minute)))
	if got := given(t, s, "n1", at, 10); got != "t1 t2" {
		t.Fatalf("n1 got %q", got)
	}
	if got := given(t, s, "n2", at.Add(2*time.Minute), 10); got != "" {
		t.Errorf("n2 got %q of n1's", got)
	}
	if got := given(t, s, "n1", at, 10); got != "t1" {
		t.Errorf("n1 got %q, which is not what is due", got)
	}
	r := getRegistration(t, s, "a", "t1")
	r.State, r.NextAt = sip.Registered, at.Add(3*time.Minute)
	register(t, s, r)
	if got := given(t, s, "n1", at.Add(2*time.Minute), 10); got != "t2" {
		t.Errorf("n1 got %q, which is not what is due", got)
	}
	if got := given(t, s, "n2", at.Add(2*time.Minute), 10); got != "" {
		t.Errorf("n2 got %q: a change has taken it from its node", got)
	}
}

func leasesOverdueFirst(t *testing.T, s sip.Registrations) {
	register(t, s,
		registrationOf("t1", "a", at), registrationOf("t2", "a", at.Add(-time.Hour)), registrationOf("t3", "a", at.Add(time.Hour)))
	for _, want := range []string{"t2", "t1", "t3", ""} {
		if got := given(t, s, "n"+want, at, 1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func leasesRegistrationOnce(t *testing.T, s sip.Registrations) {
	const count, nodes, batch = 120, 6, 7
	for i := range count {
		register(t, s, registrationOf(fmt.Sprint("t", i), "a", at.Add(time.Minute)))
	}
	var owners sync.Map
	take := func(node string) (more bool) {
		got, err := s.ClaimRegistrations(t.Context(), node, at, batch)
		if err != nil || len(got) > batch {
			t.Errorf("%s took %d, %v", node, len(got), err)
		}
		more = len(got) > 0
		for _, r := range got {
			if owner, twice := owners.LoadOrStore(r.TrunkID, node); twice {
				t.Errorf("%s is given to %s and to %s", r.TrunkID, owner, node)
				more = false
			}
		}
		return more
	}
	var wait sync.WaitGroup
	for n := range nodes {
		wait.Go(func() {
			for take(fmt.Sprint("n", n)) {
			}
		})
	}
	wait.Wait()
	for take("n0") { // claims rows that another node had locked during the last claim
	}
	total := 0
	for n := range nodes {
		ids, err := s.RegistrationsOf(t.Context(), fmt.Sprint("n", n))
		if err != nil {
			t.Fatal(err)
		}
		total += len(ids)
		for _, id := range ids {
			if owner, _ := owners.Load(id); owner != fmt.Sprint("n", n) {
				t.Errorf("n%d has %s, which was given to %v", n, id, owner)
			}
		}
	}
	if total != count {
		t.Errorf("the nodes have %d of %d", total, count)
	}
}

func knowsAndReleases(t *testing.T, s sip.Registrations) {
	nodes := func(want ...string) {
		t.Helper()
		got, err := s.RegistrationNodes(t.Context())
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("the nodes are %q, %v; want %q", got, err, want)
		}
	}
	of := func(node string, want ...string) {
		t.Helper()
		got, err := s.RegistrationsOf(t.Context(), node)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has %q, %v; want %q", node, got, err, want)
		}
	}
	later := at.Add(time.Hour)
	register(t, s, registrationOf("t1", "a", later), registrationOf("t2", "b", later))
	nodes()
	if got := given(t, s, "n1", at, 10); got != "t1 t2" {
		t.Fatalf("n1 got %q", got)
	}
	register(t, s, registrationOf("t3", "b", later), registrationOf("t4", "b", later))
	if got := given(t, s, "n2", at, 1); got != "t3" && got != "t4" {
		t.Fatalf("n2 got %q", got)
	}
	nodes("n1", "n2")
	of("n1", "t1", "t2")
	of("n3")
	for _, node := range []string{"n3", "n1"} {
		if err := s.ReleaseRegistrations(t.Context(), node); err != nil {
			t.Errorf("release %s: %v", node, err)
		}
	}
	nodes("n2")
	of("n1")
	if got := given(t, s, "n3", at, 10); !strings.HasPrefix(got, "t1 t2") {
		t.Errorf("n3 got %q of what n1 has released", got)
	}
}
