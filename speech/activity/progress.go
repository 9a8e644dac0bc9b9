package activity

import "math"

// These constants define call progress tones (ITU-T E.180) and fax tones (ITU-T T.30).
const (
	progressShare  = 0.85  // minimum share of the energy in a pair of tones
	progressFrames = 8     // 160 ms; shorter than every ringback, busy or congestion tone
	europeanTone   = 425.0 // Hz; ringback and busy tone in most of Europe
	europeanWidth  = 12.0  // Hz
	callingTone    = 1100.0
	callingWidth   = 38.0
	answerTone     = 2100.0
	answerWidth    = 15.0
	faxFrames      = 20 // 400 ms; CNG lasts 425 to 575 ms, CED 2.6 to 4 s
)

// pairs contains an orthonormal basis of the sines and cosines of the call progress tones with two frequencies: dial tone, ringback and busy
// tone of North America, and ringback of the United Kingdom.
var pairs = func() (all [4][4][bandFrame]float64) {
	for p, hz := range [4][2]float64{{350, 440}, {440, 480}, {480, 620}, {400, 450}} {
		for k := range 4 {
			v := &all[p][k]
			for i := range v {
				v[i] = math.Sin(2*math.Pi*hz[k/2]*float64(i)/bandRate + float64(k%2)*math.Pi/2)
			}
			for _, other := range all[p][:k] {
				subtract(v, &other, dot(v, &other))
			}
			length := math.Sqrt(dot(v, v))
			for i := range v {
				v[i] /= length
			}
		}
	}
	return all
}()

func dot(a, b *[bandFrame]float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func subtract(v, other *[bandFrame]float64, factor float64) {
	for i, o := range other {
		v[i] -= factor * o
	}
}

// progress finds call progress tones of two frequencies.
type progress struct {
	pair int // index of the pair in the last frame
	run  int // number of consecutive frames with this pair
}

// rest ends a tone.
func (p *progress) rest() { p.run = 0 }

// hear processes a frame, and reports whether a pair of tones has sounded for at least progressFrames.
func (p *progress) hear(x *[bandFrame]float64) bool {
	energy := dot(x, x)
	if energy < toneLevel*bandFrame {
		p.run = 0
		return false
	}
	best, share := 0, 0.0
	for n := range pairs {
		var sum float64
		for k := range pairs[n] {
			d := dot(x, &pairs[n][k])
			sum += d * d
		}
		if sum > share {
			best, share = n, sum
		}
	}
	switch {
	case share < progressShare*energy:
		p.run = 0
	case p.run > 0 && best == p.pair:
		p.run++
	default:
		p.pair, p.run = best, 1
	}
	return p.run >= progressFrames
}

// kindOf returns the kind of a single tone that has sounded for a number of frames.
func kindOf(hertz float64, run int) Kind {
	near := func(hz, width float64) bool { return math.Abs(hertz-hz) <= width }
	switch {
	case near(europeanTone, europeanWidth) && run >= progressFrames:
		return Progress
	case (near(callingTone, callingWidth) || near(answerTone, answerWidth)) && run >= faxFrames:
		return Fax
	default:
		return Tone
	}
}
