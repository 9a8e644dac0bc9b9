package elevenlabs_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/elevenlabs"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestSynthesizer(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	enginetest.RunVoices(t, enginetest.VoicesHarness{Marks: true, New: func(t *testing.T, s enginetest.Service) enginetest.Talker {
		e, err := elevenlabs.New(elevenlabs.Config{BaseURL: s.URL, APIKey: callwright.Secret(s.Key), Voice: "v1", Client: s.Client, Runtime: callwright.Runtime{Logger: s.Logger}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}})
}
