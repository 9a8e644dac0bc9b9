package pcm

import (
	"math"

	"github.com/callwright/callwright"
)

// The resampler's filter is a sinc in a Kaiser window. With 24 zero crossings on each side and a beta of 6.76, the stop band is 70 dB down.
// With the rolloff, the pass band ends at 85 % of half the lower rate, and the stop band begins at 103 %: 3.4 kHz and 4.1 kHz for telephone
// audio.
const (
	zeroCrossings = 24
	kaiserBeta    = 6.76
	rolloff       = 0.94
)

// resampleChunk is the number of input samples processed in one step: 20 ms at 48 kHz.
const resampleChunk = 960

// MinRate and MaxRate are the limits of the sample rates that this package supports, in Hz.
const (
	MinRate = 4000
	MaxRate = 192000
)

// Resampler changes the rate of one stream of mono audio. It buffers the end of its input, so that the stream can be processed in pieces of
// any length, which do not affect the result. It allocates nothing while dst has sufficient capacity.
//
// Output sample n lies at the time of input sample n·from/to: the audio is not shifted. To compute an output sample, the resampler needs
// later input samples, so that the output lags by Delay until Flush.
type Resampler struct {
	up, down int         // to/from in lowest terms
	half     int         // taps on each side
	taps     [][]float32 // up phases of 2·half taps; nil if the rates are equal
	buf      []int16     // input samples, starting at index first
	first    int         // index of buf[0] in the stream; initially 1-half, for the silence before the stream
	next     int         // index of the input sample at or before the next output sample
	phase    int         // distance from next to the next output sample, in units of 1/up input samples
	in, out  int         // number of input and output samples since the last Flush
}

// NewResampler returns a Resampler between two rates in Hz. It returns CodeBadRequest for a rate outside MinRate to MaxRate.
func NewResampler(from, to int) (*Resampler, error) {
	for _, rate := range []int{from, to} {
		if rate < MinRate || rate > MaxRate {
			return nil, callwright.Invalid("rate", "must be from %d to %d samples a second, not %d", MinRate, MaxRate, rate)
		}
	}
	divisor := gcd(from, to)
	r := &Resampler{up: to / divisor, down: from / divisor}
	if r.up != r.down {
		r.half, r.taps = design(r.up, r.down)
		r.buf = make([]int16, 0, 2*r.half+resampleChunk)
	}
	r.reset()
	return r, nil
}

// Resample changes the rate, in Hz, of complete mono audio. The result has the same duration and no delay. If the rates are equal, it is
// the same slice. Resample returns CodeBadRequest for a rate outside MinRate to MaxRate.
func Resample(samples []int16, from, to int) ([]int16, error) {
	r, err := NewResampler(from, to)
	if err != nil || from == to {
		return samples, err
	}
	out := make([]int16, 0, len(samples)*to/from+1)
	return r.Flush(r.Process(out, samples)), nil
}

// Delay returns the lag of the output in input samples.
func (r *Resampler) Delay() int { return r.half }

// Process processes the next samples and appends the available output to dst.
func (r *Resampler) Process(dst, samples []int16) []int16 {
	if r.taps == nil {
		return append(dst, samples...)
	}
	r.in += len(samples)
	for len(samples) > 0 {
		n := min(len(samples), resampleChunk)
		dst = r.feed(dst, samples[:n], math.MaxInt)
		samples = samples[n:]
	}
	return dst
}

// Flush appends the rest of the stream to dst, as if silence followed the stream, and resets the resampler for another stream.
func (r *Resampler) Flush(dst []int16) []int16 {
	if r.taps == nil {
		return dst
	}
	total := (r.in*r.up + r.down - 1) / r.down
	var silence [64]int16
	for r.out < total {
		dst = r.feed(dst, silence[:], total)
	}
	r.reset()
	return dst
}

func (r *Resampler) reset() {
	r.in, r.out, r.next, r.phase = 0, 0, 0, 0
	if r.taps != nil {
		r.first = 1 - r.half
		r.buf = r.buf[:r.half-1]
		clear(r.buf)
	}
}

// feed adds up to resampleChunk samples to the buffer. It appends output samples to dst while the buffer contains all of their taps, and
// until the stream has as many output samples as end says.
func (r *Resampler) feed(dst, samples []int16, end int) []int16 {
	r.buf = append(r.buf, samples...)
	for r.out < end {
		start := r.next - r.half + 1 - r.first
		if start+2*r.half > len(r.buf) {
			break
		}
		dst = append(dst, convolve(r.buf[start:start+2*r.half], r.taps[r.phase]))
		r.out++
		r.phase += r.down
		r.next += r.phase / r.up
		r.phase %= r.up
	}
	// Input before the next output sample's first tap is no longer needed.
	done := min(r.next-r.half+1-r.first, len(r.buf))
	r.buf = r.buf[:copy(r.buf, r.buf[done:])]
	r.first += done
	return dst
}

func convolve(samples []int16, taps []float32) int16 {
	var sum float32
	taps = taps[:len(samples)]
	for i, s := range samples {
		sum += float32(s) * taps[i]
	}
	return clip(float64(sum))
}

// design returns the taps of every phase. Phase p lies p/up input samples after the first sample of the middle pair.
func design(up, down int) (half int, taps [][]float32) {
	width := math.Min(1, float64(up)/float64(down)) // lower of the two rates, relative to the input rate
	half = int(math.Ceil(zeroCrossings / width))
	taps = make([][]float32, up)
	for phase := range taps {
		exact, sum := make([]float64, 2*half), 0.0
		for i := range exact {
			t := float64(i-half+1) - float64(phase)/float64(up)
			exact[i] = sinc(t*width*rolloff) * kaiser(t/float64(half))
			sum += exact[i]
		}
		taps[phase] = make([]float32, 2*half)
		for i, v := range exact {
			taps[phase][i] = float32(v / sum) // normalized, so that a constant signal is unchanged in every phase
		}
	}
	return half, taps
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser returns the Kaiser window at x, from -1 to 1, without its normalization.
func kaiser(x float64) float64 {
	if x < -1 || x > 1 {
		return 0
	}
	return bessel(kaiserBeta * math.Sqrt(1-x*x))
}

// bessel returns the modified Bessel function of the first kind and order zero, by its power series.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
