package jitter_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/jitter"
)

const (
	ms    = time.Millisecond
	frame = 160
)

// linear is a codec with two bytes per sample.
type linear struct{}

func (linear) Decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload)%2 != 0 {
		return dst, errors.New("half a sample")
	}
	for i := 0; i < len(payload); i += 2 {
		dst = append(dst, int16(payload[i])<<8|int16(payload[i+1]))
	}
	return dst, nil
}

func encode(pcm []int16) []byte {
	var b []byte
	for _, s := range pcm {
		b = append(b, byte(s>>8), byte(s))
	}
	return b
}

func newPlayer(least, most time.Duration) *jitter.Player {
	return jitter.NewPlayer(jitter.Format{Decoders: []jitter.Decoder{linear{}}, Rate: 8000, Clock: 8000}, least, most)
}

// tone returns n samples of a 200 Hz sine with noise. The noise never repeats, so that indexOf finds only the correct position of a part.
func tone(n int) []int16 {
	pcm := make([]int16, n)
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range pcm {
		pcm[i] = int16(8000*math.Sin(2*math.Pi*float64(i)/40)) + int16(noise.IntN(2000))
	}
	return pcm
}

// arrival is a packet and the time of its arrival.
type arrival struct {
	at        time.Duration
	sequence  uint16
	timestamp uint32
	payload   []byte
}

// packets splits audio into packets of size samples. Each packet is sent when its last sample is known, and delay returns the travel time
// of packet i.
func packets(pcm []int16, size int, sequence uint16, timestamp uint32, delay func(i int) time.Duration) []arrival {
	var all []arrival
	for i := 0; (i+1)*size <= len(pcm); i++ {
		all = append(all, arrival{
			at:       time.Duration(i+1)*time.Duration(size)*time.Second/8000 + delay(i),
			sequence: sequence + uint16(i), timestamp: timestamp + uint32(i*size), payload: encode(pcm[i*size : (i+1)*size]),
		})
	}
	return all
}

func steady(int) time.Duration { return 0 }

// play pushes packets into a player in the order of their arrival. It returns the audio of the given number of frames, which it reads every
// 20 ms from start on.
func play(p *jitter.Player, all []arrival, start time.Duration, frames int) []int16 {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b arrival) int { return int(a.at - b.at) })
	var heard []int16
	for k := range frames {
		now := start + time.Duration(k)*20*ms
		for len(all) > 0 && all[0].at <= now {
			p.Push(all[0].at, all[0].sequence, all[0].timestamp, 0, all[0].payload)
			all = all[1:]
		}
		heard = p.Frame(heard, now)
	}
	return heard
}

// indexOf returns the index at which part begins in whole, or -1 if whole does not contain part.
func indexOf(whole, part []int16) int {
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// TestWithinTheDelayNothingIsLost checks that packets of any length that arrive within the delay are played exactly. The packets are
// reordered and duplicated, and their sequence numbers and timestamps wrap around.
func TestWithinTheDelayNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{80, 160, 240, 320, 480}).Draw(t, "samples in a packet")
		said := tone(size * rapid.IntRange(20, 60).Draw(t, "packets"))
		delays := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.IntRange(0, 75).Draw(t, "ms")) * ms })
		all := packets(said, size, rapid.Uint16().Draw(t, "sequence"), rapid.Uint32().Draw(t, "timestamp"), func(i int) time.Duration {
			if i == 0 {
				return 0
			}
			return delays.Draw(t, "delay")
		})
		for range rapid.IntRange(0, 10).Draw(t, "doubled") {
			again := all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
			again.at += delays.Draw(t, "later")
			all = append(all, again)
		}
		start := time.Duration(rapid.IntRange(0, 19).Draw(t, "phase")) * ms
		heard := play(newPlayer(100*ms, 100*ms), all, start, len(said)/frame+40)
		at := indexOf(heard, said)
		if at < 0 {
			t.Fatal("what was said is not in what was heard")
		}
		for _, s := range heard[:at] {
			if s != 0 {
				t.Fatal("something other than silence before the first packet")
			}
		}
		first := time.Duration(size) * time.Second / 8000
		if delay := start + time.Duration(at)*time.Second/8000 - first; delay < 100*ms || delay >= 120*ms {
			t.Fatalf("played %s after its arrival", delay)
		}
	})
}

// TestLossLeavesEverythingElseInPlace checks that every packet that arrives is played at its time, even if many others are lost.
func TestLossLeavesEverythingElseInPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(30, 80).Draw(t, "packets")
		said := tone(frame * count)
		all := packets(said, frame, rapid.Uint16().Draw(t, "sequence"), rapid.Uint32().Draw(t, "timestamp"), steady)
		lost := rapid.SliceOfNDistinct(rapid.IntRange(1, count-1), 0, count/2, rapid.ID).Draw(t, "lost")
		var kept []arrival
		for i, a := range all {
			if !slices.Contains(lost, i) {
				kept = append(kept, a)
			}
		}
		const lead = 4 // frames of delay: 60 ms, and one frame until the first packet is complete
		heard := play(newPlayer(60*ms, 60*ms), kept, 0, count+lead)
		for i := range count {
			want, got := said[i*frame:(i+1)*frame], heard[(i+lead)*frame:(i+lead+1)*frame]
			if slices.Contains(lost, i) {
				continue
			}
			fade := 0
			if slices.Contains(lost, i-1) {
				fade = 32 // 4 ms that are blended with the concealment
			}
			if !slices.Equal(got[fade:], want[fade:]) {
				t.Fatalf("packet %d of %d, with %v lost, is not in its place", i, count, lost)
			}
		}
	})
}

// TestAnySequenceOfPacketsGivesFrames checks that each frame contains 20 ms of audio, whatever packets an authentic but faulty peer sends.
func TestAnySequenceOfPacketsGivesFrames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlayer(20*ms, 120*ms)
		now := time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "pass")) * ms
			case 1:
				if got := p.Frame(nil, now); len(got) != frame {
					t.Fatalf("%d samples", len(got))
				}
				now += 20 * ms
			default:
				payload := make([]byte, rapid.IntRange(0, 600).Draw(t, "size"))
				p.Push(now, rapid.Uint16().Draw(t, "sequence"), rapid.Uint32().Draw(t, "timestamp"), 0, payload)
			}
		}
		if d := p.Delay(); d < 20*ms || d > 120*ms {
			t.Fatalf("delay %s", d)
		}
	})
}
