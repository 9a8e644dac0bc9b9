package bench_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

// leg is a call over loopback between our session and a peer's session. The peer's session is in the same process and uses as much
// processor time as ours.
type leg struct{ ours, peer sip.MediaSession }

func open(b *testing.B, ours, peers *rtpmedia.Media) leg {
	b.Helper()
	var l leg
	var err error
	if l.ours, err = ours.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	if l.peer, err = peers.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	capable := func(s sip.MediaSession) sdp.Capabilities {
		return sdp.Capabilities{Media: s.Local(), Codecs: []sdp.Codec{sdp.PCMU}, Random: rand.Reader}
	}
	offer, offerErr := sdp.Offer(capable(l.peer))
	answer, ourTerms, answerErr := sdp.Answer(capable(l.ours), offer)
	if err := errors.Join(offerErr, answerErr); err != nil {
		b.Fatal(err)
	}
	theirTerms, err := sdp.Accept(offer, answer)
	if err := errors.Join(err, l.ours.Apply(ourTerms), l.peer.Apply(theirTerms)); err != nil {
		b.Fatal(err)
	}
	return l
}

// voice returns a second of sound that the voice detector accepts: harmonics of 150 Hz with a changing volume.
func voice(rate int) []int16 {
	out := make([]int16, rate)
	for i := range out {
		at := float64(i) / float64(rate)
		sum := 0.0
		for h := 1; h <= 10; h++ {
			sum += math.Sin(2*math.Pi*150*float64(h)*at) / float64(h)
		}
		out[i] = int16(4000 * sum * math.Abs(math.Sin(2*math.Pi*1.5*at)))
	}
	return out
}

// BenchmarkCalls runs concurrent calls for five seconds in each iteration. Each side of a call plays, encodes and encrypts sound, and
// decrypts, orders and decodes the peer's. Our side runs all detectors of speech and tones on it. late-frames counts our frames that were sent at least 20
// ms late. cores is the processor time of both sides divided by the duration.
func BenchmarkCalls(b *testing.B) {
	for _, calls := range []int{50, 200} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) { hold(b, calls, 5*time.Second) })
	}
}

func hold(b *testing.B, calls int, length time.Duration) {
	b.Helper()
	media := func() *rtpmedia.Media {
		m, err := rtpmedia.New(rtpmedia.Config{IP: netip.MustParseAddr("127.0.0.1"), Codecs: codec.Set{g711.PCMU()}.New})
		if err != nil {
			b.Fatal(err)
		}
		return m
	}
	ours, peers := media(), media()
	said := voice(8000)
	var frames, loud atomic.Int64
	var busy time.Duration
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), length)
		legs := make([]leg, calls)
		for i := range legs {
			legs[i] = open(b, ours, peers)
		}
		before := processorTime()
		var running sync.WaitGroup
		for _, l := range legs {
			running.Go(func() { play(ctx, l.ours, said) })
			running.Go(func() { play(ctx, l.peer, said) })
			running.Go(func() { listen(ctx, l.ours, activity.New(l.ours.Rate(), silero.New()), &frames, &loud) })
			running.Go(func() { listen(ctx, l.peer, nil, new(atomic.Int64), nil) })
		}
		running.Wait()
		busy += processorTime() - before
		for _, l := range legs {
			if err := errors.Join(l.ours.Close(), l.peer.Close()); err != nil {
				b.Error(err)
			}
		}
		cancel()
	}
	if loud.Load() == 0 {
		b.Fatal("no sound was heard")
	}
	b.ReportMetric(float64(ours.Counters().LateFrames), "late-frames")
	b.ReportMetric(float64(ours.Counters().DroppedFrames), "dropped-frames")
	b.ReportMetric(float64(frames.Load())/float64(b.N), "frames/op")
	b.ReportMetric(busy.Seconds()/(float64(b.N)*length.Seconds()), "cores")
}

func play(ctx context.Context, s sip.MediaSession, said []int16) {
	for s.Write(ctx, said) == nil {
	}
}

// listen reads frames until ctx ends. If detector is not nil, it classifies them and counts those that are louder than the noise.
func listen(ctx context.Context, s sip.MediaSession, detector *activity.Detector, frames, loud *atomic.Int64) {
	for {
		f, err := s.Read(ctx)
		if err != nil {
			return
		}
		frames.Add(1)
		if detector != nil && detector.Hear(f.In, nil).Loud {
			loud.Add(1)
		}
	}
}

// processorTime returns the CPU time of this process on all cores.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
