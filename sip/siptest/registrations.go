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
	"github.com/callwright/callwright/sip"
)

// RunRegistrations tests a sip.Registrations. newStore gives an empty one.
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
		"renews and releases":                      renewsAndReleases,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func registration(trunkID string, org callwright.OrgID, nextAt time.Time) sip.Registration {
	return sip.Registration{
		TrunkID: trunkID, Org: org, Number: "+15550000001", State: sip.Registering, Since: at, NextAt: nextAt,
	}
}

func register(t *testing.T, s sip.Registrations, all ...sip.Registration) {
	t.Helper()
	for _, r := range all {
		if err := s.PutRegistration(t.Context(), r); err != nil {
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

// given is the trunks whose registrations a node gets, sorted.
func given(t *testing.T, s sip.Registrations, node string, now, until time.Time, limit int) string {
	t.Helper()
	got, err := s.LeaseRegistrations(t.Context(), node, now, until, limit)
	if err != nil {
		t.Fatalf("lease to %s: %v", node, err)
	}
	ids := make([]string, 0, len(got))
	for _, r := range got {
		ids = append(ids, r.TrunkID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func keepsRegistration(t *testing.T, s sip.Registrations) {
	want := filled[sip.Registration](t)
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
	leased, err := s.LeaseRegistrations(t.Context(), "n1", at, at.Add(time.Minute), 10)
	if err != nil || len(leased) != 1 || !reflect.DeepEqual(leased[0], want) {
		t.Errorf("leased %+v, %v\nwant   %+v", leased, err, want)
	}
}

func hidesRegistrations(t *testing.T, s sip.Registrations) {
	register(t, s, registration("t1", "a", at))
	if _, err := s.Registration(t.Context(), "b", "t1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's registration gave %v, want not found", err)
	}
	foreign := registration("t1", "b", at)
	if err := s.PutRegistration(t.Context(), foreign); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("another organization's new registration gave %v, want a conflict", err)
	}
	foreign.Version = 1
	if err := s.PutRegistration(t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
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
	if err := s.PutRegistration(t.Context(), mine); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a change of a removed registration gave %v, want not found", err)
	}
}

func comparesRegistrations(t *testing.T, s sip.Registrations) {
	register(t, s, registration("t1", "a", at))
	winner := race(t, func(i int) error {
		mine := registration("t1", "a", at)
		mine.Version, mine.Failures = 1, i
		return s.PutRegistration(t.Context(), mine)
	})
	if got := getRegistration(t, s, "a", "t1"); got.Failures != winner || got.Version != 2 {
		t.Errorf("writer %d has won; stored is %+v", winner, got)
	}
}

func supplantsRegistration(t *testing.T, s sip.Registrations) {
	old := registration("t1", "a", at.Add(time.Hour))
	register(t, s, old)
	until := at.Add(time.Minute)
	if got := given(t, s, "n1", at, until, 1); got != "t1" {
		t.Fatalf("n1 got %q", got)
	}
	changed := registration("t1", "a", at.Add(time.Hour))
	changed.Number = "+15550000002"
	register(t, s, changed)
	old.Version = 1
	if err := s.PutRegistration(t.Context(), old); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("who had read the old one got %v, want a conflict", err)
	}
	if got := getRegistration(t, s, "a", "t1"); got.Version < 2 || got.Number != "+15550000002" {
		t.Errorf("stored is %+v", got)
	}
	if got, err := s.RenewRegistrations(t.Context(), "n1", until); err != nil || len(got) != 0 {
		t.Errorf("n1 still has %v, %v", got, err)
	}
	if got := given(t, s, "n2", at, until, 1); got != "t1" {
		t.Errorf("n2 got %q", got)
	}
}

// leasesUnclaimed gives what nobody has, whenever it is due: the connection to the server has to be made.
func leasesUnclaimed(t *testing.T, s sip.Registrations) {
	register(t, s, registration("t1", "a", at.Add(time.Hour)))
	until := at.Add(time.Minute)
	for _, step := range []struct {
		node string
		now  time.Time
		want string
	}{
		{"n1", at, "t1"},
		{"n1", at, ""},
		{"n2", until.Add(-time.Microsecond), ""},
		{"n2", until, "t1"},
		{"n1", until, ""},
	} {
		if got := given(t, s, step.node, step.now, step.now.Add(time.Minute), 10); got != step.want {
			t.Errorf("%s got %q at %s, want %q", step.node, got, step.now, step.want)
		}
	}
}

func leasesDueToNode(t *testing.T, s sip.Registrations) {
	register(t, s, registration("t1", "a", at), registration("t2", "b", at.Add(time.Minute)))
	until := at.Add(time.Hour)
	if got := given(t, s, "n1", at, until, 10); got != "t1 t2" {
		t.Fatalf("n1 got %q", got)
	}
	if got := given(t, s, "n2", at.Add(2*time.Minute), until, 10); got != "" {
		t.Errorf("n2 got %q of n1's", got)
	}
	if got := given(t, s, "n1", at, until, 10); got != "t1" {
		t.Errorf("n1 got %q, which is not what is due", got)
	}
	r := getRegistration(t, s, "a", "t1")
	r.State, r.NextAt = sip.Registered, at.Add(3*time.Minute)
	register(t, s, r)
	if got := given(t, s, "n1", at.Add(2*time.Minute), until, 10); got != "t2" {
		t.Errorf("n1 got %q, which is not what is due", got)
	}
	if got := given(t, s, "n2", at.Add(2*time.Minute), until, 10); got != "" {
		t.Errorf("n2 got %q: a change has ended the lease", got)
	}
}

func leasesOverdueFirst(t *testing.T, s sip.Registrations) {
	register(t, s,
		registration("t1", "a", at), registration("t2", "a", at.Add(-time.Hour)), registration("t3", "a", at.Add(time.Hour)))
	for _, want := range []string{"t2", "t1", "t3", ""} {
		if got := given(t, s, "n"+want, at, at.Add(time.Hour), 1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func leasesRegistrationOnce(t *testing.T, s sip.Registrations) {
	const count, nodes, batch = 120, 6, 7
	for i := range count {
		register(t, s, registration(fmt.Sprint("t", i), "a", at.Add(time.Minute)))
	}
	var owners sync.Map
	lease := func(node string) (more bool) {
		got, err := s.LeaseRegistrations(t.Context(), node, at, at.Add(time.Minute), batch)
		if err != nil || len(got) > batch {
			t.Errorf("%s leased %d, %v", node, len(got), err)
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
			for lease(fmt.Sprint("n", n)) {
			}
		})
	}
	wait.Wait()
	for lease("n0") { // what another node had hold of when the last of them asked
	}
	total := 0
	for n := range nodes {
		ids, err := s.RenewRegistrations(t.Context(), fmt.Sprint("n", n), at.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		total += len(ids)
		for _, id := range ids {
			if owner, _ := owners.Load(id); owner != fmt.Sprint("n", n) {
				t.Errorf("n%d renews %s, which was given to %v", n, id, owner)
			}
		}
	}
	if total != count {
		t.Errorf("the nodes have %d of %d", total, count)
	}
}

func renewsAndReleases(t *testing.T, s sip.Registrations) {
	later := at.Add(time.Hour)
	register(t, s, registration("t1", "a", later), registration("t2", "b", later))
	until := at.Add(time.Minute)
	if got := given(t, s, "n1", at, until, 10); got != "t1 t2" {
		t.Fatalf("n1 got %q", got)
	}
	kept, err := s.RenewRegistrations(t.Context(), "n1", until.Add(time.Minute))
	slices.Sort(kept)
	if err != nil || !slices.Equal(kept, []string{"t1", "t2"}) {
		t.Errorf("n1 renews %v, %v", kept, err)
	}
	if kept, err := s.RenewRegistrations(t.Context(), "n2", later); err != nil || len(kept) != 0 {
		t.Errorf("n2 renews %v, %v", kept, err)
	}
	if got := given(t, s, "n2", until, later, 10); got != "" {
		t.Errorf("n2 got %q, which n1 has renewed", got)
	}
	for _, node := range []string{"n2", "n1"} {
		if got := given(t, s, "n3", until, later, 10); got != "" {
			t.Errorf("n3 got %q before n1 has released anything", got)
		}
		if err := s.ReleaseRegistrations(t.Context(), node); err != nil {
			t.Errorf("release %s: %v", node, err)
		}
	}
	if kept, err := s.RenewRegistrations(t.Context(), "n1", later); err != nil || len(kept) != 0 {
		t.Errorf("n1 renews %v, which it has released: %v", kept, err)
	}
	if got := given(t, s, "n3", until, later, 10); got != "t1 t2" {
		t.Errorf("n3 got %q of what n1 has released", got)
	}
}
