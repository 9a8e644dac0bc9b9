package callwrighttest

import (
	"context"
	"strconv"
	"testing"

	"github.com/callwright/callwright"
)

// manyHanging is the number of tasks that hang while others have to run: more than an adapter can have workers for.
const manyHanging = 1000

// hang enqueues tasks of an organization whose handler returns only when the test ends, and waits until one of them runs.
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
		t.Cleanup(func() { close(ended) }) // before the work stops, which waits for its handlers
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

// keepsQueuesApart runs a task of the same organization in another queue while 1,000 hang.
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

// keepsRoom runs tasks of other organizations in the same queue while 1,000 of one hang.
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
