package conversation

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// queue is an Audio that accepts samples and plays none, unless the test changes waiting.
type queue struct {
	Audio
	waiting int
}

func (*queue) Rate() int     { return 8000 }
func (q *queue) Queued() int { return q.waiting }

func (q *queue) Write(_ context.Context, samples []int16) error {
	q.waiting += len(samples)
	return nil
}

func (q *queue) Flush() int {
	n := q.waiting
	q.waiting = 0
	return n
}

// TestMouthFreesPlayedLines checks that an answer holds the samples of a line until they were played, and no longer. A line of which a
// hold flushes samples must stay.
func TestMouthFreesPlayedLines(t *testing.T) {
	t.Parallel()
	q := &queue{}
	m := newMouth(q)
	now := func() time.Duration { return time.Second }
	var clips []*clip
	for range 3 {
		c := &clip{changed: make(chan struct{})}
		c.add(make([]int16, 480), io.EOF) // 60 ms
		clips = append(clips, c)
		m.begin(c)
		for p := wrote; p != written; {
			var err error
			if p, _, err = m.write(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := func(want ...bool) {
		t.Helper()
		for i, c := range clips {
			if (c.samples != nil) != want[i] {
				t.Errorf("line %d: samples held: %v, want %v", i, c.samples != nil, want[i])
			}
		}
	}
	m.watch(now)
	held(true, true, true)
	q.waiting = 480 + 240 // half of the second line was played
	m.watch(now)
	held(false, true, true)
	m.hold(t.Context(), now, 0)
	held(false, true, true)
	m.resume(time.Second, HoldNoise)
	for p := wrote; p != written; {
		var err error
		if p, _, err = m.write(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	q.waiting = 0
	m.watch(now)
	held(false, false, false)
	if heard := m.reached; heard != 3*480 {
		t.Errorf("%d samples were played, want %d", heard, 3*480)
	}
}

// player is a queue that records the samples that it has played.
type player struct {
	queue
	waits  []int16
	played []int16
}

func (p *player) Queued() int { return len(p.waits) }

func (p *player) Write(_ context.Context, samples []int16) error {
	p.waits = append(p.waits, samples...)
	return nil
}

func (p *player) Flush() int {
	n := len(p.waits)
	p.waits = nil
	return n
}

// play plays up to n samples of the queue.
func (p *player) play(n int) {
	n = min(n, len(p.waits))
	p.played = append(p.played, p.waits[:n]...)
	p.waits = p.waits[n:]
}

// TestMouthCountsPlayedSamples checks that fades and holds at random times lose no sample, and repeat only the samples of held words. The
// gain never jumps while the answer plays.
func TestMouthCountsPlayedSamples(t *testing.T) {
	t.Parallel()
	const lines, length, loud = 5, 4000, 10000
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		p := &player{}
		m := newMouth(p)
		now := func() time.Duration { return time.Second }
		repeated, begun, ready := 0, 0, true
		joints := map[int]bool{} // positions in played at which a held answer continued
		for p.play(0); !m.silent() || begun < lines; {
			switch n := random.IntN(12); {
			case n < 5:
				p.play(160 * random.IntN(4))
				m.watch(now)
			case n < 7:
				queued := len(p.waits)
				m.fade(t.Context(), now, []float64{1, duckGain}[n-5])
				if len(p.waits) < queued {
					t.Errorf("seed %d: %d samples wait after a fade, %d before", seed, len(p.waits), queued)
				}
			case n == 7 && !m.held:
				before := len(p.played)
				m.hold(t.Context(), now, time.Duration(random.IntN(200))*time.Millisecond)
				m.watch(now)
				repeated = before + len(p.waits) - m.at
				if n := len(p.waits); n > 0 && p.waits[n-1] > loud/50 {
					t.Errorf("seed %d: the answer is held with a click of %d", seed, p.waits[n-1])
				}
			case n == 8:
				p.play(len(p.waits)) // a hold lasts until the rest of the word was played
				m.watch(now)
				m.resume(time.Second, HoldNoise)
				joints[len(p.played)] = true
			case n == 9 && ready && begun < lines: // perhaps in a hold
				c := &clip{changed: make(chan struct{})}
				samples := make([]int16, length)
				for i := range samples {
					if i%1600 < 1400 {
						samples[i] = loud
					}
				}
				c.add(samples, io.EOF)
				m.begin(c)
				begun, ready = begun+1, false
			default:
				did, _, err := m.write(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				ready = ready || did == written
			}
		}
		if len(p.played) != lines*length+repeated || m.reached != lines*length {
			t.Errorf("seed %d: %d samples were played, %d of them twice; the position is %d", seed, len(p.played), repeated, m.reached)
		}
		for i := 1; i < len(p.played); i++ {
			if a, b := p.played[i-1], p.played[i]; a != 0 && b != 0 && !joints[i] && max(a-b, b-a) > loud/80+1 {
				t.Fatalf("seed %d: the gain jumps from %d to %d at %d", seed, a, b, i)
			}
		}
	}
}
