package deepgram_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/deepgram"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestVoice(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	enginetest.RunVoices(t, enginetest.VoicesHarness{New: func(t *testing.T, s enginetest.Service) enginetest.Talker {
		v, err := deepgram.NewVoice(deepgram.VoiceConfig{BaseURL: s.URL, APIKey: callwright.Secret(s.Key), Client: s.Client, Runtime: callwright.Runtime{Logger: s.Logger}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}})
}
