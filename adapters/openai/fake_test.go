package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
)

const key = "sk-test-4711"

// fake is a service that speaks and recognizes agentstest.Voice, and returns the same reply to every conversation.
type fake struct {
	decoder    openai.Decoder              // of the client; may be nil
	chat       func(w http.ResponseWriter) // sends the answer; if nil, the fake sends a greeting, or a value that fits the schema
	replay     string                      // the file in testdata to stream
	speech     http.HandlerFunc            // if nil, agentstest.Voice speaks
	transcript func(w http.ResponseWriter) // sends the answer to a transcription; if nil, the fake recognizes agentstest.Voice
	hold       func()                      // if set, called on a transcription, which the fake then never answers
	mu         sync.Mutex
	request    map[string]any // the last JSON received
	raw        string         // the same before parsing
	form       map[string]string
}

// start serves the fake until the test ends, and returns a client of it.
func (f *fake) start(t *testing.T) *openai.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", f.complete)
	mux.HandleFunc("POST /v1/audio/speech", f.speak)
	mux.HandleFunc("POST /v1/audio/transcriptions", f.transcribe)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+r.Header.Get("Authorization"), "")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return client(t, openai.Config{BaseURL: server.URL + "/v1", APIKey: key, Voices: []string{"alloy", "nova"}, Decoder: f.decoder})
}

func client(t *testing.T, config openai.Config) *openai.Client {
	t.Helper()
	c, err := openai.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// answer writes a status and a JSON body.
func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// refuse writes an error in the service's format.
func refuse(w http.ResponseWriter, status int, code, message, param string) {
	answer(w, status, map[string]map[string]string{"error": {"message": message, "type": "some_error", "param": param, "code": code}})
}

// events writes each string as a server-sent event, and flushes after each.
func events(w http.ResponseWriter, data ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range data {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", d)
		_ = http.NewResponseController(w).Flush()
	}
}

// delta returns one chunk of a streamed completion with the given delta and finish reason.
func delta(fields, finish string) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{%s},"finish_reason":%s}],"usage":null}`, fields, finish)
}

// remember stores the body of a request for later checks, and returns it.
func (f *fake) remember(r *http.Request) map[string]any {
	raw, _ := io.ReadAll(r.Body)
	var request map[string]any
	_ = json.Unmarshal(raw, &request)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raw, f.request = string(raw), request
	return request
}

func (f *fake) complete(w http.ResponseWriter, r *http.Request) {
	request := f.remember(r)
	if f.chat != nil {
		f.chat(w)
		return
	}
	if f.replay != "" {
		replay(w, f.replay)
		return
	}
	if format, _ := request["response_format"].(map[string]any); format != nil {
		complete(w, enginetest.Fit(format["json_schema"].(map[string]any)["schema"].(map[string]any)))
		return
	}
	events(w, delta(`"role":"assistant","content":""`, "null"), delta(`"content":"Good "`, "null"), delta(`"content":"morning."`, "null"),
		delta("", `"stop"`), `{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":21,"completion_tokens":4,"total_tokens":25}}`, "[DONE]")
}

// replay streams a file of testdata in pieces of 37 bytes, because networks split events, too.
func replay(w http.ResponseWriter, name string) {
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for piece := range slices.Chunk(raw, 37) {
		_, _ = w.Write(piece)
		_ = http.NewResponseController(w).Flush()
	}
}

// complete writes a completion that is not streamed.
func complete(w http.ResponseWriter, content string) {
	answer(w, http.StatusOK, map[string]any{
		"model": "m-1", "usage": map[string]int{"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10},
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": content}}},
	})
}

func (f *fake) speak(w http.ResponseWriter, r *http.Request) {
	request := f.remember(r)
	if f.speech != nil {
		f.speech(w, r)
		return
	}
	voice, _ := request["voice"].(string)
	if voice != "alloy" && voice != "nova" {
		refuse(w, http.StatusBadRequest, "", "Input should be 'alloy' or 'nova'", "voice")
		return
	}
	text, _ := request["input"].(string)
	rate := 24000
	if speed, ok := request["speed"].(float64); ok {
		rate = int(24000 / speed) // at a higher speed, the same text takes fewer samples
	}
	raw := pcm.AppendBytes(nil, agentstest.Voice(text, rate))
	for len(raw) > 0 {
		n := min(len(raw), 3001) // an odd number, which splits samples
		if _, err := w.Write(raw[:n]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		raw = raw[n:]
	}
}

func (f *fake) transcribe(w http.ResponseWriter, r *http.Request) {
	form := map[string]string{}
	parts, err := r.MultipartReader()
	if err != nil {
		refuse(w, http.StatusBadRequest, "", err.Error(), "")
		return
	}
	for {
		part, err := parts.NextPart()
		if err != nil {
			break
		}
		content, _ := io.ReadAll(part)
		form[part.FormName()] = string(content)
	}
	f.mu.Lock()
	f.form = form
	f.mu.Unlock()
	if f.transcript != nil {
		f.transcript(w)
		return
	}
	if f.hold != nil {
		f.hold()
		<-r.Context().Done()
		return
	}
	audio, err := pcm.ReadWAV(strings.NewReader(form["file"]), 1<<24)
	if err != nil || audio.Rate != 16000 {
		refuse(w, http.StatusBadRequest, "", "no audio", "file")
		return
	}
	answer(w, http.StatusOK, map[string]string{"text": " " + agentstest.TextOf(audio.Samples)})
}
