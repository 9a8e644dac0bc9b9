package tts_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

func TestRequestCheck(t *testing.T) {
	t.Parallel()
	for field, requests := range map[string][]tts.Request{
		"": {
			{Text: strings.Repeat("a", tts.MaxText), Rate: 8000}, {Rate: pcm.MinRate}, {Rate: pcm.MaxRate},
			{Rate: 8000, Prosody: tts.Prosody{Pitch: tts.MinFactor, Tempo: tts.MaxFactor}},
		},
		"text":  {{Text: strings.Repeat("a", tts.MaxText+1), Rate: 8000}, {Text: "\xff", Rate: 8000}},
		"rate":  {{Text: "a"}, {Rate: -8000}, {Rate: pcm.MinRate - 1}, {Rate: pcm.MaxRate + 1}},
		"pitch": {{Rate: 8000, Prosody: tts.Prosody{Pitch: 0.49}}, {Rate: 8000, Prosody: tts.Prosody{Pitch: math.NaN()}}},
		"tempo": {{Rate: 8000, Prosody: tts.Prosody{Tempo: 2.01}}},
	} {
		for _, r := range requests {
			err := r.Check()
			if e, _ := errors.AsType[*callwright.Error](err); field == "" && err != nil || field != "" && (e == nil || e.Field != field) {
				t.Errorf("%q: %v", field, err)
			}
		}
	}
}
