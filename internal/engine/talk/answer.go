package talk

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// answer is a tts.Answer. Talk.mu guards its fields.
type answer struct {
	talk *Talk
	ctx  context.Context //nolint:containedctx // the answer lives as long as the context of its Answer
	stop func() bool     // stops the watch of ctx

	pieces []*piece // not complete, oldest first
	ended  bool     // whether no further piece follows
	number int      // of the context on the current connection; 0 before its first piece
	closed bool     // whether the service knows that no further piece follows in the context
	at     int      // samples of the context so far
}

// Say implements tts.Answer.
func (a *answer) Say(text string) tts.Stream {
	t := a.talk
	p := &piece{answer: a, text: text, runes: []rune(text), news: make(chan struct{}, 1)}
	request := t.request
	request.Text = text
	t.mu.Lock()
	defer t.mu.Unlock()
	err := request.Check()
	switch {
	case t.err != nil:
		err = t.err
	case a.ctx.Err() != nil:
		err = a.ctx.Err()
	case a.ended:
		err = io.ErrClosedPipe
	case err == nil && silent(text):
		err = io.EOF
	case err == nil && t.request.Rate != t.cfg.Rate:
		p.rate, err = pcm.NewResampler(t.cfg.Rate, t.request.Rate)
	}
	if err != nil {
		p.finish(err)
		return p
	}
	if !slices.Contains(t.answers, a) { // an earlier piece was refused
		t.answers = append(t.answers, a)
	}
	a.pieces = append(a.pieces, p)
	t.advance()
	return p
}

// End implements tts.Answer.
func (a *answer) End() {
	a.talk.mu.Lock()
	defer a.talk.mu.Unlock()
	a.ended = true
	if !slices.Contains(a.talk.answers, a) {
		if a.stop != nil {
			a.stop()
		}
		return
	}
	a.talk.advance()
	a.leave()
}

// advance sends the pieces that were not sent, and the end of the answer. The caller must hold the Talk's mutex, and there must be a
// connection.
func (a *answer) advance() {
	t := a.talk
	for _, p := range a.pieces {
		if p.sent {
			continue
		}
		first := a.number == 0
		if first {
			t.contexts++
			a.number, a.at, a.closed = t.contexts, 0, false
		}
		p.sent = true
		t.sent = append(t.sent, p)
		t.link.send(t.link.protocol.Say(a.number, first, p.text))
	}
	if a.ended && !a.closed && a.number != 0 {
		a.closed = true
		t.link.send(t.link.protocol.End(a.number))
	}
	a.leave()
}

// leave removes a complete answer from the Talk. The caller must hold the Talk's mutex.
func (a *answer) leave() {
	if a.ended && len(a.pieces) == 0 && (a.closed || a.number == 0 || a.talk.link == nil) {
		a.detach()
	}
}

// detach removes the answer from the Talk. The caller must hold the Talk's mutex.
func (a *answer) detach() {
	t := a.talk
	t.answers = slices.DeleteFunc(t.answers, func(other *answer) bool { return other == a })
	t.sent = slices.DeleteFunc(t.sent, func(p *piece) bool { return p.answer == a })
	a.pieces = nil
	if a.ended || a.ctx.Err() != nil || t.err != nil {
		a.stop()
	}
}

// cancel cancels the answer, because its context has ended.
func (a *answer) cancel() {
	t := a.talk
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.answers, a) {
		return
	}
	waiting := slices.ContainsFunc(a.pieces, func(p *piece) bool { return p.sent })
	number := a.number
	a.fail(a.ctx.Err())
	switch {
	case t.link == nil || number == 0:
	case !t.cfg.Single:
		t.link.send(t.link.protocol.Cancel(number))
	case waiting:
		t.link.send(t.link.protocol.Cancel(number))
		t.clearing++
		t.sent = nil
		for _, other := range t.answers {
			other.rewind()
		}
	}
	t.watch()
}

