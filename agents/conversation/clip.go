package conversation

import (
	"errors"
	"io"
	"math"
	"sync"

	"github.com/callwright/callwright/speech/tts"
)

// clip is a text in synthesis. It receives the audio as fast as the synthesizer returns it, so that its length is known early and the next
// clip is ready in time.
type clip struct {
	text    string
	bargeIn BargeIn

	mu      sync.Mutex
	samples []int16
	marks   []tts.Mark // of the words, as far as the synthesizer has returned them
	err     error      // io.EOF means that all samples have arrived
	changed chan struct{}
}

// read adds all audio of the text, until the stream ends or fails. It reads a tenth of a second at a time; rate is in hertz.
func (c *clip) read(stream tts.Stream, rate int) {
	defer stream.Close()
	buffer := make([]int16, rate/10)
	var err error
	for err == nil {
		var n int
		n, err = stream.Read(buffer)
		c.mark(tts.MarksOf(stream), n, err)
		c.add(buffer[:n], err)
	}
}

// add appends samples, sets the error of the stream, and closes the channel that the method next has returned.
func (c *clip) add(samples []int16, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = append(c.samples, samples...)
	c.err = err
	close(c.changed)
	c.changed = make(chan struct{})
}

// mark replaces the marks. n samples and the error of the stream will be added next.
func (c *clip) mark(marks []tts.Mark, n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(marks) == len(c.marks) && err == nil {
		return
	}
	samples := math.MaxInt
	if err != nil {
		samples = len(c.samples) + n
	}
	c.marks = tts.CleanMarks(c.text, marks, samples)
}

// next returns the samples from a position (at) on, but at most size of them. These samples do not change afterwards. total is the number
// of all samples, or 0 until it is known. After the last sample, the error is io.EOF or the synthesizer's error. If the samples have not
// arrived yet, next returns none and no error; changed is closed when samples or an error arrive.
func (c *clip) next(at, size int) (part []int16, total int, changed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, io.EOF) {
		total = len(c.samples)
	}
	if at < len(c.samples) {
		return c.samples[at:min(at+size, len(c.samples))], total, nil, nil
	}
	return nil, total, c.changed, c.err
}

// release frees the samples of a clip that was played.
func (c *clip) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = nil
}

// part returns the samples between two positions, which must have arrived. They do not change afterwards.
func (c *clip) part(from, to int) []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.samples[from:to]
}

// upTo returns the samples before a position, or all that have arrived if there are fewer. They do not change afterwards.
func (c *clip) upTo(to int) []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.samples[:min(to, len(c.samples))]
}
