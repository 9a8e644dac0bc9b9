package pcm

import (
	"math"
	"math/cmplx"
)

// The features of telephone speech, computed 100 times a second: the energies of 24 bands between 200 and 3400 Hz on the mel scale.
const (
	melRate   = 8000
	melWindow = 200 // samples, 25 ms
	melHop    = 80  // samples, 10 ms
	melFFT    = 256
	melBands  = 24
	melLow    = 200.0
	melHigh   = 3400.0
	// melFloor is the distance below the loudest frame at which a frame counts as silent, in units of the natural logarithm of the energy.
	// It equals 35 dB, well above the noise of 8-bit samples.
	melFloor = 8.06
	// melSilence is the energy below which a frame counts as silent in any case, as a natural logarithm: about -75 dBFS.
	melSilence = 12.5
)

// frame is the shape of one hop of speech: the deviations of its log energies from the speaker's average, without the frame's level,
// normalized to length 1. A silent frame is all zero.
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

// normalize converts band energies to shapes: it subtracts the average of all voiced frames (the response of microphone, codec and line)
// and each frame's level, and divides by the frame's length. Frames whose total is at most floor become silent.
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

// bandEnergies returns the logarithms of the bands' energies and of their sum. It raises each band to at least 50 dB below the sum, because
// quieter bands contain only the codec's noise.
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

// melFilters returns one triangular filter per band over the bins of the spectrum. The triangles are evenly spaced on the mel scale and
// overlap by half.
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

// fft computes the discrete Fourier transform in place. The length must be a power of two.
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
