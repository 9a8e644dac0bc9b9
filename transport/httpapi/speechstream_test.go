package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// twoSentences is a text that is synthesized in two parts.
var twoSentences = strings.Repeat("one two three four ", 8) + "end. " + strings.Repeat("five six seven eight ", 8) + "end."

// listen requests the audio of a text from a server.
func (h *house) listen(ctx context.Context, url, text string) *http.Response {
	h.t.Helper()
	r := must(http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/speak", strings.NewReader(fmt.Sprintf(`{"text":%q,"output_format":"pcm_8000"}`, text))))
	r.Header.Set("Authorization", h.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "audio/wav")
	return must(http.DefaultClient.Do(r))
}

func TestAudioComesWhileItIsMade(t *testing.T) {
	t.Parallel()
	h := open(t)
	gate := make(chan struct{})
	h.engine.Gate = gate
	server := httptest.NewServer(h.unchecked)
	defer server.Close()
	go func() { gate <- struct{}{} }() // releases only the first sentence
	answer := h.listen(t.Context(), server.URL, twoSentences)
	defer func() { _ = answer.Body.Close() }()
	begin := make([]byte, 44+8000)
	if _, err := io.ReadFull(answer.Body, begin); err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "audio/wav" {
		t.Fatalf("got %d %v, %v", answer.StatusCode, answer.Header, err)
	}
	close(gate)
	rest, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	read, err := pcm.ReadWAV(io.MultiReader(bytes.NewReader(begin), bytes.NewReader(rest)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	id := answer.Header.Get("X-Sample-Id")
	shown := h.want(200, "GET", "/v1/speak/samples/"+id, "")
	if at(t, shown, "data", "text") != twoSentences || at(t, shown, "data", "duration_ms") != float64(read.Duration().Milliseconds()) {
		t.Errorf("%v was heard of the sample %.300v", read.Duration(), shown)
	}
	if len(h.engine.Requests()) != 2 {
		t.Errorf("%d sentences", len(h.engine.Requests()))
	}
}

// TestAudioThatFailsBreaksOff checks that the client notices that the answer is incomplete if the engine fails.
func TestAudioThatFailsBreaksOff(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.engine.OnRequest = func(r tts.Request) error {
		if strings.HasPrefix(r.Text, "five") {
			return errors.New("the engine crashed")
		}
		return nil
	}
	server := httptest.NewServer(h.unchecked)
	answer := h.listen(t.Context(), server.URL, twoSentences)
	n, err := io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if n == 0 || err == nil {
		t.Errorf("%d bytes, and the body ends with %v", n, err)
	}
	server.Close()
	if line := h.requestLine(); at(t, line, "error") != "the engine crashed" || at(t, line, "operation") != "CreateSpeech" {
		t.Errorf("the log has %v", line)
	}
	if list := h.want(200, "GET", "/v1/speak/samples", ""); list["total"] != 0.0 {
		t.Errorf("there are samples: %v", list)
	}
	refused := h.do("POST", "/v1/speak", `{"text":"five"}`, header{"Accept", "audio/wav"})
	if refused.Code != 500 || !strings.HasPrefix(refused.Header().Get("Content-Type"), "application/json") {
		t.Errorf("a text that fails at once: %d %v", refused.Code, refused.Header())
	}
}

// TestClientThatStopsReading checks that a client that stops reading occupies only its own slot, and frees it when it disconnects.
func TestClientThatStopsReading(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.speakBy(func(c *speech.Config) { c.PerOrg, c.Parallel = 1, 1 })
	_, other := h.tenant("other")
	server := httptest.NewServer(h.unchecked)
	defer server.Close()
	conn := must(new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String()))
	body := fmt.Sprintf(`{"text":%q,"output_format":"pcm_48000"}`, strings.Repeat("Good morning to all. ", 200))
	_, _ = fmt.Fprintf(conn, "POST /v1/speak HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nAccept: audio/*\r\nContent-Length: %d\r\n\r\n%s", h.key, len(body), body)
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("got %q, %v", line, err)
	}
	speak := func(key string) int {
		return h.send("POST", "/v1/speak", strings.NewReader(`{"text":"Hello."}`), header{"Authorization", key}, header{"Content-Type", "application/json"}).Code
	}
	if status := speak(other); status != 200 {
		t.Errorf("another organization gets %d", status)
	}
	if status := speak(h.key); status != 429 {
		t.Errorf("its own organization gets %d beyond its share", status)
	}
	_ = conn.Close()
	callwrighttest.Soon(t, "a place that is given back", func() {
		for speak(h.key) == 429 {
		}
	})
}

func TestSpeechAtOnceIsBounded(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, other := h.tenant("other")
	speak := func(key string) *httptest.ResponseRecorder {
		return h.send("POST", "/v1/speak", strings.NewReader(`{"text":"Hello."}`), header{"Authorization", key}, header{"Content-Type", "application/json"})
	}
	for name, c := range map[string]struct {
		change  func(*speech.Config)
		begun   int
		key     string
		message string
	}{
		"organization": {func(*speech.Config) {}, 16, h.key, "16 texts of the organization are being synthesized, which is the limit: send this one again later"},
		"server":       {func(c *speech.Config) { c.Parallel, c.Waiting = 1, 1 }, 2, other, "too many texts wait to be synthesized: send this one again later"},
	} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			h.engine.Gate = gate
			h.speakBy(c.change)
			for i := range c.begun {
				go h.send("POST", "/v1/speak", strings.NewReader(fmt.Sprintf(`{"text":"Hello %s %d."}`, name, i)), header{"Content-Type", "application/json"})
			}
			synctest.Wait()
			busy := speak(c.key)
			if at(t, sent(t, busy, 429), "errors", 0, "message") != c.message || busy.Header().Get("Retry-After") != "2" {
				t.Errorf("%s: %v %s", name, busy.Header(), busy.Body)
			}
			body, contentType := form(part{"name", "", "Ines"}, part{"audio_samples", "a.wav", aVoice()})
			sent(t, h.send("POST", "/v1/voices/clone", body, header{"Authorization", c.key}, header{"Content-Type", contentType}), 429)
			close(gate)
			synctest.Wait()
			sent(t, speak(c.key), 200)
		})
	}
	h.speakBy(func(c *speech.Config) { c.Cloner = nil })
	sent(t, h.clone(part{"name", "", "Ines"}, part{"audio_samples", "a.wav", aVoice()}), 503)
}

