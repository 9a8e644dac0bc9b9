package deepgram_test

import (
	"cmp"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/deepgram"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestClient(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	for model, v := range map[string]enginetest.Vendor{
		"nova-3": {
			Dialect: enginetest.DeepgramSegments,
			Address: "/v1/listen?channels=1&encoding=mulaw&endpointing=false&interim_results=true&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&language=de-AT&model=nova-3&sample_rate=8000&smart_format=true",
		},
		"flux-general-multi": {
			Dialect: enginetest.DeepgramTurns,
			Address: "/v2/listen?encoding=mulaw&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&language_hint=de&model=flux-general-multi&sample_rate=8000",
		},
	} {
		v.New = func(baseURL string, key callwright.Secret, client *http.Client) (enginetest.Recognizer, error) {
			return deepgram.New(deepgram.Config{BaseURL: baseURL, APIKey: key, Model: model, Client: client})
		}
		t.Run(model, func(t *testing.T) { enginetest.RunVendor(t, v) })
	}
}

// TestWithoutForce checks that a service that refuses ForceEndTurn ends one session with an error, and that later sessions end turns by
// silence.
func TestWithoutForce(t *testing.T) {
	t.Parallel()
	e := &enginetest.Engine{Dialect: enginetest.DeepgramTurnsWithoutForce, Key: "k"}
	server := e.Serve(t)
	c, err := deepgram.New(deepgram.Config{BaseURL: server.URL, APIKey: "k", Model: "flux-general-en", Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "Good morning.", "Good evening."} {
		u, err := c.Listen(t.Context(), conversation.Hearing{Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Write(enginetest.Signs(cmp.Or(want, "Hello."))); err != nil {
			t.Fatal(err)
		}
		got, err := u.Finish(t.Context())
		if (err != nil) != (i == 0) || got.Text != want {
			t.Errorf("utterance %d is understood as %q, %v", i, got.Text, err)
		}
	}
	if invalid := e.Invalid(); len(invalid) != 1 {
		t.Errorf("the service has refused %q", invalid)
	}
}
