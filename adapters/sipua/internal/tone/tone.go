// Package tone finds DTMF digits in audio (ITU-T Q.23 and Q.24), for callers whose gateway sends no telephone-events.
package tone

import "math"

var (
	rows    = [4]float64{697, 770, 852, 941}
	columns = [4]float64{1209, 1336, 1477, 1633}
	keys    = [4]string{"123A", "456B", "789C", "*0#D"}
)

// The thresholds of a digit. Speech rarely holds two pure tones of like strength for as long as a key does (talk-off).
const (
	hits   = 3    // windows of 20 ms, 10 ms apart, that begin a digit: 40 ms of tone, the least of Q.24
	misses = 3    // windows without it that end a digit
	purity = 0.78 // share of the energy of a window that both tones have at least
	off    = 0.01 // share by which a tone is looked for beside its frequency: Q.24 allows 1.5 %
	apart  = 4.0  // times the power of the strongest other tone of the group: 6 dB
	twist  = 7.0  // the most times that one tone may be stronger than the other: 8 dB
	floor  = 1e4  // mean square of the samples: -40 dBm0 or so
)

// Detector finds digits in one stream of audio. It is for one goroutine.
type Detector struct {
	rate    int
	waiting []int16
	key     byte // of the windows that follow each other; 0: none
	run     int  // their number
	pressed byte // the digit that is held; 0: none
	missed  int  // windows without it
	digits  []byte
}

// New returns a detector for audio of so many samples a second.
func New(rate int) *Detector { return &Detector{rate: rate} }

// Feed takes the next samples and returns the digits that begin with them, one a press. The result is good until the next
// Feed.
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

// window takes the digit of one window.
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

// keyOf returns the digit whose tones fill a window; 0 without one.
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

// strongest returns the strongest tone of a group and its power, and whether the others are much weaker.
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

// goertzel returns the squared magnitude of one frequency, given as a part of the sample rate.
func goertzel(pcm []int16, frequency float64) float64 {
	factor := 2 * math.Cos(2*math.Pi*frequency)
	var last, before float64
	for _, s := range pcm {
		last, before = float64(s)+factor*last-before, last
	}
	return last*last + before*before - factor*last*before
}
