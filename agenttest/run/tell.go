package run

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// Notifier notifies webhooks of ended runs. A message has an id, which retries reuse, and a signature that is valid only for its
// organization. An error means that the message was not delivered. CodeForbidden means that the receiver refuses the message permanently,
// or that sending to the URL is not permitted. After any other error, the delivery is retried for 24 hours, each time not before the
// error's RetryAfter. Messages of errors are human-readable and contain only the host of the URL.
type Notifier interface {
	RunEnded(ctx context.Context, url string, r Run) error
}

// Failures receives failed runs. It may receive a run more than once. After an error the report is retried a few times, each time not
// before the error's RetryAfter.
type Failures interface {
	// RunFailed reports a run that ended as Failed. Runs of simulation sets and Experiments are not reported.
	RunFailed(ctx context.Context, r Run) error
}

// These constants are the tasks that report ended runs. Their key is the id of the run.
const (
	taskRunNotice = "agenttest.run_notice"
	taskFailed    = "agenttest.failed"
)

// enqueueTasks enqueues, in the transaction of ctx, the tasks that follow the end of a run. reported means that the run's group reports its
// failures.
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

// sendRun sends an ended run to its webhook.
func (w *Worker) sendRun(ctx context.Context, t callwright.Task, _ int) error {
	m := delivery.Message{Org: t.Org, Kind: delivery.MessageTestRun, ID: t.Key, Subject: t.Key}
	r, err := w.cfg.Store.Run(ctx, t.Org, t.Key)
	if err != nil || r.Webhook == "" || w.cfg.Notifier == nil {
		return w.GiveUp(ctx, m, err)
	}
	m.URL = r.Webhook
	return w.Send(ctx, m, r.EndedAt, func(ctx context.Context) error { return w.cfg.Notifier.RunEnded(ctx, r.Webhook, r) })
}

// Send tries to deliver a message. It returns an error if the delivery must be retried, and nil if the message was delivered or is given
// up. since is the time of the reported event. The age of the event limits the retries; their number is not limited.
func (w *Worker) Send(ctx context.Context, m delivery.Message, since time.Time, send func(ctx context.Context) error) error {
	failure, putOff := w.cfg.Deliveries.Send(ctx, m, since, send)
	if putOff != nil {
		return putOff
	}
	again := w.cfg.Deliveries.Redeliver(ctx, m, failure, since, w.cfg.Clock.Now())
	if failure != nil && again == nil {
		w.cfg.Logger.WarnContext(ctx, "a message is given up: its webhook does not accept it",
			"kind", m.Kind, "id", m.Subject, "org", m.Org, "to", delivery.HostOf(m.URL), "error", failure)
	}
	return again
}

// GiveUp gives up a message that cannot be sent: its run or group was deleted or has no webhook, or the program has no Notifier. err is the
// error of reading the run or group. If err is neither nil nor CodeNotFound, GiveUp returns it, and the task is retried.
func (w *Worker) GiveUp(ctx context.Context, m delivery.Message, err error) error {
	if err := callwright.IgnoreNotFound(err); err != nil {
		return err
	}
	return w.cfg.Deliveries.GiveUp(ctx, m, "the run or the group that the message is about was deleted, or has no webhook", w.cfg.Clock.Now())
}

// failed reports a failed run to Config.Failures.
func (w *Worker) failed(ctx context.Context, t callwright.Task, _ int) error {
	r, err := w.cfg.Store.Run(ctx, t.Org, t.Key)
	if err != nil || r.State != Failed || w.cfg.Failures == nil {
		return callwright.IgnoreNotFound(err)
	}
	return w.cfg.Failures.RunFailed(ctx, r)
}
