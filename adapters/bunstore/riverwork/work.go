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
	// SQL is the database. On SQLite it is a pool of one connection whose transactions begin as writers.
	SQL *sql.DB `required:"always"`
	// Tx is the transaction of SQL that a context carries.
	Tx func(ctx context.Context) (*sql.Tx, bool) `required:"always"`
	// Atomic makes the transactions of SQL.
	Atomic callwright.Atomic `required:"always"`
	// PostgresDSN is the connection string of the same database when it is PostgreSQL; empty: it is SQLite.
	PostgresDSN callwright.Secret

	Workers     map[callwright.Queue]int // concurrent tasks of a queue on this node; absent: 16 to 100, by the queue
	StepTimeout time.Duration            // when the context of a handler ends; 0: a minute
	RescueAfter time.Duration            // when a task of a dead node is run again, longer than StepTimeout; 0: twice that
	StopTimeout time.Duration            // time for running handlers to end when Run ends; 0: 10 seconds
	Connections int                      // to PostgreSQL, for Run; 0: 6

	callwright.Runtime
}

// schema is the schema of River's tables on PostgreSQL.
const schema = "river"

// defaultAttempts is the number of attempts of a task that sets none.
const defaultAttempts = 25

// inserter adds tasks: River's client without workers.
type inserter interface {
	InsertTx(ctx context.Context, tx *sql.Tx, args river.JobArgs, o *river.InsertOpts) (*rivertype.JobInsertResult, error)
}

// Work is a callwright.Work.
type Work struct {
	cfg         Config        // without its PostgresDSN
	dsn         func() string // empty for SQLite; fmt would print the password of a field that is not exported
	inserter    inserter
	handlers    map[string]callwright.Handler
	kinds       map[string]callwright.Queue // of the handlers
	queues      map[callwright.Queue]queue
	periodic    []*river.PeriodicJob
	pollMonitor atomic.Pointer[pollMonitor] // of the client that works; nil: none does
}

// New makes the work of a database. Run runs it; without Run it only enqueues.
func New(c Config) (*Work, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.RescueAfter <= c.StepTimeout {
		return nil, fmt.Errorf("riverwork: tasks are rescued after %s, but may run for %s", c.RescueAfter, c.StepTimeout)
	}
	if c.Connections < leastConnections || c.Connections > mostConnections {
		return nil, fmt.Errorf("riverwork: Config.Connections must be from %d to %d", leastConnections, mostConnections)
	}
	dsn := c.PostgresDSN.Reveal()
	c.PostgresDSN = ""
	w := &Work{
		cfg: c, dsn: func() string { return dsn },
		handlers: map[string]callwright.Handler{}, kinds: map[string]callwright.Queue{}, queues: map[callwright.Queue]queue{},
	}
	w.addQueue(undeclared)
	// A client notifies of at most one insert in each cooldown. Others wait for the workers' next poll, even if the notified insert
	// is rolled back. So the cooldown is as short as possible.
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

// Handle registers a handler, and its queue. Run refuses a name that River's queues do not have.
func (w *Work) Handle(q callwright.Queue, kind string, h callwright.Handler) {
	w.handlers[kind], w.kinds[kind] = h, q
	w.addQueue(q)
}

// Every registers periodic work; an interval under a second is one. A run that fails is not repeated: the next one comes
// anyway. Each interval has its own task, so that one that died with its node doesn't hold up the next.
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

// Enqueue adds a task, in a separate transaction unless the context carries one.
func (w *Work) Enqueue(ctx context.Context, t callwright.Task) error {
	if err := t.Check(); err != nil {
		return err
	}
	return w.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		tx, ok := w.cfg.Tx(ctx)
		if !ok {
			return errors.New("riverwork: Config.Tx knows no transaction of Config.Atomic")
		}
		args := taskArgs{Task: t.Kind, Org: string(t.Org), Key: t.Key, Args: string(t.Args)}
		options := &river.InsertOpts{Queue: w.queueOf(t.Kind), MaxAttempts: cmp.Or(t.MaxAttempts, defaultAttempts), ScheduledAt: t.RunAt}
		if t.Unique {
			options.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: unfinished}
		}
		if _, err := w.inserter.InsertTx(ctx, tx, args, options); err != nil {
			return callwright.ErrInternal.Because(fmt.Errorf("enqueue %s: %w", t.Kind, err)) // Atomic knows whether the database is away
		}
		return nil
	})
}

// unfinished are the states in which a unique task keeps another away.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}
