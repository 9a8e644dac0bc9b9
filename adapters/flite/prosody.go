package flite

import (
	"strconv"

	"github.com/callwright/callwright/speech/tts"
)

// These constants apply to the diphone voices kal and kal16. The other voices are CLUSTERGEN voices.
const (
	diphoneStretch = 1.1  // duration_stretch of diphone voices; for other voices it is 1
	diphoneShift   = 0.85 // ratio between changes of f0_shift and of the pitch, at their 85 Hz
)

// rateStep is the unit to which the playback rate is rounded, so that the filter of the resampler stays small. The rounding changes the
// pitch by 0.6 % at most.
const rateStep = 100

// control returns flite's options for a prosody, and the factor by which the playback rate must change. Without options the voice is
// unchanged.
//
// f0_shift changes the pitch of every voice except rms, which does not support it. For rms, flite speaks more slowly by the factor of the
// pitch (or faster, if the factor is below 1), and a changed playback rate compensates for that. This is exact, too, but it shifts the
// timbre together with the pitch, as a shorter or longer throat would.
func control(voice string, prosody tts.Prosody) (options []string, playback float64) {
	pitch, tempo := prosody.Factors()
	stretch, shift, playback := 1/tempo, pitch, 1.0
	switch voice {
	case "kal", "kal16":
		stretch, shift = diphoneStretch*stretch, 1+diphoneShift*(pitch-1)
	case "rms":
		stretch, shift, playback = stretch*pitch, 1, pitch
	}
	if tempo != 1 || playback != 1 {
		options = append(options, "--setf", "duration_stretch="+decimal(stretch))
	}
	if shift != 1 {
		options = append(options, "--setf", "f0_shift="+decimal(shift))
	}
	return options, playback
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
