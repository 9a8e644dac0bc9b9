package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// LimiterConfig configures a Limiter. Zero fields mean the defaults.
type LimiterConfig struct {
	Most    int           // maximum of concurrent calls; 0 means DefaultMostCalls
	Begin   int           // initial limit of concurrent calls; 0 means DefaultBeginCalls
	Retries int           // maximum retries of a call after failures of the service; 0 means DefaultRetries, a negative number none
	Pause   time.Duration // pause after the first failure without RetryAfter; doubles up to 16 times as much; 0 means DefaultPause
	Wait    time.Duration // maximum total wait of a call, for a slot and after failures; 0 means DefaultWait
	Queue   int           // maximum of waiting calls; 0 means DefaultQueue
}

// These constants are the defaults of a LimiterConfig.
const (
	DefaultMostCalls  = 32
	DefaultBeginCalls = 4
	DefaultPause      = time.Second
	DefaultWait       = 5 * time.Minute
	DefaultQueue      = 10_000
	DefaultRetries    = 20
)

// maxLanes is the maximum number of model names with separate limits. Further names share a limit.
const maxLanes = 100

// Limiter is a model that adapts its number of concurrent calls to the capacity of the model service. Each model name has a separate limit.
// A limit of n grows by one after n successful calls. A failure of the service (llm.IsOutage) halves the Limiter's limit, but only once for all
// calls that began before the reduction. Then no call starts until the time that the service requests, or for a pause that doubles with each
// failure in a row, half of it by chance. Such a call is retried at most Retries times. A call that would wait longer than Wait, or that finds
// Queue calls waiting, fails with llm.ClassRateLimited. The Limiter returns all other failures immediately, including an exhausted quota and
// an answer that cannot be used, so that the requests of one organization do not stop those of others.
type Limiter struct {
	model llm.Model
	cfg   LimiterConfig
	mu    sync.Mutex
	lanes map[string]*lane
}

var (
	_ llm.Model      = (*Limiter)(nil)
	_ llm.Hinter     = (*Limiter)(nil)
	_ llm.Repeatable = (*Limiter)(nil)
)

// NewLimiter returns a limiter of a model. All users of the model must share the limiter.
func NewLimiter(m llm.Model, c LimiterConfig) *Limiter {
	if c.Most <= 0 {
		c.Most = DefaultMostCalls
	}
	if c.Begin <= 0 {
		c.Begin = DefaultBeginCalls
	}
	if c.Queue <= 0 {
		c.Queue = DefaultQueue
	}
	if c.Pause <= 0 {
		c.Pause = DefaultPause
	}
	if c.Wait <= 0 {
		c.Wait = DefaultWait
	}
	if c.Retries == 0 {
		c.Retries = DefaultRetries
	}
	c.Begin = min(c.Begin, c.Most)
	return &Limiter{model: m, cfg: c, lanes: map[string]*lane{}}
}

// Name returns the name of the model.
func (l *Limiter) Name() string { return l.model.Name() }

// Named returns the names of further models that the model offers, or nil if it is no llm.Named.
func (l *Limiter) Named() map[string]string {
	if n, ok := l.model.(llm.Named); ok {
		return n.Named()
	}
	return nil
}

// Repeats reports whether the model repeats its answers at no cost: see llm.Repeats.
func (l *Limiter) Repeats() bool { return llm.Repeats(l.model) }

// Hints returns the hints of the model, or nil if it is no llm.Hinter.
func (l *Limiter) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	if h, ok := l.model.(llm.Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply streams the model's reply. A call is retried only before the first part of its reply.
func (l *Limiter) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		stopped := false
		err := l.call(ctx, r.Model, func() (begun bool, err error) {
			for p, err := range l.model.Reply(ctx, r) {
				if err != nil {
					return begun, err
				}
				begun = true
				if !yield(p, nil) {
					stopped = true
					return true, nil
				}
			}
			return true, nil
		})
		if err != nil && !stopped {
			yield(llm.ReplyPart{}, err)
		}
	}
}

// Answer returns the model's answer to a question, and retries calls after failures of the service.
func (l *Limiter) Answer(ctx context.Context, q llm.Question) (a llm.Answer, err error) {
	err = l.call(ctx, q.Model, func() (bool, error) {
		a, err = l.model.Answer(ctx, q)
		return false, err
	})
	if err != nil {
		return llm.Answer{}, err
	}
	return a, nil
}

// call waits for a slot, calls the function do, and retries after failures of the service. The result begun of do states that a part of the reply has
// already arrived; after that, call does not retry.
func (l *Limiter) call(ctx context.Context, model string, do func() (begun bool, err error)) error {
	lane := l.lane(model)
	until := time.Now().Add(l.cfg.Wait)
	for try := 0; ; try++ {
		epoch, err := lane.enter(ctx, until)
		if err != nil {
			return err
		}
		begun, err := lane.run(ctx, epoch, do)
		if err == nil || begun || !llm.IsOutage(err) || try >= l.cfg.Retries || ctx.Err() != nil {
			return err
		}
	}
}

