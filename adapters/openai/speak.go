package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/chat"
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
	s := &speechStream{ctx: ctx, cancel: cancel, open: c.openAudio, rate: speech.Rate, silent: engine.Silent(speech.Text), body: http.NoBody}
	if s.silent {
		return s, nil
	}
	voice := speech.Voice
	if voice == "" {
		voice = c.config.Voice
	}
	//nolint:bodyclose // the stream closes it
	response, err := c.postSpeech(ctx, speechRequest{Model: c.config.SpeechModel, Input: speech.Text, Voice: voice, Speed: speech.Prosody.Tempo})
	if err != nil {
		err = speechError(ctx, err)
		cancel()
		return nil, err
	}
	s.body, s.contentType = response.Body, response.Header.Get("Content-Type")
	return s, nil
}

// postSpeech requests speech as PCM, or as WAV if the service has refused PCM.
func (c *Client) postSpeech(ctx context.Context, body speechRequest) (*http.Response, error) {
	if body.Format = "pcm"; c.onlyWAV.Load() {
		body.Format = "wav"
	}
	response, err := c.postJSON(ctx, "/audio/speech", body)
	refused, ok := errors.AsType[*chat.ServiceError](err)
	if ok && body.Format == "pcm" && aboutFormat(refused) {
		c.onlyWAV.Store(true)
		return c.postSpeech(ctx, body)
	}
	return response, err
}

// aboutFormat reports whether a service refuses the format of audio.
func aboutFormat(e *chat.ServiceError) bool {
	return (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) &&
		(e.Param == "response_format" || strings.Contains(e.Message, "response_format"))
}

// speechStream reads the body of a response as samples at the requested rate.
type speechStream struct {
	ctx    context.Context //nolint:containedctx // the stream lives as long as the context of its Synthesize
	cancel context.CancelFunc
	body   io.ReadCloser
	rate   int  // of the requested samples, in hertz
	silent bool // whether there is nothing to speak
	closed atomic.Bool
	once   sync.Once

	open        func(ctx context.Context, body io.Reader, contentType string) (pcm.Source, int, error)
	contentType string
	out         *pcm.Converter // nil before the first Read
}

// Read returns the next samples. It returns io.ErrClosedPipe after Close, and the context's error after the context has ended.
func (s *speechStream) Read(p []int16) (int, error) {
	if err := s.over(); err != nil {
		return 0, err
	}
	n, err := s.read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case s.over() != nil:
		return n, s.over()
	default:
		return n, speechError(s.ctx, err)
	}
}

// read opens the audio before the first samples.
func (s *speechStream) read(p []int16) (int, error) {
	if s.silent {
		return 0, io.EOF
	}
	if s.out == nil {
		src, rate, err := s.open(s.ctx, s.body, s.contentType)
		if err != nil {
			return 0, err
		}
		if s.out, err = pcm.Convert(src, rate, s.rate); err != nil {
			return 0, err
		}
	}
	return s.out.Read(p)
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
