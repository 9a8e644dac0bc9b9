package intonation

import (
	"math"
	"slices"
)

// Contour classifies the end of a voice's pitch.
type Contour uint8

// The contours, relative to the pitches of the voice in the call.
const (
	Unknown Contour = iota // too little voice, a monotonous voice, or an end that is soft or has no clear pitch
	Falling                // ends among the lowest pitches
	Level                  // ends between them
	Rising                 // ends among the highest pitches
)

// String returns the name of a contour.
func (c Contour) String() string {
	switch c {
	case Falling:
		return "falling"
	case Level:
		return "level"
	case Rising:
		return "rising"
	default:
		return "unknown"
	}
}

// The limits of a level pitch, as quantiles of the voice's pitches; of a voice that is not monotonous, in octaves; and of a voice that fades,
// in dB from its loud parts. They are tuned on recorded sentences: see docs/conversation.md.
const (
	falls  = 0.2
	rises  = 0.85
	lively = 0.15  // between the tenth and the ninetieth percentile of the pitch
	fades  = -10.0 // the mean of the last frames
	quiet  = -24.0 // a frame below this level is the pause
)

const (
	rate   = 4000 // Hz; all audio is converted to it
	frame  = rate / 50
	window = rate / 20  // samples whose period is measured: 50 ms
	lowest = rate / 57  // Hz, about 70
	least  = rate / 400 // samples in the shortest period, of 400 Hz
	most   = rate / lowest

	periodic  = 0.6   // minimum correlation of a voiced window with itself one period earlier
	shorter   = 0.003 // correlation by which each sample of a longer period must exceed a shorter one's, so that no multiple of it is chosen
	endFrames = 16    // number of frames, 320 ms, at whose end the pitch is measured
	ending    = 4     // number of the last frames with a pitch whose median is the end
	fading    = 10    // number of the last frames whose mean level is that of the end
	known     = 20    // number of frames with a pitch after which the voice's pitches are known
	bins      = 24    // bins an octave of the histogram
)

// Meter measures the pitch and the level of one voice. Hear allocates no memory. Only one goroutine may use a Meter.
type Meter struct {
	fold  int              // samples of the call per sample at 4 kHz
	last  [window]float64  // the last 50 ms
	pitch histogram        // of the frames with a pitch, in 1/24 octaves above lowest
	level histogram        // of the frames with voice, in dB above one unit of a 16-bit sample
	end   [endFrames]sound // the last frames with voice, oldest first
}

// sound is a frame of voice.
type sound struct {
	pitch float64 // octaves above lowest; 0 means no pitch
	level float64 // dB above one unit of a 16-bit sample
}

// New returns a Meter for audio of 8000, 16000 or 48000 Hz.
func New(hertz int) *Meter { return &Meter{fold: max(1, hertz/rate)} }

// Hear measures the next 20 ms of the call. voice reports whether they contain the caller's voice.
func (m *Meter) Hear(samples []int16, voice bool) {
	copy(m.last[:], m.last[frame:])
	fresh := m.last[window-frame:]
	energy := 1.0
	for i := range fresh {
		sum := 0
		for _, s := range samples[min(i*m.fold, len(samples)):min((i+1)*m.fold, len(samples))] {
			sum += int(s)
		}
		fresh[i] = float64(sum) / float64(m.fold)
		energy += fresh[i] * fresh[i]
	}
	if !voice {
		return
	}
	s := sound{level: 10 * math.Log10(energy/frame)}
	m.level.add(s.level)
	if s.level < m.level.quantile(0.9)+quiet {
		return
	}
	if s.pitch = m.period(); s.pitch > 0 {
		m.pitch.add(s.pitch * bins)
	}
	copy(m.end[:], m.end[1:])
	m.end[endFrames-1] = s
}

// Contour returns how the pitch ended in the last frames with voice.
func (m *Meter) Contour() Contour {
	var buf [ending]float64
	last := buf[:0]
	var level float64
	for i := endFrames - 1; i >= 0; i-- {
		if s := m.end[i]; s.pitch > 0 && len(last) < ending {
			last = append(last, s.pitch)
		}
		if i >= endFrames-fading {
			level += m.end[i].level / fading
		}
	}
	if len(last) < ending || m.pitch.total < known || m.pitch.quantile(0.9)-m.pitch.quantile(0.1) < lively*bins {
		return Unknown
	}
	slices.Sort(last)
	switch {
	case last[ending/2]*bins < m.pitch.quantile(falls)+0.5:
		return Falling
	case level < m.level.quantile(0.9)+fades:
		return Unknown
	case last[ending/2]*bins > m.pitch.quantile(rises):
		return Rising
	default:
		return Level
	}
}

// histogram counts numbers from 0 to 99.
type histogram struct {
	count [100]int
	total int
}

func (h *histogram) add(v float64) {
	h.count[min(max(int(v), 0), len(h.count)-1)]++
	h.total++
}

// quantile returns the middle of the bin that contains a quantile.
func (h *histogram) quantile(q float64) float64 {
	n := 0
	for i, c := range h.count {
		if n += c; float64(n) >= q*float64(h.total) {
			return float64(i) + 0.5
		}
	}
	return 0
}

// period returns the pitch of the window in octaves above lowest, or 0 if it has none: that of the period at which the window is most
// similar to itself.
func (m *Meter) period() float64 {
	var mean float64
	for _, v := range m.last {
		mean += v / window
	}
	var x [window]float64
	for i, v := range m.last {
		x[i] = v - mean
	}
	var similar [most + 2]float64
	for lag := least - 1; lag <= most+1; lag++ {
		var xy, xx, yy float64
		for i, a := range x[lag:] {
			b := x[i]
			xy += a * b
			xx += a * a
			yy += b * b
		}
		similar[lag] = xy / (math.Sqrt(xx*yy) + 1)
	}
	best, period := 0.0, 0
	for lag := least; lag <= most; lag++ {
		if s := similar[lag]; s >= similar[lag-1] && s >= similar[lag+1] && s-shorter*float64(lag) > best {
			best, period = s-shorter*float64(lag), lag
		}
	}
	if period == 0 || similar[period] < periodic {
		return 0
	}
	before, at, after := similar[period-1], similar[period], similar[period+1] //nolint:gosec // period is from least to most
	exact := float64(period)                                                   // the maximum of the parabola through the three values
	if bend := before - 2*at + after; bend < 0 {
		exact += min(max((before-after)/(2*bend), -0.5), 0.5)
	}
	return max(math.Log2(rate/exact/lowest), 1e-9)
}
