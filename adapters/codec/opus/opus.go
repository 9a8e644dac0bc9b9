// Package opus is Opus (RFC 6716, RFC 7587), by the pure Go engine of gopus. It is the only package that imports it, and
// only the wiring of a program imports this one.
package opus

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thesyncim/gopus"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
)

// Engine returns the engine of Opus for speech: mono at 16000 samples a second, of which Opus makes wide-band audio, so
// that nothing is resampled to 48 kHz. The RTP clock is always 48000.
func Engine() codec.Engine { return codec.Engine{Name: name, New: newCodec} }

// direction is one direction of a call.
type direction struct {
	encoder *gopus.Encoder
	decoder *gopus.Decoder
}

const (
	name    = "opus"
	rate    = 16000
	clock   = 48000
	frame   = rate / 50         // samples in 20 ms
	longest = rate * 120 / 1000 // samples in a packet
	bitrate = 24000
	packet  = 400 // bytes; a frame at this bit rate has about 60
	// complexity of at most 10: a higher one costs much and is not heard on a telephone.
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

// Name returns the encoding name of the SDP.
func (*direction) Name() string { return name }

// Rate returns the samples a second of the audio.
func (*direction) Rate() int { return rate }

// Clock returns the ticks a second of the RTP timestamp (RFC 7587, section 4.1).
func (*direction) Clock() int { return clock }

// Encode appends one packet. pcm must hold 10, 20, 40 or 60 ms (RFC 6716, section 2.1.4).
func (c *direction) Encode(dst []byte, pcm []int16) ([]byte, error) {
	switch len(pcm) {
	case c.encoder.FrameSize():
	case frame / 2, frame, 2 * frame, 3 * frame:
		if err := c.encoder.SetFrameSize(len(pcm)); err != nil {
			return dst, fmt.Errorf("opus: %w", err)
		}
	default:
		return dst, fmt.Errorf("opus: a frame must have 10, 20, 40 or 60 ms, not %d samples", len(pcm))
	}
	from := len(dst)
	dst = slices.Grow(dst, packet)
	n, err := c.encoder.EncodeInt16(pcm, dst[from:from+packet])
	if err != nil {
		return dst, fmt.Errorf("opus: %w", err)
	}
	return dst[:from+n], nil
}

// Decode appends the audio of one packet, at most 120 ms. A packet that is not Opus is an error.
func (c *direction) Decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) == 0 {
		return dst, errors.New("opus: an empty packet")
	}
	from := len(dst)
	dst = slices.Grow(dst, longest)
	n, err := c.decoder.DecodeInt16(payload, dst[from:from+longest])
	if err != nil {
		return dst, fmt.Errorf("opus: %w", err)
	}
	return dst[:from+n], nil
}
