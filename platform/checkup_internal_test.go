package platform

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/speech/tts"
)

// speaker is a tts.Engine that speaks with agentstest.Voice.
type speaker struct{ agentstest.Synthesizer }

func (*speaker) Describe() tts.Description       { return tts.Description{Name: "test"} }
func (*speaker) CheckVoice(string, string) error { return nil }

// TestCheckEngines checks the reports of two models, one of which its service refuses, a voice and a recognizer.
func TestCheckEngines(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"model":"unknown"`):
			http.Error(w, `{"error":{"code":"model_not_found"}}`, http.StatusNotFound)
		case strings.Contains(string(body), `"stream":true`):
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Good morning."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`)
		default:
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"reason\":\"x\",\"option\":\"yes\"}"},"finish_reason":"stop"}]}`)
		}
	}))
	t.Cleanup(service.Close)
	c := Defaults()
	c.LLMBaseURL, c.LLMModel = service.URL, "small"
	c.LLMModels = []NamedModel{{Name: "strong", Model: "unknown", BaseURL: service.URL}}
	c.SpeechEngine, c.Recognizer = &speaker{}, &agentstest.Recognizer{}
	reports, err := CheckEngines(t.Context(), c)
	if err != nil || len(reports) != 4 {
		t.Fatalf("reports %+v, %v", reports, err)
	}
	for i, want := range []struct{ part, by, problem string }{
		{"model", "small", ""}, {"model strong", "unknown", "refuses the key or the request"},
		{"voice", "test", ""}, {"recognizer", "the program's recognizer", ""},
	} {
		if r := reports[i]; r.Part != want.part || r.By != want.by || (r.Problem == "") != (want.problem == "") || !strings.Contains(r.Problem, want.problem) {
			t.Errorf("report %+v, want %+v", r, want)
		}
	}
	if heard := strings.Join(reports[3].Facts, "|"); !strings.Contains(heard, "Good morning") {
		t.Errorf("the recognizer %s", heard)
	}
	c.TTS = "nobody"
	if _, err := CheckEngines(t.Context(), c); err == nil {
		t.Error("an unknown voice is accepted")
	}
}
