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
		s.write(e)
	}
}

// holdPause ends an overlapping utterance if the caller insists or has paused, or if the utterance is too long. If the words so far only
// acknowledge the agent's words, the agent continues.
func (r *reader) holdPause() {
	e := r.voiceDetector
	paused := e.run == 0 && e.gap >= r.segmentPause()
	switch {
	case r.heldVoice+e.voiced >= r.rule.cut:
		r.happens(callerInsists)
	case paused && len(r.pending) == 0 && r.acknowledges(r.hearing, r.job.mouth.heard(), r.replies(), r.rule):
		r.happens(callerAcknowledges)
	case paused:
		r.happens(callerPauses)
	case e.length >= r.cfg.MaxTurn:
		r.happens(turnTooLong)
	}
}

// acknowledges reports whether the partial words of an utterance are back-channels or fillers that do not interrupt the agent. It stores
// the reason for the end of the hold.
func (r *reader) acknowledges(u *utterance, said string, reply bool, rule bargeInRule) bool {
	heard, _ := u.sofar()
	kind := overlap.Classify(r.cfg.Language, heard.Text)
	if kind != overlap.Filler && (kind != overlap.BackChannel || reply) || rule.cuts(r.cfg.Language, said, heard.Text) {
		return false
	}
	r.why = holdReasons[kind]
	return true
}

// judge finishes the utterance, whose words are then pending.
func (r *reader) judge() {
	reply := r.replies()
	u := r.finishHearing()
	u.reply = reply
	u.said, u.rule = r.job.mouth.heard(), r.rule
	if u.over = r.rule.pause == 0 || r.state == speaking && r.currentRule().pause == 0; u.over {
		u.rule = bargeInRules[NormallyInterrupted]
	}
	u.brief = !u.over && r.state == speaking && u.voiced < r.rule.pause
	wait := verdictWait
	if u.voiced <= impulse {
		wait = impulseWait
	}
	r.verdictBy = u.lastVoice + wait
	r.heldVoice += u.voiced
	r.pending = append(r.pending, u)
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

// verdict handles new words of an overlapping utterance. If the recognizer fails while the agent is held, the utterance interrupts the
// agent, whose brain then asks the caller to repeat the words.
func (r *reader) verdict(u *utterance) {
	heard, final := u.sofar()
	if !final {
		r.partialVerdict(u, heard)
		return
	}
	at := slices.Index(r.pending, u)
	kind := overlap.Classify(r.cfg.Language, heard.Text)
	waits := r.state == judging || r.state == paused
	counts := u.rule.cuts(r.cfg.Language, u.said, heard.Text) || kind == overlap.BackChannel && u.reply
	counts = counts && (!u.brief || r.cutsBriefly(u, heard.Text))
	if !u.over && (counts || u.err != nil && waits) {
		r.happens(wordsHeard)
		return
	}
	if at < 0 {
		return
	}
	r.pending = slices.Delete(r.pending, at, at+1)
	switch {
	case u.over && counts:
		r.overheard = append(r.overheard, u)
	case u.over:
		r.noteOverlap(u)
	default:
		r.why = holdReasons[kind]
		if kind == overlap.Nothing && !u.brief {
			r.noises++
		}
		r.noteOverlap(u)
	}
	if len(r.pending) == 0 {
		r.happens(nothingHeard)
	}
}

// cutsBriefly reports whether words cut the answer whose voice was too short to pause the agent: a request to stop does. So does an answer to
// the agent's question, unless a longer voice than usual is required. Of other sounds so short, recognizers make words that nobody has said.
func (r *reader) cutsBriefly(u *utterance, text string) bool {
	usual := u.rule.pause <= bargeInRules[NormallyInterrupted].pause
	return usual && (u.reply || overlap.Asked(u.said)) || overlap.AsksToStop(r.cfg.Language, text)
}

// noteOverlap adds the words of an utterance with a result to the transcript, but to no turn.
func (r *reader) noteOverlap(u *utterance) {
	heard, _ := u.sofar()
	text, missing := strings.TrimSpace(heard.Text), unrecognized(u.err)
	r.show(Partial{Text: text, Stable: heard.Stable, Start: u.began})
	if text != "" || missing != "" {
		r.overlaps.add(Entry{Role: RoleCaller, Text: text, Confidence: heard.Confidence, Unrecognized: missing, Start: u.began, End: u.lastVoice})
	}
}

// partialVerdict handles partial words of an overlapping utterance. Words that the engine may still change cut the answer only if they do
// so without the last word, which may be the beginning of another word.
func (r *reader) partialVerdict(u *utterance, heard Heard) {
	r.show(Partial{Text: strings.TrimSpace(heard.Text), Stable: heard.Stable, Start: u.began})
	said, reply, rule := u.said, u.reply, u.rule
	if u == r.hearing {
		said, reply, rule = r.job.mouth.heard(), r.replies(), r.rule
	}
	words := strings.Fields(heard.Text)
	sure := strings.Join(words[:min(len(words), max(len(words)-1, heard.Stable))], " ")
	switch {
	case u.over:
	case r.state == talkedOver:
		if rule.cuts(r.cfg.Language, said, heard.Text) && overlap.AsksToStop(r.cfg.Language, heard.Text) {
			r.happens(wordsHeard)
		}
	case r.state != paused && r.state != judging:
	case rule.cuts(r.cfg.Language, said, sure) || overlap.Classify(r.cfg.Language, heard.Text) == overlap.Stop && rule.cuts(r.cfg.Language, said, heard.Text):
		r.happens(wordsHeard)
	case r.state == judging && len(r.pending) == 1 && r.acknowledges(u, said, reply, rule):
		r.happens(callerAcknowledges)
	}
}

// holdReasons contains the reason for the end of a hold by words that do not cut the answer.
var holdReasons = [...]HoldReason{
	overlap.Nothing: HoldNoise, overlap.BackChannel: HoldBackChannel, overlap.Filler: HoldFiller,
	overlap.Stop: HoldIgnored, overlap.Words: HoldIgnored,
}
