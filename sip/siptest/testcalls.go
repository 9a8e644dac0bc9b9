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
	"github.com/callwright/callwright/sip/testcall"
)

// RunTestCallStore tests a testcall.Store. newStore returns an empty store.
func RunTestCallStore(t *testing.T, newStore func(t *testing.T) testcall.Store) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[testcall.Store, testcall.Call]{
		New:     newStore,
		Org:     func(c *testcall.Call) *callwright.OrgID { return &c.Org },
		Version: func(c *testcall.Call) *int64 { return &c.Version },
		Insert: func(s testcall.Store, ctx context.Context, c testcall.Call) error {
			_, _, err := s.Insert(ctx, c, manyCalls, at)
			return err
		},
		Find: func(s testcall.Store, ctx context.Context, c testcall.Call) (testcall.Call, error) {
			return s.Get(ctx, c.Org, c.ID)
		},
		Change: func(c *testcall.Call, writer int) {
			c.Result, c.Timeline, c.AnsweredAt, c.EndedAt = testcall.Result(fmt.Sprint(writer)), nil, nil, nil
		},
		Replace: testcall.Store.Update,
	})
	tests := map[string]func(*testing.T, testcall.Store){
		"adds up to the limit":            addsToLimit,
		"adds up to the limit in a race":  addsToLimitInRace,
		"finds those that have not ended": findsUnfinished,
		"forgets those that have ended":   forgetsTestCalls,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func testCall(id string, org callwright.OrgID, started time.Time) testcall.Call {
	return testcall.Call{
		ID: id, Org: org, Number: listed, Status: testcall.Queued, Result: testcall.Pending, StartedAt: started, Version: 1,
	}
}

// manyCalls is a limit that no test reaches.
const manyCalls = 1000

func insertTestCalls(t *testing.T, s testcall.Store, calls ...testcall.Call) {
	t.Helper()
	for _, c := range calls {
		if added, _, err := s.Insert(t.Context(), c, manyCalls, at); err != nil || !added {
			t.Fatalf("insert %s: added %t, %v", c.ID, added, err)
		}
	}
}

func addsToLimit(t *testing.T, s testcall.Store) {
	insert := func(id string, org callwright.OrgID, started time.Duration, limit int, since time.Duration) (bool, time.Duration) {
		t.Helper()
		added, oldest, err := s.Insert(t.Context(), testCall(id, org, at.Add(started)), limit, at.Add(since))
		if err != nil || added != oldest.IsZero() {
			t.Fatalf("insert %s: added %t, oldest %v, %v", id, added, oldest, err)
		}
		return added, oldest.Sub(at)
	}
	for i, started := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
		if added, _ := insert(fmt.Sprint("c", i), "a", started, 3, 0); !added {
			t.Fatalf("call %d of 3 was not added", i+1)
		}
	}
	for limit, want := range map[int]time.Duration{3: time.Second, 2: 2 * time.Second, 1: 3 * time.Second} {
		if added, oldest := insert("late", "a", time.Minute, limit, 0); added || oldest != want {
			t.Errorf("limit %d: added %t, oldest %v; want %v", limit, added, oldest, want)
		}
	}
	if _, err := s.Get(t.Context(), "a", "late"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a call over the limit is there: %v", err)
	}
	if added, _ := insert("foreign", "b", time.Minute, 1, 0); !added {
		t.Error("other organizations' calls count")
	}
	if added, _ := insert("since", "a", time.Minute, 3, time.Second); !added {
		t.Error("a call that began at since counts")
	}
	_, _, err := s.Insert(t.Context(), testCall("since", "c", at), 3, at)
	if !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a taken id gave %v, want a conflict", err)
	}
}

func addsToLimitInRace(t *testing.T, s testcall.Store) {
	const rounds, racers, limit = 5, 50, 10
	for round := range rounds {
		org := callwright.OrgID(fmt.Sprint("o", round))
		var added atomic.Int32
		var wait sync.WaitGroup
		for i := range racers {
			wait.Go(func() {
				c := testCall(fmt.Sprint("c", round, "-", i), org, at.Add(time.Second))
				switch ok, oldest, err := s.Insert(t.Context(), c, limit, at); {
				case err != nil:
					t.Errorf("insert: %v", err)
				case ok:
					added.Add(1)
				case !oldest.Equal(c.StartedAt):
					t.Errorf("the oldest began at %v", oldest)
				}
			})
		}
		wait.Wait()
		if n := added.Load(); n != limit {
			t.Fatalf("%d of %d were added, want %d", n, racers, limit)
		}
	}
}

// endedTestCall returns a call of organization a that was completed one second after its start.
func endedTestCall(id string, started time.Time) testcall.Call {
	c := testCall(id, "a", started)
	ended := started.Add(time.Second)
	c.Status, c.EndedAt = testcall.Completed, &ended
	return c
}

func findsUnfinished(t *testing.T, s testcall.Store) {
	insertTestCalls(t, s, testCall("c2", "b", at.Add(time.Second)), testCall("c1", "a", at), endedTestCall("ended", at),
		testCall("new", "a", at.Add(2*time.Second)))
	for limit, want := range map[int][]string{10: {"c1", "c2"}, 1: {"c1"}} {
		found, err := s.Unfinished(t.Context(), at.Add(2*time.Second), limit)
		var got []string
		for _, c := range found {
			got = append(got, c.ID)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("limit %d: %v, %v; want %v", limit, got, err, want)
		}
	}
}

func forgetsTestCalls(t *testing.T, s testcall.Store) {
	insertTestCalls(t, s, endedTestCall("old", at), endedTestCall("kept", at.Add(time.Second)), testCall("running", "a", at))
	if err := s.DeleteOld(t.Context(), at.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"old": false, "kept": true, "running": true} {
		if _, err := s.Get(t.Context(), "a", id); (err == nil) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}
