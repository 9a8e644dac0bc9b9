package siptest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// RunStatuses tests a sip.Statuses. newStore returns an empty store.
func RunStatuses(t *testing.T, newStore func(t *testing.T) sip.Statuses) {
	t.Helper()
	tests := map[string]func(*testing.T, sip.Statuses){
		"keeps every field":                   keepsStatus,
		"keeps what is absent apart":          keepsSparseStatus,
		"shares no memory":                    sharesNoStatus,
		"hides other organizations' statuses": hidesStatuses,
		"puts by compare-and-set":             comparesStatuses,
		"puts a new one in place of an old":   supplantsStatus,
		"lists by number":                     listsStatuses,
		"counts by state":                     countsStatuses,
		"finds the worst":                     findsWorstStatuses,
		"leases what is due":                  leasesDueStatuses,
		"leases each to one":                  leasesStatusOnce,
		"ends a lease":                        endsStatusLease,
		"records a status":                    recordsStatus,
		"finds a group":                       findsGroup,
		"shares what is known of servers":     sharesServers,
		"keeps servers of others apart":       keepsServersApart,
		"puts servers by compare-and-set":     comparesServers,
		"forgets servers without a trunk":     forgetsServers,
		"watches one server once":             watchesOnce,
		"leases servers that are due":         leasesDueServers,
		"leases each server to one":           leasesServerOnce,
		"wakes the statuses of a server":      wakesStatuses,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func status(trunkID string, org callwright.OrgID, probeAt time.Time) sip.Status {
	return sip.Status{
		TrunkID: trunkID, Org: org, Number: "+15550000001", ProbeAt: probeAt,
		Servers: []sip.ServerStatus{{
			Server: failover.Server{Host: "pbx.example.com"}, ProbeAt: probeAt, Health: health.Server{State: health.Unchecked, Since: at},
		}},
	}
}

func storeAll(t *testing.T, s sip.Statuses, statuses ...sip.Status) {
	t.Helper()
	for _, st := range statuses {
		if err := s.StoreStatus(t.Context(), st); err != nil {
			t.Fatalf("put %s: %v", st.TrunkID, err)
		}
	}
}

func getStatus(t *testing.T, s sip.Statuses, org callwright.OrgID, trunkID string) sip.Status {
	t.Helper()
	got, err := s.Status(t.Context(), org, trunkID)
	if err != nil {
		t.Fatalf("status of %s: %v", trunkID, err)
	}
	return got
}

// leased returns the trunk ids of the statuses that one call claims, in the order in which they are returned.
func leased(t *testing.T, s sip.Statuses, now, until time.Time, limit int) string {
	t.Helper()
	got, err := s.ClaimStatuses(t.Context(), now, until, limit)
	if err != nil {
		t.Fatalf("lease: %v", err)
	}
	trunks := make([]string, 0, len(got))
	for _, st := range got {
		trunks = append(trunks, st.TrunkID)
	}
	return strings.Join(trunks, " ")
}

func keepsStatus(t *testing.T, s sip.Statuses) {
	first, second := callwrighttest.Filled[sip.Status](t, 0), callwrighttest.Filled[sip.Status](t, 0)
	for i := range first.History.Hours { // Start must be a full hour
		start := at.Truncate(time.Hour).Add(time.Duration(i) * time.Hour)
		first.History.Hours[i].Start, second.History.Hours[i].Start = start, start
	}
	first.Version = 0
	for i := range first.Servers {
		first.Servers[i].Health.State, first.Servers[i].Version = health.Healthy, 1
		second.Servers[i] = first.Servers[i]
	}
	storeAll(t, s, first)
	first.Version, first.Recorded, first.History.Samples = 1, health.Healthy, first.Servers[0].Samples
	got := getStatus(t, s, first.Org, first.TrunkID)
	if !reflect.DeepEqual(got, first) {
		t.Fatalf("got  %+v\nwant %+v", got, first)
	}
	second.Version, second.ProbeAt, second.Active, second.Servers = 1, at.Add(time.Hour), 0, second.Servers[:1]
	storeAll(t, s, second)
	second.Version, second.Recorded, second.History.Samples = 2, health.Healthy, second.Servers[0].Samples
	listed, err := s.StatusesOf(t.Context(), first.Org, []string{first.TrunkID})
	if err != nil || len(listed) != 1 || !reflect.DeepEqual(listed[0], second) {
		t.Errorf("got  %+v, %v\nwant %+v", listed, err, second)
	}
	given, err := s.ClaimStatuses(t.Context(), second.ProbeAt, second.ProbeAt.Add(time.Minute), 10)
	if err != nil || len(given) != 1 || !reflect.DeepEqual(given[0], second) {
		t.Errorf("leased %+v, %v\nwant   %+v", given, err, second)
	}
}

func keepsSparseStatus(t *testing.T, s sip.Statuses) {
	want := status("t1", "a", at)
	storeAll(t, s, want)
	want.Version, want.Recorded, want.Servers[0].Version = 1, health.Unchecked, 1
	if got := getStatus(t, s, "a", "t1"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func sharesNoStatus(t *testing.T, s sip.Statuses) {
	mine := status("t1", "a", at)
	storeAll(t, s, mine)
	mine.Servers[0].Server.Host = "changed"
	given, err := s.ClaimStatuses(t.Context(), at, at, 1)
	if err != nil || len(given) != 1 {
		t.Fatalf("leased %+v, %v", given, err)
	}
	given[0].Servers[0].Server.Host = "changed"
	getStatus(t, s, "a", "t1").Servers[0].Server.Host = "changed"
	if got := getStatus(t, s, "a", "t1").Servers[0].Server.Host; got != "pbx.example.com" {
		t.Errorf("the stored host is %q", got)
	}
}

func hidesStatuses(t *testing.T, s sip.Statuses) {
	storeAll(t, s, status("t1", "a", at))
	if _, err := s.Status(t.Context(), "b", "t1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's status gave %v, want not found", err)
	}
	if got, err := s.StatusesOf(t.Context(), "b", []string{"t1"}); err != nil || len(got) != 0 {
		t.Errorf("another organization lists %+v, %v", got, err)
	}
	foreign := status("t1", "b", at)
	if err := s.StoreStatus(t.Context(), foreign); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("another organization's new status gave %v, want a conflict", err)
	}
	foreign.Version = 1
	if err := s.StoreStatus(t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's change gave %v, want not found", err)
	}
	if err := s.DeleteStatus(t.Context(), "b", "t1"); err != nil {
		t.Errorf("another organization's removal gave %v", err)
	}
	if got := getStatus(t, s, "a", "t1"); got.Version != 1 {
		t.Errorf("afterwards it is %+v", got)
	}
	if err := s.DeleteStatus(t.Context(), "a", "t1"); err != nil {
		t.Errorf("removal: %v", err)
	}
	if _, err := s.Status(t.Context(), "a", "t1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a removed status gave %v, want not found", err)
	}
	gone := status("t1", "a", at)
	gone.Version = 1
	if err := s.StoreStatus(t.Context(), gone); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a change of a removed status gave %v, want not found", err)
	}
}

