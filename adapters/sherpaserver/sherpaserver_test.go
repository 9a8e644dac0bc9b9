package sherpaserver_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sherpaserver"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// speak returns the audio of a text that the fakes understand.
func speak(text string) ([]int16, int) { return agentstest.Voice(text, 16000), 16000 }

// serve serves an engine until the test ends, and returns the configuration of its client.
func serve(t *testing.T, e *enginetest.Engine) sherpaserver.Config {
	t.Helper()
	e.Ear = func(samples []int16, _ int) string { return agentstest.TextOf(samples) }
	server := e.Serve(t)
	t.Cleanup(func() {
		if invalid := e.Invalid(); len(invalid) > 0 {
			t.Errorf("the server does not know %q", invalid)
		}
	})
	return sherpaserver.Config{URL: server.URL, Client: server.Client()}
}

// online returns the client of a streaming server.
func online(t *testing.T, e *enginetest.Engine) *sherpaserver.Online {
	t.Helper()
	e.Dialect = enginetest.SherpaOnline
	c, err := sherpaserver.NewOnline(serve(t, e))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// offline returns the client of a server for whole utterances.
func offline(t *testing.T, e *enginetest.Engine) *sherpaserver.Offline {
	t.Helper()
	e.Dialect = enginetest.SherpaOffline
	c, err := sherpaserver.NewOffline(serve(t, e))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnline(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return online(t, &enginetest.Engine{}) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
	}
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return online(t, &enginetest.Engine{}) }, h)
	agentstest.RunRecognizer(t, h)
	enginetest.RunFaults(t, func(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) conversation.Streamer {
		return online(t, &enginetest.Engine{Fault: f, Break: breaks})
	}, speak)
}

func TestOffline(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return offline(t, &enginetest.Engine{}) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
	}
	agentstest.RunRecognizer(t, h)
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return conversation.Batch(offline(t, &enginetest.Engine{})) }, h)
}

// TestUnavailable checks the errors of servers that do not answer as expected.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	audio, rate := speak("Hello.")
	silent := &enginetest.Engine{Status: 503}
	gone := sherpaserver.Config{URL: "ws://127.0.0.1:1"}
	noOffline, err := sherpaserver.NewOffline(gone)
	if err != nil {
		t.Fatal(err)
	}
	noOnline, err := sherpaserver.NewOnline(gone)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]conversation.Recognizer{
		"refuses": offline(t, silent), "absent": noOffline, "absent and streaming": noOnline,
		"other messages": offline(t, &enginetest.Engine{Fault: enginetest.Novel}),
	} {
		u, err := r.Listen(t.Context(), conversation.Hearing{Rate: rate})
		if err == nil {
			_ = u.Write(audio)
			_, err = u.Finish(t.Context())
			_ = u.Close()
		}
		if callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []sherpaserver.Config{{URL: "tcp://host"}, {URL: "://"}} {
		_, online := sherpaserver.NewOnline(c)
		_, offline := sherpaserver.NewOffline(c)
		if online == nil || offline == nil {
			t.Errorf("%s is accepted", c.URL)
		}
	}
}