// fail ends the pieces that are not complete with an error, and the answer. The caller must hold the Talk's mutex.
func (a *answer) fail(err error) {
	for _, p := range a.pieces {
		p.finish(err)
	}
	a.number = 0
	a.detach()
}

// rewind prepares the pieces that are not complete for another context. It returns whether there are any. The caller must hold the Talk's
// mutex.
func (a *answer) rewind() bool {
	a.number, a.at, a.closed = 0, 0, false
	for _, p := range a.pieces {
		p.rewind()
	}
	return len(a.pieces) > 0
}

// current returns the oldest piece, or nil if it was not sent.
func (a *answer) current() *piece {
	if len(a.pieces) == 0 || !a.pieces[0].sent {
		return nil
	}
	return a.pieces[0]
}

// handle applies an event of the answer's context. The caller must hold the Talk's mutex.
func (a *answer) handle(e Event) {
	start := a.at
	p := a.current()
	if a.talk.cfg.Follow && p != nil && p.worded() && len(a.pieces) > 1 && a.pieces[1].begins(e.Words) {
		p.complete() // the service has sent other punctuation than that of the piece
		p = a.current()
	}
	if len(e.Audio) > 0 {
		a.at += len(e.Audio)
		if p != nil && !p.add(e.Audio, start) {
			return
		}
	}
	if !e.Relative {
		start = 0
	} else if len(e.Audio) == 0 {
		e.Words = nil // places in audio that is not known
	}
	for _, w := range e.Words {
		a.place(w, start)
	}
	if e.PieceDone && p != nil {
		p.complete()
	}
	for p = a.current(); a.talk.cfg.Follow && p != nil && p.spoken(); p = a.current() {
		p.complete()
	}
	if e.Done {
		a.over()
	}
	a.leave()
}

// over handles the end of the context. If the service has ended it on its own, pieces without audio are spoken in another context,
// at most once without new audio.
func (a *answer) over() {
	for p := a.current(); p != nil && (a.closed || p.begun); p = a.current() {
		p.complete()
	}
	a.talk.sent = slices.DeleteFunc(a.talk.sent, func(p *piece) bool { return p.answer == a })
	if a.rewind() {
		a.talk.again(callwright.Errorf(callwright.CodeUnavailable, "the speech service has ended a context before the end of its text"))
	}
}

// begins reports whether the first of the words is the first word of the piece.
func (p *piece) begins(words []Word) bool {
	for _, w := range words {
		if strings.ContainsFunc(w.Text, isWord) {
			_, to, _ := find(p.runes, 0, w.Text, 1)
			return to > 0
		}
	}
	return false
}

// maxAhead is the maximum number of words of a text that the service may leave out before a word.
const maxAhead = 4

// place adds the mark of a word to the piece that contains the word. start is the sample of the context at which its times begin.
func (a *answer) place(w Word, start int) {
	rate := a.talk.cfg.Rate
	from, to := start+samplesOf(w.Start, rate), start+samplesOf(w.End, rate)
	ahead := maxAhead
	for i, p := range a.pieces {
		if !p.sent || ahead <= 0 {
			return
		}
		if p.begun && to <= p.start || !p.begun && to <= a.at {
			return // a word of an earlier piece
		}
		if n := len(p.pending); n > 0 && from < p.pending[n-1].Start {
			return // out of order
		}
		if at := punctuated(p.runes, p.cursor, w.Text); at > p.cursor && !strings.ContainsFunc(w.Text, isWord) {
			p.cursor = at
			return
		}
		first, last, passed := find(p.runes, p.cursor, w.Text, ahead)
		if last > 0 {
			p.cursor = punctuated(p.runes, last, w.Text)
			p.mark(tts.Mark{From: first, To: last, Start: from, End: to})
			for _, earlier := range a.pieces[:i] {
				earlier.cursor = len(earlier.runes)
			}
			return
		}
		ahead -= passed
	}
}

// samplesOf returns the number of samples of a duration.
func samplesOf(d time.Duration, rate int) int {
	return int(int64(d) * int64(rate) / int64(time.Second))
}
