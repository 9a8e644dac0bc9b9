package callwrighttest

import (
	"context"
	"strconv"
	"testing"

	"github.com/callwright/callwright"
)

// manyHanging is the number of tasks that hang while other tasks must run. It exceeds the number of workers of any adapter.
const manyHanging = 1000

// hang registers a handler that returns only when the test ends or the handler's context is done. start enqueues manyHanging tasks of an
// organization for this handler, and waits until one of them runs.
func hang(t *testing.T, h Harness, q callwright.Queue, kind string, org callwright.OrgID) (start func()) {
	t.Helper()
	ended, hanging := make(chan struct{}), make(chan struct{}, manyHanging)
	h.Work.Handle(q, kind, func(ctx context.Context, _ callwright.Task, _ int) error {
		hanging <- struct{}{}
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return func() {
		t.Cleanup(func() { close(ended) }) // runs before the cleanup of the work, which waits for its handlers
		err := h.Atomic.Do(t.Context(), func(ctx context.Context) error {
			for i := range manyHanging {
				if err := h.Work.Enqueue(ctx, callwright.Task{Kind: kind, Key: strconv.Itoa(i), Org: org}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-hanging:
		case <-t.Context().Done():
			t.Fatal("nothing hangs")
		}
	}
}

// keepsQueuesApart checks that tasks of another queue run while 1,000 tasks of the same organization hang.
func keepsQueuesApart(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle("other", "k", r.handler(nil))
	begin := hang(t, h, queue, "hangs", "o")
	h.Start(t)
	begin()
	for i := range 5 {
		enqueue(t, h, callwright.Task{Kind: "k", Key: strconv.Itoa(i), Org: "o"})
		r.wait(t, 1)
	}
}

// keepsRoom checks that tasks of other organizations run while 1,000 tasks of one organization hang in the same queue.
func keepsRoom(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	begin := hang(t, h, queue, "hangs", "hogs")
	h.Start(t)
	begin()
	for i := range 5 {
		enqueue(t, h, callwright.Task{Kind: "k", Key: strconv.Itoa(i), Org: callwright.OrgID("o" + strconv.Itoa(i))})
		r.wait(t, 1)
	}
}
