// Package siptest contains the conformance suites for the ports of package sip and its subpackages.
package siptest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
)

// RunStore tests a sip.Store. newStore returns an empty store. atRest returns all data that the store wrote to a disk or a server; it is
// nil for a store in memory.
func RunStore(t *testing.T, newStore func(t *testing.T) sip.Store, atRest callwrighttest.AtRest[sip.Store]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[sip.Store, sip.Trunk]{
		New:     newStore,
		Org:     func(tr *sip.Trunk) *callwright.OrgID { return &tr.Org },
		Version: func(tr *sip.Trunk) *int64 { return &tr.Version },
		Insert:  sip.Store.Insert,
		Find: func(s sip.Store, ctx context.Context, tr sip.Trunk) (sip.Trunk, error) {
			return s.Trunk(ctx, tr.Org, tr.ID)
		},
		Change: func(tr *sip.Trunk, writer int) {
			tr.Endpoint, tr.Options.Port = "sip:pbx.example.com:5061;transport=tls", 5000+writer
			tr.Options.Register.Password, tr.Options.Call.Password = "päss'word", "ünother"
			tr.Headers, tr.Failover, tr.Codecs, tr.Alerts = tr.Headers[:1], &failover.Config{}, nil, nil
		},
		Replace:   sip.Store.Update,
		Delete:    sip.Store.Delete,
		Absent:    callwright.ErrNotFound,
		Page:      sip.Store.List,
		Place:     func(tr sip.Trunk) callwright.Keyset { return callwright.Keyset{ID: string(tr.Number)} },
		Ascending: true,
		Secret:    secretTrunk,
		Secrets:   []string{"hunter2-call", "hunter2-reg-", "hunter2-head", "hunter2-hook"},
		AtRest:    atRest,
	})
	tests := map[string]func(*testing.T, sip.Store){
		"finds it among others":              findsAmongOthers,
		"keeps what is absent apart":         keepsSparse,
		"refuses a taken number or id":       refusesTaken,
		"keeps a number to one organization": keepsToOne,
		"hides other organizations' trunks":  hidesForeign,
		"deletes what was not changed":       deletes,
		"lists all trunks in order":          listsAll,
		"lists outbound trunks by number":    listsOutbound,
		"finds the owner of an inbound call": findsOwner,
		"tells who holds numbers":            tellsHolders,
		"tells the peers of all trunks":      tellsPeers,
		"counts an organization's numbers":   countsNumbers,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// at is a time in whole microseconds, which is the precision of both databases: PostgreSQL and SQLite.
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

func findsAmongOthers(t *testing.T, s sip.Store) {
	want := callwrighttest.Filled[sip.Trunk](t, 0)
	want.Version = 1
	insert(t, s, want, trunk("t2", "a", "+15550000001", sip.Inbound))
	for name, list := range lists(s, want) {
		if got, err := list(t.Context()); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s gave %+v, %v\nwant %+v", name, got, err, want)
		}
	}
}

func tellsHolders(t *testing.T, s sip.Store) {
	const free = callwright.PhoneNumber("+15550000009")
	insert(t, s, trunk("t1", "a", "+15550000001", sip.Inbound), trunk("t2", "a", "+15550000001", sip.Outbound),
		trunk("t3", "b", "+15550000002", sip.Outbound), trunk("t4", "b", "+15550000003", sip.Inbound))
	want := map[callwright.PhoneNumber]callwright.OrgID{"+15550000001": "a", "+15550000002": "b"}
	got, err := s.Holders(t.Context(), []callwright.PhoneNumber{"+15550000002", free, "+15550000001"})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if err := s.Delete(t.Context(), getTrunk(t, s, "b", "t3")); err != nil {
		t.Fatal(err)
	}
	for _, numbers := range [][]callwright.PhoneNumber{nil, {free}, {"+15550000002"}} {
		if got, err := s.Holders(t.Context(), numbers); err != nil || len(got) > 0 {
			t.Errorf("of %v: got %v, %v", numbers, got, err)
		}
	}
}

// lists returns the methods, by name, that should find the trunk t and no other trunk.
func lists(s sip.Store, t sip.Trunk) map[string]func(context.Context) ([]sip.Trunk, error) {
	return map[string]func(context.Context) ([]sip.Trunk, error){
		"Trunks": func(ctx context.Context) ([]sip.Trunk, error) { return s.Trunks(ctx, t.Org, t.Number) },
		"Owner": func(ctx context.Context) ([]sip.Trunk, error) {
			owner, err := s.Owner(ctx, t.Number, t.Direction)
			return []sip.Trunk{owner}, err
		},
	}
}

func getTrunk(t *testing.T, s sip.Store, org callwright.OrgID, id string) sip.Trunk {
	t.Helper()
	got, err := s.Trunk(t.Context(), org, id)
	if err != nil {
		t.Fatalf("trunk %s: %v", id, err)
	}
	return got
}

