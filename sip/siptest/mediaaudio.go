package siptest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

func carriesAudio(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	c.hears(c.callee, c.caller, sdp.PCMU)
	for _, s := range []sip.MediaSession{c.caller, c.callee} {
		if stats := s.Stats(); stats.Codec != "PCMU" || stats.Sent == 0 || stats.Received == 0 || stats.Bad != 0 {
			t.Errorf("the statistics are %+v", stats)
		}
	}
}

// showsOneClock reads frames of a session while the session plays audio. Elapsed must increase in steps of 20 ms, and each frame must hold
// the audio that was played during it, in order.
func showsOneClock(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	stop := listen(c.callee)
	defer stop()
	const frames = 100
	said, _ := c.spoken(sdp.PCMU, frames)
	var talking sync.WaitGroup
	defer talking.Wait()
	talking.Go(func() { _ = c.caller.Write(context.Background(), said) })
	last, played, read := -mediaFrame, -1, 0
	c.until(c.caller, "everything to be played", func(f sip.Frame) bool {
		if f.Elapsed <= last || f.Elapsed%mediaFrame != 0 || read == 0 && f.Elapsed < 0 {
			t.Fatalf("a frame of %v follows one of %v", f.Elapsed, last)
		}
		if len(f.In) != 160 || f.Out != nil && len(f.Out) != 160 || f.OnHold {
			t.Fatalf("a frame has %d samples in and %d out, held: %t", len(f.In), len(f.Out), f.OnHold)
		}
		last, read = f.Elapsed, read+1
		if f.Out == nil {
			return played == frames-1
		}
		for played++; played < frames && !slices.Equal(f.Out, said[played*160:(played+1)*160]); {
			played++ // the reader was late and has missed a frame
		}
		if played >= frames {
			t.Fatal("a frame shows what was not said, or not in its order")
		}
		return false
	})
}

// mixesBackground plays a background. The other side must hear it while nothing is written and during written silence, until it ends.
// Queued, Flush and the frames of the session must not contain it.
func mixesBackground(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	player, ok := c.caller.(sip.BackgroundPlayer)
	if !ok {
		return
	}
	c.apply()
	loop, heard := c.spoken(sdp.PCMU, 1)
	player.PlayBackground(loop)
	hears := func() {
		c.until(c.callee, "the background to be heard", func(f sip.Frame) bool { return slices.Equal(f.In, heard[0]) })
	}
	stop := listen(c.caller)
	hears()
	if queued, flushed := c.caller.Queued(), c.caller.Flush(); queued != 0 || flushed != 0 {
		t.Errorf("the background is %d queued and %d flushed samples", queued, flushed)
	}
	if err := c.caller.Write(context.Background(), make([]int16, 5*len(loop))); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		hears()
	}
	stop()
	c.until(c.caller, "a frame of silence", func(f sip.Frame) bool { return f.Out == nil })
	stop = listen(c.caller)
	defer stop()
	player.PlayBackground(nil)
	c.until(c.callee, "the end of the background", func(f sip.Frame) bool {
		return !slices.ContainsFunc(f.In, func(s int16) bool { return s > 100 || s < -100 })
	})
}

// concealsLoss drops 20 packets, every fifth one. Each frame must still be whole, and the session must count the loss.
func concealsLoss(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	lost := 0
	c.net.rtp.set(func(toB bool, n int, packet []byte) [][]byte {
		if toB && n%5 == 0 && lost < 20 {
			lost++
			return nil
		}
		return [][]byte{packet}
	})
	stop := listen(c.caller)
	defer stop()
	c.until(c.callee, "the loss to be counted", func(f sip.Frame) bool {
		if len(f.In) != 160 {
			t.Fatalf("a frame has %d samples", len(f.In))
		}
		return c.callee.Stats().Lost >= 20
	})
	if stats := c.callee.Stats(); stats.Bad != 0 {
		t.Errorf("lost packets count as %+v", stats)
	}
	c.hears(c.caller, c.callee, sdp.PCMU)
}

// boundsQueue writes more than 200 ms of audio to a held session, which plays nothing. The excess must block Write until its context ends
// or Flush empties the queue.
func boundsQueue(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.negotiate(nil, func(can *sdp.Capabilities) { can.Hold = true })
	c.apply()
	stop := listen(c.callee)
	defer stop()
	c.until(c.caller, "the hold", func(f sip.Frame) bool { return f.OnHold })
	if err := c.caller.Write(context.Background(), make([]int16, 1600)); err != nil || c.caller.Queued() != 1600 {
		t.Errorf("writing 200 ms: %v, %d samples are queued", err, c.caller.Queued())
	}
	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan error, 1)
	go func() { written <- c.caller.Write(ctx, make([]int16, 160)) }()
	c.pass(c.caller, 10)
	select {
	case err := <-written:
		t.Errorf("writing does not wait while more than 200 ms are queued: %v", err)
		written <- err
	default:
	}
	cancel()
	if err := <-written; !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context ends the wait with %v", err)
	}
	go func() { written <- c.caller.Write(context.Background(), make([]int16, 160)) }()
	c.pass(c.caller, 5)
	queued := c.caller.Queued()
	if dropped := c.caller.Flush(); queued < 1760 || dropped != queued || c.caller.Queued() != 0 {
		t.Errorf("of %d queued samples %d were flushed, and %d are left", queued, dropped, c.caller.Queued())
	}
	if err := <-written; err != nil {
		t.Errorf("a flush makes room, and writing returns %v", err)
	}
}

