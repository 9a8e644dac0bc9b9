package vosk_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters/vosk"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves a server that understands agentstest.Voice until the test ends, and returns a client of it.
func start(t *testing.T) *vosk.Client {
	t.Helper()
	server := enginetest.WebSocket(t, nil, func(r *http.Request, conn *websocket.Conn) { serve(r.Context(), conn) })
	c, err := vosk.New(vosk.Config{URL: server.URL, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve answers the messages of a session as the program does: one answer for each message with audio, and for a reset.
func serve(ctx context.Context, conn *websocket.Conn) {
	var heard []int16
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var answer string
		switch {
		case kind == websocket.MessageBinary:
			heard = append(heard, pcm.AppendSamples(nil, data)...)
			answer = fmt.Sprintf(`{"partial" : %q}`, agentstest.TextOf(heard))
		case string(data) == `{"reset" : 1}`:
			answer = fmt.Sprintf(`{"text" : %q}`, agentstest.TextOf(heard))
			heard = nil
		default: // the configuration has no answer
			continue
		}
		if conn.Write(ctx, websocket.MessageText, []byte(answer)) != nil {
			return
		}
	}
}

func TestClient(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return start(t) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 16000), 16000 },
	}
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return start(t) }, h)
	agentstest.RunRecognizer(t, h)
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