// lane returns the lane of a model name. Beyond maxLanes names, it returns a shared lane.
func (l *Limiter) lane(model string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lanes[model] == nil {
		if len(l.lanes) >= maxLanes {
			model = ""
		}
		if l.lanes[model] == nil {
			l.lanes[model] = &lane{cfg: &l.cfg, limit: l.cfg.Begin}
		}
	}
	return l.lanes[model]
}

// Limit returns the current limit of a model's concurrent calls.
func (l *Limiter) Limit(model string) int {
	lane := l.lane(model)
	lane.mu.Lock()
	defer lane.mu.Unlock()
	return lane.limit
}

// lane is the limit of one model name, with its waiting calls.
type lane struct {
	cfg *LimiterConfig

	mu        sync.Mutex
	limit     int
	active    int
	successes int       // since the last change of the limit
	failures  int       // in a row
	epoch     int       // number of reductions of the limit
	open      time.Time // time before which no call may start
	waiting   []chan struct{}
	timer     *time.Timer // wakes waiting calls at the time open
}

// enter waits until the call may start, and returns the epoch of the limit. It fails if the call cannot start before the given deadline, if
// too many calls wait, or if ctx is done.
func (n *lane) enter(ctx context.Context, until time.Time) (epoch int, err error) {
	if ctx.Err() != nil {
		return 0, over(ctx)
	}
	n.mu.Lock()
	if n.open.After(until) {
		defer n.mu.Unlock()
		return 0, crowded("the model's rate limit lasts longer than a call may wait", time.Until(n.open))
	}
	if len(n.waiting) == 0 && n.free() {
		defer n.mu.Unlock()
		n.active++
		return n.epoch, nil
	}
	if len(n.waiting) >= n.cfg.Queue {
		defer n.mu.Unlock()
		return 0, crowded(fmt.Sprintf("at most %d calls can wait for the model", n.cfg.Queue), 0)
	}
	turn := make(chan struct{})
	n.waiting = append(n.waiting, turn)
	n.wake()
	n.mu.Unlock()
	return n.await(ctx, turn, until)
}

// await waits until turn is closed, ctx is done or the given deadline has passed.
func (n *lane) await(ctx context.Context, turn chan struct{}, until time.Time) (epoch int, err error) {
	patience := time.NewTimer(time.Until(until))
	defer patience.Stop()
	select {
	case <-turn:
	case <-ctx.Done():
		err = over(ctx)
	case <-patience.C:
		err = crowded("the call has waited for the model too long", 0)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		return n.epoch, nil
	}
	if i := slices.Index(n.waiting, turn); i >= 0 {
		n.waiting = slices.Delete(n.waiting, i, i+1)
	} else { // the slot became free at the same time
		n.active--
		n.wake()
	}
	return 0, err
}

// run executes a call, releases its slot, and adjusts the limit to the result.
func (n *lane) run(ctx context.Context, epoch int, do func() (bool, error)) (begun bool, err error) {
	finished := false
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.active--
		if finished {
			n.adjust(ctx, epoch, err)
		}
		n.wake()
	}()
	begun, err = do()
	finished = true
	return begun, err
}

// adjust changes the limit after a call of the given epoch. The caller must hold n.mu.
func (n *lane) adjust(ctx context.Context, epoch int, err error) {
	if err == nil {
		n.failures = 0
	}
	switch {
	case err == nil && epoch < n.epoch: // proves nothing about the new limit
	case err == nil:
		if n.successes++; n.successes >= n.limit && n.limit < n.cfg.Most {
			n.limit, n.successes = n.limit+1, 0
		}
	case llm.IsOutage(err) && ctx.Err() == nil:
		pause := n.cfg.Pause << min(n.failures, maxDoublings)
		pause = pause/2 + rand.N(pause/2+1) //nolint:gosec // spreads load, hides nothing
		if epoch == n.epoch {
			n.limit, n.successes = max(1, n.limit/2), 0
			n.epoch++
			n.failures++
		}
		if f, ok := errors.AsType[*llm.Failure](err); ok && f.RetryAfter > 0 {
			pause = f.RetryAfter
		}
		if open := time.Now().Add(pause); open.After(n.open) {
			n.open = open
		}
	}
}

// maxDoublings bounds the pause after failures in a row.
const maxDoublings = 4

// free reports whether a call may start now. The caller must hold n.mu.
func (n *lane) free() bool { return n.active < n.limit && !n.open.After(time.Now()) }

// wake starts those waiting calls that may start, in order of arrival. During a rate limit, it schedules itself for the end. The caller
// must hold n.mu.
func (n *lane) wake() {
	for len(n.waiting) > 0 && n.free() {
		close(n.waiting[0])
		n.waiting = n.waiting[1:]
		n.active++
	}
	if pause := time.Until(n.open); pause > 0 && len(n.waiting) > 0 {
		if n.timer != nil {
			n.timer.Stop()
		}
		n.timer = time.AfterFunc(pause, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.wake()
		})
	}
}

// crowded returns the failure of a call that the limiter did not make.
func crowded(why string, after time.Duration) error {
	return &llm.Failure{Class: llm.ClassRateLimited, Message: why, RetryAfter: after}
}
