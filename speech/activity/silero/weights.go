package silero

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// weightData contains the weights as half precision numbers (IEEE 754 binary16), in the order of load.
//
//go:embed weights.f16
var weightData string

// The dimensions of the network.
const (
	bins     = 65       // frequencies of the spectrum, from 0 to 4 kHz
	padded   = bins + 1 // length of a stored spectrum, which product requires to be even
	spectral = 72       // bins, rounded up to a multiple of lanes
	wide     = 128      // outputs of the first and last convolution, and of the recurrent layer
	narrow   = 64       // outputs of the convolutions between them
	gates    = 4 * wide

	lanes = 8 // number of rows that product computes together
)

// network holds the weights of the layers. Every call uses the same network. The matrices have one row for each output, and are interleaved:
// see interleave.
type network struct {
	cosine, sine   []float32 // matrices of the spectrum's real and imaginary parts: see basis
	conv           [4]layer
	recurrent      layer // a row contains the weights of the input, then those of the state
	output         []float32
	outputConstant float32
}

// layer holds the weights of a layer.
type layer struct{ matrix, bias []float32 }

// shared returns the network. The first call decodes the weights.
var shared = sync.OnceValue(func() *network { return load(weightData) })

// load decodes the weights.
func load(data string) *network {
	next := func(n int) []float32 {
		values := make([]float32, n)
		for i := range values {
			values[i] = half(binary.LittleEndian.Uint16([]byte(data[2*i : 2*i+2])))
		}
		data = data[2*n:]
		return values
	}
	read := func(outputs, inputs int) layer {
		rows := next(outputs * inputs)
		return layer{matrix: interleave(rows, inputs), bias: next(outputs)}
	}
	n := new(network)
	first := pad(next(wide * 3 * bins))
	n.conv[0] = layer{matrix: interleave(first, 3*padded), bias: next(wide)}
	n.conv[1] = read(narrow, 3*wide)
	n.conv[2] = read(narrow, 2*narrow) // the first of three taps only sees padding
	n.conv[3] = read(wide, narrow)     // the first and the last tap only see padding
	n.recurrent = read(gates, 2*wide)
	n.output = next(wide)
	n.outputConstant = next(1)[0]
	n.cosine, n.sine = basis()
	return n
}

// pad adds a zero to each group of bins weights.
func pad(weights []float32) []float32 {
	out := make([]float32, 0, len(weights)/bins*padded)
	for ; len(weights) > 0; weights = weights[bins:] {
		out = append(append(out, weights[:bins]...), 0)
	}
	return out
}

// interleave changes the order of a matrix with rows of the given length: for each group of lanes rows, the first weight of each row, then
// the second weight of each row, and so on.
func interleave(rows []float32, length int) []float32 {
	out := make([]float32, 0, len(rows))
	for ; len(rows) > 0; rows = rows[lanes*length:] {
		for i := range length {
			for lane := range lanes {
				out = append(out, rows[lane*length+i])
			}
		}
	}
	return out
}

// basis returns the matrices of the discrete Fourier transform of a frame in a Hann window. A row of cosines weighs the sums of the samples
// at the same distance from the frame's middle, and a row of sines weighs their differences.
func basis() (cosine, sine []float32) {
	const half = frame / 2
	cosine, sine = make([]float32, spectral*half), make([]float32, spectral*half)
	for k := range bins {
		for i := range half {
			n := float64(i + 1)
			window := (1 - math.Cos(2*math.Pi*n/frame)) / 2
			s, c := math.Sincos(2 * math.Pi * float64(k) * n / frame)
			cosine[k*half+i], sine[k*half+i] = float32(window*c), float32(window*s)
		}
	}
	return interleave(cosine, half), interleave(sine, half)
}

// half converts a half precision number to single precision. The weights contain neither infinities nor NaN.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10)&31, uint32(bits)&1023
	if exponent == 0 {
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
