package run

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// taskDelete is the periodic task that deletes old runs.
const taskDelete = "agenttest.forget"

// These constants are times and limits of a worker.
const (
	patience    = 10 * time.Second // timeout of a transaction by the worker
	maxClaimed  = 64               // maximum number of runs claimed in one transaction
	maxOrgs     = 100              // maximum number of organizations whose runs are claimed in one round
	deleteEvery = time.Hour
	retention   = 400 * 24 * time.Hour // retention of an ended run; analytics look back 365 days
	maxDeleted  = 1000                 // maximum number of runs deleted in one step
)

// register registers the handlers of the durable tasks.
func (w *Worker) register() {
	w.cfg.Work.Handle(callwright.QueueWebhooks, taskRunNotice, w.sendRun)
	w.cfg.Work.Handle(callwright.QueueUpkeep, taskFailed, w.failed)
	w.cfg.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, w.deleteOld)
}

// deleteOld deletes runs that ended longer than the retention ago.
func (w *Worker) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for {
		n, err := w.cfg.Store.DeleteRuns(ctx, w.cfg.Clock.Now().Add(-retention), maxDeleted)
		if err != nil || n < maxDeleted {
			return err
		}
	}
}

// Worker executes runs on this node. New creates the Worker of a Service. Its exported methods and fields are intended for package group,
// which adds groups to a Service; programs call the methods of Service.
type Worker struct {
	Watchers node.Watchers // watchers of runs and of groups

	cfg  Config
	live *node.Holder[liveRun]

	mu        sync.Mutex
	cancelled []liveGroup // groups and runs that were last canceled on this node, at most maxGroups

	groupBudgets groupBudgets
	snapshots    snapshots
	starts       *node.Budget // limits concurrent starts: see maxStarts
}

// newWorker checks the configuration, registers the durable tasks, and returns a Worker.
func newWorker(c Config) (*Worker, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	w := &Worker{cfg: c, starts: newStarts(), Watchers: node.Watchers{Total: c.Watchers, Share: MaxWatchers}}
	w.live, err = node.NewHolder[liveRun](node.HolderConfig{
		Leases: c.Leases, Kind: "agenttest.node", Node: c.Node, Most: c.Concurrent,
		Claim: w.fill, Refill: true, Review: w.claimLost, Stops: w.stops, Stopped: errCancelled, Draining: errStopping,
		Runtime: c.Runtime,
	})
	if err != nil {
		return nil, err
	}
	w.register()
	return w, nil
}

// liveGroup identifies a group of runs, or a canceled run.
type liveGroup struct {
	org   callwright.OrgID
	batch string
}

// maxGroups is the number of last canceled groups and runs that a worker stores, so that it also cancels runs that it claimed before the
// cancellation and begins after it.
const maxGroups = 100

// liveRun is a run that this node executes.
type liveRun struct {
	liveGroup

	ending bool // the run was canceled before this node began it: the node only repeats its journal
}

// These errors are the causes with which a node interrupts runs.
var (
	errCancelled = errors.New("the run is cancelled")
	errStopping  = errors.New("the node stops")
)

// Interrupt cancels a run, or all runs of a group, on this node, and wakes the watchers of the run or the group. Runs of the group that
// this node begins later are canceled too.
func (w *Worker) Interrupt(org callwright.OrgID, id string) {
	group := liveGroup{org, id}
	w.mu.Lock()
	if len(w.cancelled) == maxGroups {
		w.cancelled = slices.Delete(w.cancelled, 0, 1)
	}
	w.cancelled = append(w.cancelled, group)
	w.mu.Unlock()
	w.live.StopWhere(errCancelled, func(live string, r liveRun) bool {
		return !r.ending && (r.liveGroup == group || live == id && r.org == org)
	})
	w.Watchers.Wake(id)
}

// interrupted reports whether one of the last maxGroups calls of Interrupt on this node was for the run or its group.
func (w *Worker) interrupted(r Run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.cancelled, liveGroup{r.Org, r.Batch}) || slices.Contains(w.cancelled, liveGroup{r.Org, r.ID})
}

// Wake makes the worker look for runs to start.
func (w *Worker) Wake() { w.live.Wake() }

// Run executes waiting runs until ctx is done. Then it interrupts its runs, which any node resumes. It always returns nil.
func (w *Worker) Run(ctx context.Context) error { return w.live.Run(ctx) }

// fill starts runs until the node executes its maximum or no run waits.
func (w *Worker) fill(ctx context.Context) error {
	for ctx.Err() == nil {
		free := min(w.live.Free(), maxClaimed)
		if free == 0 {
			return nil
		}
		claimed, err := w.claim(ctx, free)
		if err != nil {
			return err
		}
		for _, r := range claimed {
			w.begin(ctx, r)
		}
		if len(claimed) < free {
			return nil // runs created from now on wake the worker again
		}
	}
	return nil
}

// begin executes a claimed run in a new goroutine. If the worker is full or stopping, begin releases the run.
func (w *Worker) begin(ctx context.Context, r Run) {
	slot, ok := w.live.Hold(ctx, r.ID, liveRun{liveGroup{r.Org, r.Batch}, r.Cancel})
	if !ok {
		w.release(ctx, r)
		return
	}
	if !r.Cancel && w.interrupted(r) {
		w.live.Stop(r.ID, errCancelled)
	}
	w.wakeWatchers(r)
	slot.Go(func(ctx context.Context) { w.execute(ctx, r) })
}

// claimLost resumes runs whose nodes have died, and runs that nodes have released.
func (w *Worker) claimLost(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	peers, ok, err := w.live.Peers(ctx)
	if err != nil || !ok {
		return err
	}
	left, err := w.cfg.Store.Abandoned(ctx, peers.Alive, w.live.Free())
	if err != nil {
		return err
	}
	for _, r := range left {
		if w.live.Holds(r.ID) {
			continue // this node released the run, and has not quite finished it
		}
		if r, err = w.hold(r); err != nil {
			return err
		}
		if r.Cancel, err = w.isCancelled(ctx, r); err != nil {
			return err
		}
		list := []Run{r}
		err := w.store(ctx, list)
		if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
			continue // another node has claimed the run first, or the run was deleted
		}
		if err != nil {
			return err
		}
		w.begin(ctx, list[0])
	}
	return nil
}

// isCancelled reports whether a run must be canceled, because its own Cancel or its group's Cancel is set.
func (w *Worker) isCancelled(ctx context.Context, r Run) (bool, error) {
	if r.Cancel || r.Batch == "" {
		return r.Cancel, nil
	}
	g, err := w.cfg.Groups.Group(ctx, r.Org, r.Batch)
	return g.Cancel, callwright.IgnoreNotFound(err)
}

// stops returns the ids of the runs of this node that must be canceled. It omits runs that this node began after their cancellation.
func (w *Worker) stops(ctx context.Context, name string) ([]string, error) {
	ids, err := w.cfg.Store.Cancelled(ctx, name)
	live := w.live.All()
	return slices.DeleteFunc(ids, func(id string) bool { return live[id].ending }), err
}
