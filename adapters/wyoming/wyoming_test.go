package wyoming_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/wyoming"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves answers until the test ends, and returns a client of the server.
func start(t *testing.T, answer func(request map[string]any, audio []int16) []byte) *wyoming.Client {
	t.Helper()
	c, err := wyoming.New(wyoming.Config{URL: enginetest.Wyoming(t, answer), Model: "tiny", Patience: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// transcript returns the answer of a server that understands agentstest.Voice.
func transcript(_ map[string]any, audio []int16) []byte {
	return enginetest.WyomingBytes("transcript", map[string]any{"text": agentstest.TextOf(audio)})
}

func TestClient(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return start(t, transcript) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 16000), 16000 },
	}
	agentstest.RunRecognizer(t, h)
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return conversation.Batch(start(t, transcript)) }, h)
}

// listen returns the text of an utterance.
func listen(t *testing.T, c *wyoming.Client) (string, error) {
	t.Helper()
	u, err := c.Listen(t.Context(), conversation.Hearing{Rate: 16000, Language: "de-AT"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(agentstest.Voice("Hello there.", 16000)); err != nil {
		t.Fatal(err)
	}
	got, err := u.Finish(t.Context())
	return got.Text, err
}

// TestForms checks the forms of events that programs of the protocol send.
func TestForms(t *testing.T) {
	t.Parallel()
	const words = `{"text":"Hello there [BLANK_AUDIO]"}`
	streamed := `{"type":"transcript-start","data":{"language":"de"}}` + "\n" +
		`{"type":"transcript-chunk","data":{"text":"Hello"},"payload_length":3}` + "\nabc" +
		fmt.Sprintf(`{"type":"transcript","data":{"text":"replaced"},"data_length":%d}`, len(words)) + "\n" + words
	for name, c := range map[string]struct{ sent, want string }{
		"data in the line":            {`{"type":"transcript","data":{"text":"Hello there"}}` + "\n", "Hello there"},
		"unknown event first":         {`{"type":"novelty"}` + "\n" + `{"type":"transcript","data":{"text":" Hello  there\n"}}` + "\n", "Hello there"},
		"streaming server":            {streamed, "Hello there"},
		"only a mark for a sound":     {`{"type":"transcript","data":{"text":"(music)"}}` + "\n", ""},
		"closes without a text":       {"", "error"},
		"no JSON":                     {"HTTP/1.1 400 Bad Request\n", "error"},
		"a transcript without a text": {`{"type":"transcript"}` + "\n", "error"},
		"an error":                    {`{"type":"error","data":{"text":"out of memory","code":"x"}}` + "\n", "error"},
		"a line that does not end":    {strings.Repeat("x", 1<<17), "error"},
		"a huge length":               {`{"type":"transcript","data_length":2000000000}` + "\n", "error"},
		"a negative length":           {`{"type":"transcript","payload_length":-1}` + "\n", "error"},
		"ends in the data":            {`{"type":"transcript","data_length":10}` + "\n{", "error"},
		"a text that is no text":      {`{"type":"transcript","data":{"text":5}}` + "\n", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked map[string]any
			got, err := listen(t, start(t, func(request map[string]any, _ []int16) []byte {
				asked = request
				return []byte(c.sent)
			}))
			if c.want == "error" && callwright.CodeOf(err) != callwright.CodeUnavailable || c.want != "error" && (err != nil || got != c.want) {
				t.Errorf("%q, %v", got, err)
			}
			if asked["language"] != "de" || asked["name"] != "tiny" {
				t.Errorf("the server is asked %v", asked)
			}
		})
	}
}

// TestPatience checks that an utterance ends if the server does not answer.
func TestPatience(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	url := enginetest.Wyoming(t, func(map[string]any, []int16) []byte {
		<-over
		return nil
	})
	t.Cleanup(func() { close(over) })
	c, err := wyoming.New(wyoming.Config{URL: url, Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t, c); callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "in time") {
		t.Errorf("error %v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"ws://127.0.0.1:10300", "127.0.0.1:10300", "tcp://127.0.0.1", "tcp://:10300", "tcp://a@host:1", "tcp://host:1/path"} {
		_, err := wyoming.New(wyoming.Config{URL: url})
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest {
			t.Errorf("%s: %v", url, err)
		}
	}
	c, err := wyoming.New(wyoming.Config{URL: "tcp://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t, c); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("error %v", err)
	}
}
