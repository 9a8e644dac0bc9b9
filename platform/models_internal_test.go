package platform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

// TestModels checks that each request reaches the model that it names, with that model's own key.
func TestModels(t *testing.T) {
	t.Parallel()
	var asked []string
	services := make([]*httptest.Server, 2)
	for i := range services {
		services[i] = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := make([]byte, 1<<10)
			n, _ := r.Body.Read(body)
			_, model, _ := strings.Cut(string(body[:n]), `"model":"`)
			model, _, _ = strings.Cut(model, `"`)
			asked = append(asked, services[i].URL+" "+model+" "+r.Header.Get("Authorization"))
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}]}`))
		}))
		t.Cleanup(services[i].Close)
	}
	here, there := services[0].URL, services[1].URL
	c := Config{LLMBaseURL: here, LLMModel: "small", LLMAPIKey: "k1", LLMModels: []NamedModel{
		{Name: "near", Model: "large@2", BaseURL: here, Key: "k1"}, {Name: "far", Model: "x/@y", BaseURL: there},
		{Name: "secret", Model: "z", BaseURL: there, Key: "k2"},
	}}
	lc := fxtest.NewLifecycle(t)
	service, err := newService(lc, c, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := newModel(lc, c, service, newModelMeter(price.Table{}), callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	lc.RequireStart()
	defer lc.RequireStop()
	for _, tt := range []struct{ name, want string }{
		{"", here + " small Bearer k1"}, {"turbo", here + " small Bearer k1"}, {"near", here + " large@2 Bearer k1"},
		{"far", there + " x/@y "}, {"secret", there + " z Bearer k2"},
	} {
		asked = nil
		_, err := model.Answer(context.Background(), llm.Question{Task: llm.TaskJudge, Model: tt.name})
		if err != nil || len(asked) != 1 || strings.TrimSpace(asked[0]) != strings.TrimSpace(tt.want) {
			t.Errorf("%q asks %q, %v; want %q", tt.name, asked, err, tt.want)
		}
	}
}

// TestFallback checks that the model of --llm-fallback replies if the default model does not.
func TestFallback(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	}))
	t.Cleanup(up.Close)
	c := Config{LLMBaseURL: down.URL, LLMModel: "small", LLMFallback: "other", LLMModels: []NamedModel{{Name: "other", Model: "large", BaseURL: up.URL}}}
	if err := c.checkModels(); err != nil {
		t.Fatal(err)
	}
	lc := fxtest.NewLifecycle(t)
	service, err := newService(lc, c, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := newModel(lc, c, service, newModelMeter(price.Table{}), callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	lc.RequireStart()
	defer lc.RequireStop()
	if got, err := agentstest.Collect(t.Context(), model, llm.ReplyRequest{}); err != nil || got.Text != "Hello." {
		t.Errorf("%q, %v", got.Text, err)
	}
	c.LLMFallback = "unknown"
	if err := c.checkModels(); err == nil {
		t.Error("an unknown name is accepted")
	}
}

// TestRecognizers checks which recognizer the settings name, and that settings without an effect are refused.
func TestRecognizers(t *testing.T) {
	t.Parallel()
	service, err := newService(fxtest.NewLifecycle(t), Config{}, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"openai": "*openai.Client", "openai-realtime": "*openai.Realtime", "deepgram": "*deepgram.Client", "vosk": "*vosk.Client",
		"elevenlabs": "*elevenlabs.Recognizer", "assemblyai": "*assemblyai.Client", "cartesia": "*cartesia.Recognizer", "wyoming": "*wyoming.Client",
		"sherpa-online": "*sherpaserver.Online", "sherpa-offline": "*sherpaserver.Offline",
	} {
		c := Config{STT: name, LLMBaseURL: "http://127.0.0.1:1/v1"}
		r, used, err := newRecognizer(c, service)
		if err = errors.Join(err, c.checkEngines()); err != nil || used != name || fmt.Sprintf("%T", r) != want {
			t.Errorf("%s: %T, %s, %v", name, r, used, err)
		}
	}
	for _, c := range []Config{{STT: "whisper"}, {STT: "openai-realtime"}, {STTURL: "ws://127.0.0.1:2700"}, {STT: "openai", STTAPIKey: "k", LLMBaseURL: "http://host"}} {
		if c.checkEngines() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for name := range recognizers {
		if _, _, err := newRecognizer(Config{STT: name, STTURL: "ftp://host"}, service); err == nil {
			t.Errorf("%s accepts an address of another protocol", name)
		}
	}
}

// TestProtocols checks that the address of a model names the protocol of its service.
func TestProtocols(t *testing.T) {
	t.Parallel()
	var asked string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path + " " + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"1"},"finish_reason":"stop"}],` +
			`"type":"message","content":[{"type":"text","text":"1"}],"stop_reason":"end_turn",` +
			`"candidates":[{"content":{"parts":[{"text":"1"}]},"finishReason":"STOP"}]}`))
	}))
	t.Cleanup(service.Close)
	lc := fxtest.NewLifecycle(t)
	for protocol, want := range map[string]string{
		"": "/chat/completions Bearer k", "openai+": "/chat/completions Bearer k", "anthropic+": "/v1/messages k", "gemini+": "/v1beta/models/m:generateContent k",
	} {
		model, err := newClient(lc, NamedModel{Model: "m", BaseURL: protocol + service.URL, Key: "k"}, callwright.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := model.Answer(t.Context(), llm.Question{}); err != nil || string(a.JSON) != "1" || asked != want {
			t.Errorf("%s: answer %s, %v; request %q", protocol, a.JSON, err, asked)
		}
	}
	lc.RequireStart().RequireStop()
	if _, err := newClient(lc, NamedModel{BaseURL: "gopher+" + service.URL}, callwright.Runtime{}); err == nil {
		t.Error("an unknown protocol is accepted")
	}
}
