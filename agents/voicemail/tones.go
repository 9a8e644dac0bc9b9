package voicemail

import (
	"math"
	"time"

	"github.com/callwright/callwright/speech/activity"
)

// toneKind is the meaning of one or more tones.
type toneKind uint8

const (
	none        toneKind = iota
	beep                 // an answering machine's tone
	fax                  // CED or CNG (ITU-T T.30)
	information          // special information tones (ITU-T E.180)
)

// These constants define the tones. activity.Detector reports a tone after it has sounded for reportTime.
const (
	reportTime   = 80 * time.Millisecond
	shortestBeep = 180 * time.Millisecond
	longestBeep  = 4 * time.Second
	// sinceTone is the silence after a tone until its meaning is known. It is also the silence before a message.
	sinceTone = 200 * time.Millisecond

	betweenFax   = 1600.0                  // Hz: between the tones of calling and of answering fax machines
	shortestCED  = 1200 * time.Millisecond // T.30: 2.6 to 4 s
	longestCNG   = 650 * time.Millisecond  // T.30: 0.5 s, every 3.5 s; activity.Fax requires 400 ms
	periodCNG    = 4 * time.Second
	shortestInfo = 150 * time.Millisecond // E.180: 330 ms, in some networks 274 or 380 ms
	longestInfo  = 450 * time.Millisecond
	// ringback is the duration from which a tone of the network's frequency is a ringback tone, of which one precedes the answer.
	ringback = 800 * time.Millisecond
	// periodBusy is the time after a tone of the network's frequency within which a busy tone repeats it.
	periodBusy = 1200 * time.Millisecond
)

// toneSound is a single tone.
type toneSound struct {
	hertz      float64
	fax        bool // activity.Fax
	begin, end time.Duration
}

// answers reports whether the tone is one of an answering fax machine (CED), and calls whether it is one of a calling fax machine (CNG).
func (s toneSound) answers() bool { return s.fax && s.hertz > betweenFax && s.length() >= shortestCED }
func (s toneSound) calls() bool   { return s.fax && s.hertz < betweenFax && s.length() <= longestCNG }

// length returns the duration of the tone.
func (s toneSound) length() time.Duration { return s.end - s.begin }

// tones interprets the single tones of a call. Only a sequence of tones shows some meanings, so tones wait until theirs is known.
type tones struct {
	now     time.Duration
	last    []toneSound // the tones that wait for their meaning, the newest last
	current bool        // the newest tone continues
}

// sounds reports whether a tone sounds.
func (t *tones) sounds() bool { return t.current }

// hear processes the verdict on a frame, and returns the meaning of the tones, once it is known. spoken reports whether the other side has
// spoken before: the network's tones and those of fax machines are not expected after speech.
func (t *tones) hear(v activity.Verdict, spoken bool) toneKind {
	t.now += frameTime
	hertz := v.Hertz
	newest := len(t.last) - 1
	switch {
	case hertz > 0 && t.current && newest >= 0 && near(hertz, t.last[newest].hertz, 0.03):
		t.last[newest].end = t.now
		t.last[newest].fax = t.last[newest].fax || v.Kind == activity.Fax
	case hertz > 0:
		t.current = true
		if len(t.last) == 3 {
			t.last = append(t.last[:0], t.last[1:]...)
		}
		t.last = append(t.last, toneSound{hertz: hertz, begin: t.now - reportTime, end: t.now})
	default:
		t.current = false
	}
	if len(t.last) == 0 {
		return none
	}
	kind, known := t.meaning(spoken)
	if known {
		t.last = t.last[:0]
	}
	return kind
}

// meaning returns the meaning of the tones that wait, and whether it is known.
func (t *tones) meaning(spoken bool) (kind toneKind, known bool) {
	newest := t.last[len(t.last)-1]
	silence := t.now - newest.end
	switch {
	case t.informs():
		return information, true
	case !spoken && newest.answers():
		return fax, true
	case t.current, silence < sinceTone:
		return none, false
	case spoken:
		return t.ifBeep(newest), true
	case newest.calls():
		if len(t.last) > 1 && t.last[len(t.last)-2].calls() {
			return fax, true
		}
		return t.waited(newest, silence, periodCNG)
	case near(newest.hertz, 425, 0.07):
		if len(t.last) > 1 || newest.length() >= ringback {
			return none, silence > periodBusy
		}
		return t.waited(newest, silence, periodBusy)
	default:
		return t.ifBeep(newest), true
	}
}

// waited returns the meaning of a single tone that was not repeated within a period, and whether the period is over.
func (t *tones) waited(s toneSound, silence, period time.Duration) (kind toneKind, known bool) {
	if silence < period {
		return none, false
	}
	return t.ifBeep(s), true
}

// ifBeep returns beep if the tone has the length of an answering machine's.
func (t *tones) ifBeep(s toneSound) toneKind {
	if s.length() >= shortestBeep && s.length() <= longestBeep {
		return beep
	}
	return none
}

// informs reports whether the last three tones are special information tones: low, middle and high, without pauses.
func (t *tones) informs() bool {
	if len(t.last) < 3 {
		return false
	}
	for i, hertz := range [3]float64{950, 1400, 1800} {
		s := t.last[i]
		if !near(s.hertz, hertz, 0.055) || s.length() < shortestInfo || s.length() > longestInfo ||
			i > 0 && s.begin-t.last[i-1].end > 150*time.Millisecond {
			return false
		}
	}
	return true
}

// near reports whether a frequency differs from another one by at most the given share.
func near(hertz, of, share float64) bool { return math.Abs(hertz-of) <= share*of }