func comparesStatuses(t *testing.T, s sip.Statuses) {
	storeAll(t, s, status("t1", "a", at))
	winner := callwrighttest.Race(t, func(i int) error {
		mine := status("t1", "a", at)
		mine.Version, mine.Active = 1, i
		return s.StoreStatus(t.Context(), mine)
	})
	if got := getStatus(t, s, "a", "t1"); got.Active != winner || got.Version != 2 {
		t.Errorf("writer %d has won; stored is %+v", winner, got)
	}
}

func supplantsStatus(t *testing.T, s sip.Statuses) {
	old := status("t1", "a", at)
	storeAll(t, s, old)
	if got := leased(t, s, at, at.Add(time.Hour), 1); got != "t1" {
		t.Fatalf("leased %q", got)
	}
	changed := status("t1", "a", at)
	changed.Verify, changed.Number = sip.VerifyNone, "+15550000002"
	storeAll(t, s, changed)
	old.Version = 1
	if err := s.StoreStatus(t.Context(), old); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("who had read the old one got %v, want a conflict", err)
	}
	got := getStatus(t, s, "a", "t1")
	if got.Version < 2 || got.Verify != sip.VerifyNone || got.Number != "+15550000002" {
		t.Errorf("stored is %+v", got)
	}
	if got := leased(t, s, at, at.Add(time.Hour), 1); got != "t1" {
		t.Errorf("the old one's lease goes on: leased %q", got)
	}
}

