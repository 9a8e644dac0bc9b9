package conversation

import (
	"context"
	"errors"
	"io"
	"sync"
)

// clip is a text being synthesized. It is read as fast as the synthesizer makes it, however slowly it plays, so that
// its length is known early and the next one is ready in time.
type clip struct {
	text string

	mu      sync.Mutex
	samples []int16
	err     error // io.EOF: all samples are there
	changed chan struct{}
}

// read takes all that the synthesizer makes.
func (c *clip) read(ctx context.Context, engine Synthesizer, speech Speech) {
	stream, err := engine.Synthesize(ctx, speech)
	if err != nil {
		c.add(nil, err)
		return
	}
	defer stream.Close()
	buffer := make([]int16, speech.Rate/10)
	for err == nil {
		var n int
		n, err = stream.Read(buffer)
		c.add(buffer[:n], err)
	}
}

// add appends samples, and tells who waits for them.
func (c *clip) add(samples []int16, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = append(c.samples, samples...)
	c.err = err
	close(c.changed)
	c.changed = make(chan struct{})
}

// next gives at most size samples from at on, which stay as they are, and how many there are in all once that is known.
// It waits for them; io.EOF after the last.
func (c *clip) next(ctx context.Context, at, size int) (part []int16, total int, err error) {
	for {
		c.mu.Lock()
		samples, err, changed := c.samples, c.err, c.changed
		c.mu.Unlock()
		if errors.Is(err, io.EOF) {
			total = len(samples)
		}
		switch {
		case at < len(samples):
			return samples[at:min(at+size, len(samples))], total, nil
		case err != nil:
			return nil, total, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}
