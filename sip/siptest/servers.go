package siptest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
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

// StageStatus stores a status with StoreStatus, then the health, ProbeAt and samples of its servers, and records the resulting state. Tests
// use it to prepare servers in a given state.
func StageStatus(ctx context.Context, s sip.Statuses, status sip.Status) error {
	if err := s.StoreStatus(ctx, status); err != nil {
		return err
	}
	for _, server := range status.Servers {
		stored, err := s.Server(ctx, status.Org, sip.ServerKey(status.Verify, server.Server))
		if err != nil {
			return err
		}
		stored.Health, stored.ProbeAt, stored.Samples = server.Health, server.ProbeAt, server.Samples
		if err := s.StoreServer(ctx, stored); err != nil {
			return err
		}
	}
	known, err := s.Status(ctx, status.Org, status.TrunkID)
	if err != nil {
		return err
	}
	known.Recorded = known.State()
	return s.RecordStatus(ctx, known)
}

func recordStatus(t *testing.T, s sip.Statuses, st sip.Status) {
	t.Helper()
	if err := s.RecordStatus(t.Context(), st); err != nil {
		t.Fatalf("record %s: %v", st.TrunkID, err)
	}
}

// getServer returns the stored server pbx.example.com. Every status that the function status returns contains this server.
func getServer(t *testing.T, s sip.Statuses, org callwright.OrgID) sip.WatchedServer {
	t.Helper()
	got, err := s.Server(t.Context(), org, sip.ServerKey("", failover.Server{Host: "pbx.example.com"}))
	if err != nil {
		t.Fatalf("server: %v", err)
	}
	return got
}

func storeServer(t *testing.T, s sip.Statuses, w sip.WatchedServer) {
	t.Helper()
	if err := s.StoreServer(t.Context(), w); err != nil {
		t.Fatalf("put %s: %v", w.Server, err)
	}
}

func recordsStatus(t *testing.T, s sip.Statuses) {
	storeAll(t, s, status("t1", "a", at))
	if got := leased(t, s, at, at.Add(time.Hour), 1); got != "t1" {
		t.Fatalf("leased %q", got)
	}
	want := getStatus(t, s, "a", "t1")
	changed := callwrighttest.Filled[sip.Status](t, 0)
	want.Group, want.Active, want.Recorded, want.Alerts = changed.Group, 1, health.Unreachable, changed.Alerts
	want.History.Until, want.History.Days, want.ProbeAt = changed.History.Until, changed.History.Days, at.Add(time.Minute)
	recordStatus(t, s, want)
	if err := s.RecordStatus(t.Context(), want); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("who had read the old one got %v, want a conflict", err)
	}
	want.Version = 2
	if got := getStatus(t, s, "a", "t1"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := leased(t, s, want.ProbeAt, want.ProbeAt.Add(time.Hour), 1); got != "t1" {
		t.Errorf("the lease goes on: leased %q", got)
	}
	for _, foreign := range []sip.Status{{TrunkID: "t1", Org: "b", Version: 2}, {TrunkID: "t2", Org: "a", Version: 1}} {
		if err := s.RecordStatus(t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a status that is absent gave %v, want not found", err)
		}
	}
}

func findsGroup(t *testing.T, s sip.Statuses) {
	for id, st := range map[string]sip.Status{"t3": {Group: "g", Org: "a"}, "t2": {Group: "g", Org: "a"}, "t1": {Group: "h", Org: "a"}, "t0": {Group: "g", Org: "b"}, "t4": {Org: "a"}} {
		st.TrunkID, st.ProbeAt = id, at
		storeAll(t, s, st)
	}
	for group, want := range map[string]string{"g": "t2 2", "h": "t1 1", "i": " 0", "": " 0"} {
		first, count, err := s.Group(t.Context(), "a", group)
		if got := fmt.Sprint(first, " ", count); got != want || err != nil {
			t.Errorf("group %q: %s, %v; want %s", group, got, err, want)
		}
	}
}

