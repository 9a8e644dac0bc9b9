package agenttest

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/delivery"
)

// Notifier sends the ends of runs and groups to webhooks. A message has an id, which repeated attempts reuse, and a signature that
// is valid for its organization only. An error means that the message was not delivered. CodeForbidden: the receiver refuses it
// permanently, or sending to url is not allowed. After any other error it is sent again for 24 hours, not before the error's
// RetryAfter. Messages of errors are human-readable and contain only the host of the address.
type Notifier interface {
	RunEnded(ctx context.Context, url string, r Run) error
	// BatchEnded sends a group with its runs, whose outcomes contain only short results.
	BatchEnded(ctx context.Context, url string, b Batch, runs []Run) error
}

// Failures receives runs that have failed. Each may arrive more than once. After an error it is reported again a few times, not
// before the error's RetryAfter.
type Failures interface {
	// RunFailed reports a run that ended as Failed, outside simulation sets, and is not a Run.Experiment.
	RunFailed(ctx context.Context, r Run) error
	// ModeFailed reports runs of a scenario with the same failure in an ended simulation set, except experiments.
	ModeFailed(ctx context.Context, m FailureMode) error
}

// FailureMode is a common failure of runs of a scenario in a simulation set.
type FailureMode struct {
	Org      callwright.OrgID
	Set      string // id
	Scenario Part
	Failure  Failure  // its Reason is the most typical one
	Count    int      // runs with this failure
	Scored   int      // runs that have passed or failed
	Runs     []string // ids of runs with this failure, the earliest first, at most MaxEvidence
}

// MaxEvidence is the maximum number of runs in a FailureMode.
const MaxEvidence = 10

// The tasks that report ended runs and groups. Their key is the id of the run or the group.
const (
	taskRunNotice   = "agenttest.run_notice"
	taskBatchNotice = "agenttest.batch_notice"
	taskFailed      = "agenttest.failed"
	taskPublish     = "agenttest.publish"
	taskSettle      = "agenttest.settle"
)

// registerTelling registers the tasks that report ended runs and groups.
func (s *Service) registerTelling() {
	s.cfg.Work.Handle(callwright.QueueWebhooks, taskRunNotice, s.sendRun)
	s.cfg.Work.Handle(callwright.QueueWebhooks, taskBatchNotice, s.sendBatch)
	s.cfg.Work.Handle(callwright.QueueUpkeep, taskFailed, s.failed)
	s.cfg.Work.Handle(callwright.QueueTests, taskPublish, s.publish)
	s.cfg.Work.Handle(callwright.QueueTests, taskSettle, func(ctx context.Context, t callwright.Task, _ int) error {
		return s.cfg.Pathways.FinishTests(ctx, t.Org, t.Key)
	})
}

// tell enqueues the tasks after the end of a run, in the transaction of ctx. The failures of a simulation set are reported by mode
// after its end.
func (s *Service) tell(ctx context.Context, r Run, kind Kind) error {
	var kinds []string
	if r.Webhook != "" && s.cfg.Notifier != nil {
		kinds = append(kinds, taskRunNotice)
	}
	if r.State == Failed && s.cfg.Failures != nil && kind != Simulations && !r.Experiment {
		kinds = append(kinds, taskFailed)
	}
	return s.enqueue(ctx, r.Org, r.ID, kinds...)
}

// tellBatch enqueues the tasks after the end of a group, in the transaction of ctx.
func (s *Service) tellBatch(ctx context.Context, b Batch) error {
	var kinds []string
	if b.Webhook != "" && s.cfg.Notifier != nil {
		kinds = append(kinds, taskBatchNotice)
	}
	if b.Publish && b.State == Passed {
		kinds = append(kinds, taskPublish)
	}
	if b.Kind == Simulations {
		kinds = append(kinds, taskConclude)
	}
	if err := s.enqueue(ctx, b.Org, b.ID, kinds...); err != nil || b.Pathway == "" || b.Kind != OneEach || b.experiment() {
		return err
	}
	return s.enqueue(ctx, b.Org, b.Pathway, taskSettle) // a version may wait for these tests
}

