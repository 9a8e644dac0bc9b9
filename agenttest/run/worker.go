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

// The kinds of leases and of durable work.
const (
	nodeKind   = "agenttest.node" // of the lease of a node that executes runs
	taskForget = "agenttest.forget"
)

// LookEvery is the interval at which a node looks for runs of other nodes, and for cancellations.
const LookEvery = time.Second

// The times of a worker.
const (
	sweepEvery  = node.LeaseRenewal // interval of looking for runs of dead nodes
	patience    = 10 * time.Second  // timeout of a transaction of the worker
	maxClaimed  = 64                // runs started in one transaction
	maxOrgs     = 100               // organizations served in one round
	forgetEvery = time.Hour
	keptFor     = 400 * 24 * time.Hour // retention of a run; analytics look back 365 days
	forgetMost  = 1000                 // runs deleted in one step
)

// register registers the durable tasks.
func (w *Worker) register() {
	w.cfg.Work.Handle(callwright.QueueWebhooks, taskRunNotice, w.sendRun)
	w.cfg.Work.Handle(callwright.QueueUpkeep, taskFailed, w.failed)
	w.cfg.Work.Every(callwright.QueueUpkeep, taskForget, forgetEvery, w.forget)
}

// forget deletes old runs.
func (w *Worker) forget(ctx context.Context, _ callwright.Task, _ int) error {
	for {
		n, err := w.cfg.Store.DeleteRuns(ctx, w.cfg.Clock.Now().Add(-keptFor), forgetMost)
		if err != nil || n < forgetMost {
			return err
		}
	}
}

// Worker executes runs on this node.
type Worker struct {
	Watchers node.Watchers // of runs and of groups

	cfg   Config
	heart *node.Heartbeat
	live  live
	wake  chan struct{} // holds a token when runs may be ready to start

	claiming callwright.Outage

	purses    purses
	snapshots snapshots
	starts    *node.Budget // see maxStarts
}

// NewWorker checks the configuration and registers the durable tasks.
func NewWorker(c Config) (*Worker, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	heart, err := node.NewHeartbeat(node.HeartbeatConfig{
		Leases: c.Leases, Kind: nodeKind, Node: c.Node, Runtime: callwright.Runtime{Clock: c.Clock, Logger: c.Logger},
	})
	if err != nil {
		return nil, err
	}
	w := &Worker{
		cfg: c, heart: heart, wake: make(chan struct{}, 1), starts: newStarts(),
		Watchers: node.Watchers{Total: c.Watchers, Share: MaxWatchers},
	}
	w.register()
	return w, nil
}

// live holds the runs that this node executes.
type live struct {
	mu        sync.Mutex
	runs      map[string]liveRun // by id
	cancelled []liveGroup        // groups and runs that this node cancelled last, at most maxGroups
	done      sync.WaitGroup
}

// liveGroup is a group of runs, or a cancelled run.
type liveGroup struct {
	org   callwright.OrgID
	batch string
}

// maxGroups is the number of cancelled groups and runs that are remembered, so that runs claimed before still see the cancellation.
const maxGroups = 100

type liveRun struct {
	liveGroup

	ending bool // cancelled before this node began it, which only repeats its journal
	cancel context.CancelCauseFunc
}

// The causes of the interruption of runs.
var (
	errCancelled = errors.New("the run is cancelled")
	errStopping  = errors.New("the node stops")
)

// add adds a run, and returns its context.
func (l *live) add(ctx context.Context, r Run) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[string]liveRun{}
	}
	group := liveGroup{r.Org, r.Batch}
	l.runs[r.ID] = liveRun{group, r.Cancel, cancel}
	l.done.Add(1)
	if !r.Cancel && (slices.Contains(l.cancelled, group) || slices.Contains(l.cancelled, liveGroup{r.Org, r.ID})) {
		cancel(errCancelled)
	}
	return ctx
}

// interrupt cancels a run, or the present and later runs of a group.
func (l *live) interrupt(org callwright.OrgID, id string) {
	group := liveGroup{org, id}
	l.mu.Lock()
	if len(l.cancelled) == maxGroups {
		l.cancelled = slices.Delete(l.cancelled, 0, 1)
	}
	l.cancelled = append(l.cancelled, group)
	l.mu.Unlock()
	l.cancel(errCancelled, func(live string, r liveRun) bool {
		return !r.ending && (r.liveGroup == group || live == id && r.org == org)
	})
}

