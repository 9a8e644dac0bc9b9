package conversation

import (
	"strings"
	"time"
)

// Filler bridges the silence before an answer. The zero value means no filler.
type Filler struct {
	Text string // spoken once in an answer; empty means none
	// After is the time in which the agent owes an answer to the caller and is silent, because the brain has not returned the next words.
	// 0 means no filler.
	After time.Duration
}

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
	if r.cfg.Filler.After == 0 || j == nil || j.asksFiller || j.kind == TurnStart || j.apology || r.mute < r.cfg.Filler.After {
		return
	}
	j.asksFiller = true
	j.fill <- struct{}{}
}

// filler returns the filler of an answer. ok is false if the agent has spoken since the reader asked for the filler.
func (s *speaker) filler(j *job) (it item, ok bool) {
	if _, last := j.mouth.span(); !j.mouth.silent() || s.now()-last < s.cfg.Filler.After {
		return item{}, false
	}
	j.filled, j.beforeFiller = true, j.mouth.heard()
	answer := s.talk.Answer(j.ctx)
	defer answer.End()
	return item{clip: s.load(answer, s.cfg.Filler.Text, BargeIn{})}, true
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
