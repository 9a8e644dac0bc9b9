package conversation

import "time"

// frameTime is the length of a frame of audio.
const frameTime = 20 * time.Millisecond

// Limits of the ear.
const (
	shortestVoice = 80 * time.Millisecond  // of voice that counts as speech when the agent is silent; less is a click
	wordGap       = 240 * time.Millisecond // without voice between two words; a longer gap begins a new burst
	echoTail      = 15                     // frames: an echo of the agent comes back within this time
	echoGuarded   = -9.0                   // dB under the agent's own level that an echo has at most, in the guard time
	echoLater     = -30.0                  // and after it, when the peer's echo canceller has learned
)

// ear turns the detector's frames into bursts of voice, and keeps echoes of the agent out of them.
type ear struct {
	detector *Detector
	sent     [echoTail]float64 // the agent's own level in the last frames, dBFS
	at       int

	run    int           // frames with voice in a row
	voiced time.Duration // voice in the current burst
	length time.Duration // the burst from its first voice until now
	gap    time.Duration // since its last voice
}

func newEar(rate int) *ear {
	e := &ear{detector: NewDetector(rate)}
	for i := range e.sent {
		e.sent[i] = decibels(0)
	}
	return e
}

// hear takes a frame. guarded says that the agent has only just begun to speak.
func (e *ear) hear(f Frame, guarded bool) {
	e.sent[e.at] = loudness(f.Out)
	e.at = (e.at + 1) % echoTail
	if e.detector.Voiced(f.In) && e.detector.Level() > e.loudestEcho(guarded) {
		e.run++
		e.voiced += frameTime
	} else {
		e.run = 0
	}
	if e.voiced > 0 {
		e.length += frameTime
		e.gap += frameTime
	}
	if e.run > 1 { // a single frame is a crackle, and keeps no turn open
		e.gap = 0
	}
}

// loudestEcho is the level up to which a sound may be an echo of what the agent said.
func (e *ear) loudestEcho(guarded bool) float64 {
	loudest := decibels(0)
	for _, level := range e.sent {
		loudest = max(loudest, level)
	}
	if guarded {
		return loudest + echoGuarded
	}
	return loudest + echoLater
}

// loudness of a frame in dBFS.
func loudness(frame []int16) float64 {
	var sum float64
	for _, s := range frame {
		sum += float64(s) * float64(s)
	}
	return decibels(sum / (32768 * 32768 * float64(max(1, len(frame)))))
}

// settle ends the burst if its last voice is longer ago than words are apart.
func (e *ear) settle() {
	if e.gap > wordGap {
		e.reset()
	}
}

// reset begins anew.
func (e *ear) reset() { e.run, e.voiced, e.length, e.gap = 0, 0, 0, 0 }

// ring keeps the last audio of the caller, so that an utterance begins before the voice was noticed.
type ring struct {
	samples []int16
	at      int
	full    bool
}

func newRing(rate int, d time.Duration) *ring {
	return &ring{samples: make([]int16, int(d.Seconds()*float64(rate)))}
}

// write adds samples and drops the oldest.
func (r *ring) write(p []int16) {
	for len(p) > 0 {
		n := copy(r.samples[r.at:], p)
		p = p[n:]
		r.at += n
		if r.at == len(r.samples) {
			r.at, r.full = 0, true
		}
	}
}

// last appends the newest n samples to dst, or as many as there are.
func (r *ring) last(dst []int16, n int) []int16 {
	held := r.at
	if r.full {
		held = len(r.samples)
	}
	n = min(n, held)
	if n <= r.at {
		return append(dst, r.samples[r.at-n:r.at]...)
	}
	dst = append(dst, r.samples[len(r.samples)-(n-r.at):]...)
	return append(dst, r.samples[:r.at]...)
}
