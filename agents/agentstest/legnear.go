package agentstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// near reads a leg until the leg ends. It must be the leg's only reader.
type near struct {
	leg  call.Leg
	done chan struct{} // closed after the leg's last frame

	mu      sync.Mutex
	in, out []int16 // received and played audio; out includes silence
	digits  string
	held    bool          // whether the last frame was held
	next    time.Duration // least Elapsed of the next frame
	missed  time.Duration // of frames that came too late to be read
	err     error
}

func follow(t *testing.T, leg call.Leg) *near {
	t.Helper()
	n := &near{leg: leg, done: make(chan struct{})}
	go func() {
		defer close(n.done)
		for {
			f, err := leg.Read(context.Background())
			n.receive(f, err)
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if err := leg.Hangup(patient(t)); err != nil {
			t.Errorf("hanging up in the end: %v", err)
		}
		closes(t, "Read returns an error after the end", n.done)
	})
	return n
}

func (n *near) receive(f conversation.Frame, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err = err; err != nil {
		return
	}
	if n.next > 0 && f.Elapsed > n.next {
		n.missed += f.Elapsed - n.next
	}
	n.next = f.Elapsed + frameTime
	n.in, n.held = append(n.in, f.In...), f.OnHold
	if f.Out == nil {
		f.Out = make([]int16, len(f.In))
	}
	n.out = append(n.out, f.Out...)
	if f.Digit != 0 {
		n.digits += string(f.Digit)
	}
}

// observe calls f while n processes no frame, and returns the result of f.
func observe[T any](n *near, f func() T) T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return f()
}

func (n *near) heard() time.Duration {
	return observe(n, func() time.Duration { return loud(n.in, n.leg.Rate()) })
}

func (n *near) played() time.Duration {
	return observe(n, func() time.Duration { return loud(n.out, n.leg.Rate()) })
}
