package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/mcp"
)

const getAudio = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tts_sample_get","arguments":{"sample_id":"s-1","include_audio":true}}}`

func TestHTTPRefusesBatches(t *testing.T) {
	t.Parallel()
	a := &api{audio: make([]byte, 1000)}
	h := handler(t, map[callwright.Secret]*api{"cwk_1": a}, nil)
	for name, body := range map[string]string{
		"many": "[" + getAudio + strings.Repeat(","+getAudio, 60) + "]", "one": " \r\n\t[" + getAudio + "]", "none": "[]",
	} {
		for _, version := range []string{"", "2025-03-26", "2025-06-18"} {
			w := post(t, h, body, func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", version) })
			var answer struct {
				Error struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			err := json.Unmarshal(w.Body.Bytes(), &answer)
			if err != nil || w.Code != http.StatusBadRequest || answer.Error.Code != -32600 || !strings.Contains(answer.Error.Message, "batches") {
				t.Errorf("%s, version %q: %d %s", name, version, w.Code, w.Body)
			}
		}
	}
	if asked := a.last(); asked != "" {
		t.Errorf("the API was asked %s", asked)
	}
	if w := post(t, h, getAudio, nil); w.Code != http.StatusOK {
		t.Errorf("alone: %d %s", w.Code, w.Body)
	}
}

// TestHTTPSlowBodiesHoldNoRequest checks that bodies that are being received do not count toward MaxRequests, not even those of the same
// key.
func TestHTTPSlowBodiesHoldNoRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler(t, map[callwright.Secret]*api{"cwk_1": {}}, func(c *mcp.HTTPConfig) { c.MaxRequests = 2 }))
	defer server.Close()
	var begun sync.WaitGroup
	for range 8 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() // all connections stay open until the test ends
		// The server sends 100 Continue when it begins to read the body.
		if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer nonsense\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n", c.RemoteAddr()); err != nil {
			t.Fatal(err)
		}
		begun.Go(func() {
			line := make([]byte, 12)
			if _, err := io.ReadFull(c, line); err != nil || string(line) != "HTTP/1.1 100" {
				t.Errorf("got %q, %v", line, err)
			}
		})
	}
	begun.Wait()
	for _, key := range []string{"cwk_1", "nonsense"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", key, resp.StatusCode)
		}
	}
}

// late is a body that misses its deadline, and the writer that records this deadline.
type late struct {
	*httptest.ResponseRecorder

	until time.Time
}

func (l *late) SetReadDeadline(at time.Time) error { l.until = at; return nil }

func (l *late) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func (l *late) Close() error { return nil }

func TestHTTPBodiesMustCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &late{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8090/mcp", l)
		r.Header.Set("Authorization", "Bearer cwk_1")
		handler(t, nil, nil).ServeHTTP(l, r)
		if l.Code != http.StatusRequestTimeout || !l.until.Equal(time.Now().Add(10*time.Second)) {
			t.Errorf("got %d %s, until %v", l.Code, l.Body, l.until)
		}
	})
}

// TestHTTPOneUserLeavesRoom checks that the requests from one address may use at most half of MaxRequests. For the addresses of this
// machine, where a proxy may forward requests, the limit applies to each key instead.
func TestHTTPOneUserLeavesRoom(t *testing.T) {
	t.Parallel()
	s := &slow{new(api), make(chan struct{}), make(chan struct{})}
	h, err := mcp.NewHandler(mcp.HTTPConfig{MaxRequests: 4, API: func(callwright.Secret) (mcp.API, error) { return s, nil }})
	if err != nil {
		t.Fatal(err)
	}
	from := func(address, key string) func(*http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = address
			r.Header.Set("Authorization", "Bearer "+key)
		}
	}
	const remove = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tts_voice_delete","arguments":{"voice_id":"v"}}}`
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() { post(t, h, remove, from("192.0.2.1:1000", fmt.Sprint("key", i))) })
		<-s.begun
	}
	for name, c := range map[string]struct {
		address, key string
		want         int
	}{
		"same address, other key": {"192.0.2.1:1001", "another", 503},
		"mapped":                  {"[::ffff:192.0.2.1]:1001", "another", 503},
		"another address":         {"192.0.2.2:1000", "key0", 200},
		"this machine":            {"127.0.0.1:1000", "key0", 200},
	} {
		if w := post(t, h, initialize, from(c.address, c.key)); w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	all.Go(func() { post(t, h, remove, from("127.0.0.1:1000", "hog")) })
	<-s.begun
	if w := post(t, h, initialize, from("127.0.0.1:1001", "another")); w.Code != http.StatusOK {
		t.Errorf("another key of this machine: %d", w.Code)
	}
	close(s.let)
	all.Wait()
}

// stuck is a client that does not read its answer until the context let is canceled. Its Write sends to the channel begun first.
type stuck struct {
	*httptest.ResponseRecorder

	begun chan<- struct{}
	let   context.Context //nolint:containedctx // of the test
}

func (s *stuck) Write(p []byte) (int, error) {
	s.begun <- struct{}{}
	<-s.let.Done()
	return s.ResponseRecorder.Write(p)
}

// TestHTTPBoundsAudioOfAllResults checks that the audio of unwritten results is limited, in total and for each key.
func TestHTTPBoundsAudioOfAllResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		apis := map[callwright.Secret]*api{}
		for i := range 5 {
			apis[callwright.Secret(fmt.Sprint("cwk_", i))] = &api{audio: make([]byte, 3<<20)}
		}
		h := handler(t, apis, nil)
		begun := make(chan struct{})
		let, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		get := func(w http.ResponseWriter, key int) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8090/mcp", strings.NewReader(getAudio))
			r.Header = http.Header{
				"Authorization": {fmt.Sprint("Bearer cwk_", key)}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			}
			h.ServeHTTP(w, r)
		}
		hold := func(key int) {
			all.Go(func() { get(&stuck{httptest.NewRecorder(), begun, let}, key) })
			<-begun
		}
		included := func(key int) bool {
			w := httptest.NewRecorder()
			get(w, key)
			link, audio := strings.Contains(w.Body.String(), `"resource_link"`), strings.Contains(w.Body.String(), `"audio_included":true`)
			said := strings.Contains(w.Body.String(), "use the link")
			if w.Code != http.StatusOK || !link || said == audio {
				t.Errorf("key %d: %d %.1000s", key, w.Code, w.Body)
			}
			return audio
		}
		hold(0)
		hold(0)
		if included(0) || !included(1) {
			t.Error("the share of a key does not hold")
		}
		for key := range 3 {
			hold(key + 1)
			hold(key + 1)
		}
		if included(4) {
			t.Error("the bound of all does not hold")
		}
		end()
		all.Wait()
		if !included(4) || !included(0) {
			t.Error("room was not given back")
		}
	})
}
