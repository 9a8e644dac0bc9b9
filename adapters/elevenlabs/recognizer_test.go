package elevenlabs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/elevenlabs"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "key-4711"

// speak returns the audio of a text that the fake understands.
func speak(text string) ([]int16, int) { return enginetest.Signs(text), 8000 }

// start serves an engine until the test ends, and returns a client of it.
func start(t *testing.T, e *enginetest.Engine) *elevenlabs.Recognizer {
	t.Helper()
	e.Dialect, e.Key = enginetest.ElevenLabs, key
	server := e.Serve(t)
	t.Cleanup(func() {
		if invalid := e.Invalid(); len(invalid) > 0 {
			t.Errorf("the service does not know %q", invalid)
		}
	})
	c, err := elevenlabs.NewRecognizer(elevenlabs.RecognizerConfig{BaseURL: server.URL, APIKey: key, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return start(t, &enginetest.Engine{}) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
	}
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return start(t, &enginetest.Engine{}) }, h)
	agentstest.RunRecognizer(t, h)
	// Nothing in a committed transcript tells which commit it answers.
	enginetest.RunFaults(t, func(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) conversation.Streamer {
		return start(t, &enginetest.Engine{Fault: f, Break: breaks})
	}, speak, enginetest.Doubles)
}

// TestAddress checks the URL of a session.
func TestAddress(t *testing.T) {
	t.Parallel()
	e := &enginetest.Engine{}
	s, err := start(t, e).Open(t.Context(), conversation.Hearing{Rate: 8000, Language: "de-AT", Keywords: []string{"Café Zoë", "", "Ana"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "/v1/speech-to-text/realtime?audio_format=ulaw_8000&commit_strategy=manual&keyterms=Caf%C3%A9+Zo%C3%AB&keyterms=Ana&language_code=de&model_id=scribe_v2_realtime"
	if err := s.Close(); err != nil || e.URLs()[0].String() != want {
		t.Errorf("%s, %v", e.URLs()[0], err)
	}
}

// TestRefusals checks the errors of sessions that the service refuses, which do not contain the key.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]callwright.Error{
		401: {Code: callwright.CodeUnavailable, Message: "refuses the key"}, 503: {Code: callwright.CodeUnavailable, Message: "503"},
		429: {Code: callwright.CodeTooManyRequests, Message: "limits", RetryAfter: 7 * time.Second},
	} {
		_, err := start(t, &enginetest.Engine{Status: status}).Open(t.Context(), conversation.Hearing{Rate: 8000})
		got, ok := errors.AsType[*callwright.Error](err)
		if !ok || got.Code != want.Code || !strings.Contains(got.Message, want.Message) || got.RetryAfter != want.RetryAfter || strings.Contains(err.Error(), key) {
			t.Errorf("%d: error %v", status, err)
		}
	}
	if _, err := elevenlabs.NewRecognizer(elevenlabs.RecognizerConfig{BaseURL: "ftp://host"}); err == nil {
		t.Error("an address of another protocol is accepted")
	}
	if c, err := elevenlabs.NewRecognizer(elevenlabs.RecognizerConfig{APIKey: key}); err != nil || strings.Contains(fmt.Sprintf("%v %+v", c, c), key) {
		t.Errorf("%+v, %v", c, err)
	}
}
