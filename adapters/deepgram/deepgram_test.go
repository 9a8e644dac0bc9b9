package deepgram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/deepgram"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "dg-4711"

// fake is a server that understands enginetest.Signs, and sends the service's messages for it.
type fake struct {
	status int // of a refusal; 0 means none

	mu   sync.Mutex
	urls []*url.URL
}

// start serves the fake until the test ends, and returns a client of it.
func (f *fake) start(t *testing.T, model string) *deepgram.Client {
	t.Helper()
	server := enginetest.WebSocket(t, func(h http.Header, r *http.Request) int {
		f.mu.Lock()
		f.urls = append(f.urls, r.URL)
		f.mu.Unlock()
		if r.Header.Get("Authorization") != "Token "+key {
			return http.StatusUnauthorized
		}
		h.Set("Retry-After", "7")
		return f.status
	}, func(r *http.Request, conn *websocket.Conn) {
		s := &served{conn: conn}
		if strings.HasPrefix(r.URL.Path, "/v2/") {
			s.turns(r.Context())
		} else {
			s.segments(r.Context())
		}
	})
	c, err := deepgram.New(deepgram.Config{BaseURL: server.URL, APIKey: key, Model: model, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// served is a session of the fake.
type served struct {
	conn  *websocket.Conn
	past  int // number of samples before heard
	heard []int16
	said  string // last text
}

// start returns the time at which the audio of the current turn or segment starts, in seconds.
func (s *served) start() float64 { return float64(s.past+1) / 8000 }

// begin begins the next turn or segment.
func (s *served) begin() {
	s.past += len(s.heard)
	s.heard, s.said = nil, ""
}

// next returns the type of the next text message, or "" for audio, which it adds.
func (s *served) next(ctx context.Context) (string, error) {
	kind, data, err := s.conn.Read(ctx)
	if err != nil {
		return "", err
	}
	if kind == websocket.MessageBinary {
		s.heard = pcm.FromMuLaw(s.heard, data)
		return "", nil
	}
	var m struct {
		Type string `json:"type"`
	}
	return m.Type, json.Unmarshal(data, &m)
}

func (s *served) sendf(ctx context.Context, format string, values ...any) {
	_ = s.conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, values...))
}

// changed reports whether the text of the audio has changed.
func (s *served) changed() bool {
	text := enginetest.TextOfSigns(s.heard)
	changed := text != s.said
	s.said = text
	return changed
}

// segments serves listen v1.
func (s *served) segments(ctx context.Context) {
	result := func(final, finalize bool) {
		s.sendf(ctx, `{"type":"Results","start":%v,"duration":1,"channel_index":[0,1],"is_final":%t,"speech_final":false,"from_finalize":%t,"channel":{"alternatives":[{"transcript":%q,"confidence":0.98,"words":[]}]}}`,
			s.start(), final, finalize, s.said)
	}
	for {
		switch kind, err := s.next(ctx); {
		case err != nil:
			return
		case kind == "Finalize":
			s.changed()
			result(true, true)
			s.begin()
		case kind == "" && s.changed():
			s.sendf(ctx, `{"type":"SpeechStarted","channel":[0],"timestamp":0.1}`)
			result(false, false)
		}
	}
}

// turns serves listen v2.
func (s *served) turns(ctx context.Context) {
	turn, open := 0, false
	info := func(event string, confidence float64) {
		s.sendf(ctx, `{"type":"TurnInfo","event":%q,"turn_index":%d,"audio_window_start":%v,"transcript":%q,"words":[{"word":"x","confidence":0.9}],"end_of_turn_confidence":%v}`, event, turn, s.start(), s.said, confidence)
	}
	s.sendf(ctx, `{"type":"Connected","request_id":"r","sequence_id":0}`)
	for {
		switch kind, err := s.next(ctx); {
		case err != nil:
			return
		case kind == "ForceEndTurn":
			if s.changed(); open || s.said != "" {
				info("EndOfTurn", 0.6)
				turn++
			}
			s.begin()
			open = false
		case kind == "Configure":
			s.sendf(ctx, `{"type":"ConfigureSuccess"}`)
		case kind == "" && s.changed():
			if !open {
				info("StartOfTurn", 0)
				open = true
			}
			info("Update", 0.2)
			info("EagerEndOfTurn", 0.4)
			info("TurnResumed", 0.1)
			info("SomethingNew", 0)
		}
	}
}

// harness returns the harness of the suites for a model.
func harness(model string) agentstest.RecognizerHarness {
	return agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return (&fake{}).start(t, model) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return enginetest.Signs(text), 8000 },
	}
}

func TestClient(t *testing.T) { //nolint:paralleltest // the suites look for leaked goroutines
	for _, model := range []string{"nova-3", "flux-general-en"} {
		t.Run(model, func(t *testing.T) {
			agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return (&fake{}).start(t, model) }, harness(model))
			agentstest.RunRecognizer(t, harness(model))
		})
	}
}

// TestAddress checks the URLs of sessions.
func TestAddress(t *testing.T) {
	t.Parallel()
	h := conversation.Hearing{Rate: 8000, Language: "es-MX", Keywords: []string{"Café Zoë", "Ana"}}
	for model, want := range map[string]string{
		"nova-3":             "/v1/listen?channels=1&encoding=mulaw&endpointing=false&interim_results=true&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&language=es-MX&model=nova-3&sample_rate=8000&smart_format=true",
		"flux-general-multi": "/v2/listen?encoding=mulaw&keyterm=Caf%C3%A9+Zo%C3%AB&keyterm=Ana&language_hint=es&model=flux-general-multi&sample_rate=8000",
	} {
		f := &fake{}
		s, err := f.start(t, model).Open(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil || f.urls[0].String() != want {
			t.Errorf("%s, %v", f.urls[0], err)
		}
	}
}

// TestRefusals checks the errors of sessions that the service refuses, which do not contain the key.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		code callwright.Code
		says string
		wait time.Duration
	}{
		401: {callwright.CodeUnavailable, "refuses the key", 0}, 402: {callwright.CodeUnavailable, "quota", 0},
		400: {callwright.CodeUnavailable, "model", 0}, 503: {callwright.CodeUnavailable, "503", 0},
		429: {callwright.CodeTooManyRequests, "limits", 7 * time.Second},
	} {
		_, err := (&fake{status: status}).start(t, "nova-3").Open(t.Context(), conversation.Hearing{Rate: 8000})
		e, ok := errors.AsType[*callwright.Error](err)
		if !ok || e.Code != want.code || !strings.Contains(e.Message, want.says) || e.RetryAfter != want.wait || strings.Contains(err.Error(), key) {
			t.Errorf("%d: error %v", status, err)
		}
	}
	for _, base := range []string{"ftp://host", "wss://", "wss://a:b@host", "host"} {
		if _, err := deepgram.New(deepgram.Config{BaseURL: base}); err == nil {
			t.Errorf("%s is accepted", base)
		}
	}
	if c, err := deepgram.New(deepgram.Config{APIKey: key}); err != nil || strings.Contains(fmt.Sprintf("%v %+v", c, c), key) {
		t.Errorf("%+v, %v", c, err)
	}
}
