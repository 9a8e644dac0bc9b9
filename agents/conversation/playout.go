package conversation

import (
	"strings"
	"sync"
	"time"
	"unicode"
)

// playout is what became of the audio of one answer. The speaker writes it, the reader watches it being played.
type playout struct {
	mu       sync.Mutex
	lines    []line
	written  int           // samples that the call has taken
	dropped  int           // of those, the ones that were flushed
	queued   int           // of those, the ones that waited when last looked at
	seen     int           // samples that were known to be heard then
	complete bool          // all is written
	first    time.Duration // when the first was played; 0: none was yet
	last     time.Duration // when the last was
	drained  chan struct{} // closed when complete and played
}

// line is a text and the samples of it that were written.
type line struct {
	text    string
	samples int
	total   int // of the whole text, where that is known yet; 0: not
}

// begin starts a line.
func (p *playout) begin(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line{text: text})
}

// wrote counts samples of the line that was begun last.
func (p *playout) wrote(n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &p.lines[len(p.lines)-1]
	l.samples += n
	l.total = total
	p.written += n
}

// drop counts flushed samples.
func (p *playout) drop(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped += n
	p.queued = 0
}

// finish says that nothing more will be written.
func (p *playout) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete = true
}

// watch takes how many samples wait to be played, and says whether any were played at all.
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

// played is how many samples were heard; the mutex is held.
func (p *playout) played() int { return max(0, p.written-p.dropped-p.queued) }

// span is when the first and the last sample so far were played; 0 before that.
func (p *playout) span() (first, last time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.last
}

// heard is the text that was played: whole lines, and of the line in which the playout stopped the words that were
// heard to their end. What share of a line its words are is taken from their letters.
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
		if total == 0 { // the engine was not done: letters go by at about this speed
			total = max(l.samples, len(l.text)*rate/lettersASecond)
		}
		if t := heardOf(l.text, left, total); t != "" {
			texts = append(texts, t)
		}
		left -= l.samples
	}
	return strings.Join(texts, " ")
}

// lettersASecond is how fast speech is, roughly.
const lettersASecond = 15

// heardOf is the part of a text whose words were played to their end.
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
