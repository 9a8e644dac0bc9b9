package run

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// Notifier sends the ends of runs to webhooks. A message has an id, which repeated attempts reuse, and a signature that is valid
// for its organization only. An error means that the message was not delivered. CodeForbidden: the receiver refuses it permanently,
// or sending to url is not allowed. After any other error it is sent again for 24 hours, not before the error's RetryAfter.
// Messages of errors are human-readable and contain only the host of the address.
type Notifier interface {
	RunEnded(ctx context.Context, url string, r Run) error
}

// Failures receives runs that have failed. Each may arrive more than once. After an error it is reported again a few times, not
// before the error's RetryAfter.
type Failures interface {
	// RunFailed reports a run that ended as Failed, outside simulation sets, and is not a Run.Experiment.
	RunFailed(ctx context.Context, r Run) error
}

// The tasks that report ended runs. Their key is the id of the run.
const (
	taskRunNotice = "agenttest.run_notice"
	taskFailed    = "agenttest.failed"
)

// enqueueTasks enqueues the tasks after the end of a run, in the transaction of ctx. reported: its group reports its failures.
func (w *Worker) enqueueTasks(ctx context.Context, r Run, reported bool) error {
	var kinds []string
	if r.Webhook != "" && w.cfg.Notifier != nil {
		kinds = append(kinds, taskRunNotice)
	}
	if r.State == Failed && w.cfg.Failures != nil && !reported && !r.Experiment {
		kinds = append(kinds, taskFailed)
	}
	for _, kind := range kinds {
		if err := w.cfg.Work.Enqueue(ctx, callwright.Task{Kind: kind, Key: r.ID, Org: r.Org}); err != nil {
			return err
		}
	}
	return nil
}

// sendRun sends a run that has ended to its webhook.
func (w *Worker) sendRun(ctx context.Context, t callwright.Task, _ int) error {
	m := delivery.Message{Org: t.Org, Kind: delivery.MessageTestRun, ID: t.Key, Subject: t.Key}
	r, err := w.cfg.Store.Run(ctx, t.Org, t.Key)
	if err != nil || r.Webhook == "" || w.cfg.Notifier == nil {
		return w.GiveUp(ctx, m, err)
	}
	m.URL = r.Webhook
	return w.Send(ctx, m, r.EndedAt, func(ctx context.Context) error { return w.cfg.Notifier.RunEnded(ctx, r.Webhook, r) })
}

// Send makes an attempt at a message. It returns an error if the message is to be sent again, and nil if it was delivered or given
// up. since is the time of the reported event: attempts are not counted.
func (w *Worker) Send(ctx context.Context, m delivery.Message, since time.Time, send func(ctx context.Context) error) error {
	failure, putOff := w.cfg.Deliveries.Send(ctx, m, since, send)
	if putOff != nil {
		return putOff
	}
	again := w.cfg.Deliveries.Redeliver(ctx, m, failure, since, w.cfg.Clock.Now())
	if failure != nil && again == nil {
		w.cfg.Logger.WarnContext(ctx, "a message is given up: its webhook does not take it",
			"kind", m.Kind, "id", m.Subject, "org", m.Org, "to", delivery.HostOf(m.URL), "error", failure)
	}
	return again
}

// GiveUp gives up a message whose run or group could not be read because of err, or has no webhook. Deleted runs and groups are no
// error.
func (w *Worker) GiveUp(ctx context.Context, m delivery.Message, err error) error {
	if err := callwright.IgnoreNotFound(err); err != nil {
		return err
	}
	return w.cfg.Deliveries.GiveUp(ctx, m, "what the message tells of was deleted", w.cfg.Clock.Now())
}

// failed reports a run that has failed.
func (w *Worker) failed(ctx context.Context, t callwright.Task, _ int) error {
	r, err := w.cfg.Store.Run(ctx, t.Org, t.Key)
	if err != nil || r.State != Failed || w.cfg.Failures == nil {
		return callwright.IgnoreNotFound(err)
	}
	return w.cfg.Failures.RunFailed(ctx, r)
}
