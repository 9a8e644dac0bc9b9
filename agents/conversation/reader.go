package conversation

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/intonation"
)

// reader runs in the goroutine of Run. It reads the frames, moves the state machine and performs its effects, none of which waits. The
// speaker answers the turns that the reader submits.
type reader struct {
	*session
	speaker *speaker

	state         state
	voiceDetector *voiceDetector
	pitch         *intonation.Meter // of the caller's voice while the agent is silent
	ring          *ring
	begun         bool          // whether the first frame has arrived
	lastVoice     time.Duration // end of the last frame with voice
	timer         time.Duration // time in this state, for Silence and for Patience of the apology
	mute          time.Duration // silence of an agent that owes an answer, for Patience and Filler
	unanswered    time.Duration // silence between the caller's last voice and the newest job, for Filler
	digits        []byte
	sinceKey      time.Duration
	hearing       *utterance // open utterance; nil if none is open
	turn          callerTurn // open turn
	turns         int        // number of turns so far
	pauses        []time.Duration
	pending       []*utterance  // finished utterances over an answer, whose words are not known yet
	overheard     []*utterance  // utterances over uninterruptible words that belong to the caller's next turn
	verdictBy     time.Duration // time of the call at which a held answer continues without a verdict
	closed        time.Duration // time of the call at which the last utterance ended
	rule          bargeInRule   // rule for the held words
	heldVoice     time.Duration // voice in the earlier utterances of the hold
	why           HoldReason    // reason for the end of the hold
	noises        int           // utterances without words over the answer
	job           *job          // newest job; nil before the first job
	number        int           // number of the newest job
	failure       error         // error of the failed conversation
}

// newReader starts the speaker and returns the reader of a conversation.
func newReader(ctx context.Context, c Config, audio Audio, brain Brain) *reader {
	rate := audio.Rate()
	s := newSession(ctx, c, audio, brain)
	r := &reader{
		session: s, speaker: &speaker{session: s, done: make(chan struct{})},
		voiceDetector: newEar(c.Activity(rate)), pitch: intonation.New(rate), ring: newRing(rate, c.PreRoll+c.Interruption+2*wordGap),
	}
	s.wait.Go(s.recognition.run)
	s.wait.Go(r.speaker.run)
	return r
}

// read reads frames until the conversation is over, and returns nil. If Read fails first, because the call or ctx has ended, it returns
// that error.
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

// brainPatience is the time in which a brain must stop at the end of the conversation.
const brainPatience = 5 * time.Second

// close stops all goroutines, waits for them, and returns the result of the conversation. If the caller has hung up, the caller's last
// words are still recognized for the transcript, within Config.LastWords.
func (r *reader) close(ctx context.Context, err error) (Outcome, error) {
	gone := err != nil && ctx.Err() == nil
	if r.state == proposed {
		r.withdraw()
	}
	r.cancel()
	if gone {
		timer := time.AfterFunc(r.cfg.LastWords, func() { r.stopListening(errStuck) })
		defer timer.Stop()
		r.submitLastWords()
	} else {
		r.stopListening(errIgnored)
	}
	for _, u := range r.overheard {
		r.noteOverlap(u)
	}
	close(r.jobs)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), brainPatience)
	defer cancel()
	context.AfterFunc(late, r.abandon)
	<-r.speaker.done
	r.stopListening(errIgnored)
	_ = r.talk.Close()
	r.wait.Wait()
	stopped := make(chan struct{})
	go func() {
		r.thinking.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-late.Done():
	}
	r.show(Partial{Turn: r.shown.Turn})
	out := Outcome{Answers: r.speaker.answers, Meanwhile: r.cfg.Meanwhile}
	switch {
	case r.failure != nil:
		out.By = ByFailure
		return out, r.failure
	case r.state == over:
		out.By, out.Reason, out.TransferTo = ByAgent, r.speaker.reason, r.speaker.transferTo
	case gone:
		out.By = ByPeer
		if !errors.Is(err, io.EOF) {
			r.cfg.Logger.WarnContext(ctx, "call audio ended with an error", "error", err)
		}
	default:
		out.By = ByContext
	}
	return out, nil
}

// frame handles a frame: the speaker's notices, the playout, a digit, the caller's voice and the timers.
func (r *reader) frame(f Frame) {
	r.readNotices()
	r.readWords()
	r.joinOverheard()
	r.watchPlayout()
	r.held.set(f.OnHold)
	if r.job != nil {
		r.job.mouth.setOnHold(f.OnHold, r.now())
	}
	r.resume()
	if f.Digit != 0 {
		r.key(f.Digit)
	}
	if f.OnHold {
		return // while the call is held, timers stop and audio is ignored
	}
	r.hear(f)
	r.tick()
}

