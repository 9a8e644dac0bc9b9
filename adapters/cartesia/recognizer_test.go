package cartesia_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/cartesia"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	enginetest.RunVendor(t, enginetest.Vendor{
		Dialect: enginetest.Cartesia,
		New: func(baseURL string, key callwright.Secret, client *http.Client) (enginetest.Recognizer, error) {
			return cartesia.NewRecognizer(cartesia.RecognizerConfig{BaseURL: baseURL, APIKey: key, Client: client})
		},
		Address: "/stt/turns/websocket?encoding=pcm_mulaw&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&model=ink-2&sample_rate=8000",
	})
}
