package conversation

import "time"

// briefVoice is the voice over the agent's words from which the caller's words are recognized, although the agent does not pause for them.
const briefVoice = 120 * time.Millisecond

// talksOver reports whether the caller's voice over the agent's words is long enough to be recognized. Over words that a voice interrupts, a
// shorter voice suffices, except for its beginning: a lone "stop" may be too short to pause the agent.
func (r *reader) talksOver() bool {
	if r.currentRule().pause == 0 {
		return r.voiceDetector.interrupts(bargeInRules[NormallyInterrupted].pause)
	}
	return !r.guarded() && r.voiceDetector.interrupts(briefVoice)
}

// overhear ends the utterance over the agent's words if the caller has paused or the utterance is too long. If the voice may interrupt
// the agent's current words, and is long enough, it holds them.
func (r *reader) overhear() {
	e := r.voiceDetector
	switch {
	case r.voiceCounts():
		r.happens(callerSpeaks)
	case e.run == 0 && e.gap >= r.segmentPause():
		r.happens(callerPauses)
	case e.length >= r.cfg.MaxTurn:
		r.happens(turnTooLong)
	default:
		r.duck()
	}
}

// joinOverheard lets the words over uninterruptible words take effect, as soon as a voice may interrupt the agent or the agent has finished:
// they interrupt it, and belong to the caller's next turn.
func (r *reader) joinOverheard() {
	if len(r.overheard) == 0 || r.state.agentHasFloor() && r.cfg.bargeInRule(r.job.mouth.bargeIn()).pause == 0 {
		return
	}
	r.happens(wordsHeard)
}