func keepsSparse(t *testing.T, s sip.Store) {
	bare, empty := trunk("t1", "a", "+15550000001", sip.Outbound), trunk("t2", "a", "+15550000002", sip.Outbound)
	empty.Failover, empty.Codecs, empty.Alerts = &failover.Config{}, &sip.CodecConfig{}, &alert.Config{}
	for _, want := range []sip.Trunk{bare, empty} {
		insert(t, s, want)
		if got := getTrunk(t, s, "a", want.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func refusesTaken(t *testing.T, s sip.Store) {
	insert(t, s, trunk("t1", "a", "+15550000001", sip.Inbound), trunk("t2", "a", "+15550000001", sip.Outbound))
	for _, org := range []callwright.OrgID{"a", "b"} {
		for _, taken := range []sip.Trunk{
			trunk("t3", org, "+15550000001", sip.Inbound), trunk("t1", org, "+15550000002", sip.Inbound),
		} {
			if err := s.Insert(t.Context(), taken); !errors.Is(err, callwright.ErrConflict) {
				t.Errorf("insert of %s, %s by %s gave %v, want a conflict", taken.ID, taken.Number, org, err)
			}
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
}

func deletes(t *testing.T, s sip.Store) {
	old := trunk("t1", "a", "+15550000001", sip.Outbound)
	other := trunk("t2", "a", "+15550000002", sip.Inbound)
	insert(t, s, old, other)
	if err := s.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), old); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("deleting what somebody has changed gave %v, want a conflict", err)
	}
	if err := s.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	insert(t, s, trunk("t3", "b", "+15550000002", sip.Inbound)) // any organization can attach the number again
}

func listsAll(t *testing.T, s sip.Store) {
	insert(t, s,
		trunk("t1", "a", "+15550000003", sip.Outbound), trunk("t2", "a", "+15550000001", sip.Outbound),
		trunk("t3", "a", "+15550000001", sip.Inbound), trunk("t4", "b", "+15550000002", sip.Inbound))
	for _, page := range []struct {
		after string
		limit int
		want  string
	}{
		{"", 10, "[t3 t2 t1]"}, {"", 2, "[t3 t2 t1]"}, {"", 1, "[t3 t2]"}, {"+15550000001", 1, "[t1]"},
		{"+15550000002", 10, "[t1]"}, {"+15550000003", 10, "[]"},
	} {
		got, err := s.List(t.Context(), "a", callwright.Keyset{ID: page.after}, page.limit)
		ids := []string{}
		for _, t := range got {
			ids = append(ids, t.ID)
		}
		if err != nil || fmt.Sprint(ids) != page.want {
			t.Errorf("%d numbers after %q have %v, %v; want %s", page.limit, page.after, ids, err, page.want)
		}
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

func countsNumbers(t *testing.T, s sip.Store) {
	insert(t, s,
		trunk("t1", "a", "+15550000001", sip.Inbound), trunk("t2", "a", "+15550000001", sip.Outbound),
		trunk("t3", "a", "+15550000002", sip.Outbound), trunk("t4", "b", "+15550000003", sip.Inbound))
	for org, want := range map[callwright.OrgID]int{"a": 2, "b": 1, "c": 0} {
		if got, err := s.HoldNumbers(t.Context(), org); err != nil || got != want {
			t.Errorf("%s has %d numbers, %v; want %d", org, got, err, want)
		}
	}
}

// holdsCount runs more concurrent transactions than the limit allows. Each adds a number if the count is below the limit, so exactly limit
// numbers must be added.
func holdsCount(t *testing.T, s sip.Store, transactions callwright.Atomic) {
	t.Helper()
	const goroutines, limit = 8, 3
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() {
			err := transactions.Do(t.Context(), func(ctx context.Context) error {
				number := callwright.PhoneNumber(fmt.Sprintf("+1555000%04d", i))
				if err := s.Hold(ctx, number); err != nil {
					return err
				}
				count, err := s.HoldNumbers(ctx, "a")
				if err != nil || count >= limit {
					return err
				}
				return s.Insert(ctx, trunk(fmt.Sprint("t", i), "a", number, sip.Inbound))
			})
			if err != nil {
				t.Errorf("transaction %d: %v", i, err)
			}
		})
	}
	running.Wait()
	if got, err := s.HoldNumbers(t.Context(), "a"); err != nil || got != limit {
		t.Errorf("%d numbers, %v; want %d", got, err, limit)
	}
}

// RunHold tests Hold and HoldNumbers of a sip.Store in transactions. newStore returns an empty store and the transactions in which the
// store participates.
func RunHold(t *testing.T, newStore func(t *testing.T) (sip.Store, callwright.Atomic)) {
	t.Helper()
	t.Run("holds the count of numbers", func(t *testing.T) {
		t.Parallel()
		s, transactions := newStore(t)
		holdsCount(t, s, transactions)
	})
	t.Run("holds a number", func(t *testing.T) {
		t.Parallel()
		const goroutines, each = 6, 10
		s, transactions := newStore(t)
		insert(t, s, trunk("t1", "a", "+15550000001", sip.Outbound))
		var running sync.WaitGroup
		for range goroutines {
			running.Go(func() {
				for range each {
					err := transactions.Do(t.Context(), func(ctx context.Context) error {
						if err := errors.Join(s.Hold(ctx, "+15550000001"), s.Hold(ctx, "+15550000001")); err != nil {
							return err
						}
						found, err := s.Trunks(ctx, "a", "+15550000001")
						if err != nil || len(found) != 1 {
							return fmt.Errorf("%d trunks: %w", len(found), err)
						}
						return s.Update(ctx, found[0])
					})
					if err != nil {
						t.Errorf("somebody else was first: %v", err)
					}
				}
			})
		}
		running.Wait()
		if got, err := s.Trunk(t.Context(), "a", "t1"); err != nil || got.Version != 1+goroutines*each {
			t.Errorf("version %d, %v; want %d", got.Version, err, 1+goroutines*each)
		}
	})
}
