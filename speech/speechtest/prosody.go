package speechtest

import (
	"math"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/profile"
	"github.com/callwright/callwright/speech/tts"
)

// readAloud is a text that is long enough for profile.Measure.
const readAloud = "He was not an ill disposed young man. Had he married a more amiable woman, he might have been made still more respectable " +
	"than he was. He might even have been made amiable himself. The shop opens at nine in the morning."

// RunProsody checks how the voices of an engine that produces real speech change with a Prosody. The pitch must follow its factor within 5
// %, and the duration must follow the factor of the tempo within 6 %. If no voices are named, it checks all voices.
func RunProsody(t *testing.T, e tts.Engine, voices ...string) {
	t.Helper()
	if len(voices) == 0 {
		voices = e.Describe().Names()
	}
	for _, voice := range voices {
		t.Run(voice, func(t *testing.T) {
			t.Parallel()
			own, length := measure(t, e, voice, tts.Prosody{})
			for _, p := range []tts.Prosody{{Pitch: 1.2}, {Tempo: 1.2}, {Pitch: 0.85, Tempo: 0.85}, {Pitch: 1.5, Tempo: 1.3}} {
				got, lasts := measure(t, e, voice, p)
				pitch, tempo := p.Factors()
				t.Logf("%+v: pitch %.3f, tempo %.3f", p, got.Pitch/own.Pitch, length/lasts)
				if math.Abs(got.Pitch/own.Pitch/pitch-1) > 0.05 || math.Abs(length/lasts/tempo-1) > 0.06 {
					t.Errorf("%+v: pitch %.3f, tempo %.3f", p, got.Pitch/own.Pitch, length/lasts)
				}
			}
		})
	}
}

// measure returns the profile of a voice with a prosody, and the duration of its speech in seconds.
func measure(t *testing.T, e tts.Engine, voice string, p tts.Prosody) (profile.Profile, float64) {
	t.Helper()
	samples, err := Speak(t.Context(), e, tts.Request{Text: readAloud, Voice: voice, Rate: 16000, Prosody: p})
	if err != nil {
		t.Fatal(err)
	}
	audio := pcm.Audio{Rate: 16000, Channels: 1, Samples: samples}
	measured, err := profile.Measure(audio)
	if err != nil {
		t.Fatalf("%s %+v: %v", voice, p, err)
	}
	return measured, audio.Duration().Seconds()
}
