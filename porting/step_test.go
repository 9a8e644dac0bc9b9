package porting_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// carrier is a gateway that counts calls of Submit and Cancel, and records calls of Snapshot. It can be made unreachable for all calls
// except Cancel.
type carrier struct {
	porting.Gateway

	mu        sync.Mutex
	away      bool
	hold      chan struct{} // if not nil, Submit blocks until hold is closed
	submitted int
	canceled  int
	looks     []time.Time
}

var errAway = errors.New("connection refused")

func (c *carrier) isAway() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return errAway
	}
	return nil
}

func (c *carrier) set(away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
}

func (c *carrier) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

func (c *carrier) CheckNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]porting.Portability, error) {
	if err := c.isAway(); err != nil {
		return nil, err
	}
	return c.Gateway.CheckNumbers(ctx, numbers)
}

func (c *carrier) Submit(ctx context.Context, s porting.Submission) (porting.Receipt, error) {
	c.count(&c.submitted)
	if c.hold != nil {
		<-c.hold
	}
	if err := c.isAway(); err != nil {
		return porting.Receipt{}, err
	}
	return c.Gateway.Submit(ctx, s)
}

func (c *carrier) Cancel(ctx context.Context, o porting.Order) error {
	c.count(&c.canceled)
	return c.Gateway.Cancel(ctx, o)
}

func (c *carrier) Snapshot(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
	c.mu.Lock()
	c.looks = append(c.looks, time.Now())
	c.mu.Unlock()
	if err := c.isAway(); err != nil {
		return porting.Snapshot{}, err
	}
	return c.Gateway.Snapshot(ctx, o)
}

// asked returns the times of the calls to Snapshot.
func (c *carrier) asked() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.looks)
}

// counted returns the value of one of the counters of c.
func (c *carrier) counted(n *int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *n
}

// TestGatewayIsAway checks that a request waits while its gateway is unreachable, and then continues without intervention.
func TestGatewayIsAway(t *testing.T) {
	t.Parallel()
	c := &carrier{away: true}
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(5*day, h.signed("00").ID)
		if r.State != porting.Submitted || r.Ref != "" || c.counted(&c.submitted) < 50 || c.counted(&c.submitted) > 300 {
			t.Errorf("it is %s after %d attempts", r.State, c.counted(&c.submitted))
		}
		c.set(false)
		if r = h.after(2*time.Hour, r.ID); r.State != porting.InProgress || r.Misses != 0 {
			t.Errorf("with the carrier back it is %s", r.State)
		}
		c.set(true)
		if r = h.after(3*day, r.ID); r.State != porting.InProgress || r.Misses == 0 {
			t.Errorf("no answer has moved it: %+v", r)
		}
		c.set(false)
		h.wantEnd(h.after(10*day, r.ID), porting.Completed, porting.NumberPorted)
	}, func(config *porting.Config) { c.Gateway, config.Gateway = config.Gateway, c })
}

// TestCancelWhileSubmitting checks that a request that is canceled during Submit is canceled at the carrier, which may already have the
// order.
func TestCancelWhileSubmitting(t *testing.T) {
	t.Parallel()
	c := &carrier{}
	inHouse(t, func(t *testing.T, h *house) {
		c.hold = make(chan struct{})
		r := h.after(0, h.signed("00").ID)
		r, err := h.Cancel(t.Context(), org, r.ID)
		if err != nil || r.State != porting.Submitted || r.CancelAskedAt.IsZero() {
			t.Errorf("got %+v, %v", r, err)
		}
		close(c.hold)
		h.wantEnd(h.after(3*time.Hour, r.ID), porting.Canceled, porting.NumberCanceled)
		if c.counted(&c.canceled) != 1 || c.counted(&c.submitted) < 1 {
			t.Errorf("submitted %d times, canceled %d times", c.counted(&c.submitted), c.counted(&c.canceled))
		}
	}, func(config *porting.Config) { c.Gateway, config.Gateway = config.Gateway, c })
}

// TestHear checks that a hint causes an immediate snapshot, and that hints without news change nothing.
func TestHear(t *testing.T) {
	t.Parallel()
	c := &carrier{}
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(61*time.Minute, h.signed("00").ID)
		if r.State != porting.Submitted {
			t.Fatalf("it was polled so soon: %s", r.State)
		}
		for _, hint := range []porting.Hint{{Event: "1", Ref: r.Ref}, {Event: "1", Ref: r.Ref}, {Event: "0", Ref: r.Ref}, {Event: "2", Ref: "absent"}} {
			if err := h.Hear(t.Context(), "simulated", hint); err != nil {
				t.Fatal(err)
			}
		}
		if r = h.after(time.Minute, r.ID); r.State != porting.InProgress || h.events(r.ID) != "initiated by api, signed by signer, accepted by carrier" {
			t.Errorf("after the hints it is %s: %s", r.State, h.events(r.ID))
		}
		if asked := len(c.asked()); asked > 5 {
			t.Errorf("the carrier was asked %d times", asked)
		}
		h.wantEnd(h.after(10*day, r.ID), porting.Completed, porting.NumberPorted)
		asked := len(c.asked())
		if err := h.Hear(t.Context(), "simulated", porting.Hint{Event: "3", Ref: r.Ref}); err != nil {
			t.Fatal(err)
		}
		if h.after(day, r.ID); len(c.asked()) != asked {
			t.Errorf("the carrier was asked %d times about what has ended", len(c.asked())-asked)
		}
	}, func(config *porting.Config) { c.Gateway, config.Gateway = config.Gateway, c })
}

