package conversation

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// reader is the goroutine of Run. It hears the frames, moves the machine and does its effects, none of which waits. The
// speaker takes the turns that the reader submits.
type reader struct {
	*session
	speaker *speaker

	state     state
	ear       *ear
	ring      *ring
	begun     bool          // the first frame has come
	lastVoice time.Duration // the end of the last frame with voice
	timer     time.Duration // in this state, for silence and patience
	digits    []byte
	sinceKey  time.Duration
	hearing   *utterance // the open one; nil: none
	job       *job       // the newest; nil before the first
	number    int        // the newest job's
	failure   error      // why the conversation failed
}

// newReader starts the speaker and returns the reader of a conversation.
func newReader(ctx context.Context, c Config, audio Audio, brain Brain) *reader {
	rate := audio.Rate()
	s := newSession(ctx, c, audio, brain)
	r := &reader{
		session: s, speaker: &speaker{session: s},
		ear: newEar(rate), ring: newRing(rate, c.PreRoll+c.Interruption+2*wordGap),
	}
	s.wait.Go(r.speaker.run)
	return r
}

// read is the reader. It returns when the conversation is over: nil, or why the call gave no more frames.
func (r *reader) read(ctx context.Context) error {
	for r.state != over {
		f, err := r.audio.Read(ctx)
		if err != nil {
			return err
		}
		r.time.set(f.Elapsed, r.cfg.Clock.Now())
		if !r.begun {
			r.begun = true
			var do []effect
			r.state, do = start(r.cfg.WaitForGreeting)
			r.do(do)
		}
		r.frame(f)
	}
	return nil
}

// close ends everything and waits for it. A caller who hung up had perhaps just said something: that is recognized
// for the transcript before the end.
func (r *reader) close(ctx context.Context, err error) (Outcome, error) {
	if r.hearing != nil {
		r.hearing.finish()
	}
	gone := err != nil && ctx.Err() == nil
	r.cancel()
	if gone {
		timer := time.AfterFunc(r.cfg.LastWords, r.deafen)
		defer timer.Stop()
		if r.hearing != nil {
			r.submit(&job{kind: TurnSpeech, utterance: r.hearing})
		}
	} else {
		r.deafen()
	}
	close(r.jobs)
	r.wait.Wait()
	r.deafen()
	out := Outcome{Answers: r.speaker.answers}
	switch {
	case r.failure != nil:
		out.By = ByFailure
		return out, r.failure
	case r.state == over:
		out.By, out.Reason, out.TransferTo = ByAgent, r.speaker.reason, r.speaker.transferTo
	case gone:
		out.By = ByPeer
		if !errors.Is(err, io.EOF) {
			r.cfg.Logger.WarnContext(ctx, "the call's audio ended with an error", "error", err)
		}
	default:
		out.By = ByContext
	}
	return out, nil
}

// frame is 20 ms of the call.
func (r *reader) frame(f Frame) {
	r.takeNotices()
	r.watchPlayout()
	r.held.set(f.Held)
	if f.Digit != 0 {
		r.key(f.Digit)
	}
	if f.Held {
		return // time stands still, and there is nothing to hear
	}
	r.hear(f)
	r.tick()
}

// takeNotices moves the machine by what the speaker has told.
func (r *reader) takeNotices() {
	for {
		select {
		case n := <-r.notices:
			if n.number != r.number {
				continue
			}
			if n.err != nil && r.failure == nil && r.state.insistence() {
				r.failure = n.err
			}
			r.happens(n.event)
		default:
			return
		}
	}
}

// watchPlayout sees the answer become audible and come to its end.
func (r *reader) watchPlayout() {
	if r.job == nil {
		return
	}
	if r.job.playout.watch(r.audio.Queued(), r.now) && r.state == thinking {
		r.happens(agentAudible)
	}
}

// key takes a digit.
func (r *reader) key(digit byte) {
	r.happens(digitPressed)
	if r.state != keying {
		return
	}
	r.sinceKey = 0
	r.lastVoice = r.now()
	if digit != '#' || len(r.digits) == 0 {
		r.digits = append(r.digits, digit)
	}
	if digit == '#' || len(r.digits) == maxDigits {
		r.happens(digitsComplete)
	}
}

// maxDigits bounds what the caller may press in one go.
const maxDigits = 64

