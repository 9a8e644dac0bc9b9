package riverwork

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river/riverdriver"

	"github.com/callwright/callwright"
)

const (
	// lookLimit is the time limit of a look for tasks. River ends one after 10 seconds, too.
	lookLimit = 10 * time.Second
	// longOutage is the length of an outage after which the client is replaced, because River's parts then wait up to a minute
	// between two attempts.
	longOutage = 2 * time.Second
)

// pollMonitor records signs of life of a client: each of its queues looks for tasks again and again, unless all workers of the
// queue are busy.
type pollMonitor struct {
	maxPollGap time.Duration // maximum time without polling, because the workers of a queue are busy
	recovered  chan struct{} // gets something when looks succeed again after a long outage

	mu    sync.Mutex
	looks map[string]poll
}

// poll is the last look for tasks of a queue.
type poll struct {
	at    time.Time // when it ended; zero: there was none
	since time.Time // end of the first failure since the last success; zero: no failure
	err   error
}

func newPulse(patience time.Duration, queues []string) *pollMonitor {
	p := &pollMonitor{maxPollGap: patience, recovered: make(chan struct{}, 1), looks: map[string]poll{}}
	for _, name := range queues {
		p.looks[name] = poll{}
	}
	return p
}

// note records a look.
func (p *pollMonitor) note(queue string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, now := p.looks[queue], poll{at: time.Now(), err: err}
	if err != nil {
		now.since = now.at
		if !before.since.IsZero() {
			now.since = before.since
		}
	} else if !before.since.IsZero() && now.at.Sub(before.since) >= longOutage {
		select {
		case p.recovered <- struct{}{}:
		default: // another queue has said so
		}
	}
	p.looks[queue] = now
}

// check returns CodeUnavailable while a queue is not worked on.
func (p *pollMonitor) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, l := range p.looks {
		switch {
		case l.at.IsZero():
			return callwright.Errorf(callwright.CodeUnavailable, "durable work has not started")
		case l.err != nil:
			return callwright.Errorf(callwright.CodeUnavailable, "durable work cannot reach its database").Because(l.err)
		case time.Since(l.at) > p.maxPollGap:
			return callwright.Errorf(callwright.CodeUnavailable, "durable work stands still").
				Because(fmt.Errorf("queue %s has not looked for tasks since %s", name, l.at))
		}
	}
	return nil
}

// Check returns CodeUnavailable, with a message for operators, while this node does no durable work: Run has not started it, the
// database is away, or a queue stands still.
func (w *Work) Check() error {
	p := w.pollMonitor.Load()
	if p == nil {
		return callwright.Errorf(callwright.CodeUnavailable, "durable work has not started")
	}
	return p.check()
}

// watched is a driver of River that records each look for tasks in a pulse.
type watched[T any] struct {
	riverdriver.Driver[T]
	pollMonitor *pollMonitor
}

// GetExecutor returns an executor of the driver's statements that records them in the pulse.
func (d watched[T]) GetExecutor() riverdriver.Executor {
	return looking{d.Driver.GetExecutor(), d.pollMonitor}
}

type looking struct {
	riverdriver.Executor
	pollMonitor *pollMonitor
}

// JobGetAvailable looks for tasks and claims them.
func (l looking) JobGetAvailable(ctx context.Context, p *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookLimit, errors.New("the database did not answer in time"))
	defer cancel()
	found, err := l.Executor.JobGetAvailable(ctx, p)
	l.pollMonitor.note(p.Queue, err)
	return found, err
}
