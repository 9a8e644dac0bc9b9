package agenttest

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
	taskExpand = "agenttest.expand"
	taskForget = "agenttest.forget"
)

// The times of a worker.
const (
	lookEvery   = time.Second       // interval of looking for runs of other nodes, and for cancellations
	sweepEvery  = node.LeaseRenewal // interval of looking for runs of dead nodes
	patience    = 10 * time.Second  // timeout of a transaction of the worker
	maxClaimed  = 64                // runs started in one transaction
	maxOrgs     = 100               // organizations served in one round
	forgetEvery = time.Hour
	keptFor     = 400 * 24 * time.Hour // retention of a run; analytics look back 365 days
	forgetMost  = 1000                 // runs deleted in one step
)

// register registers the durable tasks.
func (s *Service) register() {
	s.cfg.Work.Handle(callwright.QueueTests, taskExpand, s.expand)
	s.cfg.Work.Handle(callwright.QueueTests, taskCancel, s.cancelWaiting)
	s.cfg.Work.Handle(callwright.QueueTests, taskAttribute, s.attribute)
	s.cfg.Work.Handle(callwright.QueueTests, taskConclude, s.conclude)
	taskModes.Handle(s.cfg.Work, callwright.QueueTests, s.cfg.Logger, s.tellModes)
	s.registerTelling()
	s.cfg.Work.Every(callwright.QueueUpkeep, taskForget, forgetEvery, s.forget)
}

// forget deletes old runs.
func (s *Service) forget(ctx context.Context, _ callwright.Task, _ int) error {
	for {
		n, err := s.cfg.Store.DeleteRuns(ctx, s.cfg.Clock.Now().Add(-keptFor), forgetMost)
		if err != nil || n < forgetMost {
			return err
		}
	}
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

// wakeUp makes the worker look for runs to start.
func (s *Service) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run executes runs until ctx ends. Then it interrupts its runs, and any node resumes them. The error is always nil.
func (s *Service) Run(ctx context.Context) error {
	s.heart.Beat(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { _ = s.heart.Run(ctx) })
	loops.Go(func() { s.every(ctx, sweepEvery, "runs of dead nodes cannot be looked for", s.takeOver) })
	loops.Go(func() { s.every(ctx, lookEvery, "cancelled runs cannot be looked for", s.stopCancelled) })
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for ctx.Err() == nil {
		s.fill(ctx)
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-look.C:
		}
	}
	s.live.cancel(errStopping, func(string, liveRun) bool { return true })
	s.live.done.Wait()
	loops.Wait()
	return nil
}

// every calls f in each interval until ctx ends, and logs when it starts and stops failing.
func (s *Service) every(ctx context.Context, interval time.Duration, failed string, f func(context.Context) error) {
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
			failing.Note(ctx, s.cfg.Logger, failed, err)
		}
		cancel()
	}
}

// fill starts runs until the node executes its maximum, or none waits.
func (s *Service) fill(ctx context.Context) {
	for ctx.Err() == nil && s.heart.Held() {
		free := min(s.cfg.Concurrent-s.live.count(), maxClaimed)
		if free <= 0 {
			return
		}
		claimed, err := s.claim(ctx, free)
		if ctx.Err() == nil {
			s.claiming.Note(ctx, s.cfg.Logger, "runs cannot be started", err)
		}
		if err != nil {
			return
		}
		for _, r := range claimed {
			s.begin(ctx, r)
		}
		if len(claimed) < free {
			return // runs created from now on wake the worker
		}
	}
}

// begin executes a run in a new goroutine. The run outlives ctx until Run interrupts it.
func (s *Service) begin(ctx context.Context, r Run) {
	ctx = s.live.add(context.WithoutCancel(ctx), r)
	s.wakeWatchers(r)
	go func() {
		defer s.wakeUp()
		defer s.live.remove(r.ID)
		s.execute(ctx, r)
	}()
}

// takeOver resumes runs of dead nodes, and runs that this node interrupted when it stopped.
func (s *Service) takeOver(ctx context.Context) error {
	peers, ok, err := s.heart.Peers(ctx)
	if err != nil || !ok {
		return err
	}
	left, err := s.cfg.Store.Abandoned(ctx, peers.Alive, max(0, s.cfg.Concurrent-s.live.count()))
	if err != nil {
		return err
	}
	for _, r := range left {
		if r, err = s.take(r); err != nil {
			return err
		}
		if r.Cancel, err = s.cancelled(ctx, r); err != nil {
			return err
		}
		list := []Run{r}
		err := s.store(ctx, list)
		if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
			continue // another node was faster
		}
		if err != nil {
			return err
		}
		s.begin(ctx, list[0])
	}
	return nil
}

// cancelled reports whether a run or its group has to be cancelled.
func (s *Service) cancelled(ctx context.Context, r Run) (bool, error) {
	if r.Cancel || r.Batch == "" {
		return r.Cancel, nil
	}
	b, err := s.cfg.Store.Batch(ctx, r.Org, r.Batch)
	return b.Cancel && b.Reason != StoppedByBudget, ignoreAbsent(err)
}

// stopCancelled interrupts the runs of this node that have to be cancelled.
func (s *Service) stopCancelled(ctx context.Context) error {
	ids, err := s.cfg.Store.Cancelled(ctx, s.cfg.Node)
	for _, id := range ids {
		s.live.cancel(errCancelled, func(live string, r liveRun) bool { return live == id && !r.ending })
	}
	return err
}