// readNotices handles the speaker's notices that have arrived. It ignores notices of former jobs.
func (r *reader) readNotices() {
	for {
		select {
		case n := <-r.notices:
			if n.number != r.number {
				continue
			}
			if n.err != nil && r.failure == nil && r.state.agentHasFloor() {
				r.failure = n.err
			}
			r.happens(n.event)
		default:
			return
		}
	}
}

// watchPlayout updates the played part of the answer, and detects its first audible sample.
func (r *reader) watchPlayout() {
	if r.job == nil {
		return
	}
	if r.job.mouth.watch(r.now) && r.state == thinking {
		r.happens(agentAudible)
	}
}

// key handles a digit of the caller. # or maxDigits digits complete the sequence.
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

// maxDigits bounds the number of digits in a sequence.
const maxDigits = 64

// hear passes a frame's audio to the open utterance, and detects voice and pauses in it.
func (r *reader) hear(f Frame) {
	r.ring.write(f.In)
	if r.hearing != nil {
		r.hearing.write(f.In)
	}
	r.voiceDetector.hear(f, r.guarded())
	r.pitch.Hear(f.In, r.voiceDetector.run > 0 && len(f.Out) == 0)
	if r.voiceDetector.run > 1 {
		r.lastVoice = r.now()
	}
	switch r.state {
	case hearing:
		r.pause()
	case paused:
		r.holdPause()
	case talkedOver:
		r.overhear()
	case pausing, proposed:
		r.turnPause()
	case keying, leaving:
		r.voiceDetector.reset()
	default:
		r.awaitVoice()
	}
}

// awaitVoice reports a voice that is long enough to begin an utterance.
func (r *reader) awaitVoice() {
	r.voiceDetector.endBurst()
	switch {
	case r.voiceCounts():
		r.happens(callerSpeaks)
	case r.state == speaking && r.talksOver():
		r.happens(callerTalksOver)
		r.duck()
	case r.state == speaking:
		r.duck()
	}
}

// voiceCounts reports whether the caller's voice is long enough to begin an utterance. While the agent is silent, shortestVoice suffices,
// even if the voice began before the agent had finished. A voice that interrupts the agent must last for the pause of the rule for the
// agent's current words. After falseHolds noises over an answer, it must last for the rule's cut.
func (r *reader) voiceCounts() bool {
	if !r.state.agentHasFloor() {
		return r.voiceDetector.speaks()
	}
	rule := r.currentRule()
	need := rule.pause
	if r.noises >= falseHolds {
		need = max(need, rule.cut)
	}
	return need > 0 && r.voiceDetector.interrupts(need)
}

// currentRule returns the rule for the agent's current words. While the agent is about to speak, the caller may still continue the previous
// turn, and any words except back-channels interrupt the agent.
func (r *reader) currentRule() bargeInRule {
	switch r.state {
	case thinking:
		return bargeInRule{pause: r.cfg.Interruption, cut: max(r.cfg.Interruption, bargeInRules[NormallyInterrupted].cut), words: 1}
	case speaking, talkedOver:
		rule := r.cfg.bargeInRule(r.job.mouth.bargeIn())
		r.ring.grow(r.audio.Rate(), r.cfg.PreRoll+rule.pause+2*wordGap)
		return rule
	default:
		return r.rule
	}
}

// guarded reports whether the agent is about to speak or has just begun, so that its echo may be loud.
func (r *reader) guarded() bool {
	if !r.state.audible() {
		return r.state == thinking
	}
	first, _ := r.job.mouth.span()
	return r.now()-first < r.cfg.EchoGuard
}

// tick advances the timers by one frame and handles those that expire.
func (r *reader) tick() {
	r.timer += frameTime
	r.sinceKey += frameTime
	r.countMute()
	r.fill()
	switch {
	case r.state == keying && r.sinceKey >= r.cfg.InterDigit:
		r.happens(digitsComplete)
	case (r.state == idle || r.state == greeting) && r.timer >= r.silence():
		r.happens(callerSilent)
	case r.state == judging && r.now() >= r.verdictBy:
		r.why = HoldTimeout
		r.happens(verdictLate)
	case r.mute >= r.cfg.Patience:
		r.job.givenUp = true
		r.failure = callwright.Errorf(callwright.CodeUnavailable, "the agent gave no answer within %s", r.cfg.Patience)
		r.happens(agentFailed)
	case r.state == leaving && r.timer >= r.cfg.Patience:
		r.happens(agentBroken)
	}
}
