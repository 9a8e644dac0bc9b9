package conversation

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright/agents/conversation/endpoint"
)

// job is a turn that the reader submits to the speaker.
type job struct {
	number     int
	kind       TurnKind
	turn       int             // see Entry.Turn
	text       string          // pressed digits
	utterances []*utterance    // the caller's speech
	asked      string          // the agent's words before the turn
	apology    bool            // the speaker says the apology and ends the conversation, without the brain
	voiced     time.Duration   // voice in the utterances
	ended      time.Duration   // time at which the end of the turn was detected
	lastVoice  time.Duration   // start of all latencies
	waitedFor  endpoint.Reason // why the turn was over
	claimed    atomic.Bool     // see claim

	ctx     context.Context //nolint:containedctx // the job's life: the reader ends it, the speaker sees that
	cancel  context.CancelFunc
	mouth   *mouth
	latency Latency
	pressed []Entry // digits that the agent pressed; the transcript lists them after its words
}

// claim returns true to the first caller only. A speaker that claims the job asks the brain; a reader that claims it adds its utterances to
// the next turn.
func (j *job) claim() bool { return j.claimed.CompareAndSwap(false, true) }

// spokenWords contains the words of a job.
type spokenWords struct {
	text       string
	confidence float64 // the lowest confidence of the utterances with words
	err        error   // first failure of the recognizer
}

// words waits for the caller's words.
func (j *job) words() spokenWords {
	var out spokenWords
	var texts []string
	for _, u := range j.utterances {
		r, err := u.text()
		if err != nil {
			out.err = cmp.Or(out.err, err)
			continue
		}
		text := strings.TrimSpace(r.Text)
		if text == "" {
			continue
		}
		if len(texts) == 0 || r.Confidence < out.confidence {
			out.confidence = r.Confidence
		}
		texts = append(texts, text)
	}
	out.text = strings.Join(texts, " ")
	return out
}

// item is a step of the brain that the speaker will perform, or the brain's error.
type item struct {
	clip *clip // the synthesis of a Say
	step Step  // any other step
	err  error // an error of the brain
}
