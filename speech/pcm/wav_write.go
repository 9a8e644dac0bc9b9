package pcm

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/callwright/callwright"
)

// wavHeader and muLawHeader are the lengths, in bytes, of the headers for 16-bit PCM and for mu-law.
const (
	wavHeader   = 44
	muLawHeader = 58
)

// maxWAV is the maximum number of bytes of audio for which the 32-bit lengths of a WAV file suffice.
const maxWAV = math.MaxUint32 - wavHeader

// appendHeader appends the header for size bytes of 16-bit PCM audio.
func appendHeader(dst []byte, rate, channels int, size uint32) []byte {
	put16, put32 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32
	dst = put32(append(dst, "RIFF"...), size+wavHeader-8)
	dst = put32(append(dst, "WAVEfmt "...), 16)
	dst = put16(put16(dst, formatPCM), uint16(channels))
	dst = put32(put32(dst, uint32(rate)), uint32(rate*channels*2))
	dst = put16(put16(dst, uint16(channels*2)), 16)
	return put32(append(dst, "data"...), size)
}

// WriteWAV writes a whole WAV file of 16-bit PCM. It returns CodeBadRequest for an unsupported rate or number of channels, and
// CodePayloadTooLarge for more than 4 GiB.
func WriteWAV(dst io.Writer, a Audio) error {
	size := int64(len(a.Samples)) * 2
	if err := checkFormat(a.Rate, a.Channels); err != nil {
		return err
	}
	if size > maxWAV {
		return tooLong()
	}
	raw := make([]byte, 0, wavHeader+int(size))
	raw = appendHeader(raw, a.Rate, a.Channels, uint32(size))
	if _, err := dst.Write(AppendBytes(raw, a.Samples)); err != nil {
		return fmt.Errorf("write WAV: %w", err)
	}
	return nil
}

// WriteMuLawWAV writes a whole WAV file in the mu-law of G.711, which needs half the size of 16-bit PCM. Telephones use a rate of 8000 Hz,
// but any supported rate is allowed. Except in the lowest segment, the error of a sample is up to 1/32 of its value. Errors are as for
// WriteWAV.
func WriteMuLawWAV(dst io.Writer, a Audio) error {
	if err := checkFormat(a.Rate, a.Channels); err != nil {
		return err
	}
	size := int64(len(a.Samples))
	if size > maxWAV-muLawHeader {
		return tooLong()
	}
	raw := make([]byte, 0, muLawHeader+int(size)+1)
	raw = AppendMuLaw(appendMuLawHeader(raw, a, uint32(size)), a.Samples)
	if size%2 == 1 {
		raw = append(raw, 0) // chunks are padded to an even length
	}
	if _, err := dst.Write(raw); err != nil {
		return fmt.Errorf("write WAV: %w", err)
	}
	return nil
}

// appendMuLawHeader appends the header for size bytes of mu-law audio. Formats other than PCM require the length of an extension, and a
// fact chunk with the number of samples of each channel.
func appendMuLawHeader(dst []byte, a Audio, size uint32) []byte {
	put16, put32 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32
	dst = put32(append(dst, "RIFF"...), size+size%2+muLawHeader-8)
	dst = put32(append(dst, "WAVEfmt "...), 18)
	dst = put16(put16(dst, formatMuLaw), uint16(a.Channels))
	dst = put32(put32(dst, uint32(a.Rate)), uint32(a.Rate*a.Channels))
	dst = put16(put16(put16(dst, uint16(a.Channels)), 8), 0)
	dst = put32(put32(append(dst, "fact"...), 4), size/uint32(a.Channels))
	return put32(append(dst, "data"...), size)
}

// AppendHeader appends the header of a WAV file with one channel, in 16-bit PCM or mu-law, for a number of samples. If the number is
// negative, the length is unknown: the header then states the maximum length, which players and NewWAVReader interpret as "until the end of
// the stream".
func AppendHeader(dst []byte, rate int, muLaw bool, samples int) []byte {
	const unknown = math.MaxUint32 - 1 // even, because lengths must be even
	switch {
	case muLaw && samples < 0:
		return appendMuLawHeader(dst, Audio{Rate: rate, Channels: 1}, unknown-muLawHeader+8)
	case muLaw:
		return appendMuLawHeader(dst, Audio{Rate: rate, Channels: 1}, uint32(samples))
	case samples < 0:
		return appendHeader(dst, rate, 1, unknown-wavHeader+8)
	}
	return appendHeader(dst, rate, 1, uint32(2*samples))
}

