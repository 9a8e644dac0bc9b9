package conversation

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// mouth plays one answer. It has a position in the answer's samples, which hold moves back by the samples that were not played, and tracks
// the furthest sample that was played. The speaker adds lines and writes them; the reader observes the queue, and holds, resumes and cuts
// the answer.
type mouth struct {
	audio Audio
	wake  chan struct{} // receives a token with every frame and every change of held, for the speaker

	mu       sync.Mutex
	lines    []line
	line     int           // index of the line that contains the position at; len(lines) after the last sample
	released int           // number of lines whose samples were freed
	at       int           // position of the next sample to write, counted from the first sample of the answer
	queued   int           // written samples that waited at the last check
	played   int           // position up to which the answer was played at the last check
	reached  int           // furthest position that was played; resume repeats samples before it
	resumed  int           // position to which the last hold moved back; waiting samples before it are the fade of the hold
	repeated int           // position up to which the answer was written at the last hold; samples before it are not repeated again
	complete bool          // whether the brain has returned the whole answer
	held     bool          // whether write waits for resume
	gated    bool          // whether write waits for open
	closed   bool          // whether the answer was cut
	first    time.Duration // time at which the first sample was played; 0 before that
	last     time.Duration // time at which the last sample was played
	heldAt   time.Duration // time of the last hold
	onHoldAt time.Duration // time at which the peer has put the call on hold within the answer; 0 if it has not
	holds    []Hold
	course   fade    // gain of the samples that are written
	buffer   []int16 // samples of the last frame with their gain
}

// line is a spoken text and the position of its audio in the answer.
type line struct {
	clip  *clip
	start int
	end   int // start until all samples of the line were written once
	total int // samples of the whole text; 0 until known
}

func newMouth(audio Audio) *mouth {
	return &mouth{audio: audio, wake: make(chan struct{}, 1), course: full}
}

// begin adds a line to the answer, unless the answer was cut. All samples of the earlier lines must have been written once. A hold or a fade
// may have moved the position back into them since.
func (m *mouth) begin(c *clip) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	start := 0
	if n := len(m.lines); n > 0 {
		start = m.lines[n-1].end
	}
	m.lines = append(m.lines, line{clip: c, start: start, end: start})
}

// progress is a result of write.
type progress uint8

const (
	wrote   progress = iota // a frame was written
	passed                  // a line has ended
	waits                   // the answer is held, not certain or cut, the call accepts no samples now, or the line's samples have not arrived
	written                 // all lines were written
)

// write writes the next frame, unless the answer is held or not certain, or the frame would have to wait in Audio.Write. Therefore, the reader can hold or
// cut the answer at any time without waiting. changed is closed when the synthesizer has returned more samples; it may be nil. The error is
// a lostCall, or the synthesizer's error.
func (m *mouth) write(ctx context.Context) (p progress, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held || m.closed || m.gated {
		return waits, nil, nil
	}
	return m.frame(ctx)
}

// frame writes the next frame. The caller holds the mutex.
func (m *mouth) frame(ctx context.Context) (p progress, changed <-chan struct{}, err error) {
	if m.line == len(m.lines) {
		return written, nil, nil
	}
	l := &m.lines[m.line]
	frame := m.audio.Rate() / 50
	part, total, changed, err := l.clip.next(m.at-l.start, frame)
	l.total = total
	switch {
	case err != nil:
		l.end = m.at
		m.line++
		if errors.Is(err, io.EOF) {
			return passed, nil, nil
		}
		return passed, nil, err
	case len(part) == 0:
		return waits, changed, nil
	case m.audio.Queued()+len(part) > queueFrames*frame:
		return waits, nil, nil
	}
	return wrote, nil, m.play(ctx, part)
}

// play writes the samples at the position with their gain, and moves the position behind them. The error is a lostCall. The caller holds the
// mutex.
func (m *mouth) play(ctx context.Context, samples []int16) error {
	if err := m.audio.Write(ctx, m.course.apply(&m.buffer, samples, m.at, m.audio.Rate())); err != nil {
		return lostCall{err}
	}
	m.at += len(samples)
	m.queued += len(samples)
	return nil
}

// queueFrames is the maximum number of queued frames: 200 ms. See Audio.Write.
const queueFrames = 10

// lostCall is the error of a call that accepts no more audio.
type lostCall struct{ error }

// finish marks the answer as complete: the brain will return no more lines.
func (m *mouth) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.complete = true
}

// open allows a prepared answer to sound.
func (m *mouth) open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gated = false
	m.signal()
}

// watch checks the number of queued samples, and reports whether any samples have been played so far.
func (m *mouth) watch(now func() time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(m.audio.Queued(), now)
	m.signal()
	return m.reached > 0
}

