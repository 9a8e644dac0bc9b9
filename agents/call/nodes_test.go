package call_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/node"
)

// away is a Leases whose Renew fails while failing is set.
type away struct {
	node.Leases
	failing atomic.Bool
}

func (a *away) Renew(ctx context.Context, kind, node string, now, until time.Time) ([]node.Lease, error) {
	if a.failing.Load() {
		return nil, callwright.ErrInternal
	}
	return a.Leases.Renew(ctx, kind, node, now, until)
}

// beat claims or renews the lease of the named node, as a heartbeat of that node does.
func (h *house) beat(name string) {
	h.t.Helper()
	now := time.Now()
	leases := memstore.Leases{Store: h.store}
	_, err := leases.Claim(h.t.Context(), "call.node", name, []string{name}, now, now.Add(node.LeaseTTL))
	if err != nil {
		h.t.Error(err)
	}
}

// inCutOffHouse runs a test with a house whose leases can fail to renew.
func inCutOffHouse(t *testing.T, test func(t *testing.T, h *house, leases *away)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		leases := &away{}
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { leases.Leases, c.Leases = c.Leases, leases })
		defer h.stop()
		test(t, h, leases)
	})
}

// TestDatabaseComesBack checks that, after an outage of the database, the calls of a live node do not count as lost before that node has
// had time for a heartbeat, and that the calls of a dead node are closed.
func TestDatabaseComesBack(t *testing.T) {
	t.Parallel()
	inCutOffHouse(t, func(t *testing.T, h *house, leases *away) {
		now := time.Now()
		for _, node := range []string{"alive", "dead"} {
			err := h.calls.Insert(t.Context(), call.Call{
				ID: node, Org: "a", Queue: call.QueueAllocated, Node: node, CreatedAt: now, TakenAt: now,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		leases.failing.Store(true)
		waitFor(22 * time.Second)
		leases.failing.Store(false)
		waitFor(6 * time.Second)
		for range 10 {
			h.beat("alive")
			waitFor(2 * time.Second)
		}
		alive, _, aliveErr := h.Get(t.Context(), "a", "alive")
		dead, _, deadErr := h.Get(t.Context(), "a", "dead")
		if aliveErr != nil || deadErr != nil || alive.Queue != call.QueueAllocated || !dead.Queue.Ended() {
			t.Errorf("the call of the node that lives is %s, that of the other %s; %v, %v", alive.Queue, dead.Queue, aliveErr, deadErr)
		}
	})
}

// TestClosedByAnotherNode checks that a call ends if another node has closed its record while this node's heartbeats failed, because a call
// must not continue without a record. The closed record must not be written again.
func TestClosedByAnotherNode(t *testing.T) {
	t.Parallel()
	inCutOffHouse(t, func(t *testing.T, h *house, leases *away) {
		c := h.create(agents.Agent{FirstSentence: "hello", MaxDuration: time.Hour})
		phone := h.answered()
		h.hears(phone, "hello")
		leases.failing.Store(true)
		time.Sleep(20 * time.Second)
		stored, _, err := h.Get(t.Context(), "a", c.ID)
		if err != nil || stored.Queue != call.QueueStarted {
			t.Fatalf("this node's own sweep made the call %s, %v", stored.Queue, err)
		}
		stored.Queue, stored.Node = call.QueueCompleteError, ""
		if err := h.calls.Update(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		leases.failing.Store(false)
		begin := time.Now()
		<-phone.Done()
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("the call went on for %s without a record", took)
		}
		synctest.Wait()
		if got, _, _ := h.Get(t.Context(), "a", c.ID); got.Version != stored.Version+1 {
			t.Errorf("the record was written again: %+v", got)
		}
	})
}
