package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/internal/engine/chat"
	"github.com/callwright/callwright/speech/pcm"
)

// These errors describe a response that is not the requested audio.
var (
	errNoAudio    = errors.New("the service returned no audio")
	errWrongAudio = errors.New("the service returned audio in another format than those that can be decoded")
)

// Decoder decodes files with speech. A speech.Decoder, such as audiofile.Decoder, implements it.
type Decoder interface {
	// Decode returns the audio of a file, or an error if the file is damaged or its audio is longer than limit.
	Decode(ctx context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error)
}

// The limits of compressed audio, which is decoded as a whole.
const (
	maxCompressed = 8 << 20 // bytes
	maxDecoded    = 5 * time.Minute
)

// signatures are the first bytes of formats that some services send although the request names another one. PCM may begin with any bytes, so
// only those are here that are improbable in speech: speech begins with silence.
var signatures = []string{"ID3", "OggS", "fLaC", "\xff\xfb", "\xff\xf3", "\xff\xf2", "\xff\xfa", "\x1aE\xdf\xa3"}

// openAudio returns the audio of a response and its sample rate. The first bytes and the content type determine its format, because services
// send other formats than those that the request names.
func (c *Client) openAudio(ctx context.Context, body io.Reader, contentType string) (pcm.Source, int, error) {
	b := bufio.NewReader(body)
	first, err := b.Peek(4)
	if len(first) == 0 {
		if errors.Is(err, io.EOF) {
			err = errNoAudio
		}
		return nil, 0, err
	}
	media, parameters, _ := mime.ParseMediaType(contentType)
	switch {
	case string(first) == "RIFF":
		wav, err := pcm.NewWAVReader(b)
		if err != nil {
			return nil, 0, fmt.Errorf("the service returned a WAV file that cannot be read: %w", err)
		}
		return &mono{src: wav, channels: wav.Channels}, wav.Rate, nil
	case media == "application/json":
		text, err := io.ReadAll(io.LimitReader(b, chat.MaxError))
		if err != nil {
			return nil, 0, err
		}
		return nil, 0, chat.NewServiceError(text)
	case strings.HasPrefix(media, "text/"), first[0] == '<', first[0] == '{':
		return nil, 0, errWrongAudio
	case begins(first), media == "audio/mpeg", media == "audio/mp3", media == "audio/ogg":
		return c.decode(ctx, b)
	}
	rate := speechRate
	if n, err := strconv.Atoi(parameters["rate"]); err == nil && n > 0 {
		rate = n
	}
	return &samples{src: b}, rate, nil
}

// decode decodes compressed audio, of which nothing is heard before it is complete.
func (c *Client) decode(ctx context.Context, body io.Reader) (pcm.Source, int, error) {
	if c.config.Decoder == nil {
		return nil, 0, errWrongAudio
	}
	file, err := io.ReadAll(io.LimitReader(body, maxCompressed+1))
	if err != nil {
		return nil, 0, err
	}
	if len(file) > maxCompressed {
		return nil, 0, errWrongAudio
	}
	audio, err := c.config.Decoder.Decode(ctx, bytes.NewReader(file), maxDecoded)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errWrongAudio, err)
	}
	return &samples{src: bytes.NewReader(pcm.AppendBytes(nil, audio.Mono()))}, audio.Rate, nil
}

// begins reports whether a response begins with one of the signatures.
func begins(first []byte) bool {
	for _, s := range signatures {
		if bytes.HasPrefix(first, []byte(s)) {
			return true
		}
	}
	return false
}

// mono mixes the channels of a source of interleaved samples.
type mono struct {
	src      pcm.Source
	channels int
	all      []int16
}

// Read returns the mean of the channels. It omits an incomplete sample at the end.
func (m *mono) Read(p []int16) (int, error) {
	if m.channels == 1 {
		return m.src.Read(p)
	}
	if need := len(p) * m.channels; len(m.all) < need {
		m.all = make([]int16, need)
	}
	have, err := 0, error(nil)
	for have == 0 || have%m.channels != 0 {
		var n int
		n, err = m.src.Read(m.all[have : len(p)*m.channels])
		if have += n; err != nil || n == 0 {
			break
		}
	}
	for i := range have / m.channels {
		sum := 0
		for _, s := range m.all[i*m.channels : (i+1)*m.channels] {
			sum += int(s)
		}
		p[i] = int16(sum / m.channels)
	}
	return have / m.channels, err
}

// samples converts bytes to 16-bit samples. A read of the bytes may end within a sample.
type samples struct {
	src  io.Reader
	raw  []byte
	held int // number of bytes of an incomplete sample at the start of raw, 0 or 1
}

// Read waits for at least one sample. It omits an incomplete sample at the end.
func (s *samples) Read(p []int16) (int, error) {
	if need := 2 * len(p); len(s.raw) < need {
		s.raw = append(s.raw, make([]byte, need-len(s.raw))...)
	}
	for {
		n, err := s.src.Read(s.raw[s.held : 2*len(p)])
		have := s.held + n
		count := len(pcm.AppendSamples(p[:0], s.raw[:have]))
		s.held = copy(s.raw, s.raw[2*count:have])
		if count > 0 || err != nil {
			return count, err
		}
	}
}
