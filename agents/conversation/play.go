package conversation

import (
	"errors"
	"time"

	"github.com/callwright/callwright/speech/tts"
)

// speaker answers turns in a separate goroutine. The reader reads its results only after that goroutine has ended.
type speaker struct {
	*session
	done chan struct{} // closed when run has returned

	heardPart          heardPart
	recognizerFailures int // consecutive failures of the recognizer
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
	lost  bool // the call accepts no more audio
}

// perform plays an answer until the answer or the job's context ends. It returns the End or Transfer with which the answer ends, if any, or
// the failure of the answer.
func (s *speaker) perform(j *job, items <-chan item) (Step, *answerFailure) {
	if j.filled && j.broken == nil {
		j.broken = s.speak(j, nil) // the rest of the filler
	}
	if j.broken != nil {
		return nil, j.broken
	}
	for {
		var it item
		var ok bool
		select {
		case it, ok = <-items:
			j.spoke = j.spoke || it.clip != nil
		case <-j.fill:
			if it, ok = s.filler(j); !ok {
				continue
			}
		case <-j.mouth.wake: // perhaps after a hold, which requires the last line to be written again
			if b := s.speak(j, nil); b != nil {
				return nil, b
			}
			continue
		case <-j.ctx.Done():
		}
		switch {
		case !ok, j.ctx.Err() != nil: // the end of the job's context may have stopped speak within a line
			return nil, nil
		case it.err != nil:
			s.cfg.Logger.ErrorContext(j.ctx, "brain failed", "error", it.err)
			return nil, &answerFailure{cause: it.err}
		case it.clip != nil:
			j.mouth.begin(it.clip)
			if b := s.speak(j, nil); b != nil {
				return nil, b
			}
		case !s.certain(j):
			return nil, nil
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

// press sends digits after all earlier words were played. It logs a failure, which does not end the conversation.
func (s *speaker) press(j *job, p Press) {
	if s.drain(j) != nil || s.held.pass(j.ctx) != nil {
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

// speak writes all lines of the answer to the call, frame by frame. It waits while the call is on hold or the answer is held, and returns
// when the job's context ends. When over is closed, which may be nil, it returns instead of waiting for more room; the next call continues.
func (s *speaker) speak(j *job, over <-chan struct{}) *answerFailure {
	for s.held.pass(j.ctx) == nil {
		s.report(j)
		if j.known() { // otherwise the answer does not wait for the words; it is confirmed at its end
			s.confirm(j)
		}
		did, changed, err := j.mouth.write(j.ctx)
		if lost, ok := errors.AsType[lostCall](err); ok {
			return s.lost(j, lost.error)
		}
		switch {
		case j.ctx.Err() != nil:
			return nil
		case err != nil:
			s.cfg.Logger.ErrorContext(j.ctx, "synthesizer failed", "error", err)
			return &answerFailure{cause: err, mute: true}
		case did == written:
			return nil
		case did == wrote && j.latency.FirstAudio == 0:
			j.latency.FirstAudio = s.now() - j.lastVoice
			continue
		case did != waits:
			continue
		}
		select {
		case <-changed:
		case <-j.mouth.wake:
		case <-over:
			return nil
		case <-j.ctx.Done():
		}
	}
	return nil
}

// spokenEvery is the minimum interval in which a SpeechObserver receives the words of an answer.
const spokenEvery = 2 * time.Second

// report passes the heard part of an answer to the observer, if it receives spoken words and the part has grown.
func (s *speaker) report(j *job) {
	first, last := j.mouth.span()
	if first == 0 || j.reported != "" && s.now()-j.reportedAt < spokenEvery {
		return
	}
	o, ok := s.cfg.Observer.(SpeechObserver)
	if !ok {
		return
	}
	text := j.mouth.heard()
	if text == "" || text == j.reported {
		return
	}
	j.reported, j.reportedAt = text, s.now()
	s.observing.Lock()
	defer s.observing.Unlock()
	o.Spoken(Entry{Role: RoleAgent, Text: text, Turn: j.turn, Start: first, End: last})
}

// drain waits until all lines so far were played, and the answer is not held, or until the job's context ends. It returns a failure if the
// call accepts no more audio. A failure of the synthesizer has been reported before.
func (s *speaker) drain(j *job) *answerFailure {
	for !j.mouth.silent() {
		if b := s.speak(j, nil); b != nil && b.lost {
			return b
		}
		select {
		case <-j.mouth.wake:
		case <-j.ctx.Done():
			return nil
		}
	}
	return nil
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
		return &answerFailure{cause: err, mute: true, lost: true}
	}
}

// load starts the synthesis of a text as the next piece of an answer. The end of the answer's context stops the synthesis.
func (s *speaker) load(answer tts.Answer, text string, b BargeIn) *clip {
	c := &clip{text: text, bargeIn: b, changed: make(chan struct{})}
	stream := answer.Say(text)
	s.wait.Go(func() { c.read(stream, s.audio.Rate()) })
	return c
}
