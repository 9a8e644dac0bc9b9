package conversation

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callwright/callwright/speech/tts"
)

// speaker answers turns in a separate goroutine. The reader reads its results only after that goroutine has ended.
type speaker struct {
	*session

	heardPart          heardPart
	carried            string // the caller's words in turns that were canceled because the caller continued
	recognizerFailures int    // consecutive failures of the recognizer
	answers            []Latency
	reason             string
	transferTo         string
}

// heardPart describes how much of the last answer was heard, if it was interrupted.
type heardPart struct {
	interrupted bool
	heard       string
}

// answerFailure describes why an answer failed.
type answerFailure struct {
	cause error
	mute  bool // the synthesizer or the call has failed, so that the agent cannot speak any more
}

// perform plays an answer until the job's context ends. If the answer ends with an End or a Transfer, perform returns that step.
func (s *speaker) perform(j *job, items <-chan item) (Step, *answerFailure) {
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
			s.cfg.Logger.ErrorContext(j.ctx, "brain failed", "error", it.err)
			return nil, &answerFailure{cause: it.err}
		case it.clip != nil:
			if b := s.play(j, it.clip); b != nil {
				return nil, b
			}
		default:
			switch step := it.step.(type) {
			case Press:
				s.press(j, step)
			case End, Transfer:
				return step, nil
			}
		}
	}
}

// press sends digits after the queued speech. It logs a failure, which does not end the conversation.
func (s *speaker) press(j *job, p Press) {
	if err := s.held.pass(j.ctx); err != nil {
		return
	}
	began := s.now()
	s.pressing.Store(true)
	err := s.audio.SendDTMF(j.ctx, p.Digits)
	s.pressing.Store(false)
	if err != nil {
		if j.ctx.Err() == nil {
			s.cfg.Logger.WarnContext(j.ctx, "sending digits failed", "digits", len(p.Digits), "error", err)
		}
		return
	}
	j.pressed = append(j.pressed, Entry{Role: RoleAgent, Digits: true, Text: p.Shown(), Start: began, End: s.now()})
}

// play writes a clip to the call frame by frame, so that the playout counts exactly. It waits while the call is on hold.
func (s *speaker) play(j *job, c *clip) *answerFailure {
	j.playout.begin(c.text, c.bargeIn)
	size := s.audio.Rate() / 50
	for at := 0; ; {
		part, total, err := c.next(j.ctx, at, size)
		switch {
		case errors.Is(err, io.EOF), j.ctx.Err() != nil:
			return nil
		case err != nil:
			s.cfg.Logger.ErrorContext(j.ctx, "synthesizer failed", "error", err)
			return &answerFailure{cause: err, mute: true}
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

// lost handles a call that accepts no more audio. Usually the reader detects the end of the call, too, and cancels the job. If it does not
// do so within a second, the call has failed.
func (s *speaker) lost(j *job, err error) *answerFailure {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-j.ctx.Done():
		return nil
	case <-timer.C:
		return &answerFailure{cause: err, mute: true}
	}
}

// load starts the synthesis of a text. The end of ctx stops the synthesis.
func (s *speaker) load(ctx context.Context, text string, b BargeIn) *clip {
	c := &clip{text: text, bargeIn: b, changed: make(chan struct{})}
	speech := tts.Request{Text: text, Voice: s.cfg.Voice, Language: s.cfg.Language, Rate: s.audio.Rate()}
	s.wait.Go(func() { c.read(ctx, s.cfg.Synthesizer, speech) })
	return c
}
