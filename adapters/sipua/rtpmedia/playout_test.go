package rtpmedia_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

func TestWriteWaitsBeyond200ms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		defer c.close()
		ctx := context.Background()
		if err := c.caller.Write(ctx, speech(1600)); err != nil { // Write does not wait for 200 ms of audio, even before Apply
			t.Fatal(err)
		}
		c.apply()
		go discard(c.caller)
		hear(t, c.callee, 500*ms)
		start := time.Now()
		if err := c.caller.Write(ctx, speech(8000)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 780*ms || took > 820*ms {
			t.Errorf("a second of audio kept Write for %s", took)
		}
		if q := c.caller.Queued(); q > 1600 || q < 1400 {
			t.Errorf("%d samples are queued", q)
		}
	})
}

func TestFlush(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		heard := make(chan []sip.Frame)
		go func() { heard <- hear(t, c.caller, time.Second) }()
		returned := make(chan time.Time, 1)
		said := speech(8000)
		go func() {
			_ = c.caller.Write(context.Background(), said)
			returned <- time.Now()
		}()
		time.Sleep(310 * ms)
		queued := c.caller.Queued()
		flushed, at := c.caller.Flush(), time.Now()
		if flushed != queued || flushed < 5000 || flushed > 6000 || c.caller.Queued() != 0 {
			t.Errorf("flushed %d of %d", flushed, queued)
		}
		if later := (<-returned).Sub(at); later != 0 {
			t.Errorf("Write came back %s after Flush", later)
		}
		var played []int16
		for _, f := range <-heard {
			played = append(played, f.Out...)
		}
		if !slices.Equal(played, said[:len(said)-flushed]) {
			t.Errorf("%d samples were played, %d dropped, of %d", len(played), flushed, len(said))
		}
	})
}

// TestPartOfAFrame checks that queued audio shorter than a frame is played immediately, followed by silence. Otherwise it would wait for
// the next Write.
func TestPartOfAFrame(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		go discard(c.caller)
		hear(t, c.callee, 200*ms)
		said := speech(250)
		if err := c.caller.Write(context.Background(), said); err != nil {
			t.Fatal(err)
		}
		if !containsRun(inbound(hear(t, c.callee, 500*ms)), append(said, make([]int16, 390)...)) {
			t.Error("not heard exactly")
		}
	})
}

func TestWritesThatEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		ctx, cancel := context.WithTimeout(context.Background(), 100*ms)
		defer cancel()
		if err := c.caller.Write(ctx, speech(1700)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cut off: %v", err)
		}
		if err := c.caller.Write(ctx, speech(10)); !errors.Is(err, context.DeadlineExceeded) || c.caller.Queued() != 1700 {
			t.Errorf("too late: %v, %d queued", err, c.caller.Queued())
		}
		if _, err := c.caller.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Read: %v", err)
		}
		errs := make(chan error)
		go func() { errs <- c.caller.Write(context.Background(), speech(10)) }()
		time.Sleep(time.Second)
		c.close()
		if err := <-errs; !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("closed: %v", err)
		}
		if err := c.caller.Apply(c.callers); !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("Apply after Close: %v", err)
		}
	})
}

func TestFramesHaveBothSides(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		go discard(c.callee)
		said := speech(1600)
		if err := c.caller.Write(context.Background(), said); err != nil {
			t.Fatal(err)
		}
		var played []int16
		for i, f := range hear(t, c.caller, time.Second) {
			if i < 10 != (len(f.Out) == 160) {
				t.Errorf("frame %d has %d samples of ours", i, len(f.Out))
			}
			played = append(played, f.Out...)
		}
		if !slices.Equal(played, said) {
			t.Error("what was played is not what was written")
		}
	})
}
