package pcm

import (
	"math"
	"math/cmplx"
)

// Features of telephone speech, 100 times a second: the energies of 24 bands between 200 and 3400 Hz on the mel scale.
const (
	melRate   = 8000
	melWindow = 200 // samples: 25 ms
	melHop    = 80  // samples: 10 ms
	melFFT    = 256
	melBands  = 24
	melLow    = 200.0
	melHigh   = 3400.0
	// melFloor is the distance below the loudest frame at which a frame counts as silence, in the natural logarithm of the energy:
	// 35 dB, well above the noise that 8 bits a sample make.
	melFloor = 8.06
	// melSilence is the energy below which a frame is digital silence, on the same scale: about -75 dBFS.
	melSilence = 12.5
)

// frame is one hop of speech: the deviation of its log energies from the speaker's average, without its level, normalized to length
// 1. Silence is all zero.
type frame [melBands]float64

func (f *frame) silent() bool { return *f == frame{} }

// features returns the frames of mono audio at melRate.
func features(samples []int16) []frame {
	if len(samples) < melWindow {
		return nil
	}
	frames := make([]frame, 0, len(samples)/melHop)
	totals := make([]float64, 0, len(samples)/melHop)
	window, filters := hann(melWindow), melFilters()
	top := math.Inf(-1)
	for start := 0; start+melWindow <= len(samples); start += melHop {
		energies, total := bandEnergies(samples[start:start+melWindow], window, filters)
		frames, totals = append(frames, energies), append(totals, total)
		top = math.Max(top, total)
	}
	normalize(frames, totals, math.Max(top-melFloor, melSilence))
	return frames
}

// normalize turns band energies into shapes: it removes the average of all voiced frames (the response of microphone, codec and
// line), then each frame's level, then its length.
func normalize(frames []frame, totals []float64, floor float64) {
	var mean frame
	voiced := 0.0
	for i := range frames {
		if totals[i] > floor {
			voiced++
			for b, v := range frames[i] {
				mean[b] += v
			}
		}
	}
	for i := range frames {
		if totals[i] <= floor {
			frames[i] = frame{}
			continue
		}
		level, length := 0.0, 0.0
		for b := range frames[i] {
			frames[i][b] -= mean[b] / voiced
			level += frames[i][b] / melBands
		}
		for b := range frames[i] {
			frames[i][b] -= level
			length += frames[i][b] * frames[i][b]
		}
		for b := range frames[i] {
			frames[i][b] /= math.Sqrt(length) + 1e-9
		}
	}
}

// bandEnergies returns the logarithms of the bands' energies and of their sum. A band is never more than 50 dB below
// the frame's sum: under that is only the codec's noise.
func bandEnergies(samples []int16, window []float64, filters [][]float64) (frame, float64) {
	var spectrum [melFFT]complex128
	for i, s := range samples {
		spectrum[i] = complex(float64(s)*window[i], 0)
	}
	fft(spectrum[:])
	var bands frame
	total := 1e-3
	for b, filter := range filters {
		for bin, weight := range filter {
			if weight > 0 {
				bands[b] += weight * real(spectrum[bin]*cmplx.Conj(spectrum[bin]))
			}
		}
		total += bands[b]
	}
	for b := range bands {
		bands[b] = math.Log(math.Max(bands[b], total*1e-5))
	}
	return bands, math.Log(total)
}

func hann(n int) []float64 {
	window := make([]float64, n)
	for i := range window {
		window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(n))
	}
	return window
}

// melFilters returns triangles over the bins of the spectrum, evenly spaced and half overlapping on the mel scale.
func melFilters() [][]float64 {
	toMel := func(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }
	low, high := toMel(melLow), toMel(melHigh)
	filters := make([][]float64, melBands)
	step := (high - low) / (melBands + 1)
	for b := range filters {
		filters[b] = make([]float64, melFFT/2)
		centre := low + float64(b+1)*step
		for bin := range filters[b] {
			distance := math.Abs(toMel(float64(bin)*melRate/melFFT) - centre)
			filters[b][bin] = math.Max(0, 1-distance/step)
		}
	}
	return filters
}

// fft computes the Fourier transform in place; the length is a power of two.
func fft(x []complex128) {
	n := len(x)
	if n == 1 {
		return
	}
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		if j ^= bit; i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size <<= 1 {
		step := cmplx.Rect(1, -2*math.Pi/float64(size))
		for start := 0; start < n; start += size {
			turn := complex(1, 0)
			for k := start; k < start+size/2; k++ {
				even, odd := x[k], x[k+size/2]*turn
				x[k], x[k+size/2] = even+odd, even-odd
				turn *= step
			}
		}
	}
}
