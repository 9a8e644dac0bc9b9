package rtpmedia

import (
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/jitter"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/speech/pcm"
)

// converter changes the sample rate of a stream in pieces. Each piece keeps its duration. The resampler delays the stream.
type converter struct {
	resampler *pcm.Resampler
	from, to  int
	ready     []int16 // converted samples that were not yet returned
	owed      int     // samples not yet returned for the input so far, in units of 1/from
}

// newConverter returns a converter between two sample rates. It returns nil without an error if the rates are equal.
func newConverter(from, to int) (*converter, error) {
	if from == to {
		return nil, nil //nolint:nilnil // there is nothing to convert
	}
	r, err := pcm.NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	c := &converter{resampler: r, from: from, to: to}
	c.ready = r.Process(c.ready, make([]int16, r.Delay()+1))
	return c, nil
}

// convert converts the next samples of the stream and appends the result to dst.
func (c *converter) convert(dst, samples []int16) []int16 {
	c.ready = c.resampler.Process(c.ready, samples)
	c.owed += len(samples) * c.to
	n := min(c.owed/c.from, len(c.ready))
	c.owed -= n * c.from
	dst = append(dst, c.ready[:n]...)
	c.ready = c.ready[:copy(c.ready, c.ready[n:])]
	return dst
}

// decoder is a jitter.Decoder that resamples the audio of a codec.
type decoder struct {
	codec   sip.Codec
	convert *converter
	pcm     []int16
}

// resampled returns a decoder that decodes a codec's payloads and converts the audio to the given sample rate.
func resampled(codec sip.Codec, rate int) (jitter.Decoder, error) {
	c, err := newConverter(codec.Rate(), rate)
	if c == nil || err != nil {
		return codec, err
	}
	return &decoder{codec: codec, convert: c}, nil
}

// Decode decodes a payload and appends its resampled audio to dst.
func (d *decoder) Decode(dst []int16, payload []byte) ([]int16, error) {
	samples, err := d.codec.Decode(d.pcm[:0], payload)
	if err != nil {
		return dst, err
	}
	d.pcm = samples
	return d.convert.convert(dst, samples), nil
}
