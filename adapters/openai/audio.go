package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"

	"github.com/callwright/callwright/internal/engine/chat"
	"github.com/callwright/callwright/speech/pcm"
)

// These errors describe a response that is not the requested audio.
var (
	errNoAudio    = errors.New("the service returned no audio")
	errWrongAudio = errors.New("the service returned audio in another format than PCM and WAV")
)

// signatures are the first bytes of formats that some services send although the request names another one. PCM may begin with any bytes, so
// only those are here that are improbable in speech: speech begins with silence.
var signatures = []string{"ID3", "OggS", "fLaC", "\xff\xfb", "\xff\xf3", "\xff\xf2", "\xff\xfa", "\x1aE\xdf\xa3", "<", "{"}

// openAudio returns the audio of a response and its sample rate. The first bytes and the content type determine its format, because services
// send other formats than those that the request names.
func openAudio(body io.Reader, contentType string) (pcm.Source, int, error) {
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
	case strings.HasPrefix(media, "text/"), begins(first):
		return nil, 0, errWrongAudio
	}
	rate := speechRate
	if n, err := strconv.Atoi(parameters["rate"]); err == nil && n > 0 {
		rate = n
	}
	return &samples{src: b}, rate, nil
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
