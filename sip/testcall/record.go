package testcall

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

const (
	burst         = 100 * time.Millisecond // steps within this time are written together
	storePatience = 3 * time.Second        // time limit of one write
	lastTries     = 5                      // attempts to write a call's end
)

// record is the state of a running call. Each new step is added to it immediately, and written to the store after burst.
type record struct {
	service *Service
	lost    func()        // called when another node has ended the call
	changed chan struct{} // contains a token while changes are unwritten

	mu   sync.Mutex
	call Call // with the stored Version
}

// observe adds the step for an event of the line, if the event has a step.
func (r *record) observe(e ladder.Event) {
	if step, ok := stepOf(e); ok {
		r.change(func(c *Call) bool { return c.add(step) })
	}
}

// step adds a step of the service itself, at the current time.
func (r *record) step(name, detail string) {
	r.change(func(c *Call) bool { return c.add(Event{Name: name, At: r.service.cfg.Clock.Now(), Detail: detail}) })
}

// answered records the answer and sets the status InProgress.
func (r *record) answered(at time.Time, detail string) {
	r.change(func(c *Call) bool {
		c.Status, c.AnsweredAt = InProgress, &at
		return c.add(Event{Name: "answered", At: at, Detail: detail})
	})
}

func (r *record) change(f func(c *Call) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call.EndedAt == nil && f(&r.call) {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
}

// store starts to write the steps in the background. finish stops this, ends the call with a status, and writes the end.
func (r *record) store(ctx context.Context) (finish func(Status, string)) {
	keeping, stop := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() { r.writeSteps(keeping) })
	return func(status Status, detail string) {
		stop()
		writing.Wait()
		r.mu.Lock()
		r.call.finish(status, detail, r.service.cfg.Clock.Now())
		r.mu.Unlock()
		r.writeEnd(context.WithoutCancel(ctx))
	}
}

func (r *record) writeSteps(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		}
		if wait(ctx, burst) != nil {
			return
		}
		if err := r.write(context.WithoutCancel(ctx)); err != nil {
			r.service.cfg.Logger.ErrorContext(ctx, "a test call was not written", "call_id", r.call.ID, "error", err)
		}
	}
}

func (r *record) writeEnd(ctx context.Context) {
	var err error
	for try := range lastTries {
		if err = r.write(ctx); err == nil {
			return
		}
		_ = wait(ctx, burst<<try)
	}
	r.service.cfg.Logger.ErrorContext(ctx, "the end of a test call was not written", "call_id", r.call.ID, "error", err)
}

// write stores the call. A conflict means that another node has finished the call, or that an earlier write succeeded although it returned
// an error. In the first case write calls lost, in the second case it writes again with the stored version.
func (r *record) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	r.mu.Lock()
	c := r.call
	c.Timeline = slices.Clone(c.Timeline)
	r.mu.Unlock()
	err := r.service.cfg.Store.Update(ctx, c)
	if errors.Is(err, callwright.ErrConflict) {
		stored, err := r.service.cfg.Store.Get(ctx, c.Org, c.ID)
		if err != nil {
			return err
		}
		if stored.EndedAt != nil {
			r.lost()
			return nil
		}
		c.Version = stored.Version
		if err := r.service.cfg.Store.Update(ctx, c); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call.Version = c.Version + 1
	return nil
}
