package call_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// forgetful is an Atomic that, while lossy is set, returns an error for every other transaction although it has committed the transaction.
type forgetful struct {
	callwright.Atomic
	lossy  atomic.Bool
	number atomic.Int32
}

type within struct{}

func (f *forgetful) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	outermost := ctx.Value(within{}) == nil
	err := f.Atomic.Do(context.WithValue(ctx, within{}, true), fn)
	if err == nil && outermost && f.lossy.Load() && f.number.Add(1)%2 == 1 {
		return callwright.ErrInternal
	}
	return err
}

// TestCommitsWithoutAnswer checks that transactions whose commit seems to fail are not repeated: the call is retried once, and the webhook
// receives the record of each call once, and every notice.
func TestCommitsWithoutAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f *forgetful
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			f = &forgetful{Atomic: c.Atomic}
			c.Atomic = f
		})
		defer h.stop()
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		r := retried()
		r.Plan.Events = []call.EventCategory{call.EventsQueue, call.EventsCall}
		r.Plan.Retry.Wait = time.Minute
		c := h.order(r)
		f.lossy.Store(true)
		waitFor(time.Hour)
		calls := h.all()
		if len(calls) != 2 || calls[0].ID != c.ID || calls[0].RetriedBy != calls[1].ID || len(h.line.Dials()) != 2 {
			t.Fatalf("dialed %d times, calls %+v", len(h.line.Dials()), calls)
		}
		sent := map[string]int{}
		for _, c := range h.notices.sent {
			sent[c.ID]++
		}
		if sent[calls[0].ID] != 1 || sent[calls[1].ID] != 1 {
			t.Errorf("the webhook got the records %v", sent)
		}
		told := map[string]int{}
		for _, n := range h.notices.events {
			told[n.Message]++
		}
		if told["allocated"] < 2 || told["ended: busy, the number called is busy"] < 2 || f.number.Load() < 6 {
			t.Errorf("in %d transactions the webhook was told %v", f.number.Load(), told)
		}
	})
}
