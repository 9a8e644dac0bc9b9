package riverwork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
)

const (
	pollSQLite   = 100 * time.Millisecond // how often new calls are looked for where nothing notifies
	pollOthers   = 250 * time.Millisecond // how often other tasks are
	pollPostgres = time.Second            // how often they are looked for in case a notification was lost
	cooldown     = 20 * time.Millisecond  // the shortest time between two looks

	keepCompleted = time.Hour // for people who want to know what has run
	keepDiscarded = 7 * 24 * time.Hour

	// postgresConnections is the size of the pool that works: one listens, the others fetch, finish and maintain.
	postgresConnections = 6

	hardStop = 5 * time.Second // for running handlers to end after their contexts have

	startPatience = time.Minute // for a database that goes away just while the work starts
	startPause    = time.Second // between two attempts
)

// worker is River's client, whatever its driver's transactions are.
type worker interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
	QueueGet(ctx context.Context, name string) (*rivertype.Queue, error)
}

// Run works until ctx ends. Then it takes no more tasks and waits for those that run: up to Config.StopTimeout, after
// which their contexts end too and they are left to other nodes. The error says why it could not start, or that
// handlers still run.
func (w *Work) Run(ctx context.Context) error {
	stopping := make(chan struct{})
	client, closePool, err := w.begin(ctx, stopping)
	if err != nil {
		return fmt.Errorf("riverwork: %w", err)
	}
	defer closePool()
	// The client would cut its handlers off when its context ends.
	ctx, patient := context.WithoutCancel(ctx), ctx
	<-patient.Done()
	if err := within(ctx, w.cfg.StopTimeout, client.Stop); err == nil {
		return nil
	}
	close(stopping)
	if err := within(ctx, hardStop, client.StopAndCancel); err != nil {
		return errors.New("riverwork: handlers run on although their contexts have ended")
	}
	return nil
}

// begin starts a client, anew when the database goes away meanwhile.
func (w *Work) begin(ctx context.Context, stopping <-chan struct{}) (worker, func(), error) {
	for until := time.Now().Add(startPatience); ; {
		client, closePool, err := w.newWorker(ctx, stopping)
		if err != nil {
			return nil, nil, err
		}
		if err = start(context.WithoutCancel(ctx), client, w.names()); err == nil {
			return client, closePool, nil
		}
		_ = within(context.WithoutCancel(ctx), hardStop, client.StopAndCancel) // what of it runs
		closePool()
		if ctx.Err() != nil || time.Now().After(until) {
			return nil, nil, fmt.Errorf("start: %w", err)
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

// start starts a client and makes sure that it works. River takes a connection that is closed just then for a stop, and
// would have nothing to do for as long as it lives, without an error: what it does first with its queues is not done
// then.
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

// newWorker makes the client that works, and what closes the connections that it has for itself.
func (w *Work) newWorker(ctx context.Context, stopping <-chan struct{}) (worker, func(), error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &step{work: w, stopping: stopping})
	config := &river.Config{
		Workers:                     workers,
		Queues:                      w.riverQueues(),
		PeriodicJobs:                w.periodic,
		RetryPolicy:                 backoff{},
		JobTimeout:                  w.cfg.StepTimeout,
		RescueStuckJobsAfter:        w.cfg.RescueAfter,
		FetchCooldown:               cooldown,
		FetchPollInterval:           pollSQLite,
		CompletedJobRetentionPeriod: keepCompleted,
		DiscardedJobRetentionPeriod: keepDiscarded,
		Logger:                      w.cfg.riverLogger(),
	}
	if w.dsn() == "" {
		client, err := river.NewClient(riversqlite.New(w.cfg.SQL), config)
		return client, func() {}, err
	}
	config.FetchPollInterval, config.Schema = pollPostgres, schema
	options, err := pgxpool.ParseConfig(w.dsn())
	if err != nil {
		return nil, nil, errors.New("the connection string is not one of PostgreSQL")
	}
	options.MaxConns = postgresConnections
	options.ConnConfig.RuntimeParams["timezone"] = "UTC"
	options.ConnConfig.RuntimeParams["application_name"] = "callwright-work"
	pool, err := pgxpool.NewWithConfig(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return client, pool.Close, nil
}
