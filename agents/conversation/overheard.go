package conversation

// talksOver reports whether the caller's voice over words that no voice interrupts is long enough to be recognized.
func (r *reader) talksOver() bool {
	return r.currentRule().pause == 0 && r.voiceDetector.interrupts(bargeInRules[NormallyInterrupted].pause)
}

// overhear ends the utterance over uninterruptible words if the caller has paused or the utterance is too long. If the voice may interrupt
// the agent's current words, it holds them.
func (r *reader) overhear() {
	e, rule := r.voiceDetector, r.currentRule()
	switch {
	case rule.pause > 0 && e.interrupts(rule.pause):
		r.happens(callerSpeaks)
	case e.run == 0 && e.gap >= r.segmentPause():
		r.happens(callerPauses)
	case e.length >= r.cfg.MaxTurn:
		r.happens(turnTooLong)
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
