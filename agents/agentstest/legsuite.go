package agentstest

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// suitePatience bounds the waits of the suites of Line and Leg.
const suitePatience = 20 * time.Second

// FarLeg is the far end of a leg under test. Phone implements it.
type FarLeg interface {
	Play(samples []int16) // queues audio for the leg
	Press(digits string)  // sends digits to the leg
	Played() []int16      // returns all audio of the leg that has arrived so far, including silence
	Pressed() string      // returns all digits of the leg that have arrived so far
	Hangup()
	Done() <-chan struct{} // closed when the call has ended at the far end
}

var _ FarLeg = (*Phone)(nil)

// LegHarness returns legs under test. Each leg belongs to a separate call that has just been answered.
type LegHarness struct {
	// Connect returns a leg and its far end.
	Connect func(t *testing.T) (call.Leg, FarLeg)
	// Hold returns a leg, and a function by which the far end holds and resumes the leg. The function may return before the leg is
	// notified.
	Hold func(t *testing.T) (leg call.Leg, hold func(on bool))
	// Transfer returns a leg whose far end accepts a transfer to the given number, and refuses transfers to other numbers.
	Transfer func(t *testing.T, to string) call.Leg
	// Refer returns a leg, and a function by which the far end transfers the leg to the given number. The number answers if the function's
	// argument is true. The suite calls the function first with false and then with true. Refer is required if the leg is a
	// call.Transferable, and nil for other legs.
	Refer func(t *testing.T, to callwright.PhoneNumber) (leg call.Leg, refer func(answers bool))
}

// RunLeg tests a call.Leg. Calls last a few seconds in real time.
func RunLeg(t *testing.T, h LegHarness) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, LegHarness){
		"frames": legFrames, "audio": legAudio, "playout": legPlayout, "write ends": legWriteEnds, "digits": legDigits,
		"hold": legHold, "transfer": legTransfer, "hang up": legHangup, "far end hangs up": legFarHangup,
		"both hang up": legBothHangUp, "read gives up": legReadGivesUp, "transfer by the far end": legReferred,
		"hang up with a reason": legHangupFor, "background": legBackground,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, h)
		})
	}
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), suitePatience)
	t.Cleanup(cancel)
	return ctx
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(suitePatience); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func closes(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(suitePatience):
		t.Fatalf("never: %s", what)
	}
}

// beep returns a tone of 400 Hz, which every telephone codec transmits recognizably.
func beep(rate int, d time.Duration) []int16 {
	samples := make([]int16, int(d.Seconds()*float64(rate)))
	for i := range samples {
		samples[i] = int16(12000 * math.Sin(2*math.Pi*400*float64(i)/float64(rate)))
	}
	return samples
}

// loud returns the total duration of the 20 ms frames that are louder than a codec's noise.
func loud(samples []int16, rate int) time.Duration {
	var total time.Duration
	for frame := range slices.Chunk(samples, rate/50) {
		var power float64
		for _, s := range frame {
			power += float64(s) * float64(s)
		}
		if math.Sqrt(power/float64(len(frame))) > 3000 {
			total += frameTime
		}
	}
	return total
}

// speak writes audio in frames of 20 ms, as a conversation does.
func speak(ctx context.Context, leg call.Leg, samples []int16) error {
	for frame := range slices.Chunk(samples, leg.Rate()/50) {
		if err := leg.Write(ctx, frame); err != nil {
			return err
		}
	}
	return nil
}

