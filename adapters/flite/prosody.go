package flite

import (
	"strconv"

	"github.com/callwright/callwright/speech/tts"
)

// diphone describes the voices kal and kal16, which are no CLUSTERGEN voices as the others are.
const (
	diphoneStretch = 1.1  // duration_stretch of diphone voices; other voices use 1
	diphoneShift   = 0.85 // factor from a change of the pitch to a change of f0_shift at their 85 Hz
)

// rateStep rounds the rate that audio is played at, so that the filter of the resampler stays small. The pitch is off by 0.6 % at
// most.
const rateStep = 100

// control returns flite's options for a prosody, and the factor by which its audio is then played faster. Without options the voice is unchanged.
//
// f0_shift changes the pitch of every voice but rms, which has no control of it. There flite speaks slower by the factor of the
// pitch and is played faster by it: that is exact too, but moves the timbre with the pitch, as with a shorter or longer throat.
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