func checkFormat(rate, channels int) error {
	if channels < 1 || channels > maxChannels {
		return callwright.Invalid("channels", "must be from 1 to %d, not %d", maxChannels, channels)
	}
	if rate < MinRate || rate > MaxRate {
		return callwright.Invalid("rate", "must be from %d to %d samples a second, not %d", MinRate, MaxRate, rate)
	}
	return nil
}

func tooLong() error {
	return callwright.Errorf(callwright.CodePayloadTooLarge, "a WAV file can have at most 4 GiB")
}

// Recording writes a call to a stereo WAV file during the call. Write buffers up to a second of audio. Flush, or a Write that fills the
// buffer, writes the pending audio and then updates the lengths in the header. After a crash, the file is therefore valid and lacks only
// the pending audio. Only one goroutine may use a Recording.
type Recording struct {
	dst     io.WriteSeeker
	rate    int
	size    int64  // bytes of audio written to dst
	pending []byte // audio that is not yet written
	header  []byte // reused buffer
	err     error  // the first failure, after which nothing is written
	closed  bool
}

// NewRecording writes the header of a WAV file without audio to dst, which must be empty. The Recording does not close dst. NewRecording
// returns CodeBadRequest if the rate, in Hz, is outside MinRate to MaxRate.
func NewRecording(dst io.WriteSeeker, rate int) (*Recording, error) {
	if err := checkFormat(rate, 2); err != nil {
		return nil, err
	}
	r := &Recording{dst: dst, rate: rate, pending: make([]byte, 0, 4*rate+4*FrameSamples(MaxRate))}
	if _, err := dst.Write(appendHeader(nil, rate, 2, 0)); err != nil {
		return nil, fmt.Errorf("write WAV header: %w", err)
	}
	return r, nil
}

// Write adds audio of both sides for the same time. The audio is pending until Flush, or until a second of audio is pending. Write pads the
// shorter side with silence; nil means silence. After a failure, such as a full disk, every call returns the same error, and the audio
// written before remains a valid file. After Close, Write does nothing.
func (r *Recording) Write(left, right []int16) error {
	if r.err != nil || r.closed {
		return r.err
	}
	n := max(len(left), len(right))
	if r.size+int64(len(r.pending))+int64(n)*4 > maxWAV {
		r.err = tooLong()
		return r.err
	}
	for i := range n {
		r.pending = binary.LittleEndian.AppendUint16(r.pending, uint16(at(left, i)))
		r.pending = binary.LittleEndian.AppendUint16(r.pending, uint16(at(right, i)))
	}
	if len(r.pending) >= 4*r.rate {
		r.err = r.write()
	}
	return r.err
}

// Flush writes the pending audio. When it returns nil, dst contains all audio so far and a header with its length.
func (r *Recording) Flush() error {
	if r.err == nil && !r.closed && len(r.pending) > 0 {
		r.err = r.write()
	}
	return r.err
}

func at(samples []int16, i int) int16 {
	if i < len(samples) {
		return samples[i]
	}
	return 0
}

// Duration returns the duration of the recorded audio, including pending audio.
func (r *Recording) Duration() time.Duration {
	return Duration(int(r.size+int64(len(r.pending)))/4, r.rate)
}

// Close writes the pending audio. It may be called twice.
func (r *Recording) Close() error {
	err := r.Flush()
	r.closed = true
	return err
}

// write writes the audio first and then the header, so that the header never declares absent audio.
func (r *Recording) write() error {
	if _, err := r.dst.Write(r.pending); err != nil {
		return fmt.Errorf("write WAV audio: %w", err)
	}
	r.size += int64(len(r.pending))
	r.pending = r.pending[:0]
	if _, err := r.dst.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("seek WAV header: %w", err)
	}
	r.header = appendHeader(r.header[:0], r.rate, 2, uint32(r.size))
	if _, err := r.dst.Write(r.header); err != nil {
		return fmt.Errorf("write WAV header: %w", err)
	}
	if _, err := r.dst.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("seek WAV end: %w", err)
	}
	return nil
}
