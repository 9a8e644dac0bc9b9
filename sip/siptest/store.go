// Package siptest holds the conformance suites of the ports of package sip.
package siptest

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// RunStore tests a sip.Store. newStore gives an empty one.
func RunStore(t *testing.T, newStore func(t *testing.T) sip.Store) {
	t.Helper()
	tests := map[string]func(*testing.T, sip.Store){
		"keeps every field":                  keepsFields,
		"refuses a taken number":             refusesTaken,
		"keeps a number to one organization": keepsToOne,
		"hides other organizations' trunks":  hidesForeign,
		"updates by compare-and-set":         comparesAndSets,
		"lists outbound trunks by number":    listsOutbound,
		"finds the owner of an inbound call": findsOwner,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// at is a time as both databases keep it.
var at = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

func trunk(id string, org callwright.OrgID, n callwright.PhoneNumber, d sip.Direction) sip.Trunk {
	return sip.Trunk{ID: id, Org: org, Number: n, Direction: d, CreatedAt: at, UpdatedAt: at, Version: 1}
}

func insert(t *testing.T, s sip.Store, trunks ...sip.Trunk) {
	t.Helper()
	for _, tr := range trunks {
		if err := s.Insert(t.Context(), tr); err != nil {
			t.Fatalf("insert %s: %v", tr.ID, err)
		}
	}
}

func keepsFields(t *testing.T, s sip.Store) {
	secure := true
	want := trunk("t1", "a", "+15550000001", sip.Outbound)
	want.Endpoint = "sip:pbx.example.com:5061;transport=tls"
	want.Options = sip.Options{
		AuthMode: sip.AuthIP,
		Call:     sip.Credentials{Username: "alice", Password: "päss'word"},
		Port:     5071, Transport: "tls", Verify: sip.VerifyChain, SecureMedia: &secure,
		AllowedIPs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
	}
	insert(t, s, want)
	got, err := s.Trunks(t.Context(), "a", want.Number)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
	}
	if got[0].Options.Call.Password.Reveal() != "päss'word" {
		t.Error("the password did not come back")
	}
}

func refusesTaken(t *testing.T, s sip.Store) {
	insert(t, s, trunk("t1", "a", "+15550000001", sip.Inbound), trunk("t2", "a", "+15550000001", sip.Outbound))
	for _, org := range []callwright.OrgID{"a", "b"} {
		err := s.Insert(t.Context(), trunk("t3", org, "+15550000001", sip.Inbound))
		if !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("insert by %s gave %v, want a conflict", org, err)
		}
	}
}

func keepsToOne(t *testing.T, s sip.Store) {
	const count = 50
	for i := range count {
		number := callwright.PhoneNumber(fmt.Sprintf("+1555000%04d", i))
		var won atomic.Int32
		var wait sync.WaitGroup
		for org, d := range map[callwright.OrgID]sip.Direction{"a": sip.Inbound, "b": sip.Outbound} {
			wait.Go(func() {
				switch err := s.Insert(t.Context(), trunk(fmt.Sprint(org, i), org, number, d)); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, callwright.ErrConflict):
					t.Errorf("insert: %v", err)
				}
			})
		}
		wait.Wait()
		if n := won.Load(); n != 1 {
			t.Fatalf("%s is %d organizations'", number, n)
		}
	}
}

func hidesForeign(t *testing.T, s sip.Store) {
	mine := trunk("t1", "a", "+15550000001", sip.Outbound)
	insert(t, s, mine)
	if got, err := s.Trunks(t.Context(), "b", mine.Number); err != nil || len(got) != 0 {
		t.Errorf("another organization sees %+v, %v", got, err)
	}
	if got, err := s.Outbound(t.Context(), "b", 10); err != nil || len(got) != 0 {
		t.Errorf("another organization lists %+v, %v", got, err)
	}
	mine.Org = "b"
	if err := s.Update(t.Context(), mine); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's update gave %v, want not found", err)
	}
}

func comparesAndSets(t *testing.T, s sip.Store) {
	tr := trunk("t1", "a", "+15550000001", sip.Outbound)
	insert(t, s, tr)
	const writers = 8
	var won sync.Map
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			mine := tr
			mine.Options.Port = 5000 + i
			switch err := s.Update(t.Context(), mine); {
			case err == nil:
				won.Store(mine.Options.Port, true)
			case !errors.Is(err, callwright.ErrConflict):
				t.Errorf("update: %v", err)
			}
		})
	}
	wait.Wait()
	got, err := s.Trunks(t.Context(), "a", tr.Number)
	if err != nil || len(got) != 1 || got[0].Version != 2 {
		t.Fatalf("after the race: %+v, %v", got, err)
	}
	winners := 0
	won.Range(func(port, _ any) bool {
		winners++
		if port != got[0].Options.Port {
			t.Errorf("the winner's port is %v, the stored one %d", port, got[0].Options.Port)
		}
		return true
	})
	if winners != 1 {
		t.Errorf("%d of %d writers won", winners, writers)
	}
}

func listsOutbound(t *testing.T, s sip.Store) {
	insert(t, s,
		trunk("t1", "a", "+15550000003", sip.Outbound), trunk("t2", "a", "+15550000001", sip.Outbound),
		trunk("t3", "a", "+15550000002", sip.Inbound), trunk("t4", "b", "+15550000004", sip.Outbound))
	got, err := s.Outbound(t.Context(), "a", 10)
	if err != nil || len(got) != 2 || got[0].ID != "t2" || got[1].ID != "t1" {
		t.Errorf("got %+v, %v; want t2 and t1", got, err)
	}
	if got, err := s.Outbound(t.Context(), "a", 1); err != nil || len(got) != 1 {
		t.Errorf("limit 1 gave %d, %v", len(got), err)
	}
}

func findsOwner(t *testing.T, s sip.Store) {
	insert(t, s, trunk("t1", "a", "+15550000001", sip.Inbound), trunk("t2", "a", "+15550000002", sip.Outbound))
	got, err := s.Owner(t.Context(), "+15550000001", sip.Inbound)
	if err != nil || got.ID != "t1" || got.Org != "a" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := s.Owner(t.Context(), "+15550000002", sip.Inbound); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a number that is outbound only gave %v", err)
	}
}