func (s *Service) enqueue(ctx context.Context, org callwright.OrgID, key string, kinds ...string) error {
	for _, kind := range kinds {
		if err := s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: kind, Key: key, Org: org}); err != nil {
			return err
		}
	}
	return nil
}

// sendRun sends a run that has ended to its webhook.
func (s *Service) sendRun(ctx context.Context, t callwright.Task, _ int) error {
	m := delivery.Message{Org: t.Org, Kind: delivery.MessageTestRun, ID: t.Key, Subject: t.Key}
	r, err := s.cfg.Store.Run(ctx, t.Org, t.Key)
	if err != nil || r.Webhook == "" || s.cfg.Notifier == nil {
		return s.giveUp(ctx, m, err)
	}
	m.URL = r.Webhook
	return s.send(ctx, m, r.EndedAt, func(ctx context.Context) error { return s.cfg.Notifier.RunEnded(ctx, r.Webhook, r) })
}

// sendBatch sends a group that has ended to its webhook.
func (s *Service) sendBatch(ctx context.Context, t callwright.Task, _ int) error {
	m := delivery.Message{Org: t.Org, Kind: delivery.MessageTestBatch, ID: t.Key, Subject: t.Key}
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil || b.Webhook == "" || s.cfg.Notifier == nil {
		return s.giveUp(ctx, m, err)
	}
	m.URL = b.Webhook
	runs, err := s.listed(ctx, t.Org, RunFilter{Batch: b.ID, Oldest: true, Limit: MaxScenarios})
	if err != nil {
		return err
	}
	return s.send(ctx, m, b.EndedAt, func(ctx context.Context) error { return s.cfg.Notifier.BatchEnded(ctx, b.Webhook, b, runs) })
}

// send makes an attempt at a message. It returns an error if the message is to be sent again, and nil if it was delivered or given
// up. since is the time of the reported event: attempts are not counted.
func (s *Service) send(ctx context.Context, m delivery.Message, since time.Time, send func(ctx context.Context) error) error {
	failure, putOff := s.cfg.Deliveries.Send(ctx, m, since, send)
	if putOff != nil {
		return putOff
	}
	again := s.cfg.Deliveries.Redeliver(ctx, m, failure, since, s.cfg.Clock.Now())
	if failure != nil && again == nil {
		s.cfg.Logger.WarnContext(ctx, "a message is given up: its webhook does not take it",
			"kind", m.Kind, "id", m.Subject, "org", m.Org, "to", delivery.HostOf(m.URL), "error", failure)
	}
	return again
}

// giveUp gives up a message whose run or group could not be read because of err, or has no webhook. Deleted runs and groups are no
// error.
func (s *Service) giveUp(ctx context.Context, m delivery.Message, err error) error {
	if err := ignoreAbsent(err); err != nil {
		return err
	}
	return s.cfg.Deliveries.Drop(ctx, m, "what the message tells of was deleted", s.cfg.Clock.Now())
}

// failed reports a run that has failed.
func (s *Service) failed(ctx context.Context, t callwright.Task, _ int) error {
	r, err := s.cfg.Store.Run(ctx, t.Org, t.Key)
	if err != nil || r.State != Failed || s.cfg.Failures == nil {
		return ignoreAbsent(err)
	}
	return s.cfg.Failures.RunFailed(ctx, r)
}

// publish publishes the version of a batch that has passed. The gate still decides, because the batch may lack a scenario that
// promotion requires.
func (s *Service) publish(ctx context.Context, t callwright.Task, _ int) error {
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil {
		return ignoreAbsent(err)
	}
	_, err = s.cfg.Pathways.Publish(ctx, b.Org, b.Pathway, pathway.Publication{Number: b.Version, OnPass: true, Over: &b.Over})
	if overtaken := errors.Is(err, callwright.ErrConflict); overtaken || errors.Is(err, callwright.ErrPromotionGateFailed) || errors.Is(err, callwright.ErrNotFound) {
		s.cfg.Logger.WarnContext(ctx, "a batch has passed, but its version is not published",
			"batch_id", b.ID, "pathway", b.Pathway, "version", b.Version, "error", err)
		return nil
	}
	return err
}

func ignoreAbsent(err error) error {
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}
