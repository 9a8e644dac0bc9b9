package conversation

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
)

// happens moves the state machine by an event and performs the effects.
func (r *reader) happens(e event) {
	if (e == callerSpeaks || e == callerTalksOver) && r.state.agentHasFloor() {
		r.rule = r.currentRule()
	}
	next, do := step(r.state, e)
	if next != r.state {
		r.timer = 0
	}
	r.state = next
	r.do(do)
}

// do performs the effects of a move.
func (r *reader) do(effects []effect) {
	for _, e := range effects {
		switch e {
		case listen:
			r.listen()
		case segment:
			r.segment()
		case forget:
			r.hearing.abandon()
			r.hearing = nil
			r.show(Partial{Turn: r.turn.number})
		case hush:
			r.hush(slices.Contains(effects, carry))
		case hold:
			r.heldVoice = 0
			r.job.mouth.hold(r.ctx, r.now, r.restOfWord())
		case resume:
			r.job.mouth.resume(r.now(), r.why)
		case judge:
			r.judge()
		case carry:
			r.carry()
		case note:
			r.note()
		case propose:
			r.propose()
		case withdraw:
			r.withdraw()
		case commit:
			r.commit()
		case answer:
			r.carry()
			r.submit(r.turnJob())
		case answerKeys:
			r.turns++
			r.submit(&job{kind: TurnDigits, turn: r.turns, text: string(r.digits), lastVoice: r.lastVoice})
			r.digits = r.digits[:0]
		case answerNone:
			if len(r.pending) > 0 { // the caller has spoken, and the recognizer is very slow
				r.carry()
				r.submit(r.turnJob())
				continue
			}
			r.submit(&job{kind: TurnSilence, lastVoice: r.now()})
		case begin:
			r.submit(&job{kind: TurnStart, lastVoice: r.now()})
		case apologize:
			r.stopListening(errIgnored) // the recognizer may have caused the failure
			r.abandon()                 // or the brain
			r.submit(&job{apology: true, lastVoice: r.now()})
		}
	}
}

// listen opens an utterance that begins with the audio shortly before the voice. No audio belongs to two utterances.
func (r *reader) listen() {
	r.hearing = r.recognition.begin(r.session.hearing(), r.now()-r.voiceDetector.length)
	back := min(r.voiceDetector.length+r.cfg.PreRoll, r.now()-r.closed)
	r.recall(r.hearing)
	r.hearing.write(r.ring.last(nil, int(back.Seconds()*float64(r.audio.Rate()))))
	if pause := r.hearing.began - r.turn.lastVoice; len(r.turn.utterances) > 0 && pause > 0 {
		r.notePause(pause)
	}
}

// finishHearing finishes the open utterance, and returns it.
func (r *reader) finishHearing() *utterance {
	u := r.hearing
	u.finish()
	u.voiced, u.lastVoice = r.voiceDetector.voiced, r.lastVoice
	r.closed = r.now()
	r.hearing = nil
	r.voiceDetector.reset()
	return u
}

// submit passes a turn to the speaker. If the speaker's queue is full, the conversation fails.
func (r *reader) submit(j *job) {
	r.number++
	j.number = r.number
	r.noises, r.mute = 0, 0
	r.unanswered = r.now() - j.lastVoice
	j.mouth, j.fill = newMouth(r.audio), make(chan struct{}, 1)
	j.mouth.gated = j.early != nil
	j.ctx, j.cancel = context.WithCancel(r.ctx)
	r.job = j
	select {
	case r.jobs <- j:
	default: // earlier answers of the brain have not ended with their contexts
		r.failure = callwright.Errorf(callwright.CodeInternal, "the brain still gives earlier answers, although their contexts have ended")
		r.state = over
	}
}
