package agentstest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// frameTime is the duration of a frame of audio.
const frameTime = 20 * time.Millisecond

// PhoneConfig configures a Phone. The zero value is a phone with 8000 samples per second in real time.
type PhoneConfig struct {
	Rate int // samples per second; 0 means 8000
	// Pace is the real time between frames; 0 means 20 ms. The call's time is counted in frames: with a shorter Pace, it passes faster for
	// a test that does not use testing/synctest.
	Pace time.Duration
	// Transfer decides on a transfer of the call. If it is nil or returns nil, the transfer succeeds and the call ends.
	Transfer func(to string) error
	// Linger is the time between the end of the audio and the end of the call. A real line exchanges messages in this time.
	Linger time.Duration
	// Deaf makes the phone ignore hang-ups by the near end: the call ends with HangupReason.Unconfirmed set.
	Deaf bool
	// Unproven delays the playout of written audio until the phone sends audio, as for a peer whose media address is not proven.
	Unproven bool
	// Fault is the Fault that call.Stats of the call contains.
	Fault string
}

// Phone is the far end of a call. With it, a test speaks, presses digits, holds and hangs up, and reads the received audio. Its Leg is the
// near end for the code under test. Time passes only while the leg is read.
type Phone struct {
	id     string // id of the call
	config PhoneConfig

	mu       sync.Mutex
	say      []int16 // audio that the phone will send
	cue      cue     // text that the phone says after it has heard another text
	keys     []byte  // digits that the phone will send, one per frame
	held     bool    // whether the near end is on hold
	proven   bool    // whether written audio is played
	queue    []int16 // written audio of the near end that is not played yet
	loop     []int16 // background of all audio played to the phone
	loopAt   int
	played   []int16       // audio played to the phone from the first frame, including silence
	pressed  []byte        // digits that the near end has sent
	elapsed  time.Duration // time of the call, counted in frames
	changed  chan struct{} // closed and replaced at every change
	ending   call.HangupReason
	referred chan call.PeerTransfer
	gone     chan struct{} // closed at the end of the audio
	done     chan struct{} // closed when the call has ended
}

// NewPhone returns a phone in a call that has just been answered.
func NewPhone(config PhoneConfig) *Phone {
	if config.Rate == 0 {
		config.Rate = 8000
	}
	if config.Pace == 0 {
		config.Pace = frameTime
	}
	return &Phone{
		id: rand.Text(), config: config, proven: !config.Unproven, changed: make(chan struct{}), gone: make(chan struct{}), done: make(chan struct{}),
		referred: make(chan call.PeerTransfer, maxReferred),
	}
}

// Leg returns the near end of the call.
func (p *Phone) Leg() *Leg { return &Leg{phone: p} }

// Say queues the given text, which the phone then speaks with Voice.
func (p *Phone) Say(text string) { p.Play(Voice(text, p.config.Rate)) }

// SayAfter makes the phone say the given text with Voice as soon as the text that it has heard contains the given part. No time of the call
// passes in between, even on a slow machine.
func (p *Phone) SayAfter(part, text string) {
	p.change(func() { p.cue = cue{part, text} })
}

// cue contains a text that the phone says, and (in after) the text that the phone must have heard before.
type cue struct{ after, text string }

// answer queues the cue's text and deletes the cue, if the phone has heard the text that the cue waits for. The caller must hold the mutex.
func (p *Phone) answer() {
	if p.cue.after != "" && strings.Contains(TextOf(p.played), p.cue.after) {
		p.say = append(p.say, Voice(p.cue.text, p.config.Rate)...)
		p.cue = cue{}
	}
}

// Play queues audio that the phone sends unchanged.
func (p *Phone) Play(samples []int16) {
	p.change(func() { p.say = append(p.say, samples...) })
}

// Press sends digits, one per frame.
func (p *Phone) Press(digits string) {
	p.change(func() { p.keys = append(p.keys, digits...) })
}

// Hold puts the near end on hold, or resumes the call if on is false.
func (p *Phone) Hold(on bool) { p.change(func() { p.held = on }) }

