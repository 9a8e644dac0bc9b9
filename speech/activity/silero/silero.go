package silero

import "math"

// Rate is the sample rate of the network's input in Hz.
const Rate = 8000

// Window is the number of samples in a window: 32 ms.
const Window = 256

const (
	context = 32 // samples of the previous window that precede a window
	frame   = 128
	step    = 64 // samples between the beginnings of two frames
	frames  = 4  // number of frames in a window
)

// Network computes the probability of speech in one stream of audio, window by window. The zero value is not usable; see New. Only one
// goroutine may use it. It allocates memory in New only.
type Network struct {
	weights *network

	input  [context + Window + context]float32 // the end of the previous window, the window, and its end reflected
	even   [frame / 2]float32                  // sums of the samples of a frame at the same distance from its middle
	odd    [frame / 2]float32                  // differences of these samples
	real   [spectral]float32
	imag   [spectral]float32
	bands  [(frames + 2) * padded]float32 // spectra of the frames, between two spectra of zeros
	first  [(frames + 1) * wide]float32   // outputs of the first convolution; the first block is padding
	second [2 * narrow]float32
	third  [narrow]float32
	memory [2 * wide]float32 // output of the last convolution, then the output of the recurrent layer
	cell   [wide]float32     // state of the recurrent layer
	gates  [gates]float32
}

// New returns a Network at the beginning of a stream.
func New() *Network { return &Network{weights: shared()} }

// Reset prepares the network for another stream.
func (n *Network) Reset() {
	clear(n.input[:])
	clear(n.memory[:])
	clear(n.cell[:])
}

// Probability returns the probability, from 0 to 1, that the next window contains speech. The samples range from -1 to 1. It panics if
// there are fewer than Window samples.
func (n *Network) Probability(window []float32) float32 {
	copy(n.input[:context], n.input[Window:context+Window])
	copy(n.input[context:], window[:Window])
	for i := range context {
		n.input[context+Window+i] = n.input[context+Window-2-i]
	}
	for i := range frames {
		n.spectrum(n.bands[(i+1)*padded:(i+2)*padded], n.input[i*step:i*step+frame])
	}
	conv := &n.weights.conv
	for i := range frames {
		rectified(n.first[(i+1)*wide:(i+2)*wide], n.bands[i*padded:(i+3)*padded], conv[0])
	}
	rectified(n.second[:narrow], n.first[:3*wide], conv[1])
	rectified(n.second[narrow:], n.first[2*wide:], conv[1])
	rectified(n.third[:], n.second[:], conv[2])
	rectified(n.memory[:wide], n.third[:], conv[3])
	return n.recur()
}

// spectrum writes the magnitudes of a frame's spectrum to out.
func (n *Network) spectrum(out, samples []float32) {
	for i := range frame/2 - 1 {
		early, late := samples[i+1], samples[frame-1-i]
		n.even[i], n.odd[i] = early+late, early-late
	}
	n.even[frame/2-1] = samples[frame/2] // the middle
	product(n.real[:], n.even[:], n.weights.cosine)
	product(n.imag[:], n.odd[:], n.weights.sine)
	for i := range bins {
		out[i] = float32(math.Sqrt(float64(n.real[i]*n.real[i] + n.imag[i]*n.imag[i])))
	}
}

// recur computes the recurrent layer (a long short-term memory) and the output.
func (n *Network) recur() float32 {
	product(n.gates[:], n.memory[:], n.weights.recurrent.matrix)
	for i, b := range n.weights.recurrent.bias {
		n.gates[i] += b
	}
	sum := n.weights.outputConstant
	hidden := n.memory[wide:]
	for i := range n.cell {
		input, forget, value, output := n.gates[i], n.gates[wide+i], n.gates[2*wide+i], n.gates[3*wide+i]
		n.cell[i] = sigmoid(forget)*n.cell[i] + sigmoid(input)*tanh(value)
		hidden[i] = sigmoid(output) * tanh(n.cell[i])
		sum += n.weights.output[i] * max(0, hidden[i])
	}
	return sigmoid(sum)
}

// rectified computes a layer with rectified linear outputs.
func rectified(out, in []float32, l layer) {
	product(out, in, l.matrix)
	for i, b := range l.bias {
		out[i] = max(0, out[i]+b)
	}
}

// product multiplies a matrix by the vector in. The matrix is interleaved, len(out) is a multiple of lanes, and len(in) is even. The loop
// runs lanes sums at a time, because each addition waits for the previous one of the same sum.
func product(out, in, matrix []float32) {
	for ; len(out) >= lanes; out = out[lanes:] {
		var s0, s1, s2, s3, s4, s5, s6, s7 float32
		block := matrix[:lanes*len(in)]
		matrix = matrix[lanes*len(in):]
		for x, w := in, block; len(x) >= 2 && len(w) >= 2*lanes; x, w = x[2:], w[2*lanes:] {
			u, v := x[0], x[1]
			s0 += u * w[0]
			s1 += u * w[1]
			s2 += u * w[2]
			s3 += u * w[3]
			s4 += u * w[4]
			s5 += u * w[5]
			s6 += u * w[6]
			s7 += u * w[7]
			s0 += v * w[8]
			s1 += v * w[9]
			s2 += v * w[10]
			s3 += v * w[11]
			s4 += v * w[12]
			s5 += v * w[13]
			s6 += v * w[14]
			s7 += v * w[15]
		}
		copy(out, []float32{s0, s1, s2, s3, s4, s5, s6, s7})
	}
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func tanh(x float32) float32 { return 2*sigmoid(2*x) - 1 }
