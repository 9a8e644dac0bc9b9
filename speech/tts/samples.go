package tts

import (
	"context"
	"io"
	"sync"
)

// Samples returns a Stream of audio in memory, which is a Marker. The stream ends with an error when ctx ends. The caller must not change
// the audio and the marks while the stream is used.
func Samples(ctx context.Context, audio []int16, marks ...Mark) Stream {
	return &memory{ctx: ctx, rest: audio, marks: marks}
}

type memory struct {
	ctx   context.Context //nolint:containedctx // the stream lives as long as the context of its Synthesize
	marks []Mark

	mu     sync.Mutex
	rest   []int16
	closed bool
}

// Read returns the next samples, and io.EOF after the last one.
func (m *memory) Read(p []int16) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch err := m.ctx.Err(); {
	case m.closed:
		return 0, io.ErrClosedPipe
	case err != nil:
		return 0, err
	case len(m.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// Close ends the stream: later reads return io.ErrClosedPipe.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// Marks implements Marker.
func (m *memory) Marks() []Mark { return m.marks }
