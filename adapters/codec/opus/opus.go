// Package opus implements the Opus codec (RFC 6716, RFC 7587) with gopus, which is written in pure Go. No other package imports gopus, and
// only main programs should import this package.
package opus

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thesyncim/gopus"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
)

// Engine returns the engine for Opus speech: mono at 16000 samples per second, which Opus codes as wide-band audio without resampling to 48
// kHz. The RTP clock is always 48000.
func Engine() codec.Engine { return codec.Engine{Name: name, New: newCodec} }

// direction is the encoder and the decoder for one direction of a call.
type direction struct {
	encoder *gopus.Encoder
	decoder *gopus.Decoder
}

const (
	name    = "opus"
	rate    = 16000
	clock   = 48000
	frame   = rate / 50         // samples in 20 ms
	longest = rate * 120 / 1000 // maximum number of samples in a packet
	bitrate = 24000
	packet  = 400 // maximum size in bytes; a frame at this bit rate needs about 60
	// complexity is from 0 to 10. A higher value costs much CPU time, for an improvement that is not audible on a telephone.
	complexity = 5
)

func newCodec() (sip.Codec, error) {
	encoder, err := gopus.NewEncoder(gopus.EncoderConfig{
		SampleRate: rate, Channels: 1, Application: gopus.ApplicationVoIP,
	})
	if err != nil {
		return nil, fmt.Errorf("opus encoder: %w", err)
	}
	encoder.SetFEC(true)
	err = errors.Join(
		encoder.SetFrameSize(frame), encoder.SetBitrate(bitrate), encoder.SetComplexity(complexity),
		encoder.SetPacketLoss(2),
	)
	if err != nil {
		return nil, fmt.Errorf("opus encoder: %w", err)
	}
	decoder, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(rate, 1))
	if err != nil {
		return nil, fmt.Errorf("opus decoder: %w", err)
	}
	return &direction{encoder, decoder}, nil
}

// Name returns the SDP encoding name.
func (*direction) Name() string { return name }

// Rate returns the sample rate of the audio in Hz.
func (*direction) Rate() int { return rate }

// Clock returns the rate of the RTP timestamp in ticks per second (RFC 7587, section 4.1).
func (*direction) Clock() int { return clock }

// Encode appends one packet to dst. It returns an error unless pcm contains 10, 20, 40 or 60 ms (RFC 6716, section 2.1.4).
func (c *direction) Encode(dst []byte, pcm []int16) ([]byte, error) {
	switch len(pcm) {
	case c.encoder.FrameSize():
	case frame / 2, frame, 2 * frame, 3 * frame:
		if err := c.encoder.SetFrameSize(len(pcm)); err != nil {
			return dst, fmt.Errorf("opus: %w", err)
		}
	default:
		return dst, fmt.Errorf("opus: a frame must have %d, %d, %d or %d samples (10, 20, 40 or 60 ms), not %d", frame/2, frame, 2*frame, 3*frame, len(pcm))
	}
	from := len(dst)
	dst = slices.Grow(dst, packet)
	n, err := c.encoder.EncodeInt16(pcm, dst[from:from+packet])
	if err != nil {
		return dst, fmt.Errorf("opus: %w", err)
	}
	return dst[:from+n], nil
}

// Decode appends the audio of one packet, at most 120 ms, to dst. It returns an error for a packet that is not Opus.
func (c *direction) Decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) == 0 {
		return dst, errors.New("opus: a packet must not be empty")
	}
	from := len(dst)
	dst = slices.Grow(dst, longest)
	n, err := c.decoder.DecodeInt16(payload, dst[from:from+longest])
	if err != nil {
		return dst, fmt.Errorf("opus: %w", err)
	}
	return dst[:from+n], nil
}
