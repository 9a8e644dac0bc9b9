package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/transport/httpapi"
)

// patience is the client's time limit in these tests, in fake time. It far exceeds every limit of the server.
const patience = 24 * time.Hour

// dialed serves a handler with NewServer, and returns the client's end of a connection.
func dialed(t *testing.T, h http.Handler) net.Conn {
	t.Helper()
	client, end := net.Pipe()
	l := &pipes{make(chan net.Conn, 1), make(chan struct{})}
	l.ends <- end
	server := httpapi.NewServer(h)
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	if err := client.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return client
}

// pipes is a listener for connections within the process.
type pipes struct {
	ends chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case end := <-p.ends:
		return end, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// answered reads the answer to a request, and checks that the server then closes the connection.
func answered(t *testing.T, name string, client net.Conn) (status int, text string) {
	t.Helper()
	reader := bufio.NewReader(client)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Errorf("%s: no answer: %v", name, err)
		return 0, ""
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	_ = answer.Body.Close()
	if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("%s: the connection stays open: %v", name, err)
	}
	return answer.StatusCode, string(body)
}

// TestBodyThatNeverComes announces a body and never sends it. It checks that operations without a body and refused requests answer
// immediately, that others answer after a timeout, and that the connection is closed.
func TestBodyThatNeverComes(t *testing.T) {
	t.Parallel()
	h := open(t)
	for request, want := range map[string]struct {
		status int
		soon   bool
	}{
		"POST /v1/calls":                            {401, true},
		"GET /v1/calls":                             {401, true},
		"POST /v1/nothing":                          {404, true},
		"DELETE /v1/calls":                          {405, true},
		"GET /healthz":                              {200, true},
		"POST /healthz":                             {405, true},
		"GET /docs":                                 {301, true},
		"GET /openapi.yaml":                         {200, true},
		"OPTIONS *":                                 {404, true},
		"POST /v1/speak Content-Type: audio/wav":    {401, true},
		"POST /v1/calls Expect: nothing":            {417, false},
		"POST /v1/calls Expect: 100-continue":       {401, true},
		"GET /v1/calls Authorization: KEY":          {200, true},
		"POST /v1/calls/c1/stop Authorization: KEY": {404, true},
		"POST /v1/calls Authorization: KEY":         {400, false},
		"POST /v1/voices/clone Authorization: KEY; Content-Type: multipart/form-data; boundary=b": {400, false},
	} {
		for _, announced := range []string{"Content-Length: 100", "Content-Length: 100000000", "Transfer-Encoding: chunked"} {
			synctest.Test(t, func(t *testing.T) {
				line, headers, _ := strings.Cut(strings.ReplaceAll(request, "KEY", h.key), " ")
				target, headers, _ := strings.Cut(headers, " ")
				headers = strings.ReplaceAll(headers, "; Content-Type", "\r\nContent-Type")
				if !strings.Contains(headers, "Content-Type") {
					headers = strings.TrimSpace(headers + "\r\nContent-Type: application/json")
				}
				client := dialed(t, h.unchecked)
				began := time.Now()
				_, _ = fmt.Fprintf(client, "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n%s\r\n\r\n", line, target, headers, announced)
				status, text := answered(t, request, client)
				if status != want.status || want.soon && time.Since(began) > 5*time.Second {
					t.Errorf("%s, %s: %d after %s: %s", request, announced, status, time.Since(began), text)
				}
			})
		}
	}
}

// TestSlowBodies checks that a slow body is accepted while it progresses, and refused if it stalls or is too slow.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	c := &cloner{took: func(io.Reader) error { return errors.New("came whole") }}
	h := open(t, func(config *httpapi.Config) { config.Areas[len(config.Areas)-1] = c.area() }) // replaces the area of speech
	const slow = "the body did not come in time"
	for name, c := range map[string]struct {
		kind  string
		size  int
		part  int           // bytes of one write
		every time.Duration // interval of writes
		want  string        // text of the answer
	}{
		"JSON that progresses":    {"application/json", 256 << 10, 4 << 10, time.Second, "is not valid JSON"},
		"JSON in two parts":       {"application/json", 2000, 1000, 20 * time.Second, "is not valid JSON"},
		"JSON that stalls":        {"application/json", 2000, 1000, time.Hour, slow},
		"JSON, a byte at a time":  {"application/json", 2000, 1, 20 * time.Second, slow},
		"upload that progresses":  {"multipart/form-data; boundary=b", 8 << 20, 64 << 10, 16 * time.Second, "INTERNAL_SERVER_ERROR"},
		"upload that stalls":      {"multipart/form-data; boundary=b", 8 << 20, 1 << 20, time.Hour, slow},
		"upload, a byte a second": {"multipart/form-data; boundary=b", 8 << 20, 1, time.Second, slow},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := dialed(t, h.unchecked)
			path, body := "/v1/calls", strings.Repeat(" ", c.size)
			if strings.HasPrefix(c.kind, "multipart") {
				path = "/v1/voices/clone"
				body = "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAnna\r\n" +
					"--b\r\nContent-Disposition: form-data; name=\"audio_samples\"; filename=\"x\"\r\n\r\n" + body + "\r\n--b--\r\n"
			}
			go func() {
				_, _ = fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
					path, h.key, c.kind, len(body))
				for len(body) > 0 {
					part := body[:min(c.part, len(body))]
					if _, err := io.WriteString(client, part); err != nil {
						return
					}
					body = body[len(part):]
					select {
					case <-time.After(c.every):
					case <-t.Context().Done():
						return
					}
				}
			}()
			if status, text := answered(t, name, client); !strings.Contains(text, c.want) {
				t.Errorf("%s: %d %s, want %s", name, status, text, c.want)
			}
		})
	}
}

// TestAnswerThatIsNotTaken checks that the connection of a client that does not read its answer is closed.
func TestAnswerThatIsNotTaken(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, target := range []string{"/docs/swagger-ui-bundle.js", "/openapi.yaml", "/v1/calls"} {
		synctest.Test(t, func(t *testing.T) {
			client := dialed(t, h.unchecked)
			_, _ = fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n\r\n", target, h.key)
			<-time.After(patience / 2)
			if text, err := io.ReadAll(client); err != nil {
				t.Errorf("%s: the connection is open with %d bytes: %v", target, len(text), err)
			}
		})
	}
}

// TestConnectionsThatAskNothing checks that connections with no complete request, or with no further request after the first, are closed.
func TestConnectionsThatAskNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, text := range map[string]string{
		"nothing":           "",
		"half a header":     "GET /healthz HTTP/1.1\r\nHost",
		"nothing more":      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"a header too long": "GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<17) + "\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			client := dialed(t, h.unchecked)
			go func() { _, _ = io.WriteString(client, text) }()
			if _, err := io.ReadAll(client); err != nil {
				t.Errorf("%s: the connection stays open: %v", name, err)
			}
		})
	}
}
