package group

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/delivery"
)

// Notifier notifies webhooks of ended groups. Otherwise see run.Notifier.
type Notifier interface {
	// BatchEnded sends an ended group to a webhook, with its runs, whose outcomes contain only short results.
	BatchEnded(ctx context.Context, url string, b Batch, runs []run.Run) error
}

// Failures receives the failure modes of simulation sets. Otherwise see run.Failures.
type Failures interface {
	// ModeFailed reports a failure mode of an ended simulation set that is no experiment.
	ModeFailed(ctx context.Context, m FailureMode) error
}

// FailureMode describes the runs of a scenario in a simulation set that failed in the same way.
type FailureMode struct {
	Org      callwright.OrgID
	Set      string // id of the set
	Scenario run.Subject
	Failure  run.Failure // with the most typical Reason of the runs
	Count    int         // number of runs with this failure
	Scored   int         // number of runs that passed or failed
	Runs     []string    // ids of runs with this failure, earliest first, at most MaxEvidence
}

// MaxEvidence is the maximum number of run ids in a FailureMode.
const MaxEvidence = 10

// These constants are tasks that follow the end of a group, besides taskConclude. Their key is the id of the group or, for taskSettle, of
// the pathway.
const (
	taskBatchNotice = "agenttest.batch_notice"
	taskPublish     = "agenttest.publish"
	taskSettle      = "agenttest.settle"
)

// sendBatch sends an ended group to its webhook.
func (s *Service) sendBatch(ctx context.Context, t callwright.Task, _ int) error {
	m := delivery.Message{Org: t.Org, Kind: delivery.MessageTestBatch, ID: t.Key, Subject: t.Key}
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil || b.Webhook == "" || s.cfg.Notifier == nil {
		return s.Worker.GiveUp(ctx, m, err)
	}
	m.URL = b.Webhook
	runs, err := s.runs(ctx, b)
	if err != nil {
		return err
	}
	return s.Worker.Send(ctx, m, b.EndedAt, func(ctx context.Context) error { return s.cfg.Notifier.BatchEnded(ctx, b.Webhook, b, runs) })
}

// publish publishes the version of a batch that has passed. The gate still decides, because the batch may lack a scenario that is required
// for promotion. If the gate refuses, another version was published meanwhile, or the pathway or version is absent, publish only logs a
// warning.
func (s *Service) publish(ctx context.Context, t callwright.Task, _ int) error {
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil {
		return callwright.IgnoreNotFound(err)
	}
	_, err = s.cfg.Pathways.Publish(ctx, b.Org, b.Pathway, pathway.Publication{Number: b.Version, OnPass: true, Over: &b.Over})
	if overtaken := errors.Is(err, callwright.ErrConflict); overtaken || errors.Is(err, callwright.ErrPromotionGateFailed) || errors.Is(err, callwright.ErrNotFound) {
		s.cfg.Run.Logger.WarnContext(ctx, "a batch has passed, but its version is not published",
			"batch_id", b.ID, "pathway", b.Pathway, "version", b.Version, "error", err)
		return nil
	}
	return err
}
