package deepgram_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/deepgram"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "dg-4711"

// speak returns the audio of a text that the fakes understand.
func speak(text string) ([]int16, int) { return enginetest.Signs(text), 8000 }

// start serves an engine until the test ends, and returns a client of it.
func start(t *testing.T, e *enginetest.Engine, model string) *deepgram.Client {
	t.Helper()
	if e.Key = key; e.Dialect == nil {
		e.Dialect = enginetest.DeepgramSegments
		if strings.HasPrefix(model, "flux") {
			e.Dialect = enginetest.DeepgramTurns
		}
	}
	server := e.Serve(t)
	t.Cleanup(func() {
		if invalid := e.Invalid(); len(invalid) > 0 {
			t.Errorf("the service does not know %q", invalid)
		}
	})
	c, err := deepgram.New(deepgram.Config{BaseURL: server.URL, APIKey: key, Model: model, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClient(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	for _, model := range []string{"nova-3", "flux-general-en"} {
		t.Run(model, func(t *testing.T) {
			h := agentstest.RecognizerHarness{
				New:   func(t *testing.T) conversation.Recognizer { return start(t, &enginetest.Engine{}, model) },
				Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
			}
			agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return start(t, &enginetest.Engine{}, model) }, h)
			agentstest.RunRecognizer(t, h)
			enginetest.RunFaults(t, func(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) conversation.Streamer {
				return start(t, &enginetest.Engine{Fault: f, Break: breaks}, model)
			}, speak)
		})
	}
}

// TestWithoutForce checks that a service that refuses ForceEndTurn ends one session with an error, and that later sessions end turns by
// silence.
func TestWithoutForce(t *testing.T) {
	t.Parallel()
	e := &enginetest.Engine{Dialect: enginetest.DeepgramTurnsWithoutForce, Key: key}
	server := e.Serve(t)
	c, err := deepgram.New(deepgram.Config{BaseURL: server.URL, APIKey: key, Model: "flux-general-en", Client: server.Client()})
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

// TestAddress checks the URLs of sessions.
func TestAddress(t *testing.T) {
	t.Parallel()
	h := conversation.Hearing{Rate: 8000, Language: "es-MX", Keywords: []string{"Café Zoë", "Ana"}}
	for model, want := range map[string]string{
		"nova-3":             "/v1/listen?channels=1&encoding=mulaw&endpointing=false&interim_results=true&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&language=es-MX&model=nova-3&sample_rate=8000&smart_format=true",
		"flux-general-multi": "/v2/listen?encoding=mulaw&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&language_hint=es&model=flux-general-multi&sample_rate=8000",
	} {
		e := &enginetest.Engine{}
		s, err := start(t, e, model).Open(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil || e.URLs()[0].String() != want {
			t.Errorf("%s, %v", e.URLs()[0], err)
		}
	}
}

// TestRefusals checks the errors of sessions that the service refuses, which do not contain the key.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		code callwright.Code
		says string
		wait time.Duration
	}{
		401: {callwright.CodeUnavailable, "refuses the key", 0}, 402: {callwright.CodeUnavailable, "quota", 0},
		400: {callwright.CodeUnavailable, "model", 0}, 503: {callwright.CodeUnavailable, "503", 0},
		429: {callwright.CodeTooManyRequests, "limits", 7 * time.Second},
	} {
		_, err := start(t, &enginetest.Engine{Status: status}, "nova-3").Open(t.Context(), conversation.Hearing{Rate: 8000})
		e, ok := errors.AsType[*callwright.Error](err)
		if !ok || e.Code != want.code || !strings.Contains(e.Message, want.says) || e.RetryAfter != want.wait || strings.Contains(err.Error(), key) {
			t.Errorf("%d: error %v", status, err)
		}
	}
	for _, base := range []string{"ftp://host", "wss://", "wss://a:b@host", "host"} {
		if _, err := deepgram.New(deepgram.Config{BaseURL: base}); err == nil {
			t.Errorf("%s is accepted", base)
		}
	}
	if c, err := deepgram.New(deepgram.Config{APIKey: key}); err != nil || strings.Contains(fmt.Sprintf("%v %+v", c, c), key) {
		t.Errorf("%+v, %v", c, err)
	}
}
