package openai_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
)

// realtime serves transcription sessions for enginetest.Signs, and stores the events that set them up.
type realtime struct {
	mu      sync.Mutex
	updates []map[string]any
	swaps   bool // whether each second item is completed before the first one
}

func (f *realtime) start(t *testing.T) *openai.Realtime {
	t.Helper()
	server := enginetest.WebSocket(t, func(_ http.Header, r *http.Request) int {
		if r.Header.Get("Authorization") != "Bearer "+key || r.URL.String() != "/v1/realtime?intent=transcription" {
			return http.StatusUnauthorized
		}
		return 0
	}, func(r *http.Request, conn *websocket.Conn) { f.serve(r.Context(), conn) })
	return client(t, openai.Config{BaseURL: server.URL + "/v1", APIKey: key, Client: server.Client()}).Realtime()
}

func (f *realtime) serve(ctx context.Context, conn *websocket.Conn) {
	send := func(format string, values ...any) {
		_ = conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, values...))
	}
	send(`{"type":"session.created","session":{}}`)
	var heard []int16
	var late []func()
	for item := 0; ; {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var m map[string]any
		if json.Unmarshal(data, &m) != nil {
			return
		}
		switch m["type"] {
		case "session.update":
			f.mu.Lock()
			f.updates = append(f.updates, m)
			f.mu.Unlock()
			send(`{"type":"session.updated","session":{}}`)
		case "input_audio_buffer.append":
			raw, err := base64.StdEncoding.DecodeString(m["audio"].(string))
			if err != nil {
				return
			}
			heard = pcm.FromMuLaw(heard, raw)
		case "input_audio_buffer.commit":
			if len(heard) == 0 {
				send(`{"type":"error","error":{"type":"invalid_request_error","code":"input_audio_buffer_commit_empty","message":"buffer too small"}}`)
				continue
			}
			item++
			id, words := item, enginetest.TextOfSigns(heard)
			heard = nil
			send(`{"type":"input_audio_buffer.committed","item_id":"i%d","previous_item_id":null}`, id)
			complete := func() {
				if words != "" {
					send(`{"type":"conversation.item.input_audio_transcription.delta","item_id":"i%d","content_index":0,"delta":%q}`, id, words[:1])
				}
				send(`{"type":"conversation.item.input_audio_transcription.completed","item_id":"i%d","content_index":0,"transcript":%q}`, id, words)
			}
			if late = append(late, complete); !f.swaps || len(late) == 2 {
				for _, c := range slices.Backward(late) {
					c()
				}
				late = nil
			}
		}
	}
}

func TestRealtime(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	start := func(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) *openai.Realtime {
		t.Helper()
		e := &enginetest.Engine{Dialect: enginetest.OpenAI, Key: key, Fault: f, Break: breaks}
		server := e.Serve(t)
		t.Cleanup(func() {
			if invalid := e.Invalid(); len(invalid) > 0 {
				t.Errorf("the service does not know %q", invalid)
			}
		})
		return client(t, openai.Config{BaseURL: server.URL + "/v1", APIKey: key, Client: server.Client()}).Realtime()
	}
	speak := func(text string) ([]int16, int) { return enginetest.Signs(text), 8000 }
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return start(t, 0, nil) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
	}
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return start(t, 0, nil) }, h)
	agentstest.RunRecognizer(t, h)
	enginetest.RunFaults(t, func(t *testing.T, f enginetest.Fault, breaks func(int, string) bool) conversation.Streamer {
		return start(t, f, breaks)
	}, speak)
}

// TestRealtimeOrder checks that transcriptions that arrive in another order belong to their utterances.
func TestRealtimeOrder(t *testing.T) {
	t.Parallel()
	s, err := (&realtime{swaps: true}).start(t).Open(t.Context(), conversation.Hearing{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, words := range []string{"first", "second"} {
		if err := s.Write(enginetest.Signs(words)); err != nil {
			t.Fatal(err)
		}
		if err := s.Force(); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"first", "second"} {
		for {
			got, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Final {
				if got.Text != want || got.Utterance != i {
					t.Errorf("result %+v, want %q", got, want)
				}
				break
			}
		}
	}
}

// TestRealtimeSettings checks the settings of a session.
func TestRealtimeSettings(t *testing.T) {
	t.Parallel()
	f := &realtime{}
	s, err := f.start(t).Open(t.Context(), conversation.Hearing{Rate: 16000, Language: "de-AT", Keywords: []string{"Zoë"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Force(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = s.Write(enginetest.Signs("x"))
	_ = s.Force()
	for got, err := s.Next(t.Context()); err == nil && !got.Final; got, err = s.Next(t.Context()) {
	}
	_ = s.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	got, err := json.Marshal(f.updates)
	const want = `[{"session":{"audio":{"input":{"format":{"type":"audio/pcmu"},"transcription":{"language":"de","model":"gpt-4o-mini-transcribe","prompt":"Zoë"},"turn_detection":null}},"type":"transcription"},"type":"session.update"}]`
	if err != nil || string(got) != want {
		t.Errorf("the settings are %s, %v", got, err)
	}
}
