package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = callwright.Secret("cwk_test-key")

// wav is a WAV file with one second of silence.
var wav = append([]byte("RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00"), make([]byte, 8000)...)

// serve starts a server and returns a client for it. The client does not retry, unless change sets Config.Retry.
func serve(t *testing.T, h http.HandlerFunc, change ...func(*client.Config)) (*client.Client, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	cfg := client.Config{BaseURL: server.URL, APIKey: key, Retry: client.Retry{Tries: 1}}
	for _, c := range change {
		c(&cfg)
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, server
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  client.Config
		want string
	}{
		"no key":          {client.Config{}, "set SERVICE_API_KEY"},
		"key, line end":   {client.Config{APIKey: "cwk_x\n"}, "visible ASCII"},
		"no host":         {client.Config{APIKey: key, BaseURL: "api.example.com"}, "must be an address"},
		"port only":       {client.Config{APIKey: key, BaseURL: "http://:8080"}, "must be an address"},
		"other scheme":    {client.Config{APIKey: key, BaseURL: "ftp://api.example.com"}, "must begin with https"},
		"password":        {client.Config{APIKey: key, BaseURL: "https://u:hidden@api.example.com"}, "or password"},
		"query":           {client.Config{APIKey: key, BaseURL: "https://api.example.com?a=b"}, "a query"},
		"http":            {client.Config{APIKey: key, BaseURL: "http://api.example.com"}, "unencrypted to api.example.com"},
		"http, 0.0.0.0":   {client.Config{APIKey: key, BaseURL: "http://0.0.0.0:8080"}, "unencrypted"},
		"http, like":      {client.Config{APIKey: key, BaseURL: "http://localhost.example.com"}, "unencrypted"},
		"tries":           {client.Config{APIKey: key, Retry: client.Retry{Tries: 11}}, "Tries"},
		"empty voice":     {client.Config{APIKey: key, Voice: client.PinnedVoice("")}, "ServerVoice"},
		"negative answer": {client.Config{APIKey: key, MaxAnswer: -1}, "negative"},
	} {
		_, err := client.New(c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "cwk_") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for _, base := range []string{"", "http://localhost:1", "http://[::1]:1", "https://api.example.com/prefix/"} {
		if _, err := client.New(client.Config{APIKey: key, BaseURL: base}); err != nil {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := client.New(client.Config{APIKey: key, BaseURL: "http://api.example.com", AllowHTTP: true}); err != nil {
		t.Error(err)
	}
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SERVICE_API_KEY": "cwk_a", "SERVICE_BASE_URL": "https://api.example.com"}
	cfg := client.FromEnv(func(name string) string { return env[name] })
	if cfg.APIKey.Reveal() != "cwk_a" || cfg.BaseURL != "https://api.example.com" {
		t.Errorf("got %v", cfg)
	}
}

// TestKeyOfAFile checks that the key is read from the file that the environment names, and that a key in the environment takes precedence.
func TestKeyOfAFile(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "api-key")
	if err := os.WriteFile(file, []byte("cwk_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SERVICE_API_KEY_FILE": file, "SERVICE_BASE_URL": server.URL}
	for _, own := range []string{"", "cwk_own"} {
		env["SERVICE_API_KEY"] = own
		c, err := client.New(client.FromEnv(func(name string) string { return env[name] }))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Do(t.Context(), client.Request{Path: "/v1/calls"})
		if got, want := <-seen, cmp.Or(own, "cwk_file"); !strings.HasSuffix(got, want) {
			t.Errorf("the key is sent as %q, want %s", got, want)
		}
	}
	env["SERVICE_API_KEY"], env["SERVICE_API_KEY_FILE"] = "", file+".gone"
	if _, err := client.New(client.FromEnv(func(name string) string { return env[name] })); err == nil || !strings.Contains(err.Error(), "api_key_file: ") {
		t.Errorf("without the file: %v", err)
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	c, err := client.New(client.Config{APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, *c); strings.Contains(text, key.Reveal()) {
			t.Errorf("%s prints the key", verb)
		}
	}
}

func TestEveryRequestHasTheKey(t *testing.T) {
	t.Parallel()
	var seen []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+" "+r.URL.Path)
		reply(w, 200, `{"voices":[]}`)
	})
	other, err := c.WithKey("cwk_other")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client.Client{c, other} {
		if _, err := c.ListVoices(t.Context(), client.VoiceFilter{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Speech().ListVoices(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := "[Bearer cwk_test-key /v1/voices Bearer cwk_test-key /v1/voices Bearer cwk_other /v1/voices Bearer cwk_other /v1/voices]"
	if fmt.Sprint(seen) != want {
		t.Errorf("got %v", seen)
	}
	if _, err := c.WithKey(""); !errors.Is(err, callwright.ErrAuthFailure) {
		t.Errorf("no key: %v", err)
	}
}

func TestRedirectsAreErrors(t *testing.T) {
	t.Parallel()
	asked := false
	_, elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/v1/voices", http.StatusTemporaryRedirect)
	})
	_, err := c.ListVoices(t.Context(), client.VoiceFilter{})
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Status != 307 || !strings.Contains(failed.Message, "SERVICE_BASE_URL") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Speech().ListVoices(t.Context()); !errors.As(err, &failed) || failed.Status != 307 {
		t.Errorf("generated: %v", err)
	}
	if _, err := c.Speak(t.Context(), client.SpeakRequest{Text: "Hi."}); !errors.As(err, &failed) {
		t.Errorf("speak: %v", err)
	}
	if asked {
		t.Error("the request went to another host")
	}
}

func TestSpeakDrawsAVoice(t *testing.T) {
	t.Parallel()
	var body map[string]any
	var keys []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		body = nil
		if r.Method == http.MethodGet {
			reply(w, 200, `{"data":[{"id":"s0","voice_id":"v0"},{"id":"s1","voice_id":"v1"}],"errors":null,"total":2,"limit":20,"offset":0}`)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		reply(w, 200, `{"url":"http://x/s1","sample_id":"s1"}`)
	}
	c, _ := serve(t, handler, func(c *client.Config) { c.Rand = rand.NewPCG(1, 2) })
	used := map[string]int{}
	for range 60 {
		s, err := c.Speak(t.Context(), client.SpeakRequest{Text: "Hi."})
		if err != nil || body["voice"] != s.VoiceUsed || s.URL != "http://x/s1" || s.SampleID != "s1" {
			t.Fatalf("got %v, %v; the server saw %v", s, err, body)
		}
		used[s.VoiceUsed]++
	}
	if len(used) != 3 || used["slt"] < 5 || used["rms"] < 5 || used["awb"] < 5 {
		t.Errorf("drew %v", used)
	}
	if keys[0] == "" || keys[0] == keys[1] {
		t.Errorf("keys %v", keys[:2])
	}
	for name, tt := range map[string]struct {
		choice     client.VoiceChoice
		given      string
		sent, used any
	}{
		"given":  {client.VoiceChoice{}, "Ines", "Ines", "Ines"},
		"pinned": {client.PinnedVoice("kal16"), "", "kal16", "kal16"},
		"one":    {client.RandomVoice("a"), "", "a", "a"},
		"server": {client.ServerVoice(), "", nil, "v1"},
	} {
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			keep := body
			if handler(w, r); r.Method == http.MethodGet {
				body = keep
			}
		}, func(c *client.Config) { c.Voice = tt.choice })
		s, err := c.Speak(t.Context(), client.SpeakRequest{Text: "Hi.", Voice: tt.given, Language: "en", Format: "pcm_8000", IdempotencyKey: "k"})
		if err != nil || s.VoiceUsed != tt.used || body["voice"] != tt.sent || body["language"] != "en" || body["output_format"] != "pcm_8000" {
			t.Errorf("%s: got %v, %v; the server saw %v", name, s, err, body)
		}
		if keys[len(keys)-1] != "k" {
			t.Errorf("%s: the key is %s", name, keys[len(keys)-1])
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty": "", "page": "<html>", "no audio": `{}`, "list": `[]`, "wrong type": `{"url":1}`,
	} {
		c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		if _, err := c.Speak(t.Context(), client.SpeakRequest{Text: "Hi."}); err == nil || !strings.Contains(err.Error(), "SERVICE_BASE_URL") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, `{"voices":[`+strings.Repeat(" ", 2000)+`]}`)
	}, func(c *client.Config) { c.MaxAnswer = 1000 })
	if _, err := c.ListVoices(t.Context(), client.VoiceFilter{}); !errors.Is(err, callwright.ErrPayloadTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := c.Speech().ListVoices(t.Context()); !errors.Is(err, callwright.ErrPayloadTooLarge) {
		t.Errorf("too large, generated: %v", err)
	}
}

func TestDo(t *testing.T) {
	t.Parallel()
	c, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply(w, 201, fmt.Sprintf(`{"data":{"saw":%q},"errors":null}`, r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	}, func(c *client.Config) { c.BaseURL += "/prefix/" })
	a, err := c.Do(t.Context(), client.Request{Method: "PUT", Path: client.Path("v1", "a/b?c", "x y"), Query: map[string][]string{"q": {"1&2"}}, Body: []int{1}})
	var got struct{ Saw string }
	if err != nil || a.Status != 201 || a.Decode(&got) != nil || got.Saw != "PUT /prefix/v1/a%2Fb%3Fc/x%20y?q=1%262 [1]" {
		t.Errorf("got %d %s, %v", a.Status, a.Body, err)
	}
	for _, path := range []string{"", "v1", "/", "/v1//x", "/v1/../x", "/v1/%2e%2e/x", "/v1?x", "/v1/\\x", "/v1/%zz", client.Path("v1", "..")} {
		if _, err := c.Do(t.Context(), client.Request{Path: path}); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := c.Do(t.Context(), client.Request{Path: "/v1", Body: func() {}}); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("body: %v", err)
	}
	server.Close()
	if _, err := c.Do(t.Context(), client.Request{Path: "/v1"}); !errors.Is(err, callwright.ErrUnavailable) || !strings.Contains(err.Error(), "SERVICE_BASE_URL") {
		t.Errorf("no server: %v", err)
	}
}

func TestGeneratedClientsStayWithTheHost(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"voices":[]}`) })
	if _, err := c.Speech().ListVoices(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
