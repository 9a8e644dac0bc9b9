package elevenlabs_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/elevenlabs"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	enginetest.RunVendor(t, enginetest.Vendor{
		Dialect: enginetest.ElevenLabs,
		New: func(baseURL string, key callwright.Secret, client *http.Client) (enginetest.Recognizer, error) {
			return elevenlabs.NewRecognizer(elevenlabs.RecognizerConfig{BaseURL: baseURL, APIKey: key, Client: client})
		},
		Address: "/v1/speech-to-text/realtime?audio_format=ulaw_8000&commit_strategy=manual&keyterms=Caf%C3%A9+Zo%C3%AB&keyterms=Ana&language_code=de&model_id=scribe_v2_realtime",
		Without: []enginetest.Fault{enginetest.Doubles}, // nothing in a transcript tells which commit it answers
	})
}
