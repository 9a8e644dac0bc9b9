package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/agents/conversation/endpoint"
)

// The pauses at which an utterance of a turn ends, so that its words are known before the turn is over. A shorter Config.EndOfTurn applies.
const (
	segmentPause  = 300 * time.Millisecond
	partialPause  = 200 * time.Millisecond // if partial texts show that the engine streams
	maxPauses     = 32                     // number of pauses that Evidence.Pauses contains at most
	continuedTurn = time.Second            // time after the end of a turn in which further words show that it has ended too early
)

// callerTurn is a turn of the caller that is not over. The zero value is no turn.
type callerTurn struct {
	number     int           // see Entry.Turn; 0 before the turn is open
	began      time.Duration // time of the call at which the turn was opened
	utterances []*utterance  // finished, in order
	asked      string        // the agent's words before the turn
	lastVoice  time.Duration // time of the call at which the last of the utterances ended
	begun      []Begun       // early answers
	judged     bool          // whether the following fields consider all words so far
	wait       endpoint.Wait // silence that ends the turn
	likely     time.Duration // silence after which the brain may prepare an answer
	text       string        // the words
}

// openTurn opens a turn unless it is open.
func (r *reader) openTurn() {
	if r.turn.number > 0 {
		return
	}
	r.turns++
	r.turn = callerTurn{number: r.turns, began: r.now()}
	if r.job != nil {
		r.turn.asked = r.job.mouth.heard()
	}
}

// pause ends the utterance if the caller has paused, or if the turn has lasted for twice MaxTurn. It waits if the newest frame may begin a word.
func (r *reader) pause() {
	r.openTurn()
	switch {
	case r.now()-r.turn.began >= 2*r.cfg.MaxTurn:
		r.happens(turnTooLong)
	case r.voiceDetector.gap >= r.segmentPause() && r.voiceDetector.run == 0:
		r.happens(callerPauses)
	}
}

// segmentPause returns the pause that ends the open utterance.
func (r *reader) segmentPause() time.Duration {
	if r.hearing.streamed() {
		return min(partialPause, r.cfg.EndOfTurn)
	}
	return min(segmentPause, r.cfg.EndOfTurn)
}

// segment finishes the open utterance of the turn.
func (r *reader) segment() {
	r.openTurn()
	u := r.finishHearing()
	r.turn.utterances = append(r.turn.utterances, u)
	r.turn.lastVoice, r.turn.judged = u.lastVoice, false
}

// turnPause handles a pause within a turn: the caller continues, or the turn is likely or surely over. A turn that has lasted for MaxTurn
// is over at its first pause.
func (r *reader) turnPause() {
	r.awaitVoice()
	if r.state != pausing && r.state != proposed {
		return
	}
	if !r.turn.judged {
		r.judgeTurn()
	}
	silence := r.now() - r.turn.lastVoice
	switch {
	case r.state == proposed && r.revised():
		r.happens(textRevised)
	case r.voiceDetector.run > 0: // the newest frame may begin a word
	case silence >= r.turn.wait.Final, r.now()-r.turn.began >= r.cfg.MaxTurn:
		r.happens(turnOver)
	case r.state == pausing && silence >= r.turn.likely && r.answersEarly():
		r.happens(turnLikely)
	}
}

// judgeTurn asks the TurnDetector how long the turn may pause. If partial texts show words of all speech, an answer to them may be prepared.
func (r *reader) judgeTurn() {
	e, shown := r.evidence()
	r.turn.wait, r.turn.judged, r.turn.text = r.cfg.Turns.Judge(e), true, e.Text
	r.turn.likely = r.turn.wait.Likely
	if !e.Known && shown {
		e.Known = true
		r.turn.likely = r.cfg.Turns.Judge(e).Likely
	}
}

// evidence returns the evidence for the end of the turn, and whether the words of all its utterances are probably complete, even if they are
// not final: a partial text that is older than the utterance's last voice may lack the last word.
func (r *reader) evidence() (e endpoint.Evidence, shown bool) {
	expected := r.expected.get()
	e = endpoint.Evidence{
		Asked: r.turn.asked, Expect: expected.Answer, Phrases: expected.Phrases, Contour: r.pitch.Contour(), Pauses: r.pauses, Language: r.cfg.Language,
		Least: cmp.Or(expected.Least, r.cfg.EndOfTurn), Longest: cmp.Or(expected.Longest, r.cfg.LongestWait),
	}
	e.Text, e.Known, _ = r.turn.words()
	shown = true
	for _, u := range r.turn.utterances {
		heard, final := u.sofar()
		shown = shown && (final || heard.Text != "" && u.newest > u.lastVoice)
		e.EndOfTurn, e.Forced = heard.EndOfTurn, !u.streamed()
	}
	return e, shown
}

// words returns the words of the turn so far, whether all of them are final, and the number of leading words that cannot change. open is
// the open utterance, if any.
func (t *callerTurn) words(open ...*utterance) (text string, known bool, stable int) {
	var texts []string
	known = true
	for _, u := range append(slices.Clip(t.utterances), open...) {
		heard, final := u.sofar()
		words := strings.TrimSpace(heard.Text)
		if words != "" {
			texts = append(texts, words)
		}
		if known && !final {
			stable += heard.Stable
		} else if known {
			stable += len(strings.Fields(words))
		}
		known = known && final
	}
	return strings.Join(texts, " "), known, stable
}

