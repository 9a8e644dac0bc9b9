package talk

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// piece is a text and its audio. It implements tts.Stream and tts.Marker. Talk.mu guards its fields.
type piece struct {
	answer *answer
	text   string
	runes  []rune
	rate   *pcm.Resampler // nil if the service has the rate of the stream
	news   chan struct{}  // receives a token when there are samples or an error

	sent   bool
	begun  bool // whether audio has arrived since it was sent
	start  int  // sample of the context at which it begins
	taken  int  // samples since it was sent
	made   int  // samples that were added to out; earlier ones are skipped when the piece is sent again
	marked bool // whether words were placed

	out    []int16 // audio that was not read
	read   int     // samples of out that were read
	total  int     // all samples of the stream so far
	err    error   // after the audio
	closed bool

	cursor  int        // character after the last word that was placed
	pending []tts.Mark // marks in samples of the context
	marks   []tts.Mark // marks that Marks returns
}

var _ tts.Marker = (*piece)(nil)

// Read implements tts.Stream.
func (p *piece) Read(into []int16) (int, error) {
	for {
		n, err := p.next(into)
		if n > 0 || err != nil || len(into) == 0 {
			return n, err
		}
		<-p.news
	}
}

// next returns the samples that have arrived.
func (p *piece) next(into []int16) (int, error) {
	t := p.answer.talk
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	if err := cmp.Or(p.answer.ctx.Err(), t.ctx.Err()); err != nil {
		return 0, err
	}
	if p.err != nil && !errors.Is(p.err, io.EOF) {
		return 0, p.err
	}
	n := copy(into, p.out[p.read:])
	if p.read += n; p.read == len(p.out) {
		p.out, p.read = p.out[:0], 0
		if n == 0 {
			return 0, p.err
		}
	}
	return n, nil
}

// Close implements tts.Stream.
func (p *piece) Close() error {
	p.answer.talk.mu.Lock()
	defer p.answer.talk.mu.Unlock()
	p.closed, p.out, p.read = true, nil, 0
	p.signal()
	return nil
}

// Marks implements tts.Marker.
func (p *piece) Marks() []tts.Mark {
	p.answer.talk.mu.Lock()
	defer p.answer.talk.mu.Unlock()
	return slices.Clip(p.marks)
}

func (p *piece) signal() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// finish ends the stream with an error, unless it has ended.
func (p *piece) finish(err error) {
	if p.err == nil {
		p.err = err
	}
	p.signal()
}

// rewind prepares the piece for another context, in which it is spoken from its beginning.
func (p *piece) rewind() {
	p.sent, p.begun, p.taken = false, false, 0
	p.pending, p.cursor = nil, 0
}

// add adds audio that begins at a sample of the context. It omits audio that an earlier connection has delivered. It returns false if the
// piece is too long, and then has ended the answer.
func (p *piece) add(samples []int16, at int) bool {
	t := p.answer.talk
	if !p.begun {
		p.begun, p.start = true, at
	}
	skip := min(len(samples), max(0, p.made-p.taken))
	p.taken += len(samples)
	if samples = samples[skip:]; len(samples) == 0 {
		return true
	}
	t.lost = false
	p.made += len(samples)
	if p.made > t.maxSamples() {
		p.answer.fail(callwright.Errorf(callwright.CodeUnavailable, "the speech service returned more than %v of audio for a text", maxPiece))
		return false
	}
	before := len(p.out)
	if p.rate == nil {
		p.out = append(p.out, samples...)
	} else {
		p.out = p.rate.Process(p.out, samples)
	}
	p.grown(before)
	return true
}

// grown counts the samples after a length of out, and shows them to the reader.
func (p *piece) grown(before int) {
	p.total += len(p.out) - before
	if p.closed {
		p.out = nil
	}
	p.publish(false)
	p.signal()
}

// complete ends the piece, whose audio has arrived.
func (p *piece) complete() {
	if p.rate != nil {
		before := len(p.out)
		p.out = p.rate.Flush(p.out)
		p.grown(before)
	}
	p.publish(true)
	p.finish(io.EOF)
	t, a := p.answer.talk, p.answer
	isThis := func(other *piece) bool { return other == p }
	a.pieces, t.sent = slices.DeleteFunc(a.pieces, isThis), slices.DeleteFunc(t.sent, isThis)
}