// sharesServers checks that evidence from one trunk about a server applies to all trunks that name the server. Host names are compared
// without regard to case.
func sharesServers(t *testing.T, s sip.Statuses) {
	first, second := status("t1", "a", at), status("t2", "a", at)
	second.Servers[0].Server.Host = "PBX.Example.com"
	second.Servers = append([]sip.ServerStatus{{Server: failover.Server{Host: "spare.example.com"}, ProbeAt: at}}, second.Servers...)
	storeAll(t, s, first, second)
	w := getServer(t, s, "a")
	if w.Version != 1 || w.Org != "a" || w.Health.State != health.Unchecked {
		t.Fatalf("watched is %+v", w)
	}
	want := callwrighttest.Filled[sip.ServerStatus](t, 0)
	w.Health, w.ProbeAt, w.Samples = want.Health, want.ProbeAt, want.Samples
	w.Health.State = health.Unreachable
	storeServer(t, s, w)
	w.Version++
	third := status("t3", "a", at) // stored after the evidence
	storeAll(t, s, third)
	for id, place := range map[string]int{"t1": 0, "t2": 1, "t3": 0} {
		got := getStatus(t, s, "a", id).Servers[place]
		if id == "t2" && got.Server.Host != "PBX.Example.com" {
			t.Errorf("%s names %s", id, got.Server)
		}
		if got.Server = w.Server; !reflect.DeepEqual(got, w.ServerStatus) {
			t.Errorf("%s has\n%+v, want\n%+v", id, got, w.ServerStatus)
		}
	}
	if got := getStatus(t, s, "a", "t3"); got.Recorded != health.Unreachable {
		t.Errorf("the new trunk is recorded as %s", got.Recorded)
	}
	listed, err := s.StatusesOf(t.Context(), "a", []string{"t1", "t3"})
	if err != nil || len(listed) != 2 || listed[0].State() != health.Unreachable || listed[1].State() != health.Unreachable {
		t.Errorf("listed %+v, %v", listed, err)
	}
	given, err := s.ClaimStatuses(t.Context(), at, at, 10)
	if err != nil || len(given) != 3 || slices.ContainsFunc(given, func(st sip.Status) bool { return st.TrunkID != "t2" && st.State() != health.Unreachable }) {
		t.Errorf("leased %+v, %v", given, err)
	}
}

// keepsServersApart checks that the same host counts as different servers if the organization, the port or the verification of certificates
// differs.
func keepsServersApart(t *testing.T, s sip.Statuses) {
	verified, port := status("t3", "a", at), status("t4", "a", at)
	verified.Verify, port.Servers[0].Server.Port = sip.VerifyNone, 5061
	storeAll(t, s, status("t1", "a", at), status("t2", "b", at), verified, port)
	w := getServer(t, s, "a")
	w.Health.State = health.Unreachable
	storeServer(t, s, w)
	for id, org := range map[string]callwright.OrgID{"t2": "b", "t3": "a", "t4": "a"} {
		if got := getStatus(t, s, org, id); got.State() != health.Unchecked {
			t.Errorf("%s is %s", id, got.State())
		}
	}
	if _, err := s.Server(t.Context(), "c", sip.ServerKey("", w.Server)); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's server gave %v", err)
	}
}

func comparesServers(t *testing.T, s sip.Statuses) {
	storeAll(t, s, status("t1", "a", at))
	read := getServer(t, s, "a")
	winner := callwrighttest.Race(t, func(i int) error {
		mine := read
		mine.Health.Streak = i
		return s.StoreServer(t.Context(), mine)
	})
	if got := getServer(t, s, "a"); got.Health.Streak != winner || got.Version != 2 {
		t.Errorf("writer %d has won; stored is %+v", winner, got)
	}
	read.Org = "b"
	if err := s.StoreServer(t.Context(), read); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a server that is not watched gave %v", err)
	}
}

func forgetsServers(t *testing.T, s sip.Statuses) {
	watched := func() bool {
		_, err := s.Server(t.Context(), "a", sip.ServerKey("", failover.Server{Host: "pbx.example.com"}))
		if err != nil && !errors.Is(err, callwright.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	storeAll(t, s, status("t1", "a", at), status("t2", "a", at), status("t3", "b", at))
	if err := s.DeleteStatus(t.Context(), "a", "t1"); err != nil || !watched() {
		t.Fatalf("watched %t with one trunk left, %v", watched(), err)
	}
	other := getStatus(t, s, "a", "t2")
	other.Servers[0].Server.Host = "other.example.com"
	storeAll(t, s, other)
	if watched() {
		t.Error("it is watched though no trunk names it")
	}
	getServer(t, s, "b")
	fresh := status("t4", "a", at)
	storeAll(t, s, fresh)
	if got := getServer(t, s, "a"); got.Version != 1 {
		t.Errorf("a server that comes again is %+v", got)
	}
	if err := s.DeleteStatus(t.Context(), "a", "t2"); err != nil {
		t.Fatal(err)
	}
	if got := leasedServers(t, s, at.Add(time.Hour), at.Add(2*time.Hour), 10); strings.Count(got, "pbx.example.com") != 2 {
		t.Errorf("leased %q", got)
	}
}

// watchesOnce concurrently stores the statuses of trunks with the same server, and deletes all of them except one. Afterwards the server
// must still be watched, because the remaining trunk names it.
func watchesOnce(t *testing.T, s sip.Statuses) {
	storeAll(t, s, status("t0", "a", at))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			st := status(fmt.Sprint("t", i), "a", at)
			err := s.StoreStatus(t.Context(), st)
			if err == nil && i != 7 {
				err = s.DeleteStatus(t.Context(), "a", st.TrunkID)
			}
			if err != nil {
				t.Errorf("%s: %v", st.TrunkID, err)
			}
		})
	}
	wait.Wait()
	if got := getStatus(t, s, "a", "t7").Servers[0]; got.Version != getServer(t, s, "a").Version {
		t.Errorf("it has %+v", got)
	}
	if got := leasedServers(t, s, at, at.Add(time.Hour), 10); got != "pbx.example.com" {
		t.Errorf("leased %q", got)
	}
}

