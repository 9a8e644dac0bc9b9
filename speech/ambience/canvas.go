package ambience

import (
	"math"
	"math/rand/v2"
)

// canvas is a loop in the making. Its sounds continue from the end of the loop at its beginning.
type canvas struct {
	rate    int
	random  *rand.Rand
	samples []float64
}

// between returns a random number between two limits.
func (c *canvas) between(low, high float64) float64 { return low + (high-low)*c.random.Float64() }

// noise returns a random number from -1 to 1.
func (c *canvas) noise() float64 { return 2*c.random.Float64() - 1 }

// anywhere returns a random position.
func (c *canvas) anywhere() int { return c.random.IntN(len(c.samples)) }

// count converts seconds to samples.
func (c *canvas) count(seconds float64) int { return int(seconds * float64(c.rate)) }

// add adds a sample at a position, which may be behind the end of the loop.
func (c *canvas) add(at int, v float64) { c.samples[at%len(c.samples)] += v }

// scale multiplies all samples, so that their root mean square has the given value.
func (c *canvas) scale(level float64) {
	if own := rms(c.samples); own > 0 {
		for i := range c.samples {
			c.samples[i] *= level / own
		}
	}
}

// rms returns the root mean square of samples.
func rms(samples []float64) float64 {
	sum := 0.0
	for _, v := range samples {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(samples)))
}

// room adds the noise of a room, which falls with the frequency. level is its root mean square.
func (c *canvas) room(level float64) {
	white := make([]float64, len(c.samples))
	for i := range white {
		white[i] = c.noise()
	}
	noise := c.around(white, c.lowPass(250))
	for i, v := range c.around(white, c.lowPass(1400)) {
		noise[i] += 0.25 * v
	}
	factor := level / rms(noise)
	for i, v := range noise {
		c.samples[i] += factor * v
	}
}

// hum adds the hum of a fan, whose loudness varies slowly. level is its root mean square.
func (c *canvas) hum(level float64) {
	for i := range c.samples {
		t := float64(i) / float64(c.rate)
		wave := 0.0
		for n, share := range []float64{1, 0.6, 0.35, 0.2} {
			wave += share * math.Sin(2*math.Pi*118*float64(n+1)*t)
		}
		c.samples[i] += level * wave * (1 + 0.3*math.Sin(2*math.Pi*t*3/seconds))
	}
}

// lowPass returns a filter of first order with a cut-off frequency in Hz.
func (c *canvas) lowPass(cut float64) func(float64) float64 {
	part := 1 - math.Exp(-2*math.Pi*cut/float64(c.rate))
	last := 0.0
	return func(x float64) float64 {
		last += part * (x - last)
		return last
	}
}

// around returns the output of a filter for endlessly repeated samples: the first pass only fills the filter.
func (c *canvas) around(samples []float64, filter func(float64) float64) []float64 {
	for _, v := range samples {
		filter(v)
	}
	out := make([]float64, len(samples))
	for i, v := range samples {
		out[i] = filter(v)
	}
	return out
}

// reverberate adds the echoes of a room to all sounds so far, by four comb filters with different delays.
func (c *canvas) reverberate() {
	dry := c.samples
	wet := make([]float64, len(dry))
	for _, delay := range []float64{0.0297, 0.0371, 0.0411, 0.0437} {
		line, at := make([]float64, c.count(delay)), 0
		dull := c.lowPass(2200)
		echo := c.around(dry, func(x float64) float64 {
			y := line[at]
			line[at] = x + 0.78*dull(y)
			at = (at + 1) % len(line)
			return y
		})
		for i, v := range echo {
			wet[i] += v
		}
	}
	for i := range wet {
		wet[i] = 0.5*dry[i] + 0.3*wet[i]
	}
	c.samples = wet
}

// finish returns the samples with a root mean square of level dBFS, without a constant component. Peaks beyond 14 dB above the level are
// compressed.
func (c *canvas) finish(level float64) []int16 {
	mean := 0.0
	for _, v := range c.samples {
		mean += v / float64(len(c.samples))
	}
	for i := range c.samples {
		c.samples[i] -= mean
	}
	c.scale(math.MaxInt16 * math.Pow(10, level/20))
	limit := math.MaxInt16 * math.Pow(10, (level+14)/20)
	out := make([]int16, len(c.samples))
	for i, v := range c.samples {
		out[i] = int16(math.Round(limit * math.Tanh(v/limit)))
	}
	return out
}
