package openai

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// speechRate is the sample rate of the format "pcm", 16-bit mono without a header, in samples per second.
const speechRate = 24000

// documented lists the voices that OpenAI documents for its own models.
var documented = []string{"alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse"}

// Describe returns the configured voices and the default voice. The service lists neither its voices nor its version, so Version is the
// name of the speech model. The service supports tempo but not pitch.
func (c *Client) Describe() tts.Description {
	names := c.config.Voices
	if names == nil {
		names = documented
	}
	if !slices.Contains(names, c.config.Voice) {
		names = append([]string{c.config.Voice}, names...)
	}
	d := tts.Description{Name: "openai", Version: c.config.SpeechModel, Default: c.config.Voice, Tempo: true}
	for _, name := range names {
		d.Voices = append(d.Voices, tts.Voice{Name: name})
	}
	return d
}

// CheckVoice accepts every name, because only the service can check names.
func (c *Client) CheckVoice(string, string) error { return nil }

// Synthesize streams speech while the service generates it. It returns when the service has begun to respond. For silent text it sends no
// request.
func (c *Client) Synthesize(ctx context.Context, speech tts.Request) (tts.Stream, error) {
	if err := speech.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &speechStream{ctx: ctx, cancel: cancel, body: io.NopCloser(eof{})}
	if !engine.Silent(speech.Text) {
		voice := speech.Voice
		if voice == "" {
			voice = c.config.Voice
		}
		//nolint:bodyclose // the stream closes it
		response, err := c.postJSON(ctx, "/audio/speech", speechRequest{
			Model: c.config.SpeechModel, Input: speech.Text, Voice: voice, Format: "pcm", Speed: speech.Prosody.Tempo,
		})
		if err != nil {
			err = speechError(ctx, err)
			cancel()
			return nil, err
		}
		s.body = response.Body
	}
	var err error
	if s.out, err = pcm.Convert(&samples{body: s}, speechRate, speech.Rate); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// eof is an empty body.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// speechStream reads the body of a response as samples at the requested rate.
type speechStream struct {
	ctx    context.Context //nolint:containedctx // the stream lives as long as the context of its Synthesize
	cancel context.CancelFunc
	body   io.ReadCloser
	out    *pcm.Converter
	closed atomic.Bool
	once   sync.Once
}

// Read returns the next samples. It returns io.ErrClosedPipe after Close, and the context's error after the context has ended.
func (s *speechStream) Read(p []int16) (int, error) {
	if err := s.over(); err != nil {
		return 0, err
	}
	n, err := s.out.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case s.over() != nil:
		return n, s.over()
	default:
		return n, speechError(s.ctx, err)
	}
}

// over returns io.ErrClosedPipe if the stream was closed, or the error of its context.
func (s *speechStream) over() error {
	if s.closed.Load() {
		return io.ErrClosedPipe
	}
	return s.ctx.Err()
}

// Close cancels the request and closes its body, so that a concurrent Read returns. The returned error is always nil.
func (s *speechStream) Close() error {
	s.once.Do(func() {
		s.closed.Store(true)
		s.cancel()
		_ = s.body.Close()
	})
	return nil
}

// samples converts the bytes of a body to samples. A read of the body may end within a sample.
type samples struct {
	body *speechStream
	raw  []byte
	held int // number of bytes of an incomplete sample at the start of raw, 0 or 1
}

// Read waits for at least one sample. It omits an incomplete sample at the end of the body.
func (s *samples) Read(p []int16) (int, error) {
	if need := 2 * len(p); len(s.raw) < need {
		s.raw = append(s.raw, make([]byte, need-len(s.raw))...)
	}
	for {
		n, err := s.body.body.Read(s.raw[s.held : 2*len(p)])
		have := s.held + n
		count := len(pcm.AppendSamples(p[:0], s.raw[:have]))
		s.held = copy(s.raw, s.raw[2*count:have])
		if count > 0 || err != nil {
			return count, err
		}
	}
}
