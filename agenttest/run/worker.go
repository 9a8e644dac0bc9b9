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

// taskDelete is a kind of durable work.
const taskDelete = "agenttest.forget"

// The times of a worker.
const (
	patience    = 10 * time.Second // timeout of a transaction of the worker
	maxClaimed  = 64               // runs started in one transaction
	maxOrgs     = 100              // organizations served in one round
	deleteEvery = time.Hour
	retention   = 400 * 24 * time.Hour // retention of a run; analytics look back 365 days
	maxDeleted  = 1000                 // runs deleted in one step
)

// register registers the durable tasks.
func (w *Worker) register() {
	w.cfg.Work.Handle(callwright.QueueWebhooks, taskRunNotice, w.sendRun)
	w.cfg.Work.Handle(callwright.QueueUpkeep, taskFailed, w.failed)
	w.cfg.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, w.deleteOld)
}

// deleteOld deletes old runs.
func (w *Worker) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for {
		n, err := w.cfg.Store.DeleteRuns(ctx, w.cfg.Clock.Now().Add(-retention), maxDeleted)
		if err != nil || n < maxDeleted {
			return err
		}
	}
}

// Worker executes runs on this node. New makes the Worker of a Service. Its exported methods and fields are for package group, which
// adds groups to a Service; programs call the methods of Service.
type Worker struct {
	Watchers node.Watchers // of runs and of groups

	cfg  Config
	live *node.Holder[liveRun]

	mu        sync.Mutex
	cancelled []liveGroup // groups and runs that this node cancelled last, at most maxGroups

	groupBudgets groupBudgets
	snapshots    snapshots
	starts       *node.Budget // see maxStarts
}

// newWorker checks the configuration and registers the durable tasks.
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

// liveGroup is a group of runs, or a cancelled run.
type liveGroup struct {
	org   callwright.OrgID
	batch string
}

// maxGroups is the number of cancelled groups and runs that are remembered, so that runs claimed before still see the cancellation.
const maxGroups = 100

// liveRun is a run that this node executes.
type liveRun struct {
	liveGroup

	ending bool // cancelled before this node began it, which only repeats its journal
}

// The causes of the interruption of runs.
var (
	errCancelled = errors.New("the run is cancelled")
	errStopping  = errors.New("the node stops")
)

// Interrupt cancels a run, or the present and later runs of a group, on this node, and wakes their watchers.
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

// interrupted reports whether a run or its group was cancelled here.
func (w *Worker) interrupted(r Run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.cancelled, liveGroup{r.Org, r.Batch}) || slices.Contains(w.cancelled, liveGroup{r.Org, r.ID})
}

// Wake has the worker look for runs to start.
func (w *Worker) Wake() { w.live.Wake() }

// Run executes runs until ctx ends. Then it interrupts its runs, and any node resumes them. The error is always nil.
func (w *Worker) Run(ctx context.Context) error { return w.live.Run(ctx) }

// fill starts runs until the node executes its maximum, or none waits.
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
			return nil // runs created from now on wake the worker
		}
	}
	return nil
}

// begin executes a run in a new goroutine.
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

// claimLost resumes runs of dead nodes, and runs that this node interrupted when it stopped.
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
			continue // it was released here, and has not quite ended
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
			continue // another node was faster
		}
		if err != nil {
			return err
		}
		w.begin(ctx, list[0])
	}
	return nil
}

// isCancelled reports whether a run or its group has to be cancelled.
func (w *Worker) isCancelled(ctx context.Context, r Run) (bool, error) {
	if r.Cancel || r.Batch == "" {
		return r.Cancel, nil
	}
	g, err := w.cfg.Groups.Group(ctx, r.Org, r.Batch)
	return g.Cancel, callwright.IgnoreNotFound(err)
}

// stops returns the runs of this node that have to be cancelled.
func (w *Worker) stops(ctx context.Context, name string) ([]string, error) {
	ids, err := w.cfg.Store.Cancelled(ctx, name)
	live := w.live.All()
	return slices.DeleteFunc(ids, func(id string) bool { return live[id].ending }), err
}
