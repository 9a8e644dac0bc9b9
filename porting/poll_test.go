package porting_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// TestManyRequestsArePolledEvenly checks that a server with 10,000 requests that are all due asks the carrier at most 1,000 times a minute,
// and spreads the next polls.
func TestManyRequestsArePolledEvenly(t *testing.T) {
	t.Parallel()
	const open, aMinute = 10_000, 1000
	asked := &carrier{}
	inHouse(t, func(t *testing.T, h *house) {
		start := time.Now()
		for i := range open {
			id := fmt.Sprintf("port_%05d", i)
			number := callwright.PhoneNumber(fmt.Sprintf("+1415%07d", 5550000+i))
			receipt, err := asked.Gateway.Submit(t.Context(), porting.Submission{Order: porting.Order{Key: id + ":1"}})
			if err != nil {
				t.Fatal(err)
			}
			err = h.store.InsertRequest(t.Context(), porting.Request{
				ID: id, Org: org, State: porting.InProgress, Gateway: "simulated", Ref: receipt.Ref, Sending: true,
				Numbers:    []porting.Number{{Number: number, State: porting.NumberInProgress}},
				TargetDate: start.Add(30 * day), SignedAt: start.Add(-2 * time.Hour), DueAt: start, CreatedAt: start, Revision: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		h.sleep(7 * time.Hour)
		minutes := perMinute(start, asked)
		backlog := 0
		for minute := range minutes {
			if backlog += minutes[minute]; backlog >= open {
				if minute > open/aMinute+1 {
					t.Errorf("it took %d minutes to ask about each request", minute)
				}
				break
			}
		}
		for minute, n := range minutes {
			if n > aMinute {
				t.Errorf("in minute %d the carrier is asked %d times", minute, n)
			}
		}
		last := 0
		for _, n := range minutes[len(minutes)-60:] { // the second round of polls is spread further
			last = max(last, n)
		}
		if last == 0 || last > aMinute/4 {
			t.Errorf("in the last hour a minute has up to %d requests", last)
		}
	}, func(c *porting.Config) { asked.Gateway, c.Gateway = c.Gateway, asked })
}

// perMinute returns how many snapshots were requested from c in each minute since start.
func perMinute(start time.Time, c *carrier) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var minutes []int
	for _, at := range c.looks {
		minute := int(at.Sub(start) / time.Minute)
		for len(minutes) <= minute {
			minutes = append(minutes, 0)
		}
		minutes[minute]++
	}
	return minutes
}