func listsStatuses(t *testing.T, s sip.Statuses) {
	first, second, third := status("t1", "a", at), status("t2", "a", at), status("t3", "a", at)
	first.Number, second.Number, third.Number = "+15550000003", "+15550000001", "+15550000002"
	storeAll(t, s, first, second, third, status("t4", "b", at))
	if got, err := s.StatusesOf(t.Context(), "a", nil); err != nil || len(got) != 0 {
		t.Errorf("no trunks have %+v, %v", got, err)
	}
	if got, err := s.StatusesOf(t.Context(), "a", []string{"t3"}); err != nil || len(got) != 1 || got[0].TrunkID != "t3" {
		t.Errorf("one trunk has %+v, %v", got, err)
	}
	got, err := s.StatusesOf(t.Context(), "a", []string{"t1", "t2", "unknown", "t3", "t4"})
	if err != nil || len(got) != 3 || got[0].TrunkID != "t2" || got[1].TrunkID != "t3" || got[2].TrunkID != "t1" {
		t.Errorf("got %+v, %v; want t2, t3 and t1", got, err)
	}
}

// ill returns a status of a trunk whose server is in the given state. If down is positive, the trunk was down for this time in the current
// hour.
func ill(trunkID string, state health.State, down time.Duration) sip.Status {
	st := status(trunkID, "a", at)
	st.Number = callwright.PhoneNumber("+1555000000" + trunkID[1:])
	st.Servers[0].Server.Host = trunkID + ".example.com"
	st.Servers[0].Health.State = state
	st.History.Until = at
	if down > 0 {
		st.History.Hours = []health.Hour{{Start: at.Truncate(time.Hour), Down: down}}
	}
	return st
}

func countsStatuses(t *testing.T, s sip.Statuses) {
	inbound := ill("t5", health.Unchecked, 0)
	inbound.Servers = nil
	storeAll(t, s, ill("t1", health.Healthy, 0), ill("t2", health.Suspect, 0), ill("t3", health.Healthy, 0), ill("t4", health.Recovering, 0),
		inbound, status("t6", "b", at))
	for limit, want := range map[int]map[health.State]int{
		10: {health.Healthy: 3, health.Unreachable: 1}, 2: {health.Healthy: 2, health.Unreachable: 1},
	} {
		if got, err := s.CountStatuses(t.Context(), "a", limit); err != nil || !maps.Equal(got, want) {
			t.Errorf("up to %d: got %v, %v; want %v", limit, got, err, want)
		}
	}
	changed := getStatus(t, s, "a", "t1")
	changed.Recorded = health.Unreachable
	recordStatus(t, s, changed)
	if err := s.DeleteStatus(t.Context(), "a", "t2"); err != nil {
		t.Fatal(err)
	}
	want := map[health.State]int{health.Healthy: 1, health.Unreachable: 2}
	if got, err := s.CountStatuses(t.Context(), "a", 10); err != nil || !maps.Equal(got, want) {
		t.Errorf("after a change: got %v, %v; want %v", got, err, want)
	}
}

