package vosk_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters/vosk"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves an engine until the test ends, and returns a client of it.
func start(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) *vosk.Client {
	t.Helper()
	server := (&enginetest.Engine{
		Dialect: enginetest.Vosk, Fault: f, Break: breaks, Ear: func(samples []int16, _ int) string { return agentstest.TextOf(samples) },
	}).Serve(t)
	c, err := vosk.New(vosk.Config{URL: server.URL, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func speak(text string) ([]int16, int) { return agentstest.Voice(text, 16000), 16000 }

func TestClient(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return start(t, 0, nil) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
	}
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return start(t, 0, nil) }, h)
	agentstest.RunRecognizer(t, h)
	// The server has exactly one answer for each message: other answers cannot be told apart.
	enginetest.RunFaults(t, func(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) conversation.Streamer {
		return start(t, f, breaks)
	}, speak, enginetest.Shrinks, enginetest.Late, enginetest.Doubles, enginetest.Novel)
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	c, err := vosk.New(vosk.Config{URL: "ws://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(t.Context(), conversation.Hearing{Rate: 8000}); err == nil {
		t.Error("there is a session without a server")
	}
	if _, err := vosk.New(vosk.Config{URL: "tcp://host"}); err == nil {
		t.Error("an address of another protocol is accepted")
	}
}
