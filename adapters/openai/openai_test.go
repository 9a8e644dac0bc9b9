package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func TestEngine(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	speechtest.RunEngine(t, speechtest.EngineHarness{New: func(t *testing.T) tts.Engine { return (&fake{}).start(t) }, Unchecked: true})
}

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunRecognizer(t, agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return (&fake{}).start(t) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 16000), 16000 },
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for field, configs := range map[string][]openai.Config{
		"base_url": {{BaseURL: "ftp://host"}, {BaseURL: "host:80"}, {BaseURL: "http://"}, {BaseURL: "http://a:b@host"}, {BaseURL: "://"}},
		"api_key":  {{APIKey: "a\nb"}, {APIKey: "ключ"}},
	} {
		for _, config := range configs {
			_, err := openai.New(config)
			if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != field || e.Code != callwright.CodeBadRequest {
				t.Errorf("%+v: error %v", config, err)
			}
		}
	}
}

// TestAzure checks the address and the key of a request to a service whose base URL has a query.
func TestAzure(t *testing.T) {
	t.Parallel()
	var got *http.Request
	c := client(t, openai.Config{
		BaseURL: "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21", APIKey: key,
		Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r
			return nil, errors.New("offline")
		})},
	})
	if _, err := c.Answer(t.Context(), llm.Question{}); err == nil {
		t.Fatal("there was an answer")
	}
	const want = "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
	if got.URL.String() != want || got.Header.Get("Api-Key") != key || got.Header.Get("Authorization") != "" {
		t.Errorf("request to %s with %v", got.URL, got.Header)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	f := &fake{chat: func(w http.ResponseWriter) {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+key, "")
	}}
	c := f.start(t)
	_, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{Instructions: "the secret task"})
	shown := fmt.Sprintf("%v %+v %v %+v %+v", err, err, errors.Unwrap(err), openai.Config{APIKey: key}, c)
	if strings.Contains(shown, key) || strings.Contains(shown, "secret task") {
		t.Errorf("shown: %s", shown)
	}
}

func TestSpeechRequest(t *testing.T) {
	t.Parallel()
	f := &fake{}
	heard, err := speechtest.Speak(t.Context(), f.start(t), tts.Request{Text: "Hello.", Rate: 24000})
	if text := agentstest.TextOf(heard); text != "Hello." || err != nil {
		t.Errorf("heard %q, %v", text, err)
	}
	if f.request["model"] != "gpt-4o-mini-tts" || f.request["voice"] != "alloy" || f.request["response_format"] != "pcm" {
		t.Errorf("request %v", f.request)
	}
}

func TestSpeechFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer http.HandlerFunc
		code   callwright.Code
		retry  time.Duration
	}{
		"down": {func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "", "overloaded", "") }, callwright.CodeUnavailable, 0},
		"too often": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			refuse(w, 429, "rate_limit_exceeded", "slow down", "")
		}, callwright.CodeTooManyRequests, 7 * time.Second},
		"used up": {func(w http.ResponseWriter, _ *http.Request) { refuse(w, 429, "insufficient_quota", "pay", "") }, callwright.CodeUnavailable, 0},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(make([]byte, 10))
		}, callwright.CodeUnavailable, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := (&fake{speech: tt.answer}).start(t)
			_, err := speechtest.Speak(t.Context(), client, tts.Request{Text: "Hello", Rate: 8000})
			e, ok := errors.AsType[*callwright.Error](err)
			if !ok || e.Code != tt.code || e.RetryAfter != tt.retry {
				t.Errorf("error %v", err)
			}
		})
	}
}

// bytewise is an http.RoundTripper that answers every request with the same audio, one byte per read.
type bytewise []byte

// RoundTrip returns the audio with status 200 and sends no request.
func (b bytewise) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(iotest.OneByteReader(bytes.NewReader(b))),
	}, nil
}

func TestSpeechInHalfSamples(t *testing.T) {
	t.Parallel()
	want := agentstest.Voice("Hi", 24000)
	c := client(t, openai.Config{Client: &http.Client{Transport: bytewise(append(pcm.AppendBytes(nil, want), 9))}})
	got, err := speechtest.Speak(t.Context(), c, tts.Request{Text: "Hi", Rate: 24000})
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("%d samples of %d, or others, and %v", len(got), len(want), err)
	}
}