func TestAudioForClientsThatTakeNothingElse(t *testing.T) {
	t.Parallel()
	h := open(t)
	for accept, audio := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "audio/wav": true, "audio/*": true, "audio/x-wav": true, "Audio/WAV; q=0.5": true,
		"audio/wav, */*;q=0.1": false, "audio/wav, application/*": false, "audio/wav, application/json;q=0": true, "text/html": false,
		"audio/wav;q=0": false, "*/*, application/json;q=0": true, "audio/mpeg": false, "audio/mpeg, audio/*;q=0.2": true,
	} {
		answer := h.do("POST", "/v1/speak", `{"text":"Hello."}`, header{"Accept", accept})
		if is := answer.Header().Get("Content-Type") == "audio/wav"; answer.Code != 200 || is != audio || answer.Header().Get("X-Sample-Id") == "" {
			t.Errorf("Accept %q: %d %v", accept, answer.Code, answer.Header())
		}
	}
	refused := h.want(400, "POST", "/v1/speak", `{"text":" "}`, header{"Accept", "audio/wav"})
	if at(t, refused, "errors", 0, "path") != "text" {
		t.Errorf("got %v", refused)
	}
}

// TestClientThatGoesIsNoFault checks that a client that disconnects before its answer is logged with 499 and not as an error.
func TestClientThatGoesIsNoFault(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.speakBy(func(c *speech.Config) { c.Engine = &speechtest.Engine{Hangs: true} })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/speak", strings.NewReader(`{"text":"Hello."}`))
	r.Header.Set("Authorization", h.key)
	r.Header.Set("Content-Type", "application/json")
	ended, end := context.WithCancel(t.Context())
	context.AfterFunc(ctx, end) // a closed connection cancels the context without a deadline
	h.unchecked.ServeHTTP(httptest.NewRecorder(), r.WithContext(ended))
	if line := h.requestLine(); line["status"] != 499.0 || line["level"] != "INFO" {
		t.Errorf("the log says %v", line)
	}
}