// check updates the played position. The caller holds the mutex.
func (m *mouth) check(queued int, now func() time.Duration) {
	m.queued = queued
	position := max(m.resumed, m.at-queued)
	if position > m.played {
		m.last = now()
	}
	m.played = position
	m.reached = max(m.reached, position)
	if m.reached > 0 && m.first == 0 {
		m.first = m.last
	}
	// A hold never moves back into a line that was played completely. An answer may contain hours of speech.
	for ; m.released < m.line && m.lines[m.released].end <= m.played; m.released++ {
		m.lines[m.released].clip.release()
	}
}

// fade changes the gain of the answer from the next packet on. The samples that were queued with the former gain are written again.
func (m *mouth) fade(ctx context.Context, now func() time.Duration, gain float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held || m.closed || m.course.to == gain {
		return
	}
	line, end := m.line, m.at
	m.rewind(now)
	m.course = fade{start: m.at, from: m.course.gain(m.at, m.audio.Rate()), to: gain}
	for m.at < end || m.line < line {
		// A line that failed was reported when it was written first, and a call that was lost is reported by the next write.
		if p, _, err := m.frame(ctx); p == waits || p == wrote && err != nil {
			break
		}
	}
	m.signal()
}

// hold silences the answer. If the word that is being played, or the pause after it, ends within rest, the answer is silent after it.
// Otherwise, it is silent from the next packet on, after a fade, and the position moves back to the beginning of that word.
func (m *mouth) hold(ctx context.Context, now func() time.Duration, rest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held || m.closed {
		return
	}
	m.held, m.heldAt = true, now()
	audible := m.rewind(now)
	end := m.at
	if m.line < len(m.lines) {
		l := m.lines[m.line]
		if word := m.wordEnd(l, max(rest, fadeTime)); word > m.at {
			m.finishWord(ctx, l, word)
		} else {
			if audible {
				m.fadeOut(ctx)
			}
			end = m.at
			m.back(l)
		}
	}
	m.course = fade{start: m.at, to: 1} // a word that begins with a vowel would begin with a click
	if m.reached == 0 {
		m.course = full
	}
	m.repeated = max(m.reached, m.at, end)
}

// rewind discards the queued samples, and moves the position and the line back to the first of them. It returns false if there were none,
// except those of a fade. The caller holds the mutex.
func (m *mouth) rewind(now func() time.Duration) bool {
	end := m.at
	m.flush(now)
	for m.line > 0 && m.at < m.lines[m.line-1].end {
		m.line--
	}
	return m.at < end
}

// wordEnd returns the position at which the word of line l that is being played ends, or the current position if the word does not end
// within rest. Without marks, a word ends at the next silence. The caller holds the mutex.
func (m *mouth) wordEnd(l line, rest time.Duration) int {
	rate := m.audio.Rate()
	samples := l.clip.upTo(m.at - l.start + int(rest.Seconds()*float64(rate)))
	if m.at <= l.start || m.at-l.start >= len(samples) {
		return m.at
	}
	if _, end, ok := l.clip.word(m.at - l.start); ok {
		if end > len(samples) {
			return m.at
		}
		return l.start + end
	}
	from := max(0, m.at-l.start-int(longestRepeat.Seconds()*float64(rate)))
	return l.start + from + wordEnd(samples[from:], m.at-l.start-from, rate)
}

// finishWord writes the samples of line l up to a position, and fades them out. The caller holds the mutex.
func (m *mouth) finishWord(ctx context.Context, l line, end int) {
	out := max(m.at, end-int(fadeTime.Seconds()*float64(m.audio.Rate())))
	// The next write reports a call that was lost.
	if m.play(ctx, l.clip.part(m.at-l.start, out-l.start)) == nil {
		m.course = fade{start: out, from: m.course.gain(out, m.audio.Rate())}
		_ = m.play(ctx, l.clip.part(out-l.start, end-l.start))
	}
}

// fadeOut plays the next samples of a line that was audible, and fades them out, because a sudden end clicks. It does nothing between words.
// The caller holds the mutex.
func (m *mouth) fadeOut(ctx context.Context) {
	if m.line == len(m.lines) || m.at <= m.lines[m.line].start {
		return
	}
	l := m.lines[m.line]
	if start, end, ok := l.clip.word(m.at - l.start); ok && start == end {
		return
	}
	samples := l.clip.upTo(m.at - l.start + int(fadeTime.Seconds()*float64(m.audio.Rate())))
	if m.at-l.start < len(samples) {
		m.finishWord(ctx, l, l.start+len(samples))
	}
}

// flush discards the queued samples and moves the position back by their number. The caller holds the mutex.
func (m *mouth) flush(now func() time.Duration) {
	flushed := m.audio.Flush()
	m.check(flushed, now)
	m.at, m.queued = m.played, 0
}

