package testcall_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	dial := func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) {
		return newLeg(), nil
	}
	t.Run("at the start", func(t *testing.T) {
		t.Parallel()
		p := placing(t, nil)
		p.store.insert = callwright.ErrUnavailable
		if _, err := p.Start(t.Context(), "a", ours.String()); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Run("for a while", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := placing(t, dial)
			p.store.fail = func(update int64) error {
				if update < 4 {
					return callwright.ErrUnavailable
				}
				return nil
			}
			if c := p.run(); c.Status != testcall.Completed || !strings.Contains(steps(c), "answered") {
				t.Errorf("it is %s: %s", c.Status, steps(c))
			}
		})
	})
	t.Run("after it has written", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := placing(t, dial)
			p.store.written = true
			p.store.fail = func(update int64) error {
				if update == 1 {
					return callwright.ErrUnavailable
				}
				return nil
			}
			if c := p.run(); c.Status != testcall.Completed || !strings.Contains(steps(c), "prompt played") {
				t.Errorf("it is %s: %s", c.Status, steps(c))
			}
		})
	})
	t.Run("for good", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := placing(t, dial)
			begin := time.Now()
			p.store.fail = func(int64) error {
				if time.Since(begin) < 85*time.Second {
					return callwright.ErrUnavailable
				}
				return nil
			}
			c := p.start()
			time.Sleep(80 * time.Second)
			if c, err := p.store.Get(t.Context(), "a", c.ID); err != nil || c.EndedAt != nil {
				t.Errorf("it has ended: %+v, %v", c, err)
			}
			time.Sleep(20 * time.Second)
			if c := p.get(c.ID); c.Status != testcall.Failed || !strings.HasSuffix(steps(c), "failed (the server that placed this call has stopped)") {
				t.Errorf("it is %s: %s", c.Status, steps(c))
			}
		})
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeg()
		calls := 0
		p := placing(t, func(ctx context.Context, _ testcall.Placement, _ func(ladder.Event)) (testcall.Leg, error) {
			if calls++; calls == 1 {
				return l, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		talking := p.start()
		synctest.Wait()
		ringing := p.start()
		synctest.Wait()
		for range 2 {
			if err := p.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if c := p.get(talking.ID); c.Status != testcall.Completed || !strings.HasSuffix(steps(c), "completed (the server is stopping)") || l.hungup != 1 {
			t.Errorf("the call that talks is %s: %s", c.Status, steps(c))
		}
		if c := p.get(ringing.ID); c.Status != testcall.Failed || !strings.HasSuffix(steps(c), "failed (the server is stopping)") {
			t.Errorf("the call that rings is %s: %s", c.Status, steps(c))
		}
		if _, err := p.Start(t.Context(), "a", ours.String()); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("a closed service starts a call: %v", err)
		}
	})
}

func TestCloseWithoutPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) {
			<-let
			return nil, errors.New("late")
		})
		p.start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(let)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadNode checks that Get and the sweep finish a call of a dead node only once, and that the sweep deletes the call a day later.
func TestDeadNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := placing(t, nil)
		left := func(id string, age time.Duration) {
			t.Helper()
			c := testcall.Call{
				ID: id, Org: "a", Number: ours, Status: testcall.Ringing, Result: testcall.Pending, Version: 1,
				StartedAt: callwright.SystemClock{}.Now().Add(-age),
			}
			if added, _, err := p.store.Insert(t.Context(), c, 10, time.Now()); err != nil || !added {
				t.Fatal(added, err)
			}
		}
		left("tc_1", 91*time.Second)
		left("tc_2", 91*time.Second)
		left("tc_3", 89*time.Second)
		if c := p.get("tc_1"); c.Status != testcall.Failed || c.Result != testcall.ResultFailed || c.EndedAt == nil {
			t.Errorf("asked for, it is %+v", c)
		}
		if err := p.work.every["testcall.sweep"](t.Context(), callwright.Task{}, 1); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]testcall.Status{"tc_1": testcall.Failed, "tc_2": testcall.Failed, "tc_3": testcall.Ringing} {
			if c, err := p.store.Get(t.Context(), "a", id); err != nil || c.Status != want || len(c.Timeline) > 1 {
				t.Errorf("%s is %+v, %v", id, c, err)
			}
		}
		time.Sleep(2 * time.Second)
		if c := p.get("tc_3"); c.Status != testcall.Failed {
			t.Errorf("a lost call is %+v", c)
		}
		time.Sleep(25 * time.Hour)
		if err := p.work.every["testcall.sweep"](t.Context(), callwright.Task{}, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Get(t.Context(), "a", "tc_1"); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a call of yesterday is not forgotten: %v", err)
		}
	})
}

// TestEndedByAnother finishes a running call in the store, as the sweep of another node does. The service must hang up the call and write
// no further steps.
func TestEndedByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeg()
		p := placing(t, func(_ context.Context, _ testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error) {
			time.Sleep(time.Second)
			observe(answer(180))
			time.Sleep(time.Second)
			return l, nil
		})
		c := p.start()
		ended := c
		now := callwright.SystemClock{}.Now()
		ended.Status, ended.EndedAt = testcall.Failed, &now
		if err := p.store.Update(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if got := p.get(c.ID); got.Version != 2 || steps(got) != "initiated" || l.hungup != 1 {
			t.Errorf("it is %+v", got)
		}
	})
}