func findsWorstStatuses(t *testing.T, s sip.Statuses) {
	inbound := ill("t5", health.Healthy, time.Hour)
	inbound.Servers = nil
	foreign := status("t6", "b", at)
	foreign.Servers[0].Health.State = health.Healthy
	storeAll(t, s, ill("t1", health.Healthy, 0), ill("t2", health.Suspect, time.Second), ill("t3", health.Healthy, time.Minute),
		ill("t4", health.Healthy, time.Second), ill("t7", health.Unreachable, 0), inbound, foreign)
	for _, test := range []struct {
		state health.State
		limit int
		want  string
	}{
		{health.Healthy, 10, "t3 t2 t4 t1"}, {health.Healthy, 2, "t3 t2"}, {health.Unreachable, 10, "t7"}, {health.Unchecked, 10, ""},
	} {
		got, err := s.WorstStatuses(t.Context(), "a", test.state, test.limit)
		var trunks []string
		for _, st := range got {
			trunks = append(trunks, st.TrunkID)
		}
		if err != nil || strings.Join(trunks, " ") != test.want {
			t.Errorf("%d %s ones: got %v, %v; want %s", test.limit, test.state, trunks, err, test.want)
		}
	}
}

func leasesDueStatuses(t *testing.T, s sip.Statuses) {
	storeAll(t, s,
		status("due", "a", at), status("later", "a", at.Add(time.Microsecond)), status("overdue", "b", at.Add(-time.Hour)),
		status("late", "a", at.Add(-time.Minute)))
	for _, step := range []struct {
		now   time.Time
		limit int
		want  string
	}{
		{at.Add(-2 * time.Hour), 10, ""},
		{at, 2, "overdue late"},
		{at, 10, "due"},
		{at, 10, ""},
		{at.Add(time.Microsecond), 10, "later"},
	} {
		if got := leased(t, s, step.now, at.Add(time.Hour), step.limit); got != step.want {
			t.Errorf("leased %q, want %q", got, step.want)
		}
	}
}

func leasesStatusOnce(t *testing.T, s sip.Statuses) {
	const count, holders, batch = 120, 6, 7
	for i := range count {
		storeAll(t, s, status(fmt.Sprint("t", i), "a", at.Add(-time.Duration(i)*time.Second)))
	}
	var given sync.Map
	lease := func() (more bool) {
		got, err := s.ClaimStatuses(t.Context(), at, at.Add(time.Minute), batch)
		if err != nil || len(got) > batch {
			t.Errorf("leased %d, %v", len(got), err)
		}
		more = len(got) > 0
		for _, st := range got {
			if _, twice := given.LoadOrStore(st.TrunkID, true); twice {
				t.Errorf("%s is given twice", st.TrunkID)
				more = false
			}
		}
		return more
	}
	var wait sync.WaitGroup
	for range holders {
		wait.Go(func() {
			for lease() {
			}
		})
	}
	wait.Wait()
	for lease() { // claims rows that another call had locked during the last claim
	}
	total := 0
	given.Range(func(any, any) bool { total++; return true })
	if total != count {
		t.Errorf("%d of %d are given", total, count)
	}
}

func endsStatusLease(t *testing.T, s sip.Statuses) {
	storeAll(t, s, status("t1", "a", at))
	until := at.Add(time.Minute)
	if got := leased(t, s, at, until, 1); got != "t1" {
		t.Fatalf("leased %q", got)
	}
	if got := leased(t, s, until.Add(-time.Microsecond), until.Add(time.Hour), 1); got != "" {
		t.Errorf("leased %q during a lease", got)
	}
	if got := leased(t, s, until, until.Add(time.Hour), 1); got != "t1" {
		t.Errorf("leased %q after a lease", got)
	}
	back := getStatus(t, s, "a", "t1")
	if back.Version != 1 {
		t.Errorf("a lease has made it version %d", back.Version)
	}
	storeAll(t, s, back)
	if got := leased(t, s, until, until.Add(time.Hour), 1); got != "t1" {
		t.Errorf("leased %q after it was put back", got)
	}
}