// back moves the position to the beginning of the word in line l, but never to a sample that was repeated before. Without marks, or if more
// than longestWord would be repeated, it moves to the nearest silence, by at most longestRepeat. The caller holds the mutex.
func (m *mouth) back(l line) {
	rate := m.audio.Rate()
	if start, _, ok := l.clip.word(m.at - l.start); ok && m.at-l.start-start <= int(longestWord.Seconds()*float64(rate)) {
		if l.start+start >= m.repeated {
			m.moveBack(l.start + start)
		}
		return
	}
	from := max(l.start, m.repeated, m.at-int(longestRepeat.Seconds()*float64(rate)))
	if from >= m.at {
		return
	}
	samples := l.clip.part(from-l.start, m.at-l.start)
	m.moveBack(from + wordStart(samples, rate, from == l.start))
}

// moveBack sets the position. The samples that wait are those of a fade. The caller holds the mutex.
func (m *mouth) moveBack(to int) {
	m.at, m.played, m.resumed = to, to, to
}

// resume continues a held answer.
func (m *mouth) resume(now time.Duration, why HoldReason) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.release(now, why)
	m.signal()
}

// setOnHold notes that the peer holds the call, and that it has ended the hold. It ignores a hold before the first sample, and after the last.
func (m *mouth) setOnHold(onHold bool, now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch over := m.closed || m.complete && m.line == len(m.lines) && m.queued == 0; {
	case !onHold:
		m.endOnHold(now)
	case m.onHoldAt == 0 && m.reached > 0 && !over:
		m.onHoldAt = now
	}
}

// endOnHold adds the peer's hold to the pauses, if there is one. The caller holds the mutex.
func (m *mouth) endOnHold(now time.Duration) {
	if m.onHoldAt > 0 {
		m.holds = append(m.holds, Hold{Start: m.onHoldAt, Length: now - m.onHoldAt, Why: HoldOnHold})
		m.onHoldAt = 0
	}
}

// release ends a hold. The caller holds the mutex.
func (m *mouth) release(now time.Duration, why HoldReason) {
	if m.held {
		m.held = false
		m.holds = append(m.holds, Hold{Start: m.heldAt, Length: now - m.heldAt, Why: why})
	}
}

// cut ends the answer. It is silent from the next packet on, after a fade. If the answer was cut before, cut does nothing.
func (m *mouth) cut(ctx context.Context, now func() time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.closed = true
	if m.rewind(now) && !m.held {
		m.fadeOut(ctx)
	}
	m.release(now(), HoldCut)
	m.endOnHold(now())
}

// pass waits until the answer is not held. It returns false if ctx ends or has ended.
func (m *mouth) pass(ctx context.Context) bool {
	for ctx.Err() == nil && m.onHold() {
		select {
		case <-m.wake:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// signal wakes the speaker.
func (m *mouth) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// onHold reports whether the answer is held.
func (m *mouth) onHold() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// silent reports whether all lines so far were played completely.
func (m *mouth) silent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.held && m.line == len(m.lines) && m.queued == 0
}

// nearEnd reports whether the answer is complete, and the part that has not been played lasts for at most the given duration.
func (m *mouth) nearEnd(rest time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.complete || len(m.lines) == 0 {
		return m.complete
	}
	l := m.lines[len(m.lines)-1]
	return l.total > 0 && l.start+l.total-m.reached <= int(rest.Seconds()*float64(m.audio.Rate()))
}

// bargeIn returns the BargeIn of the line that is played now, or was played last. It returns the zero value before the first line.
func (m *mouth) bargeIn() BargeIn {
	m.mu.Lock()
	defer m.mu.Unlock()
	var current BargeIn
	for i, l := range m.lines {
		if i > 0 && m.played <= l.start {
			break
		}
		current = l.clip.bargeIn
	}
	return current
}

// span returns the times at which the first and the last sample so far were played. Both are 0 before the first sample.
func (m *mouth) span() (first, last time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first, m.last
}

// pauses returns the holds of the answer, in order.
func (m *mouth) pauses() []Hold {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.holds
}

// heard returns the text that was played: complete lines, and the completely played words of the line in which the playout stopped.
func (m *mouth) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var texts []string
	for i, l := range m.lines {
		if m.reached <= l.start {
			break
		}
		end := max(m.at, m.reached)
		if i+1 < len(m.lines) {
			end = l.end
		}
		total := l.total
		if total == 0 { // the synthesizer had not finished the line
			total = max(end-l.start+1, len(l.clip.text)*m.audio.Rate()/lettersASecond)
		}
		if t := l.clip.heard(min(m.reached, end)-l.start, total); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, " ")
}

// lettersASecond is a usual speed of speech in letters per second.
const lettersASecond = 15
