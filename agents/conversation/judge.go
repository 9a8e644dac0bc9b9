package conversation

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/conversation/overlap"
)

// The limits of a hold.
const (
	impulse     = 300 * time.Millisecond  // maximum of voice in a cough or another short sound
	impulseGap  = 500 * time.Millisecond  // silence after which an impulse is judged; a shorter Config.EndOfTurn applies
	impulseWait = 700 * time.Millisecond  // time after the end of an impulse at which the agent continues without a verdict
	verdictWait = 2500 * time.Millisecond // the same for longer speech
	replyTime   = time.Second             // last part of an answer in which a back-channel is the caller's reply
	falseHolds  = 3                       // number of noises that have held an answer, after which only a voice that is long enough to cut the answer holds it
)

// overlaps collects the words of the caller that did not interrupt the agent, until the speaker writes them to the transcript. It is safe
// for concurrent use.
type overlaps struct {
	mu      sync.Mutex
	entries []Entry
}

func (o *overlaps) add(e Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries = append(o.entries, e)
}

// before deletes the entries that began before a time, and returns them.
func (o *overlaps) before(t time.Duration) []Entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for n < len(o.entries) && o.entries[n].Start < t {
		n++
	}
	out := o.entries[:n:n]
	o.entries = o.entries[n:]
	return out
}

// forever is later than every time of a call.
const forever time.Duration = math.MaxInt64

// writeOverlaps writes the overlapping words that began before a time to the transcript.
func (s *speaker) writeOverlaps(before time.Duration) {
	for _, e := range s.overlaps.before(before) {
		s.cfg.Observer.Entry(e)
	}
}

// holdPause ends an overlapping utterance if the caller insists or has paused, or if the utterance is too long. A short sound needs a
// shorter pause, because the agent must continue soon.
func (r *reader) holdPause() {
	e := r.voiceDetector
	switch {
	case r.heldVoice+e.voiced >= r.rule.cut:
		r.happens(callerInsists)
	case e.voiced <= impulse && e.gap >= impulseGap && e.run == 0:
		r.happens(callerPauses)
	default:
		r.pause()
	}
}

// judge finishes the utterance. A notice reports its words.
func (r *reader) judge() {
	u := r.hearing
	r.finishHearing()
	u.reply = r.replies()
	u.said, u.rule = r.job.mouth.heard(), r.rule
	wait := verdictWait
	if u.voiced <= impulse {
		wait = impulseWait
	}
	r.verdictBy = u.lastVoice + wait
	r.heldVoice += u.voiced
	r.pending = append(r.pending, u)
	r.wait.Go(func() { r.awaitWords(u) })
}

// replies reports whether a back-channel now answers the agent instead of acknowledging its words: the agent has almost finished, or it has
// said nothing that the caller could acknowledge, and answers no words of the caller.
func (r *reader) replies() bool {
	if r.job.mouth.nearEnd(replyTime) {
		return true
	}
	first, _ := r.job.mouth.span()
	return first == 0 && r.job.kind != TurnSpeech
}

// awaitWords sends a notice when the words of an utterance are known. Words that are not known after Config.Patience are given up.
func (s *session) awaitWords(u *utterance) {
	timer := time.AfterFunc(s.cfg.Patience, u.abandon)
	defer timer.Stop()
	_, _ = u.text()
	select {
	case s.notices <- notice{utterance: u}:
	case <-s.ctx.Done():
	}
}

// verdict handles the words of an overlapping utterance. It ignores an utterance that already belongs to a turn. If the recognizer fails
// while the agent is held, the utterance interrupts the agent, whose brain then asks the caller to repeat the words.
func (r *reader) verdict(u *utterance) {
	at := slices.Index(r.pending, u)
	if at < 0 {
		return
	}
	heard, err := u.text()
	kind := overlap.Classify(r.cfg.Language, heard.Text)
	waits := r.state == judging || r.state == paused
	if u.rule.cuts(r.cfg.Language, u.said, heard.Text) || err != nil && waits || kind == overlap.BackChannel && u.reply {
		r.happens(wordsHeard)
		return
	}
	r.pending = slices.Delete(r.pending, at, at+1)
	r.why = holdReasons[kind]
	if kind == overlap.Nothing {
		r.noises++
	}
	if text := strings.TrimSpace(heard.Text); text != "" {
		r.overlaps.add(Entry{Role: RoleCaller, Text: text, Confidence: heard.Confidence, Start: u.began, End: u.lastVoice})
	}
	if len(r.pending) == 0 {
		r.happens(nothingHeard)
	}
}

// holdReasons contains the reason for the end of a hold by words that do not cut the answer.
var holdReasons = [...]HoldReason{
	overlap.Nothing: HoldNoise, overlap.BackChannel: HoldBackChannel, overlap.Filler: HoldFiller,
	overlap.Stop: HoldIgnored, overlap.Words: HoldIgnored,
}

// carry submits the pending utterances as canceled turns, so that their words precede the words of the caller's next turn.
func (r *reader) carry() {
	for _, u := range r.pending {
		r.submit(u.turn())
		r.job.cancel()
	}
	r.pending = nil
}

// answerJudged makes a turn of the pending utterances.
func (r *reader) answerJudged() {
	last := len(r.pending) - 1
	u := r.pending[last]
	r.pending = r.pending[:last]
	r.carry()
	r.submit(u.turn())
}

// turn returns the turn of a finished utterance.
func (u *utterance) turn() *job {
	return &job{kind: TurnSpeech, utterance: u, voiced: u.voiced, ended: u.ended, lastVoice: u.lastVoice}
}
