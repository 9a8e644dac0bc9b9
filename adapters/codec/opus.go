package codec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thesyncim/gopus"

	"github.com/callwright/callwright/sip"
)

// opusCodec is Opus (RFC 6716, RFC 7587) for speech: mono at 16000 samples a second, of which Opus makes wide-band
// audio, so that nothing goes by way of 48 kHz. The RTP clock is 48000 whatever the audio is.
type opusCodec struct {
	encoder *gopus.Encoder
	decoder *gopus.Decoder
}

const (
	opusRate    = 16000
	opusClock   = 48000
	opusFrame   = opusRate / 50 // 20 ms, the only length that we send
	opusLongest = opusRate * 120 / 1000
	opusBitrate = 24000
	opusPacket  = 400 // bytes; a frame at our bit rate has about 60
	// opusComplexity of 10: what is beyond costs much and is not heard on a telephone.
	opusComplexity = 5
)

func newOpus() (sip.Codec, error) {
	encoder, err := gopus.NewEncoder(gopus.EncoderConfig{
		SampleRate: opusRate, Channels: 1, Application: gopus.ApplicationVoIP,
	})
	if err != nil {
		return nil, fmt.Errorf("opus encoder: %w", err)
	}
	encoder.SetFEC(true)
	err = errors.Join(
		encoder.SetFrameSize(opusFrame), encoder.SetBitrate(opusBitrate), encoder.SetComplexity(opusComplexity),
		encoder.SetPacketLoss(2),
	)
	if err != nil {
		return nil, fmt.Errorf("opus encoder: %w", err)
	}
	decoder, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(opusRate, 1))
	if err != nil {
		return nil, fmt.Errorf("opus decoder: %w", err)
	}
	return &opusCodec{encoder, decoder}, nil
}

// Name is the encoding name of the SDP.
func (*opusCodec) Name() string { return "opus" }

// Rate is the samples a second of the audio.
func (*opusCodec) Rate() int { return opusRate }

// Clock is the ticks a second of the RTP timestamp (RFC 7587, section 4.1).
func (*opusCodec) Clock() int { return opusClock }

// Encode appends one packet of 20 ms, which is what pcm has to hold.
func (c *opusCodec) Encode(dst []byte, pcm []int16) ([]byte, error) {
	if len(pcm) != opusFrame {
		return dst, fmt.Errorf("opus: %d samples are not 20 ms", len(pcm))
	}
	from := len(dst)
	dst = slices.Grow(dst, opusPacket)
	n, err := c.encoder.EncodeInt16(pcm, dst[from:from+opusPacket])
	if err != nil {
		return dst, fmt.Errorf("opus: %w", err)
	}
	return dst[:from+n], nil
}

// Decode appends the audio of one packet, of at most 120 ms. A packet that is not Opus is an error.
func (c *opusCodec) Decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) == 0 {
		return dst, errors.New("opus: an empty packet")
	}
	from := len(dst)
	dst = slices.Grow(dst, opusLongest)
	n, err := c.decoder.DecodeInt16(payload, dst[from:from+opusLongest])
	if err != nil {
		return dst, fmt.Errorf("opus: %w", err)
	}
	return dst[:from+n], nil
}
