// Package g722 is ITU-T G.722 at 64 kbit/s, the wide-band codec of desk phones, after the text of the recommendation.
package g722

import (
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
)

// Engine returns the engine of G.722. Its audio has 16000 samples a second and its RTP clock, by an old mistake that the
// RFC keeps, 8000 ticks (RFC 3551, section 4.5.2).
func Engine() codec.Engine {
	return codec.Engine{Name: name, New: func() (sip.Codec, error) { return newCodec(), nil }}
}

// subBand holds two bands of 8000 samples a second, each coded as the difference from the prediction of an adaptive filter.
// One byte holds two samples. Both directions have their state, of which a call uses one.
type subBand struct {
	split, join          filterBank
	encodeLow, decodeLow band
	encodeHigh, decodeHi band
}

const (
	name  = "G722"
	rate  = 16000
	clock = 8000
)

func newCodec() *subBand {
	c := &subBand{}
	for _, low := range []*band{&c.encodeLow, &c.decodeLow} {
		low.step = lowStepAtRest
	}
	for _, high := range []*band{&c.encodeHigh, &c.decodeHi} {
		high.step = highStepAtRest
	}
	return c
}

// Name returns the encoding name of the SDP.
func (*subBand) Name() string { return name }

// Rate returns the samples a second of the audio.
func (*subBand) Rate() int { return rate }

// Clock returns the ticks a second of the RTP timestamp.
func (*subBand) Clock() int { return clock }

// Encode appends one byte for two samples. It never fails; an odd sample at the end is omitted.
func (c *subBand) Encode(dst []byte, pcm []int16) ([]byte, error) {
	for i := 0; i+1 < len(pcm); i += 2 {
		low, high := c.split.analyse(int(pcm[i]), int(pcm[i+1]))
		dst = append(dst, byte(c.encodeHigh.encodeHigh(high)<<6|c.encodeLow.encodeLow(low)))
	}
	return dst, nil
}

// Decode appends two samples a byte. Every byte is valid, so it never fails.
func (c *subBand) Decode(dst []int16, payload []byte) ([]int16, error) {
	for _, b := range payload {
		low := c.decodeLow.decodeLow(int(b & 0x3f))
		high := c.decodeHi.decodeHigh(int(b >> 6))
		first, second := c.join.synthesize(low, high)
		dst = append(dst, first, second)
	}
	return dst, nil
}

// filterBank is the quadrature mirror filter that splits 16 kHz into two bands and joins them (G.722, clauses 3.1, 4.4).
type filterBank struct{ delay [24]int }

// mirror are the filter's coefficients (G.722, table 4), the first half: the second one is its mirror image.
var mirror = [12]int{3, -11, -11, 53, 12, -156, 32, 362, -210, -805, 951, 3876}

// shift takes two samples in and returns the sums over the filter's even and its odd places.
func (f *filterBank) shift(first, second int) (even, odd int) {
	copy(f.delay[:], f.delay[2:])
	f.delay[22], f.delay[23] = first, second
	for i := range 12 {
		even += f.delay[2*i] * coefficient(2*i)
		odd += f.delay[2*i+1] * coefficient(2*i+1)
	}
	return even, odd
}

func coefficient(i int) int {
	if i < 12 {
		return mirror[i]
	}
	return mirror[23-i]
}

// analyse returns the two bands of two samples.
func (f *filterBank) analyse(first, second int) (low, high int) {
	even, odd := f.shift(first, second)
	return (even + odd) >> 14, (odd - even) >> 14
}

// synthesize returns the two samples of two bands.
func (f *filterBank) synthesize(low, high int) (first, second int16) {
	even, odd := f.shift(low+high, low-high)
	return int16(saturate(odd >> 11)), int16(saturate(even >> 11))
}

// saturate limits a value to 16 bits.
func saturate(v int) int { return min(max(v, -1<<15), 1<<15-1) }
