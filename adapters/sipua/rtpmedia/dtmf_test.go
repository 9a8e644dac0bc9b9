package rtpmedia_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip/sdp"
)

func TestDigitsArriveAfterTheAudio(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		c := dial(t, n, nil)
		c.apply()
		go discard(c.caller)
		hear(t, c.callee, 500*ms)
		said := speech(1600)
		errs := make(chan error, 1)
		go func() {
			_ = c.caller.Write(context.Background(), said)
			start := time.Now()
			err := c.caller.SendDTMF(context.Background(), "12*#ADw9")
			if took := time.Since(start); took < 7*160*ms+500*ms || took > 2*time.Second {
				t.Errorf("sending took %s", took)
			}
			_ = c.caller.Write(context.Background(), said)
			errs <- err
		}()
		frames := hear(t, c.callee, 4*time.Second)
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
		if got := digits(frames); got != "12*#AD9" {
			t.Errorf("got %q", got)
		}
		heard := inbound(frames)
		if !containsRun(heard[:8000*3/2], said) || !containsRun(heard[8000*3/2:], said) {
			t.Error("the audio before or after the digits is not exact")
		}
		if loud := len(heard) - count(heard, 0); loud != 2*len(said) {
			t.Errorf("%d samples are not silent, want those of the audio, %d: events are not to be heard", loud, 2*len(said))
		}
		c.close()
		checkEvents(t, c, n)
	})
}

// TestLateFramesDoNotSplitADigit checks that a digit remains one event if a late pacer skips frames.
func TestLateFramesDoNotSplitADigit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		rtpmedia.Unpaced(c.caller)
		rtpmedia.Unpaced(c.callee)
		c.apply()
		sent := make(chan error, 1)
		go func() { sent <- c.caller.SendDTMF(context.Background(), "55") }()
		synctest.Wait()
		var digits []byte
		for step := range 20 {
			n := int64(4*step + step%3)
			now := time.Duration(n) * 20 * ms
			rtpmedia.InjectAt(c.callee, now, rtpmedia.Tick(c.caller, now, n), c.callerAt)
			rtpmedia.Tick(c.callee, now, n)
			f, err := c.callee.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.Digit != 0 {
				digits = append(digits, f.Digit)
			}
		}
		if err := <-sent; err != nil || string(digits) != "55" {
			t.Errorf("got %q, %v", digits, err)
		}
		c.close()
	})
}

func count(pcm []int16, value int16) (n int) {
	for _, s := range pcm {
		if s == value {
			n++
		}
	}
	return n
}

// checkEvents checks every packet of a caller that has sent 7 digits: sequence numbers, timestamps, markers and the number of event
// packets.
func checkEvents(t *testing.T, c *call, n *network) {
	t.Helper()
	packets := plain(t, n.recorded(c.calleAt), c.callers.LocalCrypto)
	var clock, began uint32
	events, markers := 0, 0
	for i, p := range packets {
		if p.SequenceNumber != packets[0].SequenceNumber+uint16(i) {
			t.Fatalf("packet %d: a hole in the sequence", i)
		}
		clock = packets[0].Timestamp + uint32(i)*160
		if p.PayloadType != c.callers.Events.Send {
			if p.Timestamp != clock {
				t.Fatalf("packet %d: the timestamp of the audio does not go on", i)
			}
			continue
		}
		events++
		if p.Marker {
			markers++
			began = clock
		}
		if p.Timestamp != began {
			t.Errorf("packet %d: timestamp %d, want %d", i, p.Timestamp, began)
		}
	}
	if events != 7*7 || markers != 7 {
		t.Errorf("%d event packets with %d markers, want 49 with 7", events, markers)
	}
}

