// Package g722 implements ITU-T G.722 at 64 kbit/s, the wide-band codec of many IP phones, from the text of the recommendation.
package g722

import (
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
)

// Engine returns the engine for G.722. Its audio has 16000 samples per second, but its RTP clock has 8000 ticks per second, because RFC
// 3551 keeps an error of an earlier RFC (section 4.5.2).
func Engine() codec.Engine {
	return codec.Engine{Name: name, New: func() (sip.Codec, error) { return newCodec(), nil }}
}

// subBand is a G.722 codec. It splits the audio into two bands of 8000 samples per second, and codes each as the difference from the
// prediction of an adaptive filter. One byte represents two samples. A subBand contains the states of an encoder and a decoder; one
// direction of a call uses only one of them.
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

// Name returns the SDP encoding name.
func (*subBand) Name() string { return name }

// Rate returns the sample rate of the audio in Hz.
func (*subBand) Rate() int { return rate }

// Clock returns the rate of the RTP timestamp in ticks per second.
func (*subBand) Clock() int { return clock }

// Encode appends one byte for each two samples to dst. It omits an odd sample at the end, and never returns an error.
func (c *subBand) Encode(dst []byte, pcm []int16) ([]byte, error) {
	for i := 0; i+1 < len(pcm); i += 2 {
		low, high := c.split.analyse(int(pcm[i]), int(pcm[i+1]))
		dst = append(dst, byte(c.encodeHigh.encodeHigh(high)<<6|c.encodeLow.encodeLow(low)))
	}
	return dst, nil
}

// Decode appends two samples per byte to dst. It never returns an error, because every byte is valid.
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

// mirror contains the first half of the filter's coefficients (G.722, table 4). The second half is symmetric.
var mirror = [12]int{3, -11, -11, 53, 12, -156, 32, 362, -210, -805, 951, 3876}

// shift adds two samples to the delay line, and returns the sums over the even and the odd coefficients.
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

// analyse splits two samples into one sample of each band.
func (f *filterBank) analyse(first, second int) (low, high int) {
	even, odd := f.shift(first, second)
	return (even + odd) >> 14, (odd - even) >> 14
}

// synthesize joins one sample of each band to two samples.
func (f *filterBank) synthesize(low, high int) (first, second int16) {
	even, odd := f.shift(low+high, low-high)
	return int16(saturate(odd >> 11)), int16(saturate(even >> 11))
}

// saturate limits a value to 16 bits.
func saturate(v int) int { return min(max(v, -1<<15), 1<<15-1) }