// legFrames checks that frames last 20 ms at the leg's rate and arrive in order, and that they are no faster than real time, except for a
// backlog of 200 ms. It also checks that the leg's Info is complete.
func legFrames(t *testing.T, h LegHarness) {
	leg, _ := h.Connect(t)
	rate := leg.Rate()
	if rate != 8000 && rate != 16000 && rate != 48000 {
		t.Errorf("the rate is %d", rate)
	}
	if i := leg.Info(); i.SIPCallID == "" || i.Peer == "" || i.Codec == "" || i.SRTPSuite == "" || i.TLS == "" {
		t.Errorf("the leg is carried by %+v", i)
	}
	const frames = 50
	var last time.Duration
	began := time.Now()
	for i := range frames {
		f, err := leg.Read(patient(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.In) != rate/50 || f.Out != nil && len(f.Out) != rate/50 || f.OnHold || f.Digit != 0 {
			t.Fatalf("frame %d: %d samples in, %d out, held %t, digit %d", i, len(f.In), len(f.Out), f.OnHold, f.Digit)
		}
		if i > 0 && f.Elapsed <= last {
			t.Errorf("frame %d is of %s, the one before of %s", i, f.Elapsed, last)
		}
		last = f.Elapsed
	}
	if least := (frames - 1) * frameTime; last < least-frameTime || time.Since(began) < least-200*time.Millisecond-frameTime {
		t.Errorf("%d frames took %s, and are of %s", frames, time.Since(began), last)
	}
	if leg.Rate() != rate || leg.Ending() != (call.HangupReason{}) {
		t.Errorf("before the end the rate is %d, the ending %+v", leg.Rate(), leg.Ending())
	}
	if err := leg.Hangup(patient(t)); err != nil {
		t.Error(err)
	}
}

// legAudio checks that audio arrives in both directions, and that a frame's Out contains the played audio.
func legAudio(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	rate := leg.Rate()
	far.Play(beep(rate, time.Second))
	if err := speak(patient(t), leg, beep(rate, time.Second)); err != nil {
		t.Fatal(err)
	}
	const most = 900 * time.Millisecond // the beginning may be lost or fade in
	eventually(t, "the leg hears its far end", func() bool { return n.heard() >= most })
	eventually(t, "the far end hears the leg", func() bool { return loud(far.Played(), rate) >= most })
	eventually(t, "everything is played", func() bool { return leg.Queued() == 0 && n.played() >= time.Second })
	if got := n.played(); got > time.Second+frameTime {
		t.Errorf("%s were played, of one second", got)
	}
}

// legPlayout checks that Write waits while more than 200 ms are queued, and that audio has been played when it is no longer queued. Flush
// must empty the queue and silence the playout.
func legPlayout(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	rate := leg.Rate()
	frame, most := rate/50, rate/5
	const queued = 200 * time.Millisecond // that Write accepts without waiting
	written, fullest := 0, 0
	for samples := range slices.Chunk(beep(rate, time.Second), frame) {
		if err := leg.Write(patient(t), samples); err != nil {
			t.Fatal(err)
		}
		written += len(samples)
		if q := leg.Queued(); q > most+1 {
			t.Fatalf("Write returns while %d samples are queued", q)
		} else {
			fullest = max(fullest, q)
		}
	}
	if fullest < most/2 {
		t.Errorf("at most %d samples are queued in a second of speech: Write waits for too long", fullest)
	}
	dropped := leg.Flush()
	eventually(t, "Flush drops samples", func() bool { // on a loaded machine, the queue may be played before Flush
		if dropped > 0 {
			return true
		}
		if err := leg.Write(patient(t), beep(rate, queued)); err != nil {
			t.Fatal(err)
		}
		written += int(queued.Seconds() * float64(rate))
		dropped = leg.Flush()
		return dropped > 0
	})
	if q := leg.Queued(); q != 0 || leg.Flush() != 0 {
		t.Errorf("Flush dropped %d, then %d are queued", dropped, q)
	}
	position := time.Duration(written-dropped) * time.Second / time.Duration(rate)
	eventually(t, "the frames before the flush are read", func() bool {
		return n.played()+observe(n, func() time.Duration { return n.missed }) >= position-frameTime
	})
	after := observe(n, func() int { return len(n.in) })
	eventually(t, "half a second passes", func() bool { return observe(n, func() int { return len(n.in) }) > after+rate/2 })
	if got := n.played(); got > position+frameTime {
		t.Errorf("%s were played, although %s were flushed", got, position)
	}
	if got := loud(far.Played(), rate); got > position+2*frameTime {
		t.Errorf("the far end has heard %s of %s", got, position)
	}
}

// legWriteEnds checks that a Write that waits returns when its ctx ends, and when the call ends.
func legWriteEnds(t *testing.T, h LegHarness) {
	leg, _ := h.Connect(t)
	rate := leg.Rate()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := leg.Write(ended, beep(rate, time.Second)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a ctx that has ended, Write returns %v", err)
	}
	follow(t, leg)
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := leg.Write(short, beep(rate, 10*time.Second)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its ctx has ended, Write returns %v", err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- leg.Write(context.Background(), beep(rate, 10*time.Second)) }()
	if err := leg.Hangup(patient(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-waiting:
		if err == nil {
			t.Error("Write returns nil although the call has ended")
		}
	case <-time.After(suitePatience):
		t.Fatal("Write waits although the call has ended")
	}
	if err := leg.Write(patient(t), beep(rate, frameTime)); err == nil {
		t.Error("after the call, Write returns nil")
	}
}

// legDigits checks that digits arrive in both directions, each digit once and in order, and that sent digits follow the queued speech.
func legDigits(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	const digits = "159*0#"
	far.Press(digits)
	if err := speak(patient(t), leg, beep(leg.Rate(), 300*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := leg.SendDTMF(patient(t), digits); err != nil {
		t.Fatal(err)
	}
	if q := leg.Queued(); q != 0 {
		t.Errorf("the digits are sent before %d samples of speech", q)
	}
	eventually(t, "the far end gets the digits", func() bool { return len(far.Pressed()) >= len(digits) })
	eventually(t, "the leg gets the digits", func() bool { return observe(n, func() int { return len(n.digits) }) >= len(digits) })
	if got := observe(n, func() string { return n.digits }); far.Pressed() != digits || got != digits {
		t.Errorf("the far end got %q, the leg %q", far.Pressed(), got)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := leg.SendDTMF(ended, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a ctx that has ended, SendDTMF returns %v", err)
	}
}

// legHold checks that frames are silent and marked as held while the far end holds the call, and that the call continues.
func legHold(t *testing.T, h LegHarness) {
	leg, hold := h.Hold(t)
	n := follow(t, leg)
	held := func(want bool) func() bool {
		return func() bool {
			return observe(n, func() bool { return n.held && want || !n.held && !want && len(n.in) > 0 })
		}
	}
	eventually(t, "the call begins without hold", held(false))
	for range 2 {
		hold(true)
		eventually(t, "the leg is held", held(true))
		from := observe(n, func() int { return len(n.in) })
		eventually(t, "frames come while held", func() bool { return observe(n, func() int { return len(n.in) }) > from+leg.Rate()/5 })
		if silence := observe(n, func() []int16 { return slices.Clone(n.in[from:]) }); loud(silence, leg.Rate()) > 0 {
			t.Error("a held leg hears something")
		}
		hold(false)
		eventually(t, "the leg is resumed", held(false))
	}
}

// legTransfer checks that the call continues after a refused transfer, and ends after an accepted transfer. A leg that has ended must
// refuse transfers.
func legTransfer(t *testing.T, h LegHarness) {
	const to, other = "+15550100077", "+15550100078"
	leg := h.Transfer(t, to)
	n := follow(t, leg)
	if err := leg.Transfer(patient(t), other); err == nil {
		t.Error("a refused transfer succeeds")
	}
	from := observe(n, func() int { return len(n.in) })
	eventually(t, "the call goes on after a refused transfer", func() bool { return observe(n, func() int { return len(n.in) }) > from })
	if err := leg.Transfer(patient(t), to); err != nil {
		t.Errorf("an accepted transfer: %v", err)
	}
	closes(t, "the leg ends after the transfer", leg.Done())
	if e := leg.Ending(); e.Cause != call.CauseTransferred {
		t.Errorf("the ending is %+v", e)
	}
	if err := leg.Transfer(patient(t), to); err == nil {
		t.Error("a leg that is over is transferred")
	}
}

// legHangup checks that Hangup waits for the end of the call, and that a second Hangup changes nothing.
func legHangup(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	eventually(t, "frames come", func() bool { return observe(n, func() int { return len(n.in) }) > 0 })
	if err := leg.Hangup(patient(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-leg.Done():
	default:
		t.Error("Hangup returns before the end")
	}
	isOver(t, n, call.CauseLocalHangup, false)
	closes(t, "the far end ends", far.Done())
	if err := observe(n, func() error { return n.err }); err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("the reader gets %v", err)
	}
}

// isOver checks the ending of a leg that has ended, and that further operations do not change the leg.
func isOver(t *testing.T, n *near, cause call.Cause, byPeer bool) {
	t.Helper()
	closes(t, "Read returns an error", n.done) // n reads no more frames after this
	leg := n.leg
	ending, stats := leg.Ending(), leg.Stats()
	if ending.Cause != cause || ending.ByPeer != byPeer {
		t.Errorf("the ending is %+v, want %s, by the peer: %t", ending, cause, byPeer)
	}
	if _, err := leg.Read(patient(t)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end, Read returns %v", err)
	}
	for range 2 {
		if err := leg.Hangup(patient(t)); err != nil {
			t.Errorf("hanging up again: %v", err)
		}
	}
	leg.Flush()
	if leg.Ending() != ending || leg.Stats() != stats {
		t.Errorf("after the end, the ending becomes %+v, the statistics %+v", leg.Ending(), leg.Stats())
	}
}

// legFarHangup checks that a hang-up by the far end ends the leg, and interrupts a Read that waits. The statistics must count packets in
// both directions.
func legFarHangup(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	eventually(t, "a quarter of a second passes", func() bool { return observe(n, func() int { return len(n.in) }) > leg.Rate()/4 })
	far.Hangup()
	closes(t, "the leg ends", leg.Done())
	isOver(t, n, call.CauseRemoteHangup, true)
	closes(t, "the far end ends", far.Done())
	if s := leg.Stats(); s.Sent == 0 || s.Received == 0 {
		t.Errorf("the statistics are %+v", s)
	}
}

// legBothHangUp checks that concurrent hang-ups by both ends end the call exactly once.
func legBothHangUp(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	var both sync.WaitGroup
	for range 3 {
		both.Go(func() {
			if err := leg.Hangup(patient(t)); err != nil {
				t.Error(err)
			}
		})
	}
	both.Go(far.Hangup)
	both.Wait()
	closes(t, "the leg ends", leg.Done())
	closes(t, "the far end ends", far.Done())
	e := leg.Ending()
	if e.Cause != call.CauseLocalHangup && e.Cause != call.CauseRemoteHangup {
		t.Errorf("the ending is %+v", e)
	}
	isOver(t, n, e.Cause, e.ByPeer)
}

// legReadGivesUp checks that the end of a Read's ctx interrupts this Read, but does not end the call.
func legReadGivesUp(t *testing.T, h LegHarness) {
	leg, _ := h.Connect(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range 20 { // Read still returns frames that have already arrived
		if _, err := leg.Read(ended); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("with a ctx that has ended, Read returns %v", err)
			}
			break
		}
	}
	follow(t, leg)
	select {
	case <-leg.Done():
		t.Error("the call has ended with a Read's ctx")
	case <-time.After(3 * frameTime):
	}
}
