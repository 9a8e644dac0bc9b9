package call

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// New returns a Service and registers its durable tasks with Config.Work. It returns an error if the configuration lacks a required field.
// Call Run to accept and place calls.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	c.setDefaults()
	s := &Service{cfg: c, observed: newObservations(c.Observe)}
	var err error
	if s.live, err = s.newLive(); err != nil {
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

// Run accepts incoming calls, and renews the lease of this node, until ctx ends. It then rejects new calls, ends the running calls after
// Config.DrainTimeout, and returns nil. It must not be called twice.
func (s *Service) Run(ctx context.Context) error { return s.live.Run(ctx) }

// Live returns the number of calls that run on this node.
func (s *Service) Live() int { return s.live.Len() }
