package riverwork

import (
	"context"
	"database/sql"
	"errors"
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
	pollNotified = time.Second            // interval of polling for new tasks in case a notification was lost
	pollPooled   = 250 * time.Millisecond // interval of polling behind a pooler, which forwards no notifications
	cooldown     = 20 * time.Millisecond  // the shortest time between two looks

	keepCompleted = time.Hour // for lookups of finished tasks
	keepDiscarded = 7 * 24 * time.Hour

	hardStop = 5 * time.Second // for running handlers to end after their contexts have

	startPatience = time.Minute // for a database that goes away just while the work starts
	startPause    = time.Second // between two attempts
)

// worker is River's client for any type of the driver's transactions.
type worker interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
	QueueGet(ctx context.Context, name string) (*rivertype.Queue, error)
}

// client is a worker with its pulse.
type client struct {
	worker
	pollMonitor *pollMonitor
	stopping    chan struct{} // closed when handlers that still run are cut off
}

// Run works until ctx ends. Then it takes no more tasks and waits for the running ones up to Config.StopTimeout, after which their
// contexts end too and they are left to other nodes. The error is the reason for which it could not start, or means that handlers
// still run. After an outage of the database it works with a new client: River's parts wait up to a minute before their next
// attempt.
func (w *Work) Run(ctx context.Context) error {
	pool, err := w.connect(ctx)
	if err != nil {
		return fmt.Errorf("riverwork: %w", err)
	}
	defer pool.close()
	c, err := w.begin(ctx, pool)
	if err != nil {
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

// retire stops a client that has a successor, as soon as its handlers have ended. When ctx ends, handlers end as in any other client.
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

// end stops a client. The client would cut its handlers off when its context ends.
func (c *client) end(ctx context.Context, patience time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	if err := within(ctx, patience, c.Stop); err == nil {
		return nil
	}
	close(c.stopping)
	if err := within(ctx, hardStop, c.StopAndCancel); err != nil {
		return errors.New("riverwork: handlers run on although their contexts have ended")
	}
	return nil
}

// begin starts a client, anew when the database goes away meanwhile.
func (w *Work) begin(ctx context.Context, pool *pool) (*client, error) {
	for until := time.Now().Add(startPatience); ; {
		c, err := w.newClient(ctx, pool)
		if err == nil {
			if err = start(context.WithoutCancel(ctx), c, w.names()); err == nil {
				w.pollMonitor.Store(c.pollMonitor)
				return c, nil
			}
			_ = within(context.WithoutCancel(ctx), hardStop, c.StopAndCancel) // stops the parts that run
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

// start starts a client and makes sure that it works. River mistakes a connection that closes at this moment for a stop. The client
// would then stay idle without an error, because it has not run the first steps for its queues.
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

// newClient makes a client that works.
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
