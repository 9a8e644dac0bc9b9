package profile

import (
	"math"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// The limits of the input of Measure.
const (
	MinSpeech = 3 * time.Second // required speech, without its pauses
	MaxAudio  = time.Minute     // of a longer recording, only the middle is measured
)

// The limits of human speech. Measure refuses audio outside them.
const (
	minVoiced   = 100  // number of frames of 10 ms
	minShare    = 0.2  // fraction of the speech that is voiced
	minTempo    = 1.2  // syllables per second
	maxTempo    = 10.0 // syllables per second
	minSpread   = 0.15 // semitones; a steady tone has less
	certainTime = 10.0 // seconds of speech beyond which the confidence no longer grows
)

// Profile describes the speech of a person or of an engine's voice.
type Profile struct {
	Pitch      float64       // median fundamental frequency of the voiced sounds, in Hz
	Spread     float64       // variation of the pitch, in semitones: half the range from quantile 0.16 to quantile 0.84
	Tempo      float64       // syllables per second of speech, without pauses of 0.3 s and more
	Speech     time.Duration // duration of the speech, without pauses of 0.3 s and more
	Confidence float64       // from 0 to 1: periodicity of the voiced sounds, reduced for less than 10 s of speech
}

// Measure measures a recording with a rate of at least 8000 Hz. It returns CodeBadRequest with the field "audio_samples" for a recording
// without enough speech of one voice, such as silence, noise, a tone or music.
//
// It derives the pitch, from 60 to 400 Hz, from the difference function of YIN in two passes: the second pass searches only a range around
// the pitches of the first pass, to avoid octave errors. It does not need the fundamental frequency in the audio, so that telephone audio
// has the same pitch. For the tempo it counts voiced peaks of the energy that follow a dip.
func Measure(audio pcm.Audio) (Profile, error) {
	if audio.Rate < rate {
		return Profile{}, refused("it has %d samples a second: record at least %d", audio.Rate, rate)
	}
	samples := middle(audio.Mono(), pcm.Samples(MaxAudio, audio.Rate))
	samples, err := pcm.Resample(samples, audio.Rate, rate)
	if err != nil {
		return Profile{}, err
	}
	levels := envelope(samples)
	sounding, ok := speechFrames(levels)
	if !ok {
		return Profile{}, refused("it is silent")
	}
	p := Profile{Speech: time.Duration(count(sounding)) * hopTime}
	if p.Speech < MinSpeech {
		return Profile{}, refused("it has %.1f s of speech: record at least %v", p.Speech.Seconds(), MinSpeech)
	}
	track := trackPitch(samples, sounding)
	voiced, clarity := track.voiced()
	if len(voiced) < minVoiced || float64(len(voiced)) < minShare*float64(count(sounding)) {
		return Profile{}, refused("it contains noise or music instead of speech")
	}
	p.Pitch, p.Spread = median(voiced), spread(voiced)
	p.Tempo = float64(countSyllables(levels, track)) / p.Speech.Seconds()
	if p.Spread < minSpread || p.Tempo < minTempo || p.Tempo > maxTempo {
		return Profile{}, refused("it contains tones or music instead of speech")
	}
	p.Confidence = clarity * min(1, p.Speech.Seconds()/certainTime)
	return p, nil
}

func refused(format string, args ...any) error {
	return callwright.Invalid("audio_samples", "the recording cannot be measured: "+format, args...)
}

// middle returns the middle n samples, or all samples if there are fewer.
func middle(samples []int16, n int) []int16 {
	if len(samples) <= n {
		return samples
	}
	start := (len(samples) - n) / 2
	return samples[start : start+n]
}

func count(frames []bool) int {
	n := 0
	for _, f := range frames {
		if f {
			n++
		}
	}
	return n
}

// quantile returns the value of a sorted list at the quantile q, from 0 to 1.
func quantile(sorted []float64, q float64) float64 {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func median(values []float64) float64 { return quantile(slices.Sorted(slices.Values(values)), 0.5) }

func spread(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return 6 * math.Log2(quantile(sorted, 0.84)/quantile(sorted, 0.16))
}
