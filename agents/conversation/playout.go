package conversation

import (
	"strings"
	"sync"
	"time"
	"unicode"
)

// playout tracks the played part of an answer. The speaker writes the audio; the reader observes the queue.
type playout struct {
	mu       sync.Mutex
	lines    []line
	written  int           // samples that the call has accepted
	dropped  int           // written samples that were flushed
	queued   int           // written samples that waited at the last check
	seen     int           // samples that were played at the last check
	complete bool          // whether the whole answer was written
	first    time.Duration // time at which the first sample was played; 0 before that
	last     time.Duration // time at which the last sample was played
	drained  chan struct{} // closed when the answer is complete and played; nil afterwards
}

// line is a spoken text with the number of its samples that were written.
type line struct {
	text    string
	bargeIn BargeIn
	samples int
	total   int // samples of the whole text; 0 until known
}

// begin starts a new line of the answer.
func (p *playout) begin(text string, b BargeIn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line{text: text, bargeIn: b})
}

// wrote counts n samples that were written for the last line, which has total samples. total is 0 until it is known.
func (p *playout) wrote(n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &p.lines[len(p.lines)-1]
	l.samples += n
	l.total = total
	p.written += n
}

// bargeIn returns the BargeIn of the line that is played now, or was played last. It returns the zero value before the first line.
func (p *playout) bargeIn() BargeIn {
	p.mu.Lock()
	defer p.mu.Unlock()
	var current BargeIn
	left := p.played()
	for i, l := range p.lines {
		if i > 0 && left <= 0 {
			break
		}
		current = l.bargeIn
		left -= l.samples
	}
	return current
}

// discard counts n samples that were flushed from the queue.
func (p *playout) discard(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped += n
	p.queued = 0
}

// finish marks the answer as completely written.
func (p *playout) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete = true
}

// watch records the number of queued samples, and reports whether any samples have been played so far.
func (p *playout) watch(queued int, now func() time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queued = queued
	heard := p.played()
	if heard > p.seen {
		p.seen, p.last = heard, now()
	}
	if heard > 0 && p.first == 0 {
		p.first = p.last
	}
	if p.complete && queued == 0 && p.drained != nil {
		close(p.drained)
		p.drained = nil
	}
	return heard > 0
}

// played returns the number of played samples. The caller holds the mutex.
func (p *playout) played() int { return max(0, p.written-p.dropped-p.queued) }

// span returns the times at which the first and the last sample so far were played. Both are 0 before the first sample.
func (p *playout) span() (first, last time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.last
}

// heard returns the text that was played: complete lines, and the completely played words of the line in which the playout stopped. It
// estimates these words by the number of their letters.
func (p *playout) heard(rate int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var texts []string
	left := p.played()
	for _, l := range p.lines {
		if left <= 0 {
			break
		}
		total := l.total
		if total == 0 { // the synthesizer had not finished the line
			total = max(l.samples, len(l.text)*rate/lettersASecond)
		}
		if t := heardOf(l.text, left, total); t != "" {
			texts = append(texts, t)
		}
		left -= l.samples
	}
	return strings.Join(texts, " ")
}

// lettersASecond is a usual speed of speech in letters per second.
const lettersASecond = 15

// heardOf returns the words of a text that were played completely. played and total count samples.
func heardOf(text string, played, total int) string {
	if played >= total {
		return text
	}
	runes := []rune(text)
	end := len(runes) * played / total
	for end > 0 && !unicode.IsSpace(runes[end]) {
		end--
	}
	return strings.TrimRightFunc(string(runes[:end]), unicode.IsSpace)
}
