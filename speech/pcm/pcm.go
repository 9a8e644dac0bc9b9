// Package pcm processes audio samples: it converts rates, measures and changes levels, reads and writes WAV files, and measures the
// distance between two pieces of speech.
//
// A sample is a signed 16-bit number. Audio without a stated number of channels is mono; several channels are interleaved. The package is
// independent of codecs, engines and calls.
package pcm

import (
	"encoding/binary"
	"time"
)

// FrameDuration is the duration of a frame, the unit of a call's audio.
const FrameDuration = 20 * time.Millisecond

// FrameSamples returns the number of samples of one channel in FrameDuration at a rate in Hz, rounded down.
func FrameSamples(rate int) int { return rate / 50 }

// Duration returns the duration of n samples of one channel at a rate in Hz. It returns 0 if the rate is not positive.
func Duration(n, rate int) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}

// Samples returns the number of samples of one channel in d at a rate in Hz, rounded down.
func Samples(d time.Duration, rate int) int {
	return int(int64(d) * int64(rate) / int64(time.Second))
}

// AppendBytes appends samples to dst as little-endian bytes, two per sample.
func AppendBytes(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s))
	}
	return dst
}

// AppendSamples decodes little-endian bytes, two per sample, and appends the samples to dst. It ignores an odd last byte.
func AppendSamples(dst []int16, raw []byte) []int16 {
	for ; len(raw) >= 2; raw = raw[2:] {
		dst = append(dst, int16(binary.LittleEndian.Uint16(raw)))
	}
	return dst
}

// Audio is decoded audio in memory.
type Audio struct {
	Rate     int     // sample rate of each channel, in Hz
	Channels int     // at least 1
	Samples  []int16 // interleaved: one sample of every channel, then the next sample of every channel
}

// Duration returns the playing time of the audio.
func (a Audio) Duration() time.Duration {
	return Duration(len(a.Samples)/max(a.Channels, 1), a.Rate)
}

// Channel returns a copy of one channel. Channels are numbered from 0; it returns nil if the channel does not exist.
func (a Audio) Channel(n int) []int16 {
	if n < 0 || n >= a.Channels {
		return nil
	}
	out := make([]int16, 0, len(a.Samples)/a.Channels)
	for i := n; i < len(a.Samples); i += a.Channels {
		out = append(out, a.Samples[i])
	}
	return out
}

// Mono returns the average of the channels. If the audio is mono, it returns Samples itself, not a copy.
func (a Audio) Mono() []int16 {
	if a.Channels <= 1 {
		return a.Samples
	}
	out := make([]int16, 0, len(a.Samples)/a.Channels)
	for rest := a.Samples; len(rest) >= a.Channels; rest = rest[a.Channels:] {
		sum := 0
		for _, s := range rest[:a.Channels] {
			sum += int(s)
		}
		out = append(out, int16(sum/a.Channels))
	}
	return out
}
