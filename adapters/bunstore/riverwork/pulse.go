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
	// lookLimit is the time limit of a poll for tasks. River uses the same limit.
	lookLimit = 10 * time.Second
	// longOutage is the duration of an outage after which the client is replaced, because the components of River then wait up to a minute
	// before their next attempt.
	longOutage = 2 * time.Second
)

// pollMonitor records the polls of a client. Each queue polls for tasks regularly, unless all of its workers are busy.
type pollMonitor struct {
	maxPollGap time.Duration // maximum time between polls, during which all workers may be busy
	recovered  chan struct{} // receives a value when polls succeed again after a long outage

	mu    sync.Mutex
	looks map[string]poll
}

// poll describes the last poll of a queue.
type poll struct {
	at    time.Time // end of the poll; zero if there was none
	since time.Time // end of the first failed poll since the last success; zero if none failed
	err   error
}

func newPulse(patience time.Duration, queues []string) *pollMonitor {
	p := &pollMonitor{maxPollGap: patience, recovered: make(chan struct{}, 1), looks: map[string]poll{}}
	for _, name := range queues {
		p.looks[name] = poll{}
	}
	return p
}

// note records the result of a poll. At the end of a long outage, it also sends a value to the channel recovered, unless one is already
// waiting there.
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
		default: // another queue has already reported it
		}
	}
	p.looks[queue] = now
}

// check returns CodeUnavailable if a queue has never polled, its last poll failed, or it has not polled for maxPollGap.
func (p *pollMonitor) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, l := range p.looks {
		switch {
		case l.at.IsZero():
			return callwright.Errorf(callwright.CodeUnavailable, "durable work has not started: try again later")
		case l.err != nil:
			return callwright.Errorf(callwright.CodeUnavailable, "durable work cannot reach its database").Because(l.err)
		case time.Since(l.at) > p.maxPollGap:
			return callwright.Errorf(callwright.CodeUnavailable, "durable work has not looked for tasks for more than %s: restart this server if this continues", p.maxPollGap).
				Because(fmt.Errorf("queue %s last looked for tasks at %s", name, l.at.UTC().Format(time.RFC3339)))
		}
	}
	return nil
}

// Check returns CodeUnavailable, with a message for operators, if this node does not execute tasks: because Run has not started yet, the
// database is unavailable, or a queue does not poll.
func (w *Work) Check() error {
	p := w.pollMonitor.Load()
	if p == nil {
		return callwright.Errorf(callwright.CodeUnavailable, "durable work has not started: try again later")
	}
	return p.check()
}

// watched is a driver of River that records each poll in a pollMonitor.
type watched[T any] struct {
	riverdriver.Driver[T]
	pollMonitor *pollMonitor
}

// GetExecutor returns the driver's executor with a JobGetAvailable that records polls.
func (d watched[T]) GetExecutor() riverdriver.Executor {
	return looking{d.Driver.GetExecutor(), d.pollMonitor}
}

type looking struct {
	riverdriver.Executor
	pollMonitor *pollMonitor
}

// JobGetAvailable claims available tasks of a queue, within lookLimit, and records the poll.
func (l looking) JobGetAvailable(ctx context.Context, p *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookLimit, errors.New("the database did not answer in time"))
	defer cancel()
	found, err := l.Executor.JobGetAvailable(ctx, p)
	l.pollMonitor.note(p.Queue, err)
	return found, err
}
