package riverwork

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
)

const (
	pollNotified = time.Second            // polling interval in case a notification is lost
	pollPooled   = 250 * time.Millisecond // polling interval behind a pooler, which forwards no notifications
	cooldown     = 20 * time.Millisecond  // minimum time between two polls

	keepCompleted = time.Hour // finished tasks can be looked up for this time
	keepDiscarded = 7 * 24 * time.Hour

	hardStop = 5 * time.Second // time for handlers to return after their contexts are canceled

	startPatience = time.Minute // time for retries if the database is unavailable at the start
	startPause    = time.Second // pause between two retries
)

// worker is the part of River's client that does not depend on the driver's type of transactions.
type worker interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
	QueueGet(ctx context.Context, name string) (*rivertype.Queue, error)
}

// client is a River client with a monitor of its polls.
type client struct {
	worker
	pollMonitor *pollMonitor
	stopping    chan struct{} // closed before the contexts of running handlers are canceled
}

// Run executes tasks until ctx is canceled. It then claims no further tasks, and waits up to Config.StopTimeout for the running ones. After
// that, Run cancels the contexts of their handlers and leaves the tasks to other nodes. It returns an error if the work cannot be started,
// or if handlers still run although their contexts are canceled. After a long outage of the database, Run replaces River's client, because
// the components of the old client wait up to a minute before their next attempt.
func (w *Work) Run(ctx context.Context) error {
	pool, err := w.connect(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil // a start that is stopped has not failed
		}
		return fmt.Errorf("riverwork: %w", err)
	}
	defer pool.close()
	c, err := w.begin(ctx, pool)
	if err != nil {
		if ctx.Err() != nil {
			return nil // a start that is stopped has not failed
		}
		return fmt.Errorf("riverwork: %w", err)
	}
	var retired sync.WaitGroup
	defer retired.Wait()
	for {
		select {
		case <-ctx.Done():
			return c.end(ctx, w.cfg.StopTimeout)
		case <-c.pollMonitor.recovered:
			next, err := w.begin(ctx, pool)
			if err != nil {
				w.cfg.Logger.WarnContext(ctx, "durable work goes on as it was before the outage", "error", err)
				continue
			}
			old := c
			retired.Go(func() { old.retire(ctx, w.cfg.StopTimeout) })
			c = next
		}
	}
}

// retire stops a replaced client after its handlers have returned. If ctx is canceled before that, it stops the client like end.
func (c *client) retire(ctx context.Context, patience time.Duration) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = c.Stop(context.WithoutCancel(ctx))
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		_ = c.end(ctx, patience)
	}
}

// end stops a client: it waits up to patience for the handlers, and then cancels their contexts. It calls the client with a context that is
// not canceled, because the client would otherwise cancel the handlers immediately.
func (c *client) end(ctx context.Context, patience time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	if err := within(ctx, patience, c.Stop); err == nil {
		return nil
	}
	close(c.stopping)
	if err := within(ctx, hardStop, c.StopAndCancel); err != nil {
		return fmt.Errorf("riverwork: handlers still run %s after their contexts were canceled: handlers must return when their context ends", hardStop)
	}
	return nil
}

// begin starts a client. If that fails, for example because the database is unavailable, it retries for startPatience.
func (w *Work) begin(ctx context.Context, pool *pool) (*client, error) {
	for until := time.Now().Add(startPatience); ; {
		c, err := w.newClient(ctx, pool)
		if err == nil {
			if err = start(context.WithoutCancel(ctx), c, w.names()); err == nil {
				w.pollMonitor.Store(c.pollMonitor)
				return c, nil
			}
			_ = within(context.WithoutCancel(ctx), hardStop, c.StopAndCancel) // stops the components that have started
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return nil, fmt.Errorf("start: %w", err)
		}
		w.cfg.Logger.WarnContext(ctx, "durable work could not be started, trying again", "error", err)
		timer := time.NewTimer(startPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// start starts a client and checks that it works on its queues. River mistakes a connection that closes during the start for a request to
// stop. The client would then stay idle without an error, and not perform the first steps for its queues.
func start(ctx context.Context, client worker, queues []string) error {
	before, err := looked(ctx, client, queues)
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	after, err := looked(ctx, client, queues)
	if err != nil {
		return err
	}
	return idle(before, after, queues)
}

func within(ctx context.Context, d time.Duration, stop func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return stop(ctx)
}

// newClient creates a River client that executes tasks. It does not start the client.
func (w *Work) newClient(ctx context.Context, pool *pool) (*client, error) {
	c := &client{stopping: make(chan struct{})}
	workers := river.NewWorkers()
	river.AddWorker(workers, &step{work: w, stopping: c.stopping})
	config := &river.Config{
		Workers:                     workers,
		Queues:                      w.riverQueues(),
		PeriodicJobs:                w.periodic,
		RetryPolicy:                 backoff{},
		JobTimeout:                  w.cfg.StepTimeout,
		RescueStuckJobsAfter:        w.cfg.RescueAfter,
		FetchCooldown:               cooldown,
		FetchPollInterval:           pollNotified,
		CompletedJobRetentionPeriod: keepCompleted,
		DiscardedJobRetentionPeriod: keepDiscarded,
		Logger:                      w.cfg.riverLogger(),
	}
	c.pollMonitor = newPulse(w.cfg.StepTimeout+lookLimit, w.names())
	var err error
	if pool.postgres == nil {
		c.worker, err = river.NewClient(watched[*sql.Tx]{riversqlite.New(w.cfg.SQL), c.pollMonitor}, config)
		return c, err
	}
	config.Schema = schema
	if config.PollOnly, err = pool.pooled(ctx); err != nil {
		return nil, err
	}
	if config.PollOnly {
		config.FetchPollInterval = pollPooled
	}
	c.worker, err = river.NewClient(watched[pgx.Tx]{riverpgxv5.New(pool.postgres), c.pollMonitor}, config)
	return c, err
}
