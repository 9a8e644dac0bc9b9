package conversation

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// run answers the jobs one after the other until the reader closes the channel. Even the words of a canceled job are written to the
// transcript, unless they belong to a later job.
func (s *speaker) run() {
	defer close(s.done)
	for j := range s.jobs {
		s.writeOverlaps(forever)
		if t, ok := s.turn(j); ok {
			s.reply(j, t)
		} else if j.filled {
			s.recordFiller(j)
		}
		j.cancel()
	}
	s.writeOverlaps(forever)
}

// notifyReader sends a notice of a job to the reader, unless the session has ended.
func (s *speaker) notifyReader(j *job, e event, err error) {
	select {
	case s.notices <- notice{event: e, number: j.number, err: err}:
	case <-s.ctx.Done():
	}
}

// turn returns the turn that the brain must answer, or false if there is nothing to answer.
func (s *speaker) turn(j *job) (Turn, bool) {
	t := Turn{Kind: j.kind, Text: j.text}
	if j.apology {
		return t, true
	}
	if j.early != nil {
		if brain, ok := s.brain.(EarlyBrain); ok && brain.AnswersEarly() {
			return s.earlyTurn(j)
		}
		if j.early.wait(j.ctx) != nil {
			return t, false
		}
	}
	var spoken spokenWords
	if j.kind == TurnSpeech {
		s.awaitWords(j)
		spoken = j.words()
		j.latency.Recognized = s.now() - j.lastVoice
	}
	live := j.mouth.pass(j.ctx)
	if !j.claim() {
		return t, false
	}
	switch {
	case j.kind == TurnDigits:
		s.write(Entry{Role: RoleCaller, Digits: true, Text: j.text, Turn: j.turn, Start: j.lastVoice, End: j.lastVoice})
	case j.kind == TurnSpeech && !s.hears(j, spoken):
		return t, false
	case j.kind == TurnSpeech:
		t.Text = spoken.text
	}
	if !live {
		return t, false
	}
	t.Interrupted, t.Heard = s.heardPart.interrupted, s.heardPart.heard
	s.heardPart = heardPart{}
	return t, true
}

// earlyTurn returns a turn that may not be certain, or false if it is withdrawn.
func (s *speaker) earlyTurn(j *job) (Turn, bool) {
	if !j.claim() {
		return Turn{}, false
	}
	j.asks.Store(int64(s.now()))
	j.latency.Recognized = s.now() - j.lastVoice
	j.unwritten = true
	return Turn{
		Kind: TurnSpeech, Text: j.text, Interrupted: s.heardPart.interrupted, Heard: s.heardPart.heard, Early: j.early,
	}, true
}

// confirm writes the caller's words of an early turn to the transcript, as soon as the turn is certain.
func (s *speaker) confirm(j *job) {
	if j.unwritten && j.early.isCertain() {
		j.unwritten = false
		s.hears(j, j.words())
		s.heardPart = heardPart{}
		j.effects.release()
	}
}

// certain waits until the turn of a job is certain, and confirms it. It returns false if the turn is withdrawn, or if the job's context ends.
func (s *speaker) certain(j *job) bool {
	if j.unwritten && j.early.wait(j.ctx) != nil {
		return false
	}
	s.confirm(j)
	return true
}

// hears writes the caller's words to the transcript. It returns false if they are no turn: the recognizer failed repeatedly or was canceled,
// or a short noise without words did not interrupt the agent.
func (s *speaker) hears(j *job, spoken spokenWords) bool {
	for _, e := range j.lines() {
		s.write(e)
	}
	if spoken.text == "" {
		s.show(Partial{Turn: j.turn})
	}
	switch {
	case spoken.err != nil && s.listens.Err() != nil:
		return false
	case spoken.err != nil:
		s.recognizerFailures++
		s.cfg.Logger.ErrorContext(j.ctx, "recognizer failed", "error", spoken.err, "in_a_row", s.recognizerFailures)
		if s.recognizerFailures > 1 {
			s.notifyReader(j, agentFailed, spoken.err)
			return false
		}
		return true
	}
	s.recognizerFailures = 0
	if spoken.text == "" && j.voiced < s.cfg.Interruption && !s.heardPart.interrupted && !j.filled {
		s.notifyReader(j, agentDone, nil)
		return false
	}
	return true
}

// reply plays the brain's answer to a turn. It returns when the answer was played or interrupted, and the brain has stopped.
func (s *speaker) reply(j *job, t Turn) {
	brain := s.brain
	if j.apology {
		brain = steps{Say{Text: s.cfg.Apology}, End{}}
	}
	if !j.unwritten {
		j.effects.release()
	}
	ctx, stop := context.WithCancel(j.ctx)
	items := make(chan item)
	s.thinking.Go(func() { s.think(ctx, j, brain, t, items) })
	last, err := s.perform(j, items)
	stop()
	s.awaitBrain(j, items)
	if j.early != nil {
		j.early.Decide(false) // a brain that ends its answer without Commit does not answer the turn
		if !j.early.isCertain() {
			return
		}
		s.confirm(j)
	}
	if lost := s.drain(j); err == nil {
		err = lost
	}
	if j.ctx.Err() != nil {
		j.mouth.cut(j.ctx, s.now) // if the end of Run's context has canceled the job
		s.record(j, true)
		return
	}
	s.record(j, false)
	s.finish(j, last, err)
}