func readsAfterCancel(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	stop := listen(c.caller)
	defer stop()
	c.pass(c.callee, 1)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range 5 {
		if _, err := c.callee.Read(ended); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("reading after the end of the context: %v", err)
		}
	}
	c.hears(c.caller, c.callee, sdp.PCMU)
}

func sendsDigits(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	stop := listen(c.caller)
	said, _ := c.spoken(sdp.PCMU, 10)
	var overtaken atomic.Bool
	c.net.rtp.set(func(toB bool, _ int, packet []byte) [][]byte {
		if toB && packet[1]&0x7f == c.callers.Events.Send && c.caller.Queued() > 0 {
			overtaken.Store(true)
		}
		return [][]byte{packet}
	})
	sent := make(chan error, 1)
	go func() {
		sent <- errors.Join(c.caller.Write(context.Background(), said), c.caller.SendDTMF(context.Background(), "12*#ADw99"))
	}()
	go func() { _ = c.callee.SendDTMF(context.Background(), "5") }()
	var digits []byte
	c.until(c.callee, "the digits", func(f sip.Frame) bool {
		if f.Digit != 0 {
			digits = append(digits, f.Digit)
		}
		return len(digits) >= 8
	})
	if err := <-sent; err != nil || string(digits) != "12*#AD99" || overtaken.Load() {
		t.Errorf("the digits are %q, %v; they have overtaken what was said before them: %t", digits, err, overtaken.Load())
	}
	frames := 0
	c.until(c.callee, "the last event to end", func(f sip.Frame) bool {
		if f.Digit != 0 {
			t.Errorf("the digit %c came again", f.Digit)
		}
		frames++
		return frames > 20
	})
	if digits := stop(); digits != "5" {
		t.Errorf("the caller has the digits %q", digits)
	}
}

// keepsDigits checks that a session returns all digits that arrived while its reader paused for longer than the session buffers audio.
func keepsDigits(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.pass(c.callee, 5)
	sent := make(chan error, 1)
	go func() { sent <- c.caller.SendDTMF(context.Background(), "123456") }()
	c.pass(c.caller, 100)
	var digits []byte
	c.until(c.callee, "the digits", func(f sip.Frame) bool {
		if f.Digit != 0 {
			digits = append(digits, f.Digit)
		}
		return len(digits) == 6
	})
	if string(digits) != "123456" {
		t.Errorf("the digits are %q", digits)
	}
	stop := listen(c.caller)
	defer stop()
	if err := <-sent; err != nil {
		t.Errorf("sending digits: %v", err)
	}
}

func refusesDigits(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	ctx := context.Background()
	if err := c.caller.SendDTMF(ctx, "1"); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("before Apply: %v", err)
	}
	without := c.callers
	without.Events = sdp.PayloadTypes{}
	if err := errors.Join(c.caller.Apply(without), c.callee.Apply(c.callees)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []sip.MediaSession{c.caller, c.callee} {
		defer listen(s)()
	}
	if err := c.caller.SendDTMF(ctx, "1"); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("without telephone-event: %v", err)
	}
	c.apply()
	if err := c.caller.SendDTMF(ctx, "1x"); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("what is no digit: %v", err)
	}
	if err := c.caller.SendDTMF(ctx, ""); err != nil {
		t.Errorf("no digits: %v", err)
	}
	ended, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := c.caller.SendDTMF(ended, "12345678901234567890"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the end of the context: %v", err)
	}
	sent := make(chan error, 1)
	go func() { sent <- c.caller.SendDTMF(ctx, "wwwwwwwwwwwwwwwwwwww") }()
	if err := c.caller.Close(); err != nil {
		t.Error(err)
	}
	if err := <-sent; !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("closed meanwhile: %v", err)
	}
}

func closesForGood(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.pass(c.callee, 5)
	waiting := make(chan error, 1)
	go func() {
		for {
			if _, err := c.caller.Read(context.Background()); err != nil {
				waiting <- err
				return
			}
		}
	}()
	var closing sync.WaitGroup
	for range 4 {
		closing.Go(func() {
			if err := c.caller.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
		})
	}
	closing.Wait()
	if err := <-waiting; !errors.Is(err, io.EOF) {
		t.Errorf("reading ends with %v", err)
	}
	if _, err := c.caller.Read(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("reading afterwards: %v", err)
	}
	if err := c.caller.Write(context.Background(), make([]int16, 160)); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("writing afterwards: %v", err)
	}
	if err := c.caller.SendDTMF(context.Background(), "1"); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("sending digits afterwards: %v", err)
	}
	if err := c.caller.Apply(c.callers); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("applying afterwards: %v", err)
	}
	if stats := c.caller.Stats(); stats.Sent == 0 {
		t.Errorf("the statistics afterwards are %+v", stats)
	}
}
