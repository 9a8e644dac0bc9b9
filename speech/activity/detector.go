package activity

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
	clearly    = 10.0  // distance of the caller above the noise floor from which energy and network must agree; below, the energy is unreliable
)

// Detector classifies the frames of one call. It compares the energy in the band of vowels with a noise floor, which follows the minimum of
// the last 1.6 seconds. To detect consonants, it does the same for the whole band. A filter removes hum, and steady noise of any level
// becomes the floor. Hear allocates no memory. Only one goroutine may use a Detector.
type Detector struct {
	fold    int // samples of the call per sample at 8 kHz
	x       [bandFrame]float64
	high    biquad // removes hum and DC
	low     biquad // passes the band of vowels
	vowel   floor
	whole   floor
	tone    toneFit
	dual    progress
	knock   knock
	caller  caller
	network opinion
	loud    bool // the last frame was louder than the noise
}

// New returns a Detector for audio of 8000, 16000 or 48000 Hz. If network is nil, the Detector judges by energy alone, with
// the limits that the package describes.
func New(rate int, network Network) *Detector {
	return &Detector{
		fold:    max(1, rate/bandRate),
		high:    highPass(180),
		low:     lowPass(1000),
		vowel:   newFloor(),
		whole:   newFloor(),
		network: opinion{network: network},
	}
}

// Hear classifies the next 20 ms of the call. in is the caller's audio. out is the agent's audio of the same time; it is empty while the
// agent is silent.
func (d *Detector) Hear(in, out []int16) Verdict {
	sound := d.load(in)
	d.network.hear(&d.x)
	if !sound {
		d.loud = false
		d.vowel.over(nothing)
		d.whole.over(nothing)
		d.high.rest()
		d.low.rest()
		d.knock.rest()
		d.caller.hear(0, 0)
		d.tone.rest()
		d.dual.rest()
		return Verdict{Level: decibels(0), Certainty: d.network.certainty()}
	}
	v := d.classify()
	if v.Kind == Speech {
		v.Far = d.caller.far()
		if len(out) == 0 { // otherwise the speech may be the agent's echo
			d.caller.learn(v.Level)
		}
	}
	return v
}

// classify returns the verdict on the loaded frame.
func (d *Detector) classify() Verdict {
	var all, vowels float64
	for _, v := range d.x {
		h := d.high.next(v)
		l := d.low.next(h)
		all += h * h
		vowels += l * l
	}
	d.caller.hear(all/bandFrame, d.network.mean())
	level, lowLevel := decibels(all/bandFrame), decibels(vowels/bandFrame)
	low, whole := d.vowel.over(lowLevel), d.whole.over(level)
	need := onset
	if d.loud {
		need = release
	}
	d.loud = lowLevel > quietest && (low > need || whole > hissOnset)
	v := Verdict{Level: level, Loud: d.loud, Certainty: d.network.certainty()}
	hertz, toned := d.tone.hear(&d.x)
	dual := d.dual.hear(&d.x)
	knocked := d.knock.hear(&d.x, level)
	distinct := d.caller.above(level, whole) >= clearly
	speech := d.loud
	if d.network.network != nil {
		speech = d.network.speech && lowLevel > quietest && (d.loud || !distinct)
	}
	switch {
	case toned:
		v.Kind, v.Hertz, d.loud = kindOf(hertz, d.tone.run), hertz, false
	case dual:
		v.Kind, d.loud = Progress, false
	case lowLevel > quietest && d.digit():
		v.Kind, d.loud = Tone, false
	case d.loud && knocked:
		v.Kind = Impulse
	case speech:
		v.Kind, v.Clear = Speech, d.network.clear()
	}
	return v
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
