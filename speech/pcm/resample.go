package pcm

import (
	"math"

	"github.com/callwright/callwright"
)

// The filter of the resampler: a sinc in a Kaiser window. 24 zero crossings a side and a beta of 6.76 put the stop
// band 70 dB down; with the rolloff the pass band ends at 85 % and the stop band begins at 103 % of the lower rate's
// half. That is 3.4 kHz and 4.1 kHz for telephone audio.
const (
	zeroCrossings = 24
	kaiserBeta    = 6.76
	rolloff       = 0.94
)

// resampleChunk is the number of input samples processed in one step: 20 ms at 48 kHz.
const resampleChunk = 960

// MinRate and MaxRate bound the sample rates that this package works with.
const (
	MinRate = 4000
	MaxRate = 192000
)

// Resampler changes the rate of one stream of mono audio. It keeps the end of its input, so that a stream may come in pieces of any
// length, which do not affect the result. It allocates nothing while dst has room.
//
// Output sample n lies at the time of input sample n·from/to: nothing is shifted. It needs the input samples after it, so the
// stream lags by Delay until Flush.
type Resampler struct {
	up, down int         // to/from in lowest terms
	half     int         // taps on each side
	taps     [][]float32 // up phases of 2·half taps; nil when the rates are equal
	buf      []int16     // input from index first on
	first    int         // index of buf[0] in the stream; begins at 1-half, for the silence before the stream
	next     int         // index of the input sample at or before the next output sample
	phase    int         // its distance from there, in input samples/up
	in, out  int         // samples taken and made since the last Flush
}

// NewResampler returns a resampler between two rates, in samples a second. It returns CodeBadRequest for a rate outside MinRate to
// MaxRate.
func NewResampler(from, to int) (*Resampler, error) {
	for _, rate := range []int{from, to} {
		if rate < MinRate || rate > MaxRate {
			return nil, callwright.Invalid("rate", "sample rate %d is not between %d and %d", rate, MinRate, MaxRate)
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

// Resample changes the rate of a whole piece of mono audio. The result has the same duration and no delay. With equal
// rates it is the same slice.
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

// Process takes the next samples and appends the available output to dst.
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

// Flush appends the rest of the stream, as if silence followed it, and makes the resampler ready for another one.
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

// feed adds at most resampleChunk samples and makes output while its taps are all in the buffer and it is not past the
// end of the stream.
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

// design makes the taps of every phase. Phase p lies p/up input samples after the middle pair's first sample.
func design(up, down int) (half int, taps [][]float32) {
	width := math.Min(1, float64(up)/float64(down)) // the lower of the two rates, in input rates
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
			taps[phase][i] = float32(v / sum) // a constant signal stays exactly the same in every phase
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

// kaiser returns the Kaiser window over -1 to 1, up to a factor.
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
