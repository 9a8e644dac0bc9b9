// Package tone detects DTMF digits in audio (ITU-T Q.23 and Q.24), for callers whose gateway sends no telephone-events.
package tone

import "math"

var (
	rows    = [4]float64{697, 770, 852, 941}
	columns = [4]float64{1209, 1336, 1477, 1633}
	keys    = [4]string{"123A", "456B", "789C", "*0#D"}
)

// The thresholds for a digit. Speech rarely contains two pure tones of similar strength for as long as a key press (talk-off).
const (
	hits   = 3    // consecutive windows that start a digit, 20 ms long and 10 ms apart; together 40 ms, the minimum of Q.24
	misses = 3    // consecutive windows without the digit that end it
	purity = 0.78 // minimum share of both tones in the energy of a window
	off    = 0.01 // relative deviation at which a tone is also measured; Q.24 allows 1.5 %
	apart  = 4.0  // minimum power ratio to the other tones of the group: 6 dB
	twist  = 7.0  // maximum power ratio of the two tones: 8 dB
	floor  = 1e4  // minimum mean square of the samples: about -40 dBm0
)

// Detector detects the digits in one stream of audio. It is not safe for concurrent use.
type Detector struct {
	rate    int
	waiting []int16
	key     byte // digit of the last consecutive windows; 0 for no digit
	run     int  // number of those windows
	pressed byte // digit whose key is pressed; 0 if none is
	missed  int  // consecutive windows without the digit of pressed
	digits  []byte
}

// New returns a detector for audio with a sample rate in samples per second.
func New(rate int) *Detector { return &Detector{rate: rate} }

// Feed processes the next samples and returns the digits that begin in them, one for each key press. The result is valid until the next
// call of Feed.
func (d *Detector) Feed(samples []int16) []byte {
	d.digits = d.digits[:0]
	d.waiting = append(d.waiting, samples...)
	window, step := d.rate/50, d.rate/100
	for len(d.waiting) >= window {
		d.window(d.waiting[:window])
		d.waiting = d.waiting[:copy(d.waiting, d.waiting[step:])]
	}
	return d.digits
}

// window updates the state with the digit of one window. If a key press begins, it appends the digit to d.digits.
func (d *Detector) window(pcm []int16) {
	key := d.keyOf(pcm)
	if key != d.key {
		d.key, d.run = key, 0
	}
	d.run++
	switch {
	case key != 0 && key == d.pressed:
		d.missed = 0
	case d.pressed != 0:
		if d.missed++; d.missed >= misses {
			d.pressed = 0
		}
	}
	if key != 0 && d.pressed == 0 && d.run >= hits {
		d.pressed, d.missed = key, 0
		d.digits = append(d.digits, key)
	}
}

// keyOf returns the digit whose two tones dominate a window, or 0 if there is none.
func (d *Detector) keyOf(pcm []int16) byte {
	energy := 0.0
	for _, s := range pcm {
		energy += float64(s) * float64(s)
	}
	if energy < floor*float64(len(pcm)) {
		return 0
	}
	row, low, ok := d.strongest(pcm, rows)
	column, high, alone := d.strongest(pcm, columns)
	switch {
	case !ok || !alone || low > twist*high || high > twist*low:
		return 0
	case (low+high)*2/float64(len(pcm)) < purity*energy:
		return 0
	}
	return keys[row][column]
}

// strongest returns the index and the power of the strongest tone in a group, and whether all others are much weaker.
func (d *Detector) strongest(pcm []int16, group [4]float64) (best int, power float64, alone bool) {
	var powers [4]float64
	for i, frequency := range group {
		at := frequency / float64(d.rate)
		powers[i] = max(goertzel(pcm, at), goertzel(pcm, at*(1-off)), goertzel(pcm, at*(1+off)))
		if powers[i] > powers[best] {
			best = i
		}
	}
	for i := range powers {
		if i != best && powers[i]*apart > powers[best] {
			return best, powers[best], false
		}
	}
	return best, powers[best], true
}

// goertzel returns the squared magnitude of one frequency, which is a fraction of the sample rate.
func goertzel(pcm []int16, frequency float64) float64 {
	factor := 2 * math.Cos(2*math.Pi*frequency)
	var last, before float64
	for _, s := range pcm {
		last, before = float64(s)+factor*last-before, last
	}
	return last*last + before*before - factor*last*before
}