// lastChance is the time in which an abandoned brain must stop, so that a brain that is about to stop is not reported.
const lastChance = 200 * time.Millisecond

// awaitBrain waits until the brain has stopped, or until it is abandoned.
func (s *speaker) awaitBrain(j *job, items <-chan item) {
	abandoned, late := s.abandoned, (<-chan time.Time)(nil)
	for {
		select {
		case _, runs := <-items:
			if !runs {
				return
			}
		case <-abandoned:
			abandoned, late = nil, time.After(lastChance)
		case <-late:
			s.cfg.Logger.ErrorContext(j.ctx, "the brain still runs, although its context has ended")
			return
		}
	}
}

// finish sends the reader a notice that an answer has ended. last is the End or Transfer of the answer, if any.
func (s *speaker) finish(j *job, last Step, err *answerFailure) {
	switch {
	case err != nil && (err.mute || j.spoke):
		s.notifyReader(j, agentBroken, err.cause)
	case err != nil:
		s.notifyReader(j, agentFailed, err.cause)
	case last != nil:
		if !j.apology {
			s.leave(last)
		}
		s.notifyReader(j, agentLeaves, nil)
	default:
		s.notifyReader(j, agentDone, nil)
	}
}

// leave stores the brain's End or Transfer for the outcome.
func (s *speaker) leave(last Step) {
	switch step := last.(type) {
	case End:
		s.reason = step.Reason
	case Transfer:
		s.transferTo = step.To
	}
}

// record writes an answer, the digits that the agent pressed and the overlapping words to the transcript. It stores the latency of an
// answer to speech, and the heard part of an interrupted answer for the next turn.
func (s *speaker) record(j *job, early bool) {
	text := cmp.Or(j.mouth.heard(), j.reported)
	first, last := j.mouth.span()
	interrupted := early && !j.givenUp && s.ctx.Err() == nil
	if interrupted && !j.apology {
		s.heardPart = heardPart{interrupted: true, heard: s.answered(j, text)}
	}
	j.latency.FirstStep = time.Duration(j.firstStep.Load())
	if first > 0 {
		j.latency.Playing = first - j.lastVoice
	}
	if j.kind == TurnSpeech {
		j.latency.EndOfTurn = j.ended - j.lastVoice
		if first > 0 {
			s.answers = append(s.answers, j.latency)
		}
	}
	s.writeOverlaps(first)
	if text != "" {
		s.write(Entry{
			Role: RoleAgent, Text: text, Turn: j.turn, Start: first, End: last, Interrupted: interrupted && !s.onlyFilled(j, text), Latency: j.latency, Begun: j.begun, Holds: j.mouth.pauses(),
		})
	}
	s.writeOverlaps(forever)
	for _, e := range j.pressed {
		s.write(e)
	}
}

// think asks the brain for an answer, and synthesizes the next sentence while a sentence is played.
func (s *speaker) think(ctx context.Context, j *job, brain Brain, t Turn, items chan<- item) {
	defer close(items)
	defer j.mouth.finish()
	answer := s.talk.Answer(ctx)
	defer answer.End()
	send := func(it item) bool {
		select {
		case items <- it:
			return true
		case <-ctx.Done():
			return false
		}
	}
	expects := false
	j.effects.add(func() { s.waits.Store(0) })
	var bargeIn BargeIn
	for step, err := range brain.Respond(ctx, t) {
		j.firstStep.CompareAndSwap(0, int64(s.now()-j.lastVoice))
		if err != nil {
			send(item{err: err})
			return
		}
		switch step := step.(type) {
		case BargeIn:
			bargeIn = step
		case Expect:
			expects = true
			j.effects.add(func() { s.expected.set(step) })
		case Wait:
			j.effects.add(func() { s.waits.Store(int64(step.For)) })
		case Say:
			for _, text := range speakable(step.Text) {
				if !send(item{clip: s.load(answer, text, bargeIn)}) {
					return
				}
			}
		default:
			if !send(item{step: step}) {
				return
			}
		}
	}
	if !expects && ctx.Err() == nil {
		j.effects.add(func() { s.expected.set(Expect{}) })
	}
}

// speakable returns the printable part of a text in pieces of at most tts.MaxText bytes. It returns none for a blank text.
func speakable(text string) []string {
	text = strings.TrimSpace(callwright.Printable(text))
	switch {
	case text == "":
		return nil
	case len(text) <= tts.MaxText:
		return []string{text}
	}
	var c tts.Chunker
	return append(c.Write(text), c.Flush()...)
}

// steps is a brain that always answers with the same steps.
type steps []Step

// Respond implements Brain.
func (b steps) Respond(context.Context, Turn) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for _, step := range b {
			if !yield(step, nil) {
				return
			}
		}
	}
}
