package pcm

import "math"

// The K-weighting of ITU-R BS.1770-4, annex 1, consists of a shelf, which models the effect of the head, and a high pass. The
// recommendation specifies coefficients for 48 kHz, which are the bilinear transform of these analog prototypes.
const (
	shelfHz   = 1681.974450955533
	shelfQ    = 0.7071752369554196
	shelfGain = 3.999843853973347 // dB, at frequencies far above shelfHz
	shelfBend = 0.4996667741545416
	passHz    = 38.13547087602444
	passQ     = 0.5003270373238773
	givenRate = 48000.0
)

// biquad is a second-order filter whose coefficient a0 is 1.
type biquad struct {
	b0, b1, b2, a1, a2 float64
	x1, x2             float64 // state
}

// next filters one sample.
func (f *biquad) next(x float64) float64 {
	y := f.b0*x + f.x1
	f.x1 = f.b1*x - f.a1*y + f.x2
	f.x2 = f.b2*x - f.a2*y
	return y
}

// shelfPower returns the power gain of the recommendation's shelf at a frequency in Hz. It includes the frequency compression of the
// recommendation's filter for 48 kHz.
func shelfPower(hz float64) float64 {
	top := math.Pow(10, shelfGain/20)
	if hz >= givenRate/2 {
		return top * top
	}
	x := math.Tan(math.Pi*hz/givenRate) / math.Tan(math.Pi*shelfHz/givenRate)
	bend := math.Pow(top, shelfBend) / shelfQ
	return (square(1-top*x*x) + square(bend*x)) / (square(1-x*x) + square(x/shelfQ))
}

// shelfFilter returns the shelf for a sample rate. The bilinear transform would be 0.3 dB off at 8 kHz, because it compresses the upper
// part of the shelf below 4 kHz. Therefore the poles are sampled from the prototype, and the zeros follow from the power gain at three
// frequencies: 0, shelfHz, and half the rate.
func shelfFilter(rate float64) *biquad {
	damping, turn := 1/(2*shelfQ), 2*math.Pi*shelfHz/rate
	radius := math.Exp(-damping * turn)
	a1 := -2 * radius * math.Cos(math.Sqrt(1-damping*damping)*turn)
	a2 := radius * radius
	// The power of a polynomial 1+a1/z+a2/z² is p0·s0 + p1·s1 + p2·s2, where s1 is the square of the sine of half the angle, s0 = 1-s1, and
	// s2 = 4·s0·s1. The same applies to the zeros.
	p0, p1, p2 := square(1+a1+a2), square(1-a1+a2), -4*a2
	hz := math.Min(shelfHz, rate/4) // for rates below 7 kHz, shelfHz is too close to half the rate
	s1 := square(math.Sin(math.Pi * hz / rate))
	s0 := 1 - s1
	s2 := 4 * s0 * s1
	z0, z1 := p0, p1*shelfPower(rate/2)
	z2 := (shelfPower(hz)*(p0*s0+p1*s1+p2*s2) - z0*s0 - z1*s1) / s2
	even := (math.Sqrt(z0) + math.Sqrt(z1)) / 2
	b0 := (even + math.Sqrt(even*even+z2)) / 2
	return &biquad{b0: b0, b1: (math.Sqrt(z0) - math.Sqrt(z1)) / 2, b2: -z2 / (4 * b0), a1: a1, a2: a2}
}

// highPassFilter returns the high pass for a sample rate. The bilinear transform is exact enough, because passHz is far below half the
// rate. Above the cut-off, the gain is 0.04 dB, as at 48 kHz.
func highPassFilter(rate float64) *biquad {
	scale := func(rate float64) (k, a0 float64) {
		k = math.Tan(math.Pi * passHz / rate)
		return k, 1 + k/passQ + k*k
	}
	k, a0 := scale(rate)
	_, given := scale(givenRate)
	gain := given / a0
	return &biquad{b0: gain, b1: -2 * gain, b2: gain, a1: 2 * (k*k - 1) / a0, a2: (1 - k/passQ + k*k) / a0}
}

func square(x float64) float64 { return x * x }
