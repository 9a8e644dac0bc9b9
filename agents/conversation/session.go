package conversation

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// session is one conversation. Its reader, the goroutine of Run, drives everything: it hears the frames, moves the
// machine and has its effects done, none of which makes it wait. The speaker, one other goroutine, takes the turns that
// the reader hands it, one after the other: it gets the words, asks the brain, plays the answer and writes the
// transcript. It tells the reader with notices, which are looked at with the next frame.
type session struct {
	cfg   Config
	audio Audio
	brain Brain

	// The reader's own.
	state     state
	ear       *ear
	ring      *ring
	begun     bool          // the first frame is here
	lastVoice time.Duration // the end of the last frame with voice
	timer     time.Duration // in this state, for silence and patience
	digits    []byte
	sinceKey  time.Duration
	hearing   *utterance // the open one; nil: none
	job       *job       // the newest; nil before the first
	number    int        // the newest job's
	failure   error      // why the conversation failed

	// Between the goroutines.
	time    callTime
	jobs    chan *job
	notices chan notice
	held    gate
	phrases hints

	ctx     context.Context    //nolint:containedctx // the session lives as long as Run's context
	cancel  context.CancelFunc // of ctx
	listens context.Context    //nolint:containedctx // outlives ctx when the caller has hung up: for the last words
	deafen  context.CancelFunc // of listens
	wait    sync.WaitGroup     // for all goroutines

	speaker
}

// notice is what the speaker tells the reader.
type notice struct {
	event  event
	number int   // of the job that it is about: a notice about an older one than the newest is late and means nothing
	err    error // with agentFailed and agentBroken
}

