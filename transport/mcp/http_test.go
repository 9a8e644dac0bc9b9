package mcp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/mcp"
)

// withKey adds a key to every request, as the configuration of an assistant does.
type withKey struct {
	next http.RoundTripper
	key  string
}

func (w withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", w.key)
	return w.next.RoundTrip(r)
}

// handler returns a handler with an API for each key. change may alter its configuration.
func handler(t *testing.T, apis map[callwright.Secret]*api, change func(*mcp.HTTPConfig)) http.Handler {
	t.Helper()
	cfg := mcp.HTTPConfig{API: func(key callwright.Secret) (mcp.API, error) {
		a := apis[key]
		if a == nil {
			return nil, callwright.ErrAuthFailure
		}
		return a, nil
	}}
	if change != nil {
		change(&cfg)
	}
	h, err := mcp.NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHTTPTakesTheKeyOfEachClient(t *testing.T) {
	t.Parallel()
	one, two := new(api), new(api)
	server := httptest.NewServer(handler(t, map[callwright.Secret]*api{"cwk_1": one, "cwk_2": two}, nil))
	defer server.Close()
	for key, a := range map[string]*api{"Bearer cwk_1": one, "cwk_2": two, "bearer cwk_1": one, "Bearer cwk_3": nil} {
		s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: server.URL, HTTPClient: &http.Client{Transport: withKey{server.Client().Transport, key}}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := call(t, s, "tts_voice_get", `{"voice":"Ines"}`)
		switch {
		case a == nil:
			if !r.IsError || !strings.Contains(text(t, r), "AUTH_FAILURE") {
				t.Errorf("%s: %s", key, asJSON(t, r))
			}
		case r.IsError || a.last() != "voice Ines":
			t.Errorf("%s: %s", key, asJSON(t, r))
		}
		if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 7 {
			t.Errorf("tools: %v", err)
		}
		_ = s.Close()
	}
}

func post(t *testing.T, h http.Handler, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8090/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer cwk_1")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHTTPRefuses(t *testing.T) {
	t.Parallel()
	local := handler(t, map[callwright.Secret]*api{"cwk_1": {}}, nil)
	public := handler(t, map[callwright.Secret]*api{"cwk_1": {}}, func(c *mcp.HTTPConfig) {
		c.Hosts, c.Origins = []string{"Tools.example.com"}, []string{"https://assistant.example.com"}
	})
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			if name == "Host" {
				r.Host = value
				return
			}
			r.Header.Set(name, value)
		}
	}
	both := func(one, two func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) { one(r); two(r) }
	}
	at := set("Host", "tools.example.com:443")
	for name, c := range map[string]struct {
		h      http.Handler
		change func(*http.Request)
		body   string
		want   int
	}{
		"good":                     {local, nil, initialize, 200},
		"localhost":                {local, set("Host", "LOCALHOST:1"), initialize, 200},
		"IPv6":                     {local, set("Host", "[::1]:8090"), initialize, 200},
		"rebound name":             {local, set("Host", "evil.example.com"), initialize, 403},
		"rebound name, port":       {local, set("Host", "evil.example.com:8090"), initialize, 403},
		"no host":                  {local, set("Host", ""), initialize, 403},
		"other site":               {local, set("Origin", "https://evil.example.com"), initialize, 403},
		"other port":               {local, set("Origin", "http://127.0.0.1:3000"), initialize, 403},
		"same page":                {local, set("Origin", "http://127.0.0.1:8090"), initialize, 200},
		"null":                     {local, set("Origin", "null"), initialize, 403},
		"no key":                   {local, func(r *http.Request) { r.Header.Del("Authorization") }, initialize, 401},
		"empty key":                {local, set("Authorization", "Bearer "), initialize, 401},
		"word alone":               {local, set("Authorization", "Bearer"), initialize, 401},
		"other scheme":             {local, set("Authorization", "Basic Y3drXzE="), initialize, 401},
		"two keys":                 {local, func(r *http.Request) { r.Header.Add("Authorization", "Bearer cwk_2") }, initialize, 401},
		"too large":                {local, nil, strings.Repeat(" ", 300<<10), 413},
		"not JSON":                 {local, nil, "hello", 400},
		"stream":                   {local, func(r *http.Request) { r.Method = http.MethodGet }, "", 405},
		"end of a session":         {local, func(r *http.Request) { r.Method = http.MethodDelete }, "", 405},
		"public":                   {public, at, initialize, 200},
		"public, this machine":     {public, nil, initialize, 403},
		"public, known site":       {public, both(at, set("Origin", "https://assistant.example.com")), initialize, 200},
		"public, another site":     {public, both(at, set("Origin", "https://assistant.example.com.evil.com")), initialize, 403},
		"public, site, other port": {public, both(at, set("Origin", "https://assistant.example.com:8443")), initialize, 403},
	} {
		w := post(t, c.h, c.body, c.change)
		if w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if c.want == 401 && (w.Header().Get("WWW-Authenticate") != "Bearer" || !strings.Contains(w.Body.String(), "AUTH_FAILURE")) {
			t.Errorf("%s: %v %s", name, w.Header(), w.Body)
		}
	}
	if _, err := mcp.NewHandler(mcp.HTTPConfig{}); err == nil {
		t.Error("a handler without an API")
	}
}

// slow is an API whose DeleteVoice sends to the channel begun, and then waits until it can receive from the channel let, or let is closed.
type slow struct {
	*api

	begun chan struct{}
	let   chan struct{}
}

func (s *slow) DeleteVoice(context.Context, string) (string, error) {
	s.begun <- struct{}{}
	<-s.let
	return "Voice deleted.", nil
}

func TestHTTPBoundsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := &slow{new(api), make(chan struct{}), make(chan struct{})}
	h, err := mcp.NewHandler(mcp.HTTPConfig{MaxRequests: 1, API: func(callwright.Secret) (mcp.API, error) { return s, nil }})
	if err != nil {
		t.Fatal(err)
	}
	const remove = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tts_voice_delete","arguments":{"voice_id":"v"}}}`
	first := make(chan int, 1)
	go func() { first <- post(t, h, remove, nil).Code }()
	<-s.begun
	if w := post(t, h, initialize, nil); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("the second: %d", w.Code)
	}
	close(s.let)
	if code := <-first; code != http.StatusOK {
		t.Errorf("the first: %d", code)
	}
	if w := post(t, h, initialize, nil); w.Code != http.StatusOK {
		t.Errorf("after it: %d", w.Code)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.Serve(ctx, l, handler(t, nil, nil)) }()
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := web.Do(r)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("got %v, %v", resp, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := mcp.Serve(t.Context(), l, handler(t, nil, nil)); err == nil {
		t.Error("a closed listener was served")
	}
}
