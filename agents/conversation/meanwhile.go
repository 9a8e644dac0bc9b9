package conversation

import (
	"context"
	"time"
)

// Meanwhile contains a caller's speech and keys from a period without turns, for example during a transfer. The zero Meanwhile is empty.
type Meanwhile struct {
	samples []int16       // speech, with pauses cut to Config.EndOfTurn
	began   time.Duration // time of the call at which the first voice began
	voiced  time.Duration
	keys    []byte
}

// Listen reads a call's audio and adds the caller's speech and keys to m, without answers. It returns m when ctx or the call ends, or when
// the channel over is closed and the caller has finished, at the latest Config.MaxTurn after the close.
func (c *Conversation) Listen(ctx context.Context, audio Audio, over <-chan struct{}, m Meanwhile) Meanwhile {
	l := &listener{
		Meanwhile: m, rate: audio.Rate(), pause: c.cfg.EndOfTurn, preRoll: c.cfg.PreRoll,
		voiceDetector: newEar(c.cfg.Activity(audio.Rate())), ring: newRing(audio.Rate(), c.cfg.PreRoll+2*wordGap),
	}
	for left := c.cfg.MaxTurn; left > 0; {
		f, err := audio.Read(ctx)
		if err != nil {
			break
		}
		l.frame(f)
		select {
		case <-over:
			if left -= frameTime; l.voiceDetector.voiced == 0 {
				left = 0
			}
		default:
		}
	}
	l.voiced += l.voiceDetector.voiced
	return l.Meanwhile
}

// listener collects a caller's speech and keys for Listen.
type listener struct {
	Meanwhile
	rate           int
	pause, preRoll time.Duration
	voiceDetector  *voiceDetector
	ring           *ring
	speaks         bool
}

// frame adds the speech and the digit of a frame.
func (l *listener) frame(f Frame) {
	if f.Digit != 0 && len(l.keys) < maxDigits {
		l.keys = append(l.keys, f.Digit)
	}
	if f.OnHold {
		return
	}
	l.ring.write(f.In)
	l.voiceDetector.hear(f, false)
	switch {
	case l.speaks:
		l.samples = append(l.samples, f.In...)
	case l.voiceDetector.voiced >= shortestVoice:
		l.speaks = true
		if len(l.samples) == 0 {
			l.began = max(0, f.Elapsed-l.voiceDetector.length)
		}
		l.samples = l.ring.last(l.samples, int((l.voiceDetector.length+l.preRoll).Seconds()*float64(l.rate)))
	default:
		l.voiceDetector.endBurst()
	}
	if l.speaks && l.voiceDetector.gap >= l.pause {
		l.speaks, l.voiced = false, l.voiced+l.voiceDetector.voiced
		l.voiceDetector.reset()
	}
}

// resume starts the caller's turn with the speech and keys in Config.Meanwhile, as soon as the agent has finished. Further speech of the
// caller belongs to the same turn.
func (r *reader) resume() {
	if r.state != idle {
		return
	}
	if len(r.cfg.Meanwhile.samples) > 0 {
		r.happens(callerSpeaks)
	}
	for len(r.cfg.Meanwhile.keys) > 0 && (r.state == idle || r.state == keying) {
		keys := r.cfg.Meanwhile.keys
		r.cfg.Meanwhile.keys = keys[1:]
		r.key(keys[0])
	}
}

// recall writes the caller's speech in Config.Meanwhile to a new utterance.
func (r *reader) recall(u *utterance) {
	m := &r.cfg.Meanwhile
	if len(m.samples) == 0 {
		return
	}
	u.began = m.began
	u.write(m.samples)
	if r.voiceDetector.voiced == 0 {
		r.lastVoice = r.now() // the answer's latency begins here, because the caller's turn begins only now
	}
	r.voiceDetector.voiced += m.voiced
	m.samples = nil
}
