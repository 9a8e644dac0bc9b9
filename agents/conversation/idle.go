package conversation

import (
	"cmp"
	"strings"
	"time"
)

// Filler bridges the silence before an answer. The zero value means no filler.
type Filler struct {
	Text string // spoken once in an answer; empty means none
	// After is the time since the caller's last word, or since the agent's, after which the filler is spoken if the agent owes the next words
	// to the caller: because the caller's words are not recognized yet, or the brain has not returned words. The filler never precedes the
	// end of the caller's turn by the TurnDetector, and follows it after fillerGrace at the earliest. 0 means no filler.
	After time.Duration
}

// fillerGrace is the time after the caller's turn in which most answers begin, so that a filler would only delay them.
const fillerGrace = 400 * time.Millisecond

// silence returns the silence of the caller after which the brain receives a TurnSilence.
func (r *reader) silence() time.Duration { return max(r.cfg.Silence, time.Duration(r.waits.Load())) }

// countMute adds a frame to the silence of an agent that owes an answer, or ends that silence. While the answer is held, the silence does not
// count. An agent whose words or digits wait for their playout is not silent: perhaps nothing may be sent to the peer yet, because its address
// is not verified.
func (r *reader) countMute() {
	if r.state == paused || r.state == judging {
		return
	}
	if owes := r.state == thinking || r.state.audible(); !owes || r.audio.Queued() > 0 || r.pressing.Load() {
		r.mute = 0
		return
	}
	_, last := r.job.mouth.span()
	r.mute = min(r.mute+frameTime, r.now()-last)
}

// fill asks the speaker for the filler, at most once in an answer. The agent's first sentence has none.
func (r *reader) fill() {
	j := r.job
	if r.cfg.Filler.After == 0 || j == nil || j.asksFiller || j.kind == TurnStart || j.apology {
		return
	}
	since := r.mute
	if _, last := j.mouth.span(); last == 0 {
		since += r.unanswered
	}
	if r.mute < min(fillerGrace, r.cfg.Filler.After) || since < r.cfg.Filler.After {
		return
	}
	j.asksFiller = true
	j.fill <- struct{}{}
}

// filler returns the filler of an answer. ok is false if the agent has spoken since the reader asked for the filler.
func (s *speaker) filler(j *job) (it item, ok bool) {
	if _, last := j.mouth.span(); !j.mouth.silent() || last > 0 && s.now()-last < s.cfg.Filler.After {
		return item{}, false
	}
	j.filled, j.beforeFiller = true, j.mouth.heard()
	answer := s.talk.Answer(j.ctx)
	defer answer.End()
	return item{clip: s.load(answer, s.cfg.Filler.Text, BargeIn{})}, true
}

// awaitWords waits for the words of a turn. Meanwhile it says the filler if the reader asks for it.
func (s *speaker) awaitWords(j *job) {
	for _, u := range j.utterances {
		for waits := true; waits; {
			select {
			case <-u.done:
				waits = false
			case <-j.fill:
				if it, ok := s.filler(j); ok {
					j.mouth.begin(it.clip)
					j.broken = s.speak(j, u.done)
				}
			case <-j.mouth.wake: // perhaps there is room for more of the filler
				if j.filled && j.broken == nil {
					j.broken = s.speak(j, u.done)
				}
			}
		}
	}
}

// recordFiller writes the filler of a job whose turn is not answered to the transcript.
func (s *speaker) recordFiller(j *job) {
	j.mouth.cut(j.ctx, s.now)
	text := cmp.Or(j.mouth.heard(), j.reported)
	if text == "" {
		return
	}
	first, last := j.mouth.span()
	s.writeOverlaps(first)
	s.write(Entry{
		Role: RoleAgent, Text: text, Start: first, End: last, Interrupted: s.ctx.Err() == nil && text != s.cfg.Filler.Text, Holds: j.mouth.pauses(),
	})
}

// answered returns the part of a heard text that the brain has said: the text without the filler. The brain does not know the filler.
func (s *speaker) answered(j *job, heard string) string {
	before, ok := strings.CutPrefix(heard, j.beforeFiller)
	if !j.filled || !ok {
		return heard
	}
	rest := strings.TrimSpace(before)
	if after, whole := strings.CutPrefix(rest, s.cfg.Filler.Text); whole {
		rest = strings.TrimSpace(after)
	} else if strings.HasPrefix(s.cfg.Filler.Text, rest) {
		rest = ""
	}
	return strings.TrimSpace(j.beforeFiller + " " + rest)
}

// onlyFilled reports whether the heard text of an answer is the complete filler, so that no words of the agent were interrupted.
func (s *speaker) onlyFilled(j *job, heard string) bool {
	return j.filled && heard == s.cfg.Filler.Text
}
