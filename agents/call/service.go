package call

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// New checks the configuration and registers the service's durable work. Run starts it.
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

// Run accepts incoming calls, and renews the lease of this node's calls, until ctx ends. It then admits no new calls, rejects
// incoming ones, and ends running calls after Config.DrainTimeout. It must not be called twice. The error is always nil.
func (s *Service) Run(ctx context.Context) error { return s.live.Run(ctx) }

// Live returns the number of calls that run on this node.
func (s *Service) Live() int { return s.live.Len() }