// maxReferred is the maximum number of transfers that a call.Transferable accepts in a call.
const maxReferred = 10

// Refer reports to the leg that the far end transferred the call to the given number. If failure is nil, the phone then belongs to this
// number; otherwise, nothing changes.
func (p *Phone) Refer(to callwright.PhoneNumber, failure *call.HangupReason) {
	p.referred <- call.PeerTransfer{To: to, Failure: failure}
}

// Hangup hangs up at the far end: the call ends with CauseRemoteHangup.
func (p *Phone) Hangup() {
	p.end(call.HangupReason{Cause: call.CauseRemoteHangup, ByPeer: true})
}

// Vanish ends the call with CauseMediaTimeout, as if the peer had disappeared from the network.
func (p *Phone) Vanish() { p.end(call.HangupReason{Cause: call.CauseMediaTimeout, Reason: "no media"}) }

// Done returns a channel that is closed when the call has ended.
func (p *Phone) Done() <-chan struct{} { return p.done }

// Heard returns the text of all audio played to the phone so far, at full or at reduced loudness.
func (p *Phone) Heard() string { return playedText(p.Played(), p.config.Rate) }

// Played returns all audio that was played to the phone, from the first frame, including silence.
func (p *Phone) Played() []int16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.played)
}

// Pressed returns the digits that the near end has sent.
func (p *Phone) Pressed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.pressed)
}

// Elapsed returns the time of the call, counted in frames.
func (p *Phone) Elapsed() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.elapsed
}

// WaitHeard waits until the text that the phone has heard contains the given part. It returns an error if ctx or the call ends first.
func (p *Phone) WaitHeard(ctx context.Context, part string) error {
	err := p.wait(ctx, func() bool { return strings.Contains(playedText(p.played, p.config.Rate), part) })
	if err != nil {
		return fmt.Errorf("waiting to hear %q, heard %q: %w", part, p.Heard(), err)
	}
	return nil
}

// WaitQuiet waits until nothing is queued and the phone has heard only silence for d of the call's time, counted from now. It returns an
// error if ctx or the call ends first.
func (p *Phone) WaitQuiet(ctx context.Context, d time.Duration) error {
	need := int(d.Seconds() * float64(p.config.Rate))
	from := -1
	return p.wait(ctx, func() bool {
		if from < 0 {
			from = len(p.played)
		}
		tail := len(p.played) - need
		return tail >= from && len(p.queue) == 0 &&
			!slices.ContainsFunc(p.played[tail:], func(s int16) bool { return s != 0 })
	})
}

// WaitElapsed waits until the call has lasted at least d. It returns an error if ctx or the call ends first.
func (p *Phone) WaitElapsed(ctx context.Context, d time.Duration) error {
	return p.wait(ctx, func() bool { return p.elapsed >= d })
}

// wait calls the function ok immediately and at every change of the phone, until ok returns true. It returns an error if ctx or the call
// ends first. For a call that has ended, the error contains the cause.
func (p *Phone) wait(ctx context.Context, ok func() bool) error {
	for {
		p.mu.Lock()
		satisfied, changed := ok(), p.changed
		p.mu.Unlock()
		if satisfied {
			return nil
		}
		select {
		case <-changed:
		case <-p.done:
			return fmt.Errorf("the call has ended: %s", p.ending.Cause)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change calls the function do while it holds the mutex, and wakes all waiters.
func (p *Phone) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// over reports whether the call's audio has ended.
func (p *Phone) over() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// end ends the call with the given reason, in which SIP code 200 replaces a missing code. It does nothing if the call is already ending.
func (p *Phone) end(e call.HangupReason) {
	p.change(func() {
		if p.over() {
			return
		}
		e.SIPCode = cmp.Or(e.SIPCode, 200) // the call was answered
		p.ending = e
		close(p.gone)
		if p.config.Linger == 0 {
			close(p.done)
			return
		}
		time.AfterFunc(p.config.Linger, func() { close(p.done) })
	})
}
