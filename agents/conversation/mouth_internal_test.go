package conversation

import (
	"context"
	"io"
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
	m.hold(now)
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
