// Package audiofile decodes recordings that people upload: WAV, MP3 and Ogg (Vorbis, and Opus if the program provides a decoder). It
// detects the format by the bytes, never by the file name.
//
//	decoder := audiofile.Decoder{Opus: func() (audiofile.PacketDecoder, error) { return opus.Engine().New() }}
//	audio, err := decoder.Decode(ctx, upload, time.Minute)
//
// The files are untrusted, so they are decoded in pieces: decoding stops at the limit, regardless of the length that a file declares. A
// panic of a decoder becomes an error.
package audiofile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// MaxDuration is the maximum length of the audio in one file.
const MaxDuration = 5 * time.Minute

// MaxRate is the maximum rate of decoded audio, in samples per second. It preserves frequencies up to 8 kHz, and telephones carry no voice
// above that. Decoded audio is therefore at most 9.6 MB long.
const MaxRate = 16000

// PacketDecoder decodes the packets of one Opus stream to mono. A sip.Codec implements it.
type PacketDecoder interface {
	// Rate returns the sample rate of the output of Decode, in samples per second.
	Rate() int
	// Decode appends the samples of one packet to dst and returns the extended slice.
	Decode(dst []int16, packet []byte) ([]int16, error)
}

// Decoder decodes recordings. The zero Decoder is valid and refuses Opus. It is safe for concurrent use.
type Decoder struct {
	// Opus creates a decoder for one Opus stream. If nil, Ogg Opus is refused.
	Opus func() (PacketDecoder, error)
}

// source is the audio of an open file. The function next returns the following samples, in mono. At the end it returns the last samples, if
// any, and io.EOF.
type source struct {
	rate int
	next func() ([]int16, error)
}

// Decode reads a recording from the current position of src and returns its audio in mono, at the recording's rate but at most MaxRate. It
// returns CodeUnsupportedMedia for an unsupported, damaged, truncated or empty recording, and CodePayloadTooLarge for a recording longer
// than limit. If limit is not positive or above MaxDuration, MaxDuration applies. Errors of src and of ctx are returned unchanged.
func (d Decoder) Decode(ctx context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error) {
	if limit <= 0 || limit > MaxDuration {
		limit = MaxDuration
	}
	watched := &watchedReader{ctx: ctx, src: src}
	audio, kind, err := d.decode(ctx, bufio.NewReaderSize(watched, peekSize), limit)
	switch {
	case watched.err != nil:
		return pcm.Audio{}, watched.err
	case ctx.Err() != nil:
		return pcm.Audio{}, ctx.Err()
	case err != nil:
		if _, coded := errors.AsType[*callwright.Error](err); coded {
			return pcm.Audio{}, err
		}
		return pcm.Audio{}, d.damaged(kind, err)
	case len(audio.Samples) == 0:
		return pcm.Audio{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "the %s recording contains no audio", kind)
	}
	return audio, nil
}

func (d Decoder) damaged(kind string, cause error) error {
	return (&callwright.Error{
		Code:    callwright.CodeUnsupportedMedia,
		Message: fmt.Sprintf("the %s recording is damaged or cut off: upload the original, or convert it to WAV", kind),
	}).Because(cause)
}

// taken lists the supported formats, for errors.
func (d Decoder) taken() string {
	if d.Opus == nil {
		return "WAV, MP3 or Ogg Vorbis"
	}
	return "WAV, MP3, Ogg Vorbis or Ogg Opus"
}

// decode detects the format, opens the file and collects its audio. It converts panics into errors, because third-party decoders process
// untrusted bytes here.
func (d Decoder) decode(ctx context.Context, src *bufio.Reader, limit time.Duration) (audio pcm.Audio, kind string, err error) {
	kind = sniff(src)
	defer func() {
		if p := recover(); p != nil {
			audio, err = pcm.Audio{}, fmt.Errorf("the decoder panicked: %v", p)
		}
	}()
	var opened source
	switch kind {
	case kindWAV:
		opened, err = openWAV(src)
	case kindMP3:
		opened, err = openMP3(src)
	case kindOgg:
		kind, opened, err = d.openOgg(src)
	default:
		err = callwright.Errorf(callwright.CodeUnsupportedMedia, "the file is %s: upload a recording as %s", kind, d.taken())
	}
	if err != nil {
		return pcm.Audio{}, kind, err
	}
	audio, err = collect(ctx, opened, limit)
	return audio, kind, err
}

// collect reads a source to its end. It returns CodePayloadTooLarge if the audio is longer than limit, and CodeUnsupportedMedia for a
// sample rate outside pcm.MinRate to pcm.MaxRate. It resamples rates above MaxRate piece by piece, so that limit bounds the memory.
func collect(ctx context.Context, s source, limit time.Duration) (pcm.Audio, error) {
	rate := min(s.rate, MaxRate)
	resampler, err := pcm.NewResampler(s.rate, rate)
	if err != nil {
		return pcm.Audio{}, callwright.Errorf(callwright.CodeUnsupportedMedia,
			"the recording has %d samples a second: it must have %d to %d", s.rate, pcm.MinRate, pcm.MaxRate)
	}
	audio := pcm.Audio{Rate: rate, Channels: 1}
	for total, most := 0, pcm.Samples(limit, s.rate); ; {
		if err := ctx.Err(); err != nil {
			return pcm.Audio{}, err
		}
		piece, err := s.next()
		if total += len(piece); total > most {
			return pcm.Audio{}, callwright.Errorf(callwright.CodePayloadTooLarge, "the recording is longer than %v: upload a part of it", limit)
		}
		audio.Samples = resampler.Process(audio.Samples, piece)
		if errors.Is(err, io.EOF) {
			audio.Samples = resampler.Flush(audio.Samples)
			return audio, nil
		}
		if err != nil {
			return pcm.Audio{}, err
		}
	}
}

// openWAV opens a WAV file. The source fails if the file ends before the length of audio that it declares.
func openWAV(src io.Reader) (source, error) {
	r, err := pcm.NewWAVReader(src)
	if err != nil {
		return source{}, err
	}
	piece, held := make([]int16, 4096/r.Channels*r.Channels), 0
	next := func() ([]int16, error) {
		n, err := r.Read(piece[held:])
		have := held + n
		whole := have / r.Channels * r.Channels
		mono := pcm.Audio{Rate: r.Rate, Channels: r.Channels, Samples: piece[:whole]}.Mono()
		if r.Channels == 1 {
			return mono, cutOff(r, err)
		}
		held = copy(piece, piece[whole:have])
		return mono, cutOff(r, err)
	}
	return source{r.Rate, next}, nil
}

// cutOff replaces io.EOF with another error if the file contains less audio than it declares.
func cutOff(r *pcm.WAVReader, err error) error {
	if errors.Is(err, io.EOF) && r.Missing() > 0 {
		return fmt.Errorf("%d bytes of the declared audio are missing", r.Missing())
	}
	return err
}

// watchedReader records errors of the source, to distinguish them from errors of decoders, and fails when the context is canceled.
type watchedReader struct {
	ctx context.Context //nolint:containedctx // it lives as long as one Decode
	src io.Reader
	err error
}

// Read reads from the source, unless the context is canceled. It stores an error of the source other than io.EOF in err.
func (w *watchedReader) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
