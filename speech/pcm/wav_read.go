package pcm

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/callwright/callwright"
)

// The format tags of a WAV file that WAVReader accepts.
const (
	formatPCM        = 0x0001
	formatFloat      = 0x0003
	formatALaw       = 0x0006
	formatMuLaw      = 0x0007
	formatExtensible = 0xFFFE // the real tag is in the first two bytes of a GUID
)

// maxHeader is the maximum number of bytes before the audio in a WAV file, which may include pictures.
const maxHeader = 1 << 20

// maxChannels is the maximum number of channels in a WAV file.
const maxChannels = 8

// maxEmptyReads is the number of consecutive reads without bytes or an error after which Read returns io.ErrNoProgress.
const maxEmptyReads = 100

// WAVReader reads a RIFF/WAVE stream incrementally. It accepts integer samples of 8, 16, 24 and 32 bits, floats of 32 bits, and both laws
// of G.711. It skips chunks that are not audio.
//
// It uses the stated length only if the length is plausible: programs that write to a pipe do not know the length and write 0, 0xFFFFFFFF
// or another huge number. A wrong length uses no memory, because nothing is allocated for it. Missing reports a length that is too large.
type WAVReader struct {
	// Rate is the sample rate of each channel in Hz. Channels is the number of channels.
	Rate, Channels int

	src    io.Reader
	format uint16
	width  int   // bytes per sample
	sized  bool  // the header states the length of the audio
	left   int64 // bytes of audio that have not been read
	raw    []byte
	held   int // bytes at the start of raw that belong to an incomplete sample
}

// NewWAVReader reads the header of a WAV file. It returns CodeUnsupportedMedia if src is not a WAV file of a supported format or cannot be
// read.
func NewWAVReader(src io.Reader) (*WAVReader, error) {
	r := &WAVReader{src: src}
	var riff [12]byte
	if _, err := io.ReadFull(src, riff[:]); err != nil {
		return nil, damaged("is truncated: the header of the WAV file is incomplete", err)
	}
	if string(riff[:4]) != "RIFF" || string(riff[8:]) != "WAVE" {
		return nil, damaged("is not a WAV file", nil)
	}
	return r, r.seekAudio()
}