// TestDigitsWithLostPackets checks that a digit is received exactly once if at least one packet of its event arrives.
func TestDigitsWithLostPackets(t *testing.T) {
	t.Parallel()
	for lost := range 1<<7 - 1 {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			c := dial(t, n, nil)
			defer c.close()
			position := -1
			n.route = func(d *datagram) []time.Duration {
				if d.to != c.calleAt || d.bytes[1]&0x7f != c.callers.Events.Send {
					return []time.Duration{ms}
				}
				if position++; lost>>position&1 == 1 {
					return nil
				}
				return []time.Duration{ms, 3 * ms}
			}
			c.apply()
			go discard(c.caller)
			go func() { _ = c.caller.SendDTMF(context.Background(), "7") }()
			if got := digits(hear(t, c.callee, 500*ms)); got != "7" {
				t.Errorf("with the packets %07b lost: %q", lost, got)
			}
		})
	}
}

// TestDigitsSurviveASlowReader checks that a slow reader loses frames of audio but no digits.
func TestDigitsSurviveASlowReader(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		go discard(c.caller)
		if err := c.caller.SendDTMF(context.Background(), "123456"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		frames := hear(t, c.callee, 400*ms)
		if got := digits(frames); got != "123456" {
			t.Errorf("got %q", got)
		}
		if frames[0].Elapsed < 3*time.Second {
			t.Errorf("the oldest unread frame is of %s", frames[0].Elapsed)
		}
		if dropped := c.calleeM.Counters().DroppedFrames; dropped < 180 {
			t.Errorf("%d dropped frames", dropped)
		}
	})
}

func TestDigitsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		ctx := context.Background()
		if err := c.caller.SendDTMF(ctx, "1"); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("before Apply: %v", err)
		}
		with := c.callers
		c.callers.Events = sdp.PayloadTypes{}
		c.apply()
		go discard(c.callee)
		if err := c.caller.SendDTMF(ctx, "1"); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("without telephone-event: %v", err)
		}
		without := c.callers
		c.callers = with
		c.apply()
		if err := c.caller.SendDTMF(ctx, "1x"); !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("not a digit: %v", err)
		}
		if err := c.caller.SendDTMF(ctx, ""); err != nil {
			t.Errorf("no digits: %v", err)
		}
		ended, cancel := context.WithTimeout(ctx, 300*ms)
		defer cancel()
		if err := c.caller.SendDTMF(ended, "1234"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cut off: %v", err)
		}
		if err := c.caller.SendDTMF(ended, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("too late: %v", err)
		}
		errs := make(chan error)
		go func() { errs <- c.caller.SendDTMF(ctx, "wwww") }()
		time.Sleep(time.Second)
		if err := c.caller.Apply(without); err != nil {
			t.Fatal(err)
		}
		if err := <-errs; !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("telephone-event has gone: %v", err)
		}
		if err := c.caller.Apply(with); err != nil {
			t.Fatal(err)
		}
		go func() { errs <- c.caller.SendDTMF(ctx, "wwww") }()
		time.Sleep(time.Second)
		c.close()
		if err := <-errs; !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("closed: %v", err)
		}
		if err := c.caller.SendDTMF(ctx, "1"); !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestDigitsAfterTheEndOfTheContextAreNotSent(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		go discard(c.caller)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 200*ms)
			defer cancel()
			_ = c.caller.SendDTMF(ctx, "1234")
			_ = c.caller.SendDTMF(context.Background(), "#")
		}()
		if got := digits(hear(t, c.callee, 2*time.Second)); got != "12#" {
			t.Errorf("got %q", got)
		}
	})
}

// TestDigitsUnderThePeersNumbers checks digits in both directions with different payload types for each.
func TestDigitsUnderThePeersNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		defer c.close()
		c.callers.Events.Send, c.callees.Events.Receive = 126, 126
		c.callees.Events.Send, c.callers.Events.Receive = 97, 97
		c.apply()
		go func() { _ = c.caller.SendDTMF(context.Background(), "5") }()
		go func() { _ = c.callee.SendDTMF(context.Background(), "6") }()
		there, back := make(chan string), make(chan string)
		go func() { there <- digits(hear(t, c.callee, time.Second)) }()
		go func() { back <- digits(hear(t, c.caller, time.Second)) }()
		if got := []string{<-there, <-back}; !slices.Equal(got, []string{"5", "6"}) {
			t.Errorf("got %q", got)
		}
	})
}