func TestSilenceIsNotSent(t *testing.T) {
	t.Parallel()
	f := &fake{}
	u, err := f.start(t).Listen(t.Context(), conversation.Hearing{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	faint := make([]int16, 16000)
	for i := range faint {
		faint[i] = int16(i % 7)
	}
	if err := u.Write(faint); err != nil {
		t.Fatal(err)
	}
	if heard, err := u.Finish(t.Context()); err != nil || heard.Text != "" || f.form != nil {
		t.Errorf("heard %q, %v; sent %d parts", heard.Text, err, len(f.form))
	}
}

func TestListenEndsWhileTheServiceThinks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{hold: cancel}
	u, err := f.start(t).Listen(ctx, conversation.Hearing{Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(agentstest.Voice("hello there", 16000)); err != nil {
		t.Fatal(err)
	}
	if heard, err := u.Finish(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("heard %q, %v", heard.Text, err)
	}
}

// TestSpeechIsStreamed checks that the stream yields its first samples while the service has not yet sent the rest.
func TestSpeechIsStreamed(t *testing.T) {
	t.Parallel()
	f := &fake{speech: func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 9600))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := f.start(t).Synthesize(ctx, tts.Request{Text: "Hello", Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	got := 0
	for p := make([]int16, 160); got < 1440; { // 0.2 s minus the delay of the resampler
		n, err := stream.Read(p)
		if got += n; err != nil {
			t.Fatal(err)
		}
	}
	time.AfterFunc(time.Millisecond, cancel)
	for p := make([]int16, 160); err == nil; {
		_, err = stream.Read(p)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTranscriptionRequest(t *testing.T) {
	t.Parallel()
	f := &fake{}
	u, err := f.start(t).Listen(t.Context(), conversation.Hearing{
		Rate: 8000, Language: "pt-BR", Keywords: []string{"Callwright", "Fulano"}, Phrases: []string{" sim,\n por favor ", strings.Repeat("x", 801), "", "não\xff"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(agentstest.Voice("hello there", 8000)); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.form["model"] != "gpt-4o-mini-transcribe" || f.form["language"] != "pt" || f.form["prompt"] != "Callwright\nFulano\nsim, por favor\nnão" {
		t.Errorf("form: model %q, language %q, prompt %q", f.form["model"], f.form["language"], f.form["prompt"])
	}
	audio, err := pcm.ReadWAV(strings.NewReader(f.form["file"]), 1<<20)
	if err != nil || audio.Duration() != 11*60*time.Millisecond {
		t.Errorf("%v of audio, %v", audio.Duration(), err)
	}
	if _, err := u.Finish(t.Context()); callwright.CodeOf(err) != callwright.CodeInvalidState {
		t.Errorf("finished twice: %v", err)
	}
}

// TestRefusedFields checks that a transcription is requested again without a field that the service refuses, and later ones without it at once.
func TestRefusedFields(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.FormValue("response_format")+" "+r.FormValue("language")+" "+r.FormValue("prompt"))
		switch {
		case r.FormValue("response_format") != "json":
			refuse(w, http.StatusBadRequest, "", "response_format verbose_json is not compatible with this model", "response_format")
		case r.FormValue("language") == "yue":
			refuse(w, http.StatusUnprocessableEntity, "", "unknown language", "language")
		case r.FormValue("prompt") != "":
			refuse(w, http.StatusBadRequest, "", "prompt is not supported", "prompt")
		default:
			answer(w, http.StatusOK, map[string]string{"text": "Hello."})
		}
	}))
	t.Cleanup(server.Close)
	c := client(t, openai.Config{BaseURL: server.URL, Transcription: "whisper-large-v3"})
	for _, language := range []string{"yue-HK", "cmn-Hans-CN", "yue-HK"} {
		u, err := c.Listen(t.Context(), conversation.Hearing{Rate: 16000, Language: language, Keywords: []string{"Ana"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Write(agentstest.Voice("hello", 16000)); err != nil {
			t.Fatal(err)
		}
		if got, err := u.Finish(t.Context()); err != nil || got.Text != "Hello." {
			t.Errorf("%q, %v", got.Text, err)
		}
	}
	if want := []string{"verbose_json yue Ana", "json yue Ana", "json  Ana", "json  ", "json zh ", "json  "}; !slices.Equal(asked, want) {
		t.Errorf("the service is asked %q", asked)
	}
}
