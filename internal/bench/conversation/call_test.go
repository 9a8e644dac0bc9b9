package conversation_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

// scene is one simulated call.
type scene struct {
	audio   []int16 // the caller's audio from the answer to the hangup
	words   []word  // what the caller says, at the samples of audio
	config  conversation.Config
	engines engines
	opening string // the agent's first words; empty means that the caller speaks first
	expect  conversation.Expect
	echo    float64 // level of the agent's echo in the caller's audio, relative to the agent's level in dB; 0 means no echo
	network bool    // judges by energy alone if not set
}

// result describes a simulated call.
type result struct {
	turns   []turnAt // the turns of the caller, when they became certain
	asked   int      // answers that the brain began, withdrawn ones included
	entries []conversation.Entry
	played  []bool // whether the agent was audible in each frame
	outcome conversation.Outcome
}

// turnAt is a turn of the caller, and the time of the call at which the brain was certain of it.
type turnAt struct {
	conversation.Turn
	at time.Duration
}

// simulate runs a call under a fake clock.
func simulate(t *testing.T, s scene) result {
	t.Helper()
	var r result
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		notes := &notebook{}
		b := &brain{began: began, opening: s.opening, expect: s.expect, delay: s.engines.brain}
		c := s.config
		c.Observer = notes
		c.Recognizer = recognizerFor(s, began)
		c.Synthesizer = s.engines.synthesizer()
		c.Activity = func(rate int) conversation.Activity {
			if s.network {
				return activity.New(rate, silero.New())
			}
			return activity.New(rate, nil)
		}
		if c.Silence == 0 {
			c.Silence = 10 * time.Minute
		}
		conv, err := conversation.New(c)
		if err != nil {
			t.Fatal(err)
		}
		l := &line{in: s.audio, room: make(chan struct{}, 1)}
		if s.echo != 0 {
			l.echo = sounds.Amplitude(s.echo) / sounds.Amplitude(0)
		}
		r.outcome, err = conv.Run(t.Context(), l, b)
		if err != nil {
			t.Errorf("the conversation has failed: %v", err)
		}
		r.turns, r.asked, r.entries, r.played = b.turns, b.asked, notes.entries, l.played
	})
	return r
}

// silentAfter returns the time from a sample until the agent is silent for 200 ms, and whether it falls silent before the end.
func (r *result) silentAfter(sample int) (time.Duration, bool) {
	run := 0
	for f := sample / frame; f < len(r.played); f++ {
		run++
		if r.played[f] {
			run = 0
		}
		if run == 10 {
			return time.Duration(f-9)*20*time.Millisecond - time.Duration(sample)*time.Second/rate, true
		}
	}
	return 0, false
}

// longestStop returns the longest silence of the agent between two of its sounds from a sample on.
func (r *result) longestStop(sample int) time.Duration {
	longest, run, begun := 0, 0, false
	for f := sample / frame; f < len(r.played); f++ {
		if !r.played[f] {
			run++
			continue
		}
		if begun {
			longest = max(longest, run)
		}
		run, begun = 0, true
	}
	return time.Duration(longest) * 20 * time.Millisecond
}

// audible returns how long the agent was audible.
func (r *result) audible() time.Duration {
	n := 0
	for _, p := range r.played {
		if p {
			n++
		}
	}
	return time.Duration(n) * 20 * time.Millisecond
}

// paused reports whether an answer was held.
func (r *result) paused() bool {
	for _, e := range r.entries {
		if len(e.Holds) > 0 {
			return true
		}
	}
	return false
}

// cut reports whether an answer was interrupted, or the brain was asked a turn.
func (r *result) cut() bool {
	for _, e := range r.entries {
		if e.Interrupted {
			return true
		}
	}
	return len(r.turns) > 0
}

// line is the audio of a call. It delivers the caller's audio in real time of the fake clock, and plays at most one frame of the agent's
// audio at a time.
type line struct {
	in   []int16
	echo float64
	room chan struct{}

	mu     sync.Mutex
	queue  []int16
	at     int
	buffer [frame]int16
	out    [frame]int16
	late   [3][frame]int16 // the agent's last frames, whose echo arrives 60 ms later
	played []bool
}

func (l *line) Rate() int { return rate }

func (l *line) Read(ctx context.Context) (conversation.Frame, error) {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return conversation.Frame{}, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at+frame > len(l.in) {
		return conversation.Frame{}, io.EOF
	}
	copy(l.buffer[:], l.in[l.at:])
	old := &l.late[len(l.played)%len(l.late)]
	if l.echo > 0 {
		for i, s := range old {
			l.buffer[i] = sounds.Mulaw(float64(l.buffer[i]) + l.echo*float64(s))
		}
	}
	l.at += frame
	f := conversation.Frame{In: l.buffer[:], Elapsed: time.Duration(l.at) * time.Second / rate}
	clear(l.out[:])
	if n := copy(l.out[:], l.queue); n > 0 {
		l.queue, f.Out = l.queue[n:], l.out[:]
	}
	*old = l.out
	l.played = append(l.played, sounds.RMS(l.out[:]) > 50)
	select {
	case l.room <- struct{}{}:
	default:
	}
	return f, nil
}

func (l *line) Write(ctx context.Context, samples []int16) error {
	for {
		l.mu.Lock()
		if len(l.queue) <= rate/5 {
			l.queue = append(l.queue, samples...)
			l.mu.Unlock()
			return ctx.Err()
		}
		l.mu.Unlock()
		select {
		case <-l.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *line) Queued() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

func (l *line) Flush() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.queue)
	l.queue = nil
	return n
}

func (l *line) SendDTMF(ctx context.Context, _ string) error { return ctx.Err() }

// notebook is an Observer that records the transcript.
type notebook struct {
	mu      sync.Mutex
	entries []conversation.Entry
}

func (n *notebook) Entry(e conversation.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = append(n.entries, e)
}
