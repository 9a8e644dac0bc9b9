package e2e_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
)

// otherSystem is a language model and the other systems that agents ask. The model calls the tool and then ends the call. It refuses to
// summarize, with an answer that contains the key.
type otherSystem struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]bool // by path: a URL with this path contained a secret
}

func newOtherSystem(t *testing.T) *otherSystem {
	t.Helper()
	o := &otherSystem{asked: map[string]bool{}}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

// ServeHTTP records whether the URL contains a secret, and answers the request.
func (o *otherSystem) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	o.asked[r.URL.Path] = o.asked[r.URL.Path] || strings.Contains(r.URL.String(), secretMark)
	o.mu.Unlock()
	switch r.URL.Path {
	case "/v1/chat/completions":
		var a asked
		_ = json.Unmarshal(body, &a)
		switch {
		case !a.Stream:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		case len(a.Messages) > 0 && a.Messages[len(a.Messages)-1].Role == "tool":
			stream(w, `{"role":"assistant","content":"Goodbye."}`,
				`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`)
		default:
			stream(w, `{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"track","arguments":"{}"}}]}`)
		}
	case "/broken", "/hook", "/alert", "/port":
		panic(http.ErrAbortHandler) // the error of the HTTP client then contains the URL
	default:
		_, _ = w.Write([]byte(`{"name":"Robin"}`))
	}
}

// await waits until each path has been requested with a secret.
func (o *otherSystem) await(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		await.That(t, "a request for "+path, func() bool {
			o.mu.Lock()
			defer o.mu.Unlock()
			return o.asked[path]
		})
	}
}

// asking is a SIP server that asks for credentials, and refuses every request that contains them.
type asking struct {
	uri      string
	mu       sync.Mutex
	answered []string // methods of the requests with credentials
}

func newAsking(t *testing.T, ca *testca.Authority) *asking {
	t.Helper()
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	a := &asking{uri: "sip:" + l.Addr().String() + ";transport=tls"}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go a.serve(c)
		}
	}()
	return a
}

// serve challenges requests without credentials, and refuses requests with credentials.
func (a *asking) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		var first, back, authorization string
		length := 0
	headers:
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimRight(line, "\r\n")
			name, value, _ := strings.Cut(line, ":")
			switch strings.ToLower(name) {
			case "via", "from", "call-id", "cseq":
				back += line + "\r\n"
			case "to":
				back += line + ";tag=t\r\n"
			case "authorization", "proxy-authorization":
				authorization = value
			case "content-length":
				_, _ = fmt.Sscan(value, &length)
			}
			if first == "" {
				first = line
			} else if line == "" {
				break headers
			}
		}
		_, _ = io.CopyN(io.Discard, in, int64(length))
		method, _, _ := strings.Cut(first, " ")
		status := "407 Proxy Authentication Required\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5"
		switch {
		case method == "ACK" || first == "":
			continue
		case method == "OPTIONS":
			status = "200 OK"
		case authorization != "":
			status = "403 Forbidden"
			a.mu.Lock()
			a.answered = append(a.answered, method)
			a.mu.Unlock()
		}
		_, _ = fmt.Fprintf(c, "SIP/2.0 %s\r\n%sContent-Length: 0\r\n\r\n", status, back)
	}
}

// await waits until a call and a registration have arrived with credentials.
func (a *asking) await(t *testing.T) {
	t.Helper()
	for _, method := range []string{"INVITE", "REGISTER"} {
		await.That(t, method+" with credentials", func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return slices.Contains(a.answered, method)
		})
	}
}