func (l *live) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[id].cancel(nil)
	delete(l.runs, id)
	l.done.Done()
}

// cancel interrupts the runs that which selects.
func (l *live) cancel(cause error, which func(id string, r liveRun) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.runs {
		if which(id, r) {
			r.cancel(cause)
		}
	}
}

func (l *live) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.runs)
}

// Interrupt ends the cancelled runs of this node, a run or the runs of a group, and wakes their watchers
func (w *Worker) Interrupt(org callwright.OrgID, id string) {
	w.live.interrupt(org, id)
	w.Watchers.Wake(id)
}

// Wake makes the worker look for runs to start.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run executes runs until ctx ends. Then it interrupts its runs, and any node resumes them. The error is always nil.
func (w *Worker) Run(ctx context.Context) error {
	w.heart.Beat(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { _ = w.heart.Run(ctx) })
	loops.Go(func() { w.every(ctx, sweepEvery, "runs of dead nodes cannot be looked for", w.takeOver) })
	loops.Go(func() { w.every(ctx, LookEvery, "cancelled runs cannot be looked for", w.stopCancelled) })
	look := time.NewTicker(LookEvery)
	defer look.Stop()
	for ctx.Err() == nil {
		w.fill(ctx)
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-look.C:
		}
	}
	w.live.cancel(errStopping, func(string, liveRun) bool { return true })
	w.live.done.Wait()
	loops.Wait()
	return nil
}

// every calls f in each interval until ctx ends, and logs when it starts and stops failing.
func (w *Worker) every(ctx context.Context, interval time.Duration, failed string, f func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var failing callwright.Outage
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		if err := f(ctx); ctx.Err() == nil {
			failing.Note(ctx, w.cfg.Logger, failed, err)
		}
		cancel()
	}
}

// fill starts runs until the node executes its maximum, or none waits.
func (w *Worker) fill(ctx context.Context) {
	for ctx.Err() == nil && w.heart.Held() {
		free := min(w.cfg.Concurrent-w.live.count(), maxClaimed)
		if free <= 0 {
			return
		}
		claimed, err := w.claim(ctx, free)
		if ctx.Err() == nil {
			w.claiming.Note(ctx, w.cfg.Logger, "runs cannot be started", err)
		}
		if err != nil {
			return
		}
		for _, r := range claimed {
			w.begin(ctx, r)
		}
		if len(claimed) < free {
			return // runs created from now on wake the worker
		}
	}
}

// begin executes a run in a new goroutine. The run outlives ctx until Run interrupts it.
func (w *Worker) begin(ctx context.Context, r Run) {
	ctx = w.live.add(context.WithoutCancel(ctx), r)
	w.wakeWatchers(r)
	go func() {
		defer w.Wake()
		defer w.live.remove(r.ID)
		w.execute(ctx, r)
	}()
}

// takeOver resumes runs of dead nodes, and runs that this node interrupted when it stopped.
func (w *Worker) takeOver(ctx context.Context) error {
	peers, ok, err := w.heart.Peers(ctx)
	if err != nil || !ok {
		return err
	}
	left, err := w.cfg.Store.Abandoned(ctx, peers.Alive, max(0, w.cfg.Concurrent-w.live.count()))
	if err != nil {
		return err
	}
	for _, r := range left {
		if r, err = w.hold(r); err != nil {
			return err
		}
		if r.Cancel, err = w.cancelled(ctx, r); err != nil {
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

// cancelled reports whether a run or its group has to be cancelled.
func (w *Worker) cancelled(ctx context.Context, r Run) (bool, error) {
	if r.Cancel || r.Batch == "" {
		return r.Cancel, nil
	}
	g, err := w.cfg.Groups.Group(ctx, r.Org, r.Batch)
	return g.Cancel, callwright.IgnoreNotFound(err)
}

// stopCancelled interrupts the runs of this node that have to be cancelled.
func (w *Worker) stopCancelled(ctx context.Context) error {
	ids, err := w.cfg.Store.Cancelled(ctx, w.cfg.Node)
	for _, id := range ids {
		w.live.cancel(errCancelled, func(live string, r liveRun) bool { return live == id && !r.ending })
	}
	return err
}
