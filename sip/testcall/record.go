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
	burst         = 100 * time.Millisecond // steps that come together are written together
	storePatience = 3 * time.Second        // for one write
	lastTries     = 5                      // to write down a call's end
)

// record is the row of a call that runs: its steps are taken at once and written a moment later.
type record struct {
	service *Service
	lost    func()        // called when somebody else has ended the call
	changed chan struct{} // holds a token while there is something to write

	mu   sync.Mutex
	call Call // its Version is the stored one
}

// observe takes a step of the line's.
func (r *record) observe(e ladder.Event) {
	if step, ok := stepOf(e); ok {
		r.change(func(c *Call) bool { return c.add(step) })
	}
}

// step takes a step of our own.
func (r *record) step(name, detail string) {
	r.change(func(c *Call) bool { return c.add(Event{Name: name, At: r.service.cfg.Clock.Now(), Detail: detail}) })
}

// answered takes the answer.
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

// keep writes the steps while the call runs. finish ends that and writes how the call has ended.
func (r *record) keep(ctx context.Context) (finish func(Status, string)) {
	keeping, stop := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() { r.writeSteps(keeping) })
	return func(status Status, detail string) {
		stop()
		writing.Wait()
		r.mu.Lock()
		r.call.end(status, detail, r.service.cfg.Clock.Now())
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
			r.service.cfg.Logger.ErrorContext(ctx, "writing down a test call", "call_id", r.call.ID, "error", err)
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
	r.service.cfg.Logger.ErrorContext(ctx, "writing down the end of a test call", "call_id", r.call.ID, "error", err)
}

// write stores the call as it is. Nobody else changes it but a sweeper, which ends it: a conflict means that it did, or
// that a write before this one was made although it seemed to fail.
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
