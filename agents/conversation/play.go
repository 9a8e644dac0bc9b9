package conversation

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// broken is why an answer could not be given to its end.
type broken struct {
	cause error
	mute  bool // no more can be said: the synthesizer's, or the call's
}

// perform plays an answer. It gives the End or Transfer at its end, if there was one. With the job's context it stops.
func (s *session) perform(j *job, items <-chan item) (Step, *broken) {
	for {
		var it item
		var ok bool
		select {
		case it, ok = <-items:
		case <-j.ctx.Done():
		}
		switch {
		case !ok:
			return nil, nil
		case it.err != nil:
			s.cfg.Logger.ErrorContext(j.ctx, "the brain failed", "error", it.err)
			return nil, &broken{cause: it.err}
		case it.clip != nil:
			if b := s.play(j, it.clip); b != nil {
				return nil, b
			}
		default:
			switch step := it.step.(type) {
			case Press:
				s.press(j, step.Digits)
			case End, Transfer:
				return step, nil
			}
		}
	}
}

// press sends digits after what was said. That they can't be sent is not the end: the brain sees it by what follows.
func (s *session) press(j *job, digits string) {
	if err := s.held.pass(j.ctx); err != nil {
		return
	}
	began := s.now()
	if err := s.audio.SendDTMF(j.ctx, digits); err != nil {
		if j.ctx.Err() == nil {
			s.cfg.Logger.WarnContext(j.ctx, "digits were not sent", "digits", len(digits), "error", err)
		}
		return
	}
	j.pressed = append(j.pressed, Entry{Role: RoleAgent, Digits: true, Text: digits, Start: began, End: s.now()})
}

// play writes a clip to the call, a frame at a time, so that it is known to the frame what was written. On hold it
// waits.
func (s *session) play(j *job, c *clip) *broken {
	j.playout.begin(c.text)
	size := s.audio.Rate() / 50
	for at := 0; ; {
		part, total, err := c.next(j.ctx, at, size)
		switch {
		case errors.Is(err, io.EOF), j.ctx.Err() != nil:
			return nil
		case err != nil:
			s.cfg.Logger.ErrorContext(j.ctx, "the synthesizer failed", "error", err)
			return &broken{cause: err, mute: true}
		}
		if j.latency.FirstAudio == 0 {
			j.latency.FirstAudio = s.now() - j.lastVoice
		}
		if s.held.pass(j.ctx) != nil {
			return nil
		}
		if err := s.audio.Write(j.ctx, part); err != nil {
			return s.lost(j, err)
		}
		j.playout.wrote(len(part), total)
		at += len(part)
	}
}

// lost is what a call is that takes no more audio. Its reader sees that too, a little later, and ends the conversation
// as it should; if it does not, the call is broken.
func (s *session) lost(j *job, err error) *broken {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-j.ctx.Done():
		return nil
	case <-timer.C:
		return &broken{cause: err, mute: true}
	}
}

// clip is a text being synthesized. It is read as fast as the synthesizer makes it, however slowly it plays, so that
// its length is known early and the next one is ready in time.
type clip struct {
	text string

	mu      sync.Mutex
	samples []int16
	err     error // io.EOF: all samples are there
	changed chan struct{}
}

// load starts to synthesize. ctx ends it.
func (s *session) load(ctx context.Context, text string) *clip {
	c := &clip{text: text, changed: make(chan struct{})}
	speech := Speech{Text: text, Voice: s.cfg.Voice, Language: s.cfg.Language, Rate: s.audio.Rate()}
	s.wait.Go(func() { c.read(ctx, s.cfg.Synthesizer, speech) })
	return c
}

// read takes all that the synthesizer makes.
func (c *clip) read(ctx context.Context, engine Synthesizer, speech Speech) {
	stream, err := engine.Synthesize(ctx, speech)
	if err != nil {
		c.add(nil, err)
		return
	}
	defer stream.Close()
	buffer := make([]int16, speech.Rate/10)
	for err == nil {
		var n int
		n, err = stream.Read(buffer)
		c.add(buffer[:n], err)
	}
}

// add appends samples, and tells who waits for them.
func (c *clip) add(samples []int16, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = append(c.samples, samples...)
	c.err = err
	close(c.changed)
	c.changed = make(chan struct{})
}

// next gives at most size samples from at on, which stay as they are, and how many there are in all once that is known.
// It waits for them; io.EOF after the last.
func (c *clip) next(ctx context.Context, at, size int) (part []int16, total int, err error) {
	for {
		c.mu.Lock()
		samples, err, changed := c.samples, c.err, c.changed
		c.mu.Unlock()
		if errors.Is(err, io.EOF) {
			total = len(samples)
		}
		switch {
		case at < len(samples):
			return samples[at:min(at+size, len(samples))], total, nil
		case err != nil:
			return nil, total, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}
