package conversation

import "math"

// At every rate of the call, the detector processes frames of 20 ms at 8 kHz.
const (
	bandRate  = 8000
	bandFrame = bandRate / 50
)

// The decision levels of the detector in dB. Speech in a call has -35 to -10 dBFS, comfort noise -70 to -50.
const (
	quietest   = -55.0 // dBFS in the low band; quieter sound is not speech into a phone
	onset      = 7.0   // distance above the noise floor at which voice begins
	release    = 4.5   // distance above the noise floor at which voice continues
	hissOnset  = 11.0  // distance above the whole band's floor; detects consonants, which the low band lacks
	highFloor  = -34.0 // dBFS; maximum of the noise floor before the first possible gap in speech
	lowFloor   = -65.0 // dBFS; minimum of the noise floor, so that faint noise is not loud after digital silence
	nothing    = -60.0 // dBFS; assumed level of digital silence, which a peer with silence suppression mixes with noise
	floorBias  = 2.0   // distance between the mean level of noise and the minimum of its frames
	digitShare = 0.8   // minimum share of the energy in the two tones of a DTMF digit
)

// Detector detects voice, frame by frame. It compares the energy in the band of vowels with a noise floor, which follows the minimum of the
// last 1.6 seconds. To detect consonants, it does the same for the whole band. DTMF tones do not count as voice. A filter removes hum, and
// steady noise of any level becomes the floor. Voiced allocates no memory. Only one goroutine may use a Detector.
type Detector struct {
	fold  int // samples of the call per sample at 8 kHz
	x     [bandFrame]float64
	high  biquad // removes hum and DC
	low   biquad // passes the band of vowels
	vowel floor
	whole floor
	level float64
	voice bool
}

// NewDetector returns a detector for audio of 8000, 16000 or 48000 Hz.
func NewDetector(rate int) *Detector {
	return &Detector{
		fold:  max(1, rate/bandRate),
		high:  highPass(180),
		low:   lowPass(1000),
		vowel: newFloor(),
		whole: newFloor(),
	}
}

// Level returns the level of the last frame in dBFS, without hum. It ranges from -100 (silence) to 0.
func (d *Detector) Level() float64 { return d.level }

// Voiced processes the next 20 ms of the call, and reports whether they contain voice.
func (d *Detector) Voiced(frame []int16) bool {
	if !d.load(frame) {
		d.level, d.voice = decibels(0), false
		d.vowel.over(nothing)
		d.whole.over(nothing)
		d.high.rest()
		d.low.rest()
		return false
	}
	var all, vowels float64
	for _, v := range d.x {
		h := d.high.next(v)
		l := d.low.next(h)
		all += h * h
		vowels += l * l
	}
	d.level = decibels(all / bandFrame)
	lowLevel := decibels(vowels / bandFrame)
	low, whole := d.vowel.over(lowLevel), d.whole.over(d.level)
	need := onset
	if d.voice {
		need = release
	}
	loud := lowLevel > quietest && (low > need || whole > hissOnset)
	d.voice = loud && !d.digit()
	return d.voice
}

// load converts the frame to 8 kHz, and reports whether it contains any sound.
func (d *Detector) load(frame []int16) bool {
	sound := false
	scale := 1 / (32768 * float64(d.fold))
	for i := range d.x {
		sum := 0
		for _, s := range frame[min(i*d.fold, len(frame)):min((i+1)*d.fold, len(frame))] {
			sum += int(s)
		}
		sound = sound || sum > 16*d.fold || sum < -16*d.fold
		d.x[i] = float64(sum) * scale
	}
	return sound
}

// The frequencies of DTMF (ITU-T Q.23) as the Goertzel algorithm's 2·cos(2πf/8000): rows, then columns.
var digitTones = func() (c [8]float64) {
	for i, hz := range [8]float64{697, 770, 852, 941, 1209, 1336, 1477, 1633} {
		c[i] = 2 * math.Cos(2*math.Pi*hz/bandRate)
	}
	return c
}()

// digit reports whether the frame is a DTMF digit, which consists of one row tone and one column tone.
func (d *Detector) digit() bool {
	var sum float64
	for _, v := range d.x {
		sum += v * v
	}
	var power [8]float64
	for i, c := range digitTones {
		var s1, s2 float64
		for _, v := range d.x {
			s1, s2 = v+c*s1-s2, s1
		}
		power[i] = (s1*s1 + s2*s2 - c*s1*s2) / (sum * bandFrame / 2)
	}
	row := max(power[0], power[1], power[2], power[3])
	column := max(power[4], power[5], power[6], power[7])
	return row+column > digitShare && min(row, column) > 0.1
}

// floor tracks the noise floor: the minimum level of the last blocks of frames. Speech has gaps within that time, so its gaps determine the
// floor.
type floor struct {
	blocks [8]float64 // minimum level of each of the last blocks
	n      int        // number of frames in the newest block
	at     int        // index of the newest block
	whole  bool       // whether all blocks have been filled
}

// blockFrames is the number of frames in a block. Eight blocks last 1.6 s.
const blockFrames = 10

func newFloor() floor {
	f := floor{}
	for i := range f.blocks {
		f.blocks[i] = math.Inf(1)
	}
	return f
}

// over adds the level of a frame, and returns its distance above the floor in dB.
func (f *floor) over(level float64) float64 {
	if f.n == blockFrames {
		f.n, f.at = 0, (f.at+1)%len(f.blocks)
		f.whole = f.whole || f.at == 0
		f.blocks[f.at] = math.Inf(1)
	}
	f.n++
	f.blocks[f.at] = min(f.blocks[f.at], level)
	lowest := math.Inf(1)
	for _, b := range f.blocks {
		lowest = min(lowest, b)
	}
	lowest += floorBias
	if !f.whole {
		lowest = min(lowest, highFloor)
	}
	return level - max(lowest, lowFloor)
}

// biquad is a second-order filter (direct form I transposed).
type biquad struct{ b0, b1, b2, a1, a2, z1, z2 float64 }

// lowPass and highPass return Butterworth filters, designed with the bilinear transform. hz is the cutoff frequency.
func lowPass(hz float64) biquad {
	k := math.Tan(math.Pi * hz / bandRate)
	n := 1 / (1 + math.Sqrt2*k + k*k)
	return biquad{b0: k * k * n, b1: 2 * k * k * n, b2: k * k * n, a1: 2 * (k*k - 1) * n, a2: (1 - math.Sqrt2*k + k*k) * n}
}

func highPass(hz float64) biquad {
	k := math.Tan(math.Pi * hz / bandRate)
	n := 1 / (1 + math.Sqrt2*k + k*k)
	return biquad{b0: n, b1: -2 * n, b2: n, a1: 2 * (k*k - 1) * n, a2: (1 - math.Sqrt2*k + k*k) * n}
}

func (q *biquad) next(x float64) float64 {
	y := q.b0*x + q.z1
	q.z1 = q.b1*x - q.a1*y + q.z2
	q.z2 = q.b2*x - q.a2*y
	return y
}

// rest clears the filter's state. In silence, the state would decay to denormal numbers, which are slow.
func (q *biquad) rest() { q.z1, q.z2 = 0, 0 }

// decibels converts a mean square of samples between -1 and 1 to dBFS. The minimum is -100.
func decibels(meanSquare float64) float64 { return 10 * math.Log10(meanSquare+1e-10) }
