package assemblyai_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/assemblyai"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	enginetest.RunVendor(t, enginetest.Vendor{
		Dialect: enginetest.AssemblyAI,
		New: func(baseURL string, key callwright.Secret, client *http.Client) (enginetest.Recognizer, error) {
			return assemblyai.New(assemblyai.Config{BaseURL: baseURL, APIKey: key, Client: client})
		},
		Address: "/v3/ws?encoding=pcm_mulaw&keyterms_prompt=%5B%22Caf%C3%A9+Zo%C3%AB%22%2C%22Ana%22%5D&sample_rate=8000&speech_model=universal-streaming-english",
	})
}
