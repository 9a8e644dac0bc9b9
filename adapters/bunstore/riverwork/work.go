package riverwork

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"github.com/callwright/callwright"
)

// Config configures a Work.
type Config struct {
	// SQL is the database. On SQLite it must be a pool of one connection whose transactions begin with BEGIN IMMEDIATE.
	SQL *sql.DB `required:"always"`
	// Tx returns the transaction of Atomic that a context carries, if any.
	Tx func(ctx context.Context) (*sql.Tx, bool) `required:"always"`
	// Atomic runs transactions on SQL.
	Atomic callwright.Atomic `required:"always"`
	// PostgresDSN is the connection string of the same database. It must be empty for SQLite.
	PostgresDSN callwright.Secret

	Workers     map[callwright.Queue]int // concurrent tasks of a queue on this node; default: 16 to 100, depending on the queue
	StepTimeout time.Duration            // time limit of a handler, after which its context is canceled; 0 means a minute
	RescueAfter time.Duration            // time after which a dead node's task runs again; must exceed StepTimeout; 0 means twice that
	StopTimeout time.Duration            // time for running handlers to return when Run stops; 0 means 10 seconds
	Connections int                      // connections to PostgreSQL for Run, 3 to 10,000; 0 means 6

	callwright.Runtime
}

// schema is the PostgreSQL schema that contains River's tables.
const schema = "river"

// defaultAttempts is the maximum number of attempts for a task whose MaxAttempts is 0.
const defaultAttempts = 25

// inserter is the part of River's client that adds tasks.
type inserter interface {
	InsertTx(ctx context.Context, tx *sql.Tx, args river.JobArgs, o *river.InsertOpts) (*rivertype.JobInsertResult, error)
}

// Work runs durable tasks with River; it implements callwright.Work.
type Work struct {
	cfg         Config        // its PostgresDSN is empty
	dsn         func() string // returns PostgresDSN; a closure, because fmt prints unexported fields
	inserter    inserter
	handlers    map[string]callwright.Handler
	kinds       map[string]callwright.Queue // queues by kind of task
	queues      map[callwright.Queue]queue
	periodic    []*river.PeriodicJob
	pollMonitor atomic.Pointer[pollMonitor] // of the last client that was started; nil before Run
}

// New returns the durable work of a database. It can enqueue tasks immediately; Run executes them. New returns an error if a required field
// of c is missing, RescueAfter does not exceed StepTimeout, or Connections is out of range.
func New(c Config) (*Work, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.RescueAfter <= c.StepTimeout {
		return nil, fmt.Errorf("riverwork: Config.RescueAfter (%s) must be longer than Config.StepTimeout (%s)", c.RescueAfter, c.StepTimeout)
	}
	if c.Connections < leastConnections || c.Connections > mostConnections {
		return nil, fmt.Errorf("riverwork: Config.Connections must be from %d to %d, not %d", leastConnections, mostConnections, c.Connections)
	}
	dsn := c.PostgresDSN.Reveal()
	c.PostgresDSN = ""
	w := &Work{
		cfg: c, dsn: func() string { return dsn },
		handlers: map[string]callwright.Handler{}, kinds: map[string]callwright.Queue{}, queues: map[callwright.Queue]queue{},
	}
	w.addQueue(undeclared)
	// Within each cooldown, a client sends a notification for only one insert. Further inserts wait for the next poll of the workers, even
	// if the first insert is rolled back. The cooldown is therefore as short as possible.
	options := &river.Config{Logger: c.riverLogger(), FetchCooldown: river.FetchCooldownMin}
	var err error
	if dsn == "" {
		w.inserter, err = river.NewClient(riversqlite.New(c.SQL), options)
	} else {
		options.Schema = schema
		w.inserter, err = river.NewClient(riverdatabasesql.New(c.SQL), options)
	}
	if err != nil {
		return nil, fmt.Errorf("riverwork: %w", err)
	}
	return w, nil
}

func (c Config) withDefaults() Config {
	c.StepTimeout = cmp.Or(c.StepTimeout, time.Minute)
	c.RescueAfter = cmp.Or(c.RescueAfter, 2*c.StepTimeout)
	c.StopTimeout = cmp.Or(c.StopTimeout, 10*time.Second)
	c.Connections = cmp.Or(c.Connections, postgresConnections)
	return c
}

// Handle registers the handler of a kind, and adds the queue. If River does not allow the queue's name, Run returns an error.
func (w *Work) Handle(q callwright.Queue, kind string, h callwright.Handler) {
	w.handlers[kind], w.kinds[kind] = h, q
	w.addQueue(q)
}

// Every registers a periodic handler. An interval under a second means one second. A failed run is not retried, because the next interval
// starts another. Each interval has a separate task, so that a task interrupted by the death of its node does not delay the next interval.
func (w *Work) Every(q callwright.Queue, kind string, interval time.Duration, h callwright.Handler) {
	interval = max(interval, time.Second)
	w.Handle(q, kind, h)
	w.periodic = append(w.periodic, river.NewPeriodicJob(
		river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) {
			return taskArgs{Task: kind}, &river.InsertOpts{
				Queue: string(q), MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByPeriod: interval},
			}
		}, nil))
}

// Enqueue adds a task in the transaction of the context, or in a separate transaction if there is none. It does not add a unique task while
// a duplicate has not finished.
func (w *Work) Enqueue(ctx context.Context, t callwright.Task) error {
	if err := t.Check(); err != nil {
		return err
	}
	return w.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		tx, ok := w.cfg.Tx(ctx)
		if !ok {
			return errors.New("riverwork: Config.Tx must return the transaction of Config.Atomic")
		}
		args := taskArgs{Task: t.Kind, Org: string(t.Org), Key: t.Key, Args: string(t.Args)}
		options := &river.InsertOpts{Queue: w.queueOf(t.Kind), MaxAttempts: cmp.Or(t.MaxAttempts, defaultAttempts), ScheduledAt: t.RunAt}
		if t.Unique {
			options.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: unfinished}
		}
		if _, err := w.inserter.InsertTx(ctx, tx, args, options); err != nil {
			return callwright.ErrInternal.Because(fmt.Errorf("enqueue %s: %w", t.Kind, err)) // Atomic replaces the code if the database is unavailable
		}
		return nil
	})
}

// unfinished lists the states in which a unique task prevents the insertion of a duplicate.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}