// seekAudio reads the chunks before the audio, and the header of the audio chunk.
func (r *WAVReader) seekAudio() error {
	for budget := int64(maxHeader); ; {
		var head [8]byte
		if _, err := io.ReadFull(r.src, head[:]); err != nil {
			return damaged("is truncated: the WAV file has no data chunk", err)
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) == "data" {
			return r.begin(size)
		}
		size += size & 1 // chunks are padded to an even length
		if budget -= size + 8; budget < 0 {
			return damaged("must be a WAV file with at most 1 MiB before its data chunk", nil)
		}
		if string(head[:4]) != "fmt " {
			if _, err := io.CopyN(io.Discard, r.src, size); err != nil {
				return damaged("is truncated: the WAV file has no data chunk", err)
			}
			continue
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(r.src, body); err != nil {
			return damaged("is truncated: the header of the WAV file is incomplete", err)
		}
		if err := r.describe(body); err != nil {
			return err
		}
	}
}

// describe parses the format chunk and sets Rate, Channels and the sample format.
func (r *WAVReader) describe(body []byte) error {
	if len(body) < 16 {
		return damaged("must be a WAV file with a format chunk of at least 16 bytes", nil)
	}
	r.format = binary.LittleEndian.Uint16(body)
	r.Channels = int(binary.LittleEndian.Uint16(body[2:]))
	rate := binary.LittleEndian.Uint32(body[4:])
	bits := int(binary.LittleEndian.Uint16(body[14:]))
	if r.format == formatExtensible && len(body) >= 26 {
		r.format = binary.LittleEndian.Uint16(body[24:])
	}
	known := r.format == formatPCM && (bits == 8 || bits == 16 || bits == 24 || bits == 32) ||
		r.format == formatFloat && bits == 32 ||
		(r.format == formatMuLaw || r.format == formatALaw) && bits == 8
	if !known {
		return callwright.Errorf(callwright.CodeUnsupportedMedia,
			"WAV format %#04x with %d bits a sample is not supported: use PCM with 8, 16, 24 or 32 bits, float with 32 bits, or G.711", r.format, bits)
	}
	if r.Channels < 1 || r.Channels > maxChannels || rate < MinRate || rate > MaxRate {
		return callwright.Errorf(callwright.CodeUnsupportedMedia,
			"WAV with %d channels at %d samples a second is not supported: use 1 to %d channels at %d to %d samples a second",
			r.Channels, rate, maxChannels, MinRate, MaxRate)
	}
	r.Rate, r.width = int(rate), bits/8
	return nil
}

func (r *WAVReader) begin(size int64) error {
	if r.width == 0 {
		return damaged("must be a WAV file with a format chunk before its data chunk", nil)
	}
	r.left, r.sized = size, true
	if size == 0 || size >= math.MaxInt32-math.MaxUint16 {
		r.left, r.sized = math.MaxInt64, false // the audio extends to the end of the stream
	}
	r.raw = make([]byte, 8192)
	return nil
}

// Read fills p with interleaved samples and returns their number; after the last sample it returns io.EOF. If a file is shorter than its
// header states, Read returns io.EOF at the end of the file; see Missing. Read blocks only until at least one sample is available.
func (r *WAVReader) Read(p []int16) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for range maxEmptyReads {
		want := int(min(int64(len(p)*r.width), int64(len(r.raw)), r.left+int64(r.held)))
		if want < r.width {
			return 0, io.EOF
		}
		n, err := r.src.Read(r.raw[r.held:want])
		r.left -= int64(n)
		have := r.held + n
		count := have / r.width
		for i := range count {
			p[i] = r.sample(r.raw[i*r.width:])
		}
		r.held = copy(r.raw, r.raw[count*r.width:have])
		switch {
		case count > 0:
			return count, nil
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return 0, io.EOF
		case err != nil:
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// Missing returns the number of declared bytes of audio that have not been read. If it is positive after io.EOF, the file is truncated or
// its header is wrong. It returns 0 if the header states no plausible length.
func (r *WAVReader) Missing() int64 {
	if !r.sized {
		return 0
	}
	return r.left
}

func (r *WAVReader) sample(b []byte) int16 {
	switch {
	case r.format == formatMuLaw:
		return muTable[b[0]]
	case r.format == formatALaw:
		return aTable[b[0]]
	case r.format == formatFloat:
		return clip(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) * fullScale)
	case r.width == 1:
		return int16(int(b[0])-128) << 8 // 8-bit samples are unsigned
	default:
		return int16(binary.LittleEndian.Uint16(b[r.width-2:])) // the two most significant bytes
	}
}

// ReadWAV reads a whole WAV file. It accepts a truncated file and a file without audio. It returns CodePayloadTooLarge if the audio has
// more than limit samples in all channels together, and CodeUnsupportedMedia for another file or if src fails.
func ReadWAV(src io.Reader, limit int) (Audio, error) {
	r, err := NewWAVReader(src)
	if err != nil {
		return Audio{}, err
	}
	audio := Audio{Rate: r.Rate, Channels: r.Channels}
	piece := make([]int16, 4096)
	for {
		n, err := r.Read(piece)
		if len(audio.Samples)+n > limit {
			return Audio{}, callwright.Errorf(callwright.CodePayloadTooLarge, "the WAV file has more than %d samples", limit)
		}
		audio.Samples = append(audio.Samples, piece[:n]...)
		if errors.Is(err, io.EOF) {
			whole := len(audio.Samples) / r.Channels * r.Channels
			audio.Samples = audio.Samples[:whole]
			return audio, nil
		}
		if err != nil {
			return Audio{}, damaged("cannot be read", err)
		}
	}
}

func damaged(how string, cause error) error {
	return (&callwright.Error{Code: callwright.CodeUnsupportedMedia, Message: "the audio " + how}).Because(cause)
}
