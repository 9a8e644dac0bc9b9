package tts

import (
	"context"
	"io"
	"sync"
)

// Samples returns a Stream of audio that is in memory. It ends early when ctx does. The audio must not change meanwhile.
func Samples(ctx context.Context, audio []int16) Stream { return &memory{ctx: ctx, rest: audio} }

type memory struct {
	ctx context.Context //nolint:containedctx // the stream lives as long as the context of its Synthesize

	mu     sync.Mutex
	rest   []int16
	closed bool
}

// Read returns the next samples.
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

// Close ends the stream.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
