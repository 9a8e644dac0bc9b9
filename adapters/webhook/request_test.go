package webhook_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRequests(t *testing.T) {
	t.Parallel()
	agentstest.RunRequests(t, agentstest.RequestsHarness{
		New:     func(t *testing.T) request.Client { return sender(t, true) },
		Guarded: func(t *testing.T) request.Client { return sender(t, false) },
	})
}

// TestRequestUsesConnectionsAgain checks that requests reuse a connection, unless its last answer was not read to the end.
func TestRequestUsesConnectionsAgain(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			_, _ = w.Write(make([]byte, 2*request.MaxAnswer))
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	s := sender(t, true)
	for i, test := range []struct {
		path   string
		fails  bool
		opened int32
	}{{"/", false, 1}, {"/", false, 1}, {"/large", true, 1}, {"/", false, 2}, {"/", false, 2}} {
		_, err := s.Do(t.Context(), request.Request{Method: "GET", URL: server.URL + test.path})
		if (err != nil) != test.fails || opened.Load() != test.opened {
			t.Errorf("request %d: %v, over %d connections", i, err, opened.Load())
		}
	}
}

// TestRequestTrustsCertificates checks that a request to a server with an untrusted certificate fails and that the message names the
// certificate.
func TestRequestTrustsCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	_, err := sender(t, true).Do(t.Context(), request.Request{Method: "GET", URL: server.URL})
	if callwright.CodeOf(err) != callwright.CodeUnavailable || callwright.MessageOf(err) != "the certificate can't be trusted" {
		t.Errorf("got %v", err)
	}
}

// TestRequestSaysWhy checks that the error's message names the cause, because the log of a conversation shows this message.
func TestRequestSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := sender(t, false).Do(t.Context(), request.Request{Method: "GET", URL: "https://localhost:1/"})
	if callwright.CodeOf(err) != callwright.CodeUnavailable || callwright.MessageOf(err) != "the address of the host is not public" {
		t.Errorf("a private address gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = sender(t, true).Do(ctx, request.Request{Method: "GET", URL: "http://127.0.0.1:1/"})
	if callwright.MessageOf(err) != "the request was canceled" {
		t.Errorf("a request that was broken off gave %v", err)
	}
}

func TestRequestRefuses(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]request.Request{
		"no URL":       {Method: "GET", URL: "nothing"},
		"a method":     {Method: "GET /", URL: "http://127.0.0.1:1/"},
		"a user":       {Method: "GET", URL: "http://user:hush@127.0.0.1:1/"},
		"another kind": {Method: "GET", URL: "gopher://127.0.0.1:1/"},
	} {
		if _, err := sender(t, true).Do(t.Context(), r); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	header := []request.Pair{{Name: "X", Value: "a\r\nHost: evil"}}
	if _, err := sender(t, true).Do(t.Context(), request.Request{Method: "GET", URL: "http://127.0.0.1:1/", Header: header}); err == nil {
		t.Error("a header with a line break is sent")
	}
}

// TestRequestNamesItself checks that requests carry the default User-Agent, unless their header sets another.
func TestRequestNamesItself(t *testing.T) {
	t.Parallel()
	server, got := receiver(t, http.StatusOK, nil)
	for want, header := range map[string][]request.Pair{"callwright": nil, "mine": {{Name: "user-agent", Value: "mine"}}} {
		if _, err := sender(t, true).Do(t.Context(), request.Request{Method: "GET", URL: server.URL, Header: header}); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.UserAgent() != want || r.Header.Get("Accept-Encoding") != "" || r.Header.Get("X-Webhook-Signature") != "" {
			t.Errorf("the header is %v", r.Header)
		}
	}
}