// TestHasten checks that another program can schedule the next step of a request, and that the step runs within about a minute.
func TestHasten(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		r := h.after(61*time.Minute, h.signed("00").ID)
		if r.State != porting.Submitted {
			t.Fatalf("it was polled so soon: %s", r.State)
		}
		hasten := func(ref string) {
			t.Helper()
			if err := porting.Hasten(t.Context(), h.store, "simulated", ref, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		hasten("absent")
		hasten(r.Ref)
		before := h.after(0, r.ID)
		hasten(r.Ref)
		if again := h.after(0, r.ID); before.Revision != r.Revision+1 || again.Revision != before.Revision {
			t.Errorf("the revision was %d, then %d and %d", r.Revision, before.Revision, again.Revision)
		}
		if r = h.after(2*time.Minute, r.ID); r.State != porting.InProgress {
			t.Errorf("two minutes later it is %s", r.State)
		}
		r = h.after(10*day, r.ID)
		h.wantEnd(r, porting.Completed, porting.NumberPorted)
		hasten(r.Ref)
		if ended := h.after(0, r.ID); ended.Revision != r.Revision {
			t.Errorf("what has ended was changed: %+v", ended)
		}
	})
}

// TestNoHerd checks that requests that become due together are polled over several minutes.
func TestNoHerd(t *testing.T) {
	t.Parallel()
	const count = 1500
	c := &carrier{away: true}
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now().UTC()
		for i := range count {
			number := callwright.PhoneNumber(fmt.Sprintf("+1415777%04d", i))
			o := porting.Request{
				ID: fmt.Sprint("r", i), Org: org, State: porting.InProgress, Gateway: "simulated", Ref: fmt.Sprint("o", i), Sending: true, DueAt: now,
				Numbers:  []porting.Number{{Number: number, State: porting.NumberInProgress}},
				SignedAt: now, CreatedAt: now,
			}
			if err := h.store.InsertRequest(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3*time.Minute - time.Second)
		synctest.Wait()
		perSecond := map[time.Time]int{}
		for _, at := range c.asked() {
			perSecond[at.Truncate(time.Second)]++
		}
		for at, n := range perSecond {
			if n > 100 {
				t.Errorf("%d requests at %s", n, at)
			}
		}
		if len(c.asked()) < count {
			t.Errorf("%d of %d were polled", len(c.asked()), count)
		}
	}, func(config *porting.Config) { c.Gateway, config.Gateway = config.Gateway, c })
}

// TestLyingCarriers checks for random snapshots that a number that has ended does not change, and that a request ends with its last number.
func TestLyingCarriers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var shots []porting.Snapshot
		for range rapid.IntRange(1, 12).Draw(rt, "snapshots") {
			s := porting.Snapshot{
				Version: rapid.Int64Range(0, 5).Draw(rt, "version"), CancelRefused: rapid.Bool().Draw(rt, "refused"),
			}
			for _, n := range []callwright.PhoneNumber{"+14155550100", "+14155550101", "+14155559999"} {
				state := rapid.SampledFrom(append(porting.NumberStates(), "", "lost")).Draw(rt, "state")
				ns := porting.NumberSnapshot{Number: n, State: state}
				if rapid.Bool().Draw(rt, "failure") {
					ns.Failure = &porting.Failure{Code: rapid.SampledFrom([]porting.FailureCode{"", "new", porting.PINInvalid}).Draw(rt, "code")}
				}
				s.Numbers = append(s.Numbers, ns)
			}
			shots = append(shots, s)
		}
		r := porting.Request{ID: "r", State: porting.Submitted, Ref: "o", Sending: true, Numbers: []porting.Number{
			{Number: "+14155550100", State: porting.NumberSubmitted}, {Number: "+14155550101", State: porting.NumberSubmitted},
		}}
		if rapid.Bool().Draw(rt, "cancel") {
			r.CancelAskedAt, r.CancelAskedBy = noon, rapid.SampledFrom([]porting.Actor{porting.API, porting.Timer}).Draw(rt, "by")
		}
		for _, shot := range shots {
			if r.State.Ended() {
				return
			}
			before := r
			entries, err := porting.Apply(&r, shot, noon)
			if err != nil {
				rt.Fatalf("%+v: %v", shot, err)
			}
			from := before.State
			for _, e := range entries {
				if e.From != from {
					rt.Fatalf("the entries %+v have a gap after %s", entries, from)
				}
				from = e.To
			}
			var states []porting.NumberState
			for i, n := range r.Numbers {
				if was := before.Numbers[i].State; was != n.State && !was.CanBecome(n.State) {
					rt.Fatalf("a number was %s and is %s", was, n.State)
				}
				if n.State == porting.NumberRejected && n.Failure == nil || n.Failure != nil && n.Failure.Code.Remedy().Code != n.Failure.Code {
					rt.Fatalf("got %+v", n)
				}
				states = append(states, n.State)
			}
			if _, ended := porting.Outcome(states); ended != r.State.Ended() || from != r.State {
				rt.Fatalf("%s with %v after %+v", r.State, states, entries)
			}
		}
	})
}
