// Package audiofile decodes recordings that people upload: WAV, MP3 and Ogg (Vorbis, and Opus where the program has it). The
// format is detected by the bytes, never by the name.
//
//	decoder := audiofile.Decoder{Opus: func() (audiofile.PacketDecoder, error) { return opus.Engine().New() }}
//	audio, err := decoder.Decode(ctx, upload, time.Minute)
//
// The bytes are from strangers, so a file is decoded piece by piece: decoding stops at the limit, regardless of the file's own statement of
// its length. A panic of a decoder is an error here.
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

// MaxDuration bounds the audio of one file.
const MaxDuration = 5 * time.Minute

// MaxRate is the highest rate of decoded audio, in samples a second: frequencies above 8 kHz carry nothing of a voice that a
// telephone could carry. So decoded audio is at most 9.6 MB long.
const MaxRate = 16000

// PacketDecoder decodes the packets of one Opus stream to mono. A sip.Codec is one.
type PacketDecoder interface {
	// Rate returns the sample rate of the output of Decode, in samples per second.
	Rate() int
	// Decode appends the samples of one packet to dst.
	Decode(dst []int16, packet []byte) ([]int16, error)
}

// Decoder decodes recordings. The zero Decoder is valid and takes no Opus. Any number of goroutines may use it.
type Decoder struct {
	// Opus makes a decoder of Opus; nil: Ogg Opus is refused.
	Opus func() (PacketDecoder, error)
}

// source is the audio of an open file: next returns the next samples, mono, and io.EOF after the last.
type source struct {
	rate int
	next func() ([]int16, error)
}

// Decode reads a recording from where src is, and returns its audio: mono, at its own rate or at MaxRate if that is lower. Unsupported,
// damaged, truncated and empty recordings are CodeUnsupportedMedia; a recording that is longer
// than limit is CodePayloadTooLarge. A limit of 0, or above MaxDuration, is MaxDuration. Errors of src are returned unchanged.
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
		return pcm.Audio{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "the %s recording has no audio in it", kind)
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

// decode opens and collects. The decoders of others see bytes of strangers, so their panics end here.
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

// collect reads a source to its end, or to the limit. Higher rates are brought down on the way, so that memory is bounded by
// the limit.
func collect(ctx context.Context, s source, limit time.Duration) (pcm.Audio, error) {
	rate := min(s.rate, MaxRate)
	resampler, err := pcm.NewResampler(s.rate, rate)
	if err != nil {
		return pcm.Audio{}, callwright.Errorf(callwright.CodeUnsupportedMedia,
			"the recording has %d samples a second: between %d and %d are taken", s.rate, pcm.MinRate, pcm.MaxRate)
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

// openWAV opens a WAV file, which must have all the audio that it declares.
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

// cutOff makes the end of a file that declares more than it has an error.
func cutOff(r *pcm.WAVReader, err error) error {
	if errors.Is(err, io.EOF) && r.Missing() > 0 {
		return fmt.Errorf("%d bytes of the declared audio are missing", r.Missing())
	}
	return err
}

// watchedReader separates errors of the source from errors of decoders, and ends with the context.
type watchedReader struct {
	ctx context.Context //nolint:containedctx // it lives as long as one Decode
	src io.Reader
	err error
}

// Read reads from the source.
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