// spoken reports whether the last character of the piece was placed.
func (p *piece) spoken() bool {
	return p.marked && !slices.ContainsFunc(p.runes[p.cursor:], func(r rune) bool { return !unicode.IsSpace(r) })
}

// worded reports whether the last word of the piece was placed. Punctuation may follow.
func (p *piece) worded() bool {
	return p.marked && !slices.ContainsFunc(p.runes[p.cursor:], isWord)
}

// mark adds the mark of a word, in samples of the context. It joins a mark with the part of the word before it.
func (p *piece) mark(m tts.Mark) {
	p.marked = true
	if n := len(p.pending); n > 0 && p.continues(p.pending[n-1].To) == m.From {
		p.pending[n-1].To, p.pending[n-1].End = m.To, max(p.pending[n-1].End, m.End)
	} else {
		p.pending = append(p.pending, m)
	}
	p.publish(false)
}

// continues returns the position after a character at which its word continues, as behind an apostrophe, or -1.
func (p *piece) continues(at int) int {
	next := at
	for next < len(p.runes) && !isWord(p.runes[next]) && !unicode.IsSpace(p.runes[next]) {
		next++
	}
	if at == 0 || next == len(p.runes) || !tts.Inseparable(p.runes[at-1], p.runes[next]) {
		return -1
	}
	return next
}

// publish shows the marks of words whose audio has arrived. done states that the piece is complete.
func (p *piece) publish(done bool) {
	for len(p.pending) > 0 && p.begun {
		m := p.pending[0]
		m.Start, m.End = m.Start-p.start, m.End-p.start
		if !done && (m.End > p.taken || len(p.pending) == 1 && p.continues(m.To) >= 0) {
			return
		}
		p.pending = p.pending[1:]
		if t := p.answer.talk; p.rate != nil {
			m.Start, m.End = m.Start*t.request.Rate/t.cfg.Rate, m.End*t.request.Rate/t.cfg.Rate
		}
		if done {
			m.End = min(m.End, p.total)
		}
		if n := len(p.marks); n > 0 {
			if m.From < p.marks[n-1].To {
				continue
			}
			m.Start = max(m.Start, p.marks[n-1].End)
		}
		if m.Start = max(m.Start, 0); m.Start < m.End {
			p.marks = append(p.marks, m)
		}
	}
}

// find returns the characters of a text, from a position on, that have the letters and digits of a word. It compares without regard to
// case, and passes at most ahead other words. to is 0 if the word is not there; passed is the number of words that it has compared.
func find(text []rune, at int, word string, ahead int) (from, to, passed int) {
	for passed < ahead {
		for at < len(text) && !isWord(text[at]) {
			at++
		}
		if at == len(text) {
			return 0, 0, passed
		}
		if end := match(text, at, word); end > 0 {
			return at, end, passed
		}
		for at < len(text) && !unicode.IsSpace(text[at]) {
			at++
		}
		passed++
	}
	return 0, 0, passed
}

// match returns the end of a word in a text, or 0 if another word is there.
func match(text []rune, at int, word string) (end int) {
	for _, r := range word {
		if !isWord(r) {
			continue
		}
		for at < len(text) && !isWord(text[at]) && !unicode.IsSpace(text[at]) {
			at++
		}
		if at == len(text) || unicode.ToLower(text[at]) != unicode.ToLower(r) {
			return 0
		}
		at++
		end = at
	}
	return end
}

// punctuated returns the position behind the punctuation of a text, if a word or a part of a word has the same punctuation at its end.
func punctuated(text []rune, at int, word string) int {
	tail := []rune(word)
	first := len(tail)
	for first > 0 && !isWord(tail[first-1]) {
		first--
	}
	for _, r := range tail[first:] {
		if at < len(text) && text[at] == r {
			at++
		}
	}
	return at
}

// isWord reports whether a character belongs to a word: letters with their marks, and digits.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
