package pcm

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/callwright/callwright"
)

// wavHeader and muLawHeader are the lengths in bytes of the headers written for 16-bit PCM and for mu-law.
const (
	wavHeader   = 44
	muLawHeader = 58
)

// maxWAV is the most bytes of audio that the 32-bit lengths of a WAV file can state.
const maxWAV = math.MaxUint32 - wavHeader

// appendHeader appends the header of 16-bit PCM with size bytes of audio.
func appendHeader(dst []byte, rate, channels int, size uint32) []byte {
	put16, put32 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32
	dst = put32(append(dst, "RIFF"...), size+wavHeader-8)
	dst = put32(append(dst, "WAVEfmt "...), 16)
	dst = put16(put16(dst, formatPCM), uint16(channels))
	dst = put32(put32(dst, uint32(rate)), uint32(rate*channels*2))
	dst = put16(put16(dst, uint16(channels*2)), 16)
	return put32(append(dst, "data"...), size)
}

// WriteWAV writes a whole WAV file of 16-bit PCM.
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

// WriteMuLawWAV writes a whole WAV file in the mu-law of G.711, which has half the size of 16-bit PCM. Telephones use it at 8000
// samples a second, but any rate is allowed. The error of a sample in a louder segment is up to 1/32 of its value.
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

// appendMuLawHeader appends the header of size bytes of mu-law. A format other than PCM needs the length of an extension, and a
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

// AppendHeader appends the header of a WAV file of one channel, as 16-bit PCM or in the mu-law, for a number of samples. A negative
// number means unknown: the header then states the largest length, which players and NewWAVReader treat as "until the end of the
// stream".
func AppendHeader(dst []byte, rate int, muLaw bool, samples int) []byte {
	const unknown = math.MaxUint32 - 1 // even, as lengths are
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
		return callwright.Invalid("channels", "%d channels: a WAV file here has 1 to %d", channels, maxChannels)
	}
	if rate < MinRate || rate > MaxRate {
		return callwright.Invalid("rate", "sample rate %d is not between %d and %d", rate, MinRate, MaxRate)
	}
	return nil
}

func tooLong() error {
	return callwright.Errorf(callwright.CodePayloadTooLarge, "a WAV file holds at most 4 GiB")
}

// Recording writes a call as a stereo WAV file during the call. Flush, and every second of audio without one, writes the pending
// audio and then corrects the lengths in the header. After a crash the file is therefore always valid and lacks only the pending
// audio. Only one goroutine may write.
type Recording struct {
	dst     io.WriteSeeker
	rate    int
	size    int64  // bytes of audio written to dst
	pending []byte // audio not yet written
	header  []byte // buffer
	err     error  // the first failure; the recording ends there
	closed  bool
}

// NewRecording writes the header of an empty file to dst, which must be empty and is not closed by the recording.
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

// Write adds a piece of the call, both sides of the same time, which is pending until Flush. The shorter side is padded with
// silence; nil is silence. After a failure, such as a full disk, every call returns the same error, and the audio written before
// stays a valid file.
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

// Flush writes out the pending audio. When it returns, dst holds all audio so far and a header with its length.
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

// Close writes out the pending audio. It may be called twice.
func (r *Recording) Close() error {
	err := r.Flush()
	r.closed = true
	return err
}

// write writes the audio first and the lengths after it: the header never declares audio that is not there.
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
