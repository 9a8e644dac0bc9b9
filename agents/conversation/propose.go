package conversation

import (
	"slices"

	"github.com/callwright/callwright/agents/conversation/words"
)

// maxBegun is the maximum number of early answers to a turn. Each of them lasts until the turn is over, the caller continues or the words
// change, which is at most Config.LongestWait.
const maxBegun = 3

// answersEarly reports whether the brain may prepare an answer to the caller's turn.
func (r *reader) answersEarly() bool {
	_, early := r.brain.(EarlyBrain)
	return early && r.turn.text != "" && len(r.turn.begun) < maxBegun
}

// propose submits the turn as a job that is not certain. The turn stays open.
func (r *reader) propose() {
	r.submit(&job{
		kind: TurnSpeech, turn: r.turn.number, began: r.turn.began, utterances: slices.Clone(r.turn.utterances), asked: r.turn.asked, text: r.turn.text,
		lastVoice: r.turn.lastVoice, early: &Early{},
	})
}

// revised reports whether the prepared answer does not answer the words of the turn.
func (r *reader) revised() bool {
	return r.job.text != r.turn.text && !slices.Equal(words.Fold(r.job.text), words.Fold(r.turn.text))
}

// withdraw withdraws the prepared answer. The next state is the reason.
func (r *reader) withdraw() {
	j := r.job
	j.early.Decide(false)
	j.claim() // the utterances belong to the open turn
	j.cancel()
	j.mouth.cut(r.ctx, r.now)
	why := BegunContinued
	switch r.state {
	case pausing:
		why = BegunRevised
	case thinking, proposed: // the brain has withdrawn the turn, or the call has ended
		return
	default:
	}
	if at, ok := j.begunAt(); ok {
		r.turn.begun = append(r.turn.begun, Begun{At: at, Why: why})
	}
}

// commit makes the turn certain, so that the prepared answer is played. If the brain has withdrawn the turn, it receives the turn again.
func (r *reader) commit() {
	j := r.job
	j.ended, j.waitedFor, j.begun = r.now(), r.turn.wait.Why, r.turn.begun
	for _, u := range j.utterances {
		j.voiced += u.voiced
	}
	if at, ok := j.begunAt(); ok {
		j.begun = append(slices.Clip(j.begun), Begun{At: at, Used: true})
	}
	r.unanswered = r.now() - j.lastVoice
	j.early.Decide(true)
	if !j.early.isCertain() {
		r.withdraw()
		r.submit(r.turnJob())
		return
	}
	r.turn = callerTurn{}
	j.mouth.open()
}
