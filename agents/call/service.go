package call

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// New checks the configuration and registers the service's durable work. Run starts it.
func New(c Config) (*Service, error) {
	if name := c.missing(); name != "" {
		return nil, errors.New("call: Config." + name + " is required")
	}
	c.setDefaults()
	s := &Service{cfg: c, live: newLive(c.MaxCalls), observed: newObservations(c.Observe)}
	var err error
	if s.heartbeat, err = s.newHeartbeat(); err != nil {
		return nil, err
	}
	c.Work.Handle(callwright.QueueCalls, taskPlace, s.place)
	taskNotice.Handle(c.Work, callwright.QueueWebhooks, c.Logger, s.sendNotice)
	c.Work.Handle(callwright.QueueModels, taskAnalyze, s.analyze)
	c.Work.Handle(callwright.QueueWebhooks, taskWebhook, s.notify)
	c.Work.Handle(callwright.QueueUpkeep, taskFailed, s.failed)
	c.Work.Every(callwright.QueueCalls, taskSweep, node.LeaseRenewal, s.sweep)
	return s, nil
}

// Run accepts incoming calls, and renews the lease of this node's calls, until ctx ends. It then admits no new calls, rejects
// incoming ones, and ends running calls after Config.DrainTimeout. It must not be called twice. The error is always nil.
func (s *Service) Run(ctx context.Context) error {
	s.live.open()
	var loops sync.WaitGroup
	looping, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	s.heartbeat.Beat(looping) // no call begins before this node holds its lease
	loops.Go(func() { s.acceptLoop(looping) })
	loops.Go(func() { _ = s.heartbeat.Run(looping) })
	loops.Go(func() { s.stopLoop(looping) })
	loops.Go(func() { s.observed.run(looping) })
	<-ctx.Done()

	s.live.shut()
	timer := time.NewTimer(s.cfg.DrainTimeout)
	defer timer.Stop()
	select {
	case <-s.live.idle:
	case <-timer.C:
		s.cfg.Logger.WarnContext(ctx, "ending the calls that are still running", "calls", s.live.count())
		s.live.endAll(errDraining)
		<-s.live.idle
	}
	stopLoops()
	loops.Wait()
	return nil
}

// Live returns the number of calls that run on this node.
func (s *Service) Live() int { return s.live.count() }