func leasedServers(t *testing.T, s sip.Statuses, now, until time.Time, limit int) string {
	t.Helper()
	got, err := s.ClaimServers(t.Context(), now, until, limit)
	if err != nil {
		t.Fatalf("lease: %v", err)
	}
	hosts := make([]string, 0, len(got))
	for _, w := range got {
		hosts = append(hosts, w.Server.Host)
	}
	return strings.Join(hosts, " ")
}

// on returns a status whose only server has the given host.
func on(trunkID string, org callwright.OrgID, host string, probeAt time.Time) sip.Status {
	st := status(trunkID, org, probeAt)
	st.Servers[0].Server.Host = host
	return st
}

func leasesDueServers(t *testing.T, s sip.Statuses) {
	storeAll(t, s,
		on("t1", "a", "due", at), on("t2", "a", "later", at.Add(time.Microsecond)), on("t3", "b", "overdue", at.Add(-time.Hour)),
		on("t4", "a", "late", at.Add(-time.Minute)), on("t5", "a", "late", at.Add(-time.Minute)))
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
		if got := leasedServers(t, s, step.now, at.Add(time.Hour), step.limit); got != step.want {
			t.Errorf("leased %q, want %q", got, step.want)
		}
	}
	until := at.Add(time.Hour)
	given, err := s.ClaimServers(t.Context(), until, until.Add(time.Hour), 1)
	if err != nil || len(given) != 1 || given[0].Server.Host != "overdue" {
		t.Fatalf("after the lease: %+v, %v", given, err)
	}
	given[0].ProbeAt = until
	storeServer(t, s, given[0])
	if got := leasedServers(t, s, until, until.Add(time.Hour), 10); got != "late due later overdue" {
		t.Errorf("leased %q after it was put back", got)
	}
}

func leasesServerOnce(t *testing.T, s sip.Statuses) {
	const count, holders, batch = 60, 6, 7
	for i := range 2 * count {
		storeAll(t, s, on(fmt.Sprint("t", i), "a", fmt.Sprint("s", i%count), at))
	}
	var mu sync.Mutex
	given := map[string]int{}
	lease := func() (more bool) {
		got, err := s.ClaimServers(t.Context(), at, at.Add(time.Minute), batch)
		if err != nil || len(got) > batch {
			t.Errorf("leased %d, %v", len(got), err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, w := range got {
			given[w.Server.Host]++
		}
		return len(got) > 0
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
	if most := slices.Max(slices.Collect(maps.Values(given))); len(given) != count || most != 1 {
		t.Errorf("%d of %d are given, up to %d times", len(given), count, most)
	}
}

func wakesStatuses(t *testing.T, s sip.Statuses) {
	later := at.Add(time.Hour)
	storeAll(t, s, status("t1", "a", later), status("t2", "a", at.Add(-time.Minute)), status("t3", "b", later), on("t4", "a", "other", later))
	read := getStatus(t, s, "a", "t1")
	if err := s.WakeStatuses(t.Context(), "a", sip.ServerKey("", failover.Server{Host: "pbx.example.com"}), at); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordStatus(t.Context(), read); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a status that was read before is recorded: %v", err)
	}
	if got := leased(t, s, at, later, 10); got != "t2 t1" {
		t.Errorf("leased %q", got)
	}
	if got := getStatus(t, s, "a", "t1"); !got.ProbeAt.Equal(at) {
		t.Errorf("it is due at %s", got.ProbeAt)
	}
}
