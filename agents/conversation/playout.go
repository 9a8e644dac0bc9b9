package conversation

import (
	"strings"
	"sync"
	"time"
	"unicode"
)

// playout tracks the played part of an answer. The speaker writes the audio, the reader watches the queue.
type playout struct {
	mu       sync.Mutex
	lines    []line
	written  int           // samples that the call has accepted
	dropped  int           // of those: flushed
	queued   int           // of those: waiting, at the last check
	seen     int           // played, at the last check
	complete bool          // everything was written
	first    time.Duration // time at which the first sample was played; 0: not yet
	last     time.Duration // time at which the last sample was played
	drained  chan struct{} // closed when complete and played
}

// line is a text, and the number of its samples that were written.
type line struct {
	text    string
	samples int
	total   int // samples of the whole text; 0: unknown yet
}

// begin starts a line.
func (p *playout) begin(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line{text: text})
}

// wrote counts samples of the last line.
func (p *playout) wrote(n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &p.lines[len(p.lines)-1]
	l.samples += n
	l.total = total
	p.written += n
}

// discard counts flushed samples.
func (p *playout) discard(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped += n
	p.queued = 0
}

// finish marks the answer as complete.
func (p *playout) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete = true
}

// watch takes the number of queued samples, and reports whether any were played so far.
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

// span returns the times at which the first and the last sample so far were played; 0 before.
func (p *playout) span() (first, last time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.last
}

// heard returns the played text: complete lines, and the completely played words of the line in which the playout stopped,
// estimated by their letters.
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
		if total == 0 { // the engine had not finished
			total = max(l.samples, len(l.text)*rate/lettersASecond)
		}
		if t := heardOf(l.text, left, total); t != "" {
			texts = append(texts, t)
		}
		left -= l.samples
	}
	return strings.Join(texts, " ")
}

// lettersASecond is the usual speed of speech.
const lettersASecond = 15

// heardOf returns the completely played words of a text.
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
