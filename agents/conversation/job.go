package conversation

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright/agents/conversation/endpoint"
)

// job is a turn that the reader submits to the speaker.
type job struct {
	number     int
	kind       TurnKind
	turn       int             // see Entry.Turn
	began      time.Duration   // time of the call at which the turn was opened
	text       string          // pressed digits, or the words that an early answer answers
	utterances []*utterance    // the caller's speech
	asked      string          // the agent's words before the turn
	apology    bool            // the speaker says the apology and ends the conversation, without the brain
	voiced     time.Duration   // voice in the utterances
	ended      time.Duration   // time at which the end of the turn was detected
	lastVoice  time.Duration   // start of all latencies
	waitedFor  endpoint.Reason // why the turn was over
	claimed    atomic.Bool     // see claim
	reclaimed  bool            // whether the reader has claimed the job, and has not added its utterances to a turn yet
	givenUp    bool            // whether the reader has canceled the job because it took too long; set before the cancellation
	early      *Early          // fate of an early answer; nil for other jobs
	asks       atomic.Int64    // time of the call at which the brain began an early answer; 0 before that
	begun      []Begun         // early answers to the turn
	effects    delayed         // changes of the session by an early answer
	unwritten  bool            // whether the caller's words are not in the transcript, because the turn was not certain

	ctx     context.Context //nolint:containedctx // the job's life: the reader ends it, the speaker sees that
	cancel  context.CancelFunc
	mouth   *mouth
	latency Latency

	firstStep atomic.Int64 // Latency.FirstStep in nanoseconds, which the brain's goroutine sets
	pressed   []Entry      // digits that the agent pressed; the transcript lists them after its words

	reported   string        // heard text that the SpeechObserver has received
	reportedAt time.Duration // time of the call

	fill         chan struct{}  // receives a token when the reader asks for the filler
	asksFiller   bool           // whether the reader has asked for the filler
	filled       bool           // whether the filler is part of the answer
	spoke        bool           // whether the answer has other words
	broken       *answerFailure // failure of the filler before the brain was asked
	beforeFiller string         // the agent's words before the filler
}

// claim returns true to the first caller only. A speaker that claims the job asks the brain; a reader that claims it adds its utterances to
// the next turn.
func (j *job) claim() bool { return j.claimed.CompareAndSwap(false, true) }

// begunAt returns the time of the call at which the brain began an early answer. ok is false if it has not begun.
func (j *job) begunAt() (at time.Duration, ok bool) {
	at = time.Duration(j.asks.Load())
	return at, at > 0
}

// delayed collects functions until it is released. The zero value is not released. It is safe for concurrent use.
type delayed struct {
	mu       sync.Mutex
	released bool
	calls    []func()
}

// add calls f, now or at the release.
func (d *delayed) add(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.released {
		f()
		return
	}
	d.calls = append(d.calls, f)
}

// release calls the collected functions.
func (d *delayed) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.calls {
		f()
	}
	d.released, d.calls = true, nil
}

// spokenWords contains the words of a job.
type spokenWords struct {
	text       string
	confidence float64 // the lowest confidence of the utterances with words
	err        error   // first failure of the recognizer
}

// spoken reports whether the transcript mentions the words: they were recognized, or their recognition has failed.
func (w spokenWords) spoken() bool { return w.text != "" || unrecognized(w.err) != "" }

// known reports whether the words of all utterances are final.
func (j *job) known() bool {
	for _, u := range j.utterances {
		if _, final := u.sofar(); !final {
			return false
		}
	}
	return true
}

// words waits for the caller's words.
func (j *job) words() spokenWords { return wordsOf(j.utterances) }

// lines waits for the caller's words, and returns them as entries of the transcript: one for each utterance over words that no voice
// interrupts, and one for the others.
func (j *job) lines() []Entry {
	var lines []Entry
	var rest []*utterance
	for _, u := range j.utterances {
		if !u.over {
			rest = append(rest, u)
		} else if w := wordsOf([]*utterance{u}); w.spoken() {
			lines = append(lines, Entry{
				Role: RoleCaller, Text: w.text, Confidence: w.confidence, Unrecognized: unrecognized(w.err), Turn: j.turn, Start: u.began, End: u.lastVoice,
			})
		}
	}
	if w := wordsOf(rest); w.spoken() {
		lines = append(lines, Entry{
			Role: RoleCaller, Text: w.text, Confidence: w.confidence, Unrecognized: unrecognized(w.err), Turn: j.turn, Start: rest[0].began, End: rest[len(rest)-1].lastVoice,
			Waited: j.ended - j.lastVoice, WaitedFor: j.waitedFor, Expected: expectedOf(rest[0].hearing, w.text),
		})
	}
	return lines
}

// wordsOf waits for the words of utterances.
func wordsOf(utterances []*utterance) spokenWords {
	var out spokenWords
	var texts []string
	for _, u := range utterances {
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