func newSession(ctx context.Context, c Config, audio Audio, brain Brain) *session {
	rate := audio.Rate()
	s := &session{
		cfg: c, audio: audio, brain: brain,
		ear:     newEar(rate),
		ring:    newRing(rate, c.PreRoll+c.Interruption+2*wordGap),
		jobs:    make(chan *job, 64),
		notices: make(chan notice, 64),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.listens, s.deafen = context.WithCancel(context.WithoutCancel(ctx))
	s.wait.Go(s.speak)
	return s
}

// read is the reader. It returns when the conversation is over: nil, or why the call gave no more frames.
func (s *session) read(ctx context.Context) error {
	for s.state != over {
		f, err := s.audio.Read(ctx)
		if err != nil {
			return err
		}
		s.time.set(f.Elapsed, s.cfg.Clock.Now())
		if !s.begun {
			s.begun = true
			var do []effect
			s.state, do = start(s.cfg.WaitForGreeting)
			s.do(do)
		}
		s.frame(f)
	}
	return nil
}

// close ends everything and waits for it. A caller who hung up had perhaps just said something: that is recognized
// for the transcript before the end.
func (s *session) close(ctx context.Context, err error) (Outcome, error) {
	if s.hearing != nil {
		s.hearing.finish()
	}
	gone := err != nil && ctx.Err() == nil
	s.cancel()
	if gone {
		timer := time.AfterFunc(s.cfg.LastWords, s.deafen)
		defer timer.Stop()
		if s.hearing != nil {
			s.submit(&job{kind: TurnSpeech, utterance: s.hearing})
		}
	} else {
		s.deafen()
	}
	close(s.jobs)
	s.wait.Wait()
	s.deafen()
	out := Outcome{Answers: s.answers}
	switch {
	case s.failure != nil:
		out.By = ByFailure
		return out, s.failure
	case s.state == over:
		out.By, out.Reason, out.TransferTo = ByAgent, s.reason, s.transferTo
	case gone:
		out.By = ByPeer
		if !errors.Is(err, io.EOF) {
			s.cfg.Logger.WarnContext(ctx, "the call's audio ended with an error", "error", err)
		}
	default:
		out.By = ByContext
	}
	return out, nil
}

// now is the call's time.
func (s *session) now() time.Duration { return s.time.now(s.cfg.Clock.Now()) }

// frame is 20 ms of the call.
func (s *session) frame(f Frame) {
	s.takeNotices()
	s.watchPlayout()
	s.held.set(f.Held)
	if f.Digit != 0 {
		s.key(f.Digit)
	}
	if f.Held {
		return // time stands still, and there is nothing to hear
	}
	s.hear(f)
	s.tick()
}

// takeNotices moves the machine by what the speaker has told.
func (s *session) takeNotices() {
	for {
		select {
		case n := <-s.notices:
			if n.number != s.number {
				continue
			}
			if n.err != nil && s.failure == nil && s.state.insistence() {
				s.failure = n.err
			}
			s.happens(n.event)
		default:
			return
		}
	}
}

// watchPlayout sees the answer become audible and come to its end.
func (s *session) watchPlayout() {
	if s.job == nil {
		return
	}
	if s.job.playout.watch(s.audio.Queued(), s.now) && s.state == thinking {
		s.happens(agentAudible)
	}
}

// key takes a digit.
func (s *session) key(digit byte) {
	s.happens(digitPressed)
	if s.state != keying {
		return
	}
	s.sinceKey = 0
	s.lastVoice = s.now()
	if digit != '#' || len(s.digits) == 0 {
		s.digits = append(s.digits, digit)
	}
	if digit == '#' || len(s.digits) == maxDigits {
		s.happens(digitsComplete)
	}
}

// maxDigits bounds what the caller may press in one go.
const maxDigits = 64

// hear listens to a frame: the ring, the open utterance, and the events of voice.
func (s *session) hear(f Frame) {
	s.ring.write(f.In)
	if s.hearing != nil {
		s.hearing.write(f.In)
	}
	s.ear.hear(f, s.guarded())
	if s.ear.run > 1 {
		s.lastVoice = s.now()
	}
	switch s.state {
	case hearing:
		s.pause()
	case keying, leaving:
		s.ear.reset()
	default:
		s.ear.settle()
		if s.insists() {
			s.happens(callerSpeaks)
		}
	}
}

// insists says whether the caller's voice counts: a word does when the agent is silent, also one that was spoken while
// the agent finished; one that shall break in must go on for longer.
func (s *session) insists() bool {
	if s.state.insistence() {
		return s.ear.run > 1 && s.ear.voiced >= s.cfg.Interruption
	}
	return s.ear.voiced >= shortestVoice
}

// guarded says whether the agent has only just begun to speak, so that its echo may come back loud.
func (s *session) guarded() bool {
	if s.state != speaking {
		return s.state == thinking
	}
	first, _ := s.job.playout.span()
	return s.now()-first < s.cfg.EchoGuard
}

// pause looks whether the utterance is over.
func (s *session) pause() {
	switch {
	case s.ear.gap >= s.cfg.EndOfTurn:
		s.happens(callerPauses)
	case s.ear.length >= s.cfg.MaxTurn:
		s.happens(callerRambles)
	}
}

// tick lets the timers of the state run.
func (s *session) tick() {
	s.timer += frameTime
	s.sinceKey += frameTime
	switch {
	case s.state == keying && s.sinceKey >= s.cfg.InterDigit:
		s.happens(digitsComplete)
	case (s.state == idle || s.state == greeting) && s.timer >= s.cfg.Silence:
		s.happens(callerSilent)
	case s.state.insistence() && s.stalled():
		s.failure = callwright.Errorf(callwright.CodeUnavailable, "no answer came within %s", s.cfg.Patience)
		s.happens(agentFailed)
	case s.state == leaving && s.timer >= s.cfg.Patience:
		s.happens(agentBroken)
	}
}

// stalled says whether nothing has come from the agent for too long.
func (s *session) stalled() bool {
	_, last := s.job.playout.span()
	return s.timer >= s.cfg.Patience && s.now()-last >= s.cfg.Patience
}

// happens moves the machine and does its effects.
func (s *session) happens(e event) {
	next, do := step(s.state, e)
	if next != s.state {
		s.timer = 0
	}
	s.state = next
	s.do(do)
}

// do does the effects of a move.
func (s *session) do(effects []effect) {
	for _, e := range effects {
		switch e {
		case listen:
			s.listen()
		case forget:
			s.hearing.abandon()
			s.hearing = nil
		case hush:
			s.hush()
		case answer:
			s.hearing.finish()
			s.submit(&job{kind: TurnSpeech, utterance: s.hearing, voiced: s.ear.voiced, ended: s.now()})
			s.hearing = nil
			s.ear.reset()
		case answerKeys:
			s.submit(&job{kind: TurnDigits, text: string(s.digits)})
			s.digits = s.digits[:0]
		case answerNone:
			s.lastVoice = s.now()
			s.submit(&job{kind: TurnSilence})
		case begin:
			s.lastVoice = s.now()
			s.submit(&job{kind: TurnStart})
		case apologize:
			s.deafen() // a recognizer may be what it all waits for
			s.lastVoice = s.now()
			s.submit(&job{apology: true})
		}
	}
}

// listen opens an utterance, and gives it what the ring has of it.
func (s *session) listen() {
	s.hearing = s.startUtterance(s.now() - s.ear.length)
	back := s.ear.length + s.cfg.PreRoll
	s.hearing.write(s.ring.last(nil, int(back.Seconds()*float64(s.audio.Rate()))))
}

// hush silences the agent: with the next packet nothing of it is heard.
func (s *session) hush() {
	s.job.cancel()
	s.job.playout.drop(s.audio.Flush())
}

// submit hands the speaker a turn.
func (s *session) submit(j *job) {
	s.number++
	j.number = s.number
	j.lastVoice = s.lastVoice
	j.playout.drained = make(chan struct{})
	j.ctx, j.cancel = context.WithCancel(s.ctx)
	s.job = j
	select {
	case s.jobs <- j:
	default: // the speaker hangs in a brain that does not end with its context
		s.failure = callwright.Errorf(callwright.CodeInternal, "the brain does not stop when it is told to")
		s.state = over
	}
}