// readWords handles the words that have become known since the last frame.
func (r *reader) readWords() {
	for _, u := range slices.Clone(r.pending) {
		if u.changes() {
			r.verdict(u)
		}
	}
	changed := false
	for _, u := range r.turn.utterances {
		if u.changes() {
			changed, u.newest = true, r.now()
		}
	}
	if r.hearing != nil && r.hearing.changes() {
		changed, r.hearing.newest = true, r.now()
		if r.state == paused || r.state == talkedOver {
			r.verdict(r.hearing)
		}
	}
	if changed && (r.state == hearing || r.state == pausing || r.state == proposed) {
		r.turn.judged = false
		r.showTurn()
	}
}

// showTurn passes the words of the turn so far to the observer.
func (r *reader) showTurn() {
	r.openTurn()
	var open []*utterance
	began := r.turn.began
	if r.hearing != nil {
		open, began = []*utterance{r.hearing}, r.hearing.began
	}
	if len(r.turn.utterances) > 0 {
		began = r.turn.utterances[0].began
	}
	text, _, stable := r.turn.words(open...)
	r.show(Partial{Turn: r.turn.number, Text: text, Stable: stable, Start: began})
}

// notePause stores a pause of the caller within a turn.
func (r *reader) notePause(d time.Duration) {
	r.pauses = append(r.pauses[max(0, len(r.pauses)-maxPauses+1):], d)
}

// carry adds the pending utterances to the caller's turn, and the utterances of the newest job if the brain has not been asked about them. A
// turn that has lasted for MaxTurn is not continued: the brain will be asked about it while the caller talks on.
func (r *reader) carry() {
	var earlier []*utterance
	if j := r.job; r.reclaims() {
		j.reclaimed = false
		earlier = j.utterances
		r.turn = callerTurn{number: j.turn, began: j.began, asked: j.asked, begun: j.begun}
	}
	r.openTurn()
	shown := r.collect()
	r.turn.utterances = slices.Concat(earlier, shown, r.turn.utterances)
	if n := len(r.turn.utterances); n > 0 {
		r.turn.lastVoice = max(r.turn.utterances[n-1].lastVoice, r.turn.utterances[n-1].joined)
	}
	r.turn.judged = false
	if len(shown) > 0 {
		r.showTurn()
	}
}

// reclaims reports whether the utterances of the newest job belong to the caller's turn, and claims them if the brain has not been asked.
func (r *reader) reclaims() bool {
	j := r.job
	if j != nil && !j.reclaimed && j.kind == TurnSpeech && r.now()-j.began < r.cfg.MaxTurn {
		j.reclaimed = j.claim()
	}
	return j != nil && j.reclaimed
}

// collect deletes the utterances over the agent's words that belong to the caller's next turn, and returns them.
func (r *reader) collect() []*utterance {
	out := slices.Concat(r.overheard, r.pending)
	for _, u := range out {
		if u.over {
			u.joined = r.now()
		}
	}
	r.overheard, r.pending = nil, nil
	return out
}

// hush ends the answer. If the caller has continued soon after the end of the turn, the turn has ended too early, and the pause counts as a
// pause within a turn. continues means that carry follows.
func (r *reader) hush(continues bool) {
	if continues {
		r.reclaims() // before the speaker detects the end of the job, and writes the words as a turn that the brain is not asked
	}
	r.job.cancel()
	r.job.mouth.cut(r.ctx, r.now)
	next := r.hearing
	if len(r.pending) > 0 {
		next = r.pending[0]
	}
	if next != nil && r.job.kind == TurnSpeech && next.began-r.job.ended <= continuedTurn {
		r.notePause(next.began - r.job.lastVoice)
	}
}

// note ends the caller's turn, and writes its words and the pending ones to the transcript.
func (r *reader) note() {
	if r.hearing != nil {
		r.segment()
	}
	if earlier := r.collect(); len(earlier) > 0 {
		r.openTurn()
		r.turn.utterances = append(earlier, r.turn.utterances...)
	}
	if n := len(r.turn.utterances); n > 0 {
		r.turn.lastVoice = r.turn.utterances[n-1].lastVoice
		r.submit(r.turnJob())
		r.job.cancel()
	}
	r.turn = callerTurn{}
}

// turnJob ends the turn, and returns it for the brain.
func (r *reader) turnJob() *job {
	t := r.turn
	r.turn = callerTurn{}
	j := &job{
		kind: TurnSpeech, turn: t.number, began: t.began, utterances: t.utterances, asked: t.asked, lastVoice: t.lastVoice, ended: r.now(), waitedFor: t.wait.Why, begun: t.begun,
	}
	for _, u := range t.utterances {
		j.voiced += u.voiced
	}
	return j
}

// submitLastWords submits the words of a caller who has hung up. Their turn is not answered.
func (r *reader) submitLastWords() {
	if r.hearing == nil && len(r.cfg.Meanwhile.samples) > 0 {
		r.listen()
	}
	r.carry()
	if r.hearing != nil {
		r.segment()
	}
	if len(r.turn.utterances) > 0 {
		r.submit(r.turnJob())
	}
}