// hear listens to a frame: the ring, the open utterance, and the events of voice.
func (r *reader) hear(f Frame) {
	r.ring.write(f.In)
	if r.hearing != nil {
		r.hearing.write(f.In)
	}
	r.ear.hear(f, r.guarded())
	if r.ear.run > 1 {
		r.lastVoice = r.now()
	}
	switch r.state {
	case hearing:
		r.pause()
	case keying, leaving:
		r.ear.reset()
	default:
		r.ear.settle()
		if r.insists() {
			r.happens(callerSpeaks)
		}
	}
}

// insists says whether the caller's voice counts: a word does when the agent is silent, also one that was spoken while
// the agent finished; one that shall break in must go on for longer.
func (r *reader) insists() bool {
	if r.state.insistence() {
		return r.ear.run > 1 && r.ear.voiced >= r.cfg.Interruption
	}
	return r.ear.voiced >= shortestVoice
}

// guarded says whether the agent has only just begun to speak, so that its echo may come back loud.
func (r *reader) guarded() bool {
	if r.state != speaking {
		return r.state == thinking
	}
	first, _ := r.job.playout.span()
	return r.now()-first < r.cfg.EchoGuard
}

// pause looks whether the utterance is over.
func (r *reader) pause() {
	switch {
	case r.ear.gap >= r.cfg.EndOfTurn:
		r.happens(callerPauses)
	case r.ear.length >= r.cfg.MaxTurn:
		r.happens(callerRambles)
	}
}

// tick lets the timers of the state run.
func (r *reader) tick() {
	r.timer += frameTime
	r.sinceKey += frameTime
	switch {
	case r.state == keying && r.sinceKey >= r.cfg.InterDigit:
		r.happens(digitsComplete)
	case (r.state == idle || r.state == greeting) && r.timer >= r.cfg.Silence:
		r.happens(callerSilent)
	case r.state.insistence() && r.stalled():
		r.failure = callwright.Errorf(callwright.CodeUnavailable, "no answer came within %s", r.cfg.Patience)
		r.happens(agentFailed)
	case r.state == leaving && r.timer >= r.cfg.Patience:
		r.happens(agentBroken)
	}
}

// stalled says whether nothing has come from the agent for too long.
func (r *reader) stalled() bool {
	_, last := r.job.playout.span()
	return r.timer >= r.cfg.Patience && r.now()-last >= r.cfg.Patience
}

// happens moves the machine and does its effects.
func (r *reader) happens(e event) {
	next, do := step(r.state, e)
	if next != r.state {
		r.timer = 0
	}
	r.state = next
	r.do(do)
}

// do does the effects of a move.
func (r *reader) do(effects []effect) {
	for _, e := range effects {
		switch e {
		case listen:
			r.listen()
		case forget:
			r.hearing.abandon()
			r.hearing = nil
		case hush:
			r.hush()
		case answer:
			r.hearing.finish()
			r.submit(&job{kind: TurnSpeech, utterance: r.hearing, voiced: r.ear.voiced, ended: r.now()})
			r.hearing = nil
			r.ear.reset()
		case answerKeys:
			r.submit(&job{kind: TurnDigits, text: string(r.digits)})
			r.digits = r.digits[:0]
		case answerNone:
			r.lastVoice = r.now()
			r.submit(&job{kind: TurnSilence})
		case begin:
			r.lastVoice = r.now()
			r.submit(&job{kind: TurnStart})
		case apologize:
			r.deafen() // a recognizer may be what it all waits for
			r.lastVoice = r.now()
			r.submit(&job{apology: true})
		}
	}
}

// listen opens an utterance, and gives it what the ring has of it.
func (r *reader) listen() {
	u := newUtterance(r.listens, r.now()-r.ear.length)
	h := Hearing{Rate: r.audio.Rate(), Language: r.cfg.Language, Phrases: r.phrases.get()}
	r.wait.Go(func() { u.run(r.cfg.Recognizer, h) })
	r.hearing = u
	back := r.ear.length + r.cfg.PreRoll
	r.hearing.write(r.ring.last(nil, int(back.Seconds()*float64(r.audio.Rate()))))
}

// hush silences the agent: with the next packet nothing of it is heard.
func (r *reader) hush() {
	r.job.cancel()
	r.job.playout.drop(r.audio.Flush())
}

// submit hands the speaker a turn.
func (r *reader) submit(j *job) {
	r.number++
	j.number = r.number
	j.lastVoice = r.lastVoice
	j.playout.drained = make(chan struct{})
	j.ctx, j.cancel = context.WithCancel(r.ctx)
	r.job = j
	select {
	case r.jobs <- j:
	default: // the speaker hangs in a brain that does not end with its context
		r.failure = callwright.Errorf(callwright.CodeInternal, "the brain does not stop when it is told to")
		r.state = over
	}
}
