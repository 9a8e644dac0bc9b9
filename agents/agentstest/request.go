package agentstest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/request"
)

// requestTime is the timeout of the requests of RunRequests that set no other timeout. short and 2*short are the timeouts of requests that
// must time out.
const (
	requestTime = 10 * time.Second
	short       = 50 * time.Millisecond
)

// RequestsHarness is the harness of RunRequests. Both functions are required.
type RequestsHarness struct {
	// New returns a client that can send to loopback addresses, with plain http.
	New func(t *testing.T) request.Client
	// Guarded returns a client that can send only to public addresses.
	Guarded func(t *testing.T) request.Client
}

// RunRequests tests a request.Client against servers that it starts on loopback addresses. These servers use HTTP/1.1 without TLS, and read
// only request bodies with a Content-Length.
func RunRequests(t *testing.T, h RequestsHarness) {
	t.Helper()
	t.Run("CheckURL", h.checkURL)
	t.Run("Sends", h.sends)
	t.Run("Answers", h.answers)
	t.Run("FollowsNoRedirect", h.followsNoRedirect)
	t.Run("TakesLargeAnswers", h.takesLargeAnswers)
	t.Run("TakesAnswersInChunks", h.takesChunks)
	t.Run("InflatesNoBombs", h.inflatesNoBombs)
	t.Run("Fails", h.fails)
	t.Run("EndsWithItsContext", h.endsWithItsContext)
	t.Run("SideBySide", h.sideBySide)
	t.Run("ReachesNoPrivateAddress", h.reachesNoPrivateAddress)
}

func (h RequestsHarness) checkURL(t *testing.T) {
	for name, c := range map[string]request.Client{"new": h.New(t), "guarded": h.Guarded(t)} {
		if err := c.CheckURL("https://example.com/{{path}}?x={{y}}"); err != nil {
			t.Errorf("%s: a good address gave %v", name, err)
		}
		for _, url := range []string{"", "example.com", "ftp://example.com/", "file:///etc/passwd", "https://", "https://a b/"} {
			e, ok := errors.AsType[*callwright.Error](c.CheckURL(url))
			if !ok || e.Code != callwright.CodeBadRequest || e.Field != "" {
				t.Errorf("%s: %q gave %v", name, url, e)
			}
		}
	}
	for _, url := range []string{"https://127.0.0.1/", "https://[::1]/", "https://10.1.2.3/", "https://169.254.169.254/"} {
		if err := h.Guarded(t).CheckURL(url); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("guarded: %q gave %v", url, err)
		}
	}
}

func (h RequestsHarness) sends(t *testing.T) {
	s := serve(t, reply("200 OK", "{}"))
	client := h.New(t)
	for _, r := range []request.Request{
		{Method: "GET", URL: s.url + "/a%2Fb?x=%26&y=1+2"},
		{Method: "POST", URL: s.url + "/", Header: []request.Pair{{Name: "X-A", Value: "1 ü"}, {Name: "Content-Type", Value: "a/b"}}, Body: []byte("body\x00")},
		{Method: "PUT", URL: s.url + "/", Body: bytes.Repeat([]byte("x"), request.MaxBody)},
		{Method: "PATCH", URL: s.url + "/", Body: []byte("{}")},
		{Method: "DELETE", URL: s.url + "/thing"},
	} {
		if _, err := h.do(t, client, r); err != nil {
			t.Fatalf("%s: %v", r.Method, err)
		}
		got := s.receive(t)
		if want := r.Method + " " + strings.TrimPrefix(r.URL, s.url) + " HTTP/1.1"; got.line != want {
			t.Errorf("%q came, want %q", got.line, want)
		}
		if !bytes.Equal(got.body, r.Body) {
			t.Errorf("%s: the body is %.40q", r.Method, got.body)
		}
		for _, pair := range r.Header {
			if v := got.header.Get(pair.Name); v != pair.Value {
				t.Errorf("%s: %s is %q", r.Method, pair.Name, v)
			}
		}
		if got.header.Get("Cookie") != "" || got.header.Get("User-Agent") == "" {
			t.Errorf("%s: the header is %v", r.Method, got.header)
		}
	}
}

func (h RequestsHarness) answers(t *testing.T) {
	for _, status := range []int{200, 201, 400, 404, 429, 500, 503} {
		s := serve(t, reply(strconv.Itoa(status)+" Whatever", "an answer \xff"))
		got, err := h.do(t, h.New(t), request.Request{Method: "GET", URL: s.url})
		if err != nil || got.Status != status || string(got.Body) != "an answer \xff" {
			t.Errorf("%d came as %d with %q, %v", status, got.Status, got.Body, err)
		}
	}
	s := serve(t, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\n\r\n") })
	client := h.New(t)
	for range 2 {
		got, err := h.do(t, client, request.Request{Method: "GET", URL: s.url})
		if err != nil || got.Status != 204 || len(got.Body) > 0 {
			t.Errorf("no content came as %d with %q, %v", got.Status, got.Body, err)
		}
		if cookie := s.receive(t).header.Get("Cookie"); cookie != "" {
			t.Errorf("the client returned the cookie %q", cookie)
		}
	}
}

func (h RequestsHarness) followsNoRedirect(t *testing.T) {
	elsewhere := serve(t, reply("200 OK", "private"))
	for _, status := range []string{"301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"} {
		s := serve(t, reply(status+"\r\nLocation: "+elsewhere.url+"/secret", "gone"))
		got, err := h.do(t, h.New(t), request.Request{Method: "GET", URL: s.url})
		if err != nil || fmt.Sprint(got.Status) != status[:3] || string(got.Body) != "gone" {
			t.Errorf("%s came as %d with %q, %v", status, got.Status, got.Body, err)
		}
	}
	if n := elsewhere.connections.Load(); n != 0 {
		t.Errorf("the other server got %d connections", n)
	}
}

func (h RequestsHarness) takesLargeAnswers(t *testing.T) {
	s := serve(t, reply("200 OK", strings.Repeat("x", request.MaxAnswer)))
	got, err := h.do(t, h.New(t), request.Request{Method: "GET", URL: s.url})
	if err != nil || len(got.Body) != request.MaxAnswer {
		t.Errorf("the largest answer came with %d bytes, %v", len(got.Body), err)
	}
}

func (h RequestsHarness) takesChunks(t *testing.T) {
	for answer, want := range map[string]string{
		"0\r\n\r\n": "", "3\r\nan \r\n6;x=y\r\nanswer\r\n0\r\nTrailer: x\r\n\r\n": "an answer",
		fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", request.MaxAnswer, strings.Repeat("x", request.MaxAnswer)): strings.Repeat("x", request.MaxAnswer),
	} {
		s := serve(t, func(c net.Conn) { fmt.Fprint(c, chunked+answer) })
		got, err := h.do(t, h.New(t), request.Request{Method: "GET", URL: s.url})
		if err != nil || got.Status != 200 || string(got.Body) != want {
			t.Errorf("%.40q came as %d with %.40q, %v", answer, got.Status, got.Body, err)
		}
	}
}

func (h RequestsHarness) inflatesNoBombs(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 20*request.MaxAnswer))
	_ = w.Close()
	s := serve(t, reply("200 OK\r\nContent-Encoding: gzip", packed.String()))
	got, err := h.do(t, h.New(t), request.Request{Method: "GET", URL: s.url})
	if len(got.Body) > request.MaxAnswer || err != nil && callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("the bomb came with %d bytes, %v", len(got.Body), err)
	}
}

// chunked is the head of an answer in chunks.
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// fails checks servers that are absent, or whose answer is late, incomplete, invalid or too large. All errors must have CodeUnavailable,
// and no message may reveal an address.
func (h RequestsHarness) fails(t *testing.T) {
	const head, switches = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
	for name, test := range map[string]struct {
		answer  func(net.Conn)
		timeout time.Duration
	}{
		"hangs":             {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, short},
		"hangs in the head": {func(c net.Conn) { fmt.Fprint(c, head); _, _ = io.Copy(io.Discard, c) }, short},
		"drips":             {func(c net.Conn) { fmt.Fprint(c, head+"\r\n"); pour(c, []byte("x"), short/10) }, 2 * short},
		"pours":             {func(c net.Conn) { fmt.Fprint(c, head+"\r\n"); pour(c, make([]byte, 64<<10), 0) }, requestTime},
		"10 MB":             {reply("200 OK", strings.Repeat("x", 10<<20)), requestTime},
		"1 byte too much":   {reply("200 OK", strings.Repeat("x", request.MaxAnswer+1)), requestTime},
		"endless head":      {func(c net.Conn) { fmt.Fprint(c, head+"X: "); pour(c, bytes.Repeat([]byte("x"), 64<<10), 0) }, requestTime},
		"ends early":        {func(c net.Conn) { fmt.Fprint(c, head+"Content-Length: 100\r\n\r\nshort") }, requestTime},
		"ends in a chunk":   {func(c net.Conn) { fmt.Fprint(c, chunked+"64\r\nshort") }, requestTime},
		"lacks its last":    {func(c net.Conn) { fmt.Fprint(c, chunked+"5\r\nshort\r\n") }, requestTime},
		"pours chunks":      {func(c net.Conn) { fmt.Fprint(c, chunked); pour(c, []byte("5\r\nshort\r\n"), 0) }, requestTime},
		"has no chunk":      {func(c net.Conn) { fmt.Fprint(c, chunked+"short") }, requestTime},
		"says nothing":      {func(net.Conn) {}, requestTime},
		"says no status":    {func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 0 \r\n\r\n") }, requestTime},
		"only promises":     {func(c net.Conn) { pour(c, []byte("HTTP/1.1 103 Early Hints\r\n\r\n"), short/10) }, 2 * short},
		"switches":          {func(c net.Conn) { fmt.Fprint(c, switches); _, _ = io.Copy(io.Discard, c) }, 2 * short},
		"is no HTTP":        {func(c net.Conn) { fmt.Fprint(c, "220 mail.example ESMTP\r\n") }, requestTime},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, test.answer)
			h.unavailable(t, s, request.Request{Method: "POST", URL: s.url + "/path?token=hush", Timeout: test.timeout, Body: []byte("{}")})
		})
	}
	t.Run("is not there", func(t *testing.T) {
		s := serve(t, reply("200 OK", ""))
		s.stop()
		h.unavailable(t, s, request.Request{Method: "GET", URL: s.url + "/path?token=hush"})
	})
	t.Run("has no address", func(t *testing.T) {
		h.unavailable(t, &server{url: "http://nothing.invalid"}, request.Request{Method: "GET", URL: "http://nothing.invalid/"})
	})
}

// unavailable checks that the given request fails with CodeUnavailable, and that the message reveals neither the server's address nor the
// token in the URL.
func (h RequestsHarness) unavailable(t *testing.T, s *server, r request.Request) {
	t.Helper()
	got, err := h.do(t, h.New(t), r)
	if callwright.CodeOf(err) != callwright.CodeUnavailable || len(got.Body) > request.MaxAnswer {
		t.Errorf("it gave %d with %d bytes, %v", got.Status, len(got.Body), err)
		return
	}
	address := strings.TrimPrefix(s.url, "http://")
	for _, secret := range []string{address, strings.Split(address, ":")[0], "hush"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the message %q names the address", err)
		}
	}
}

func (h RequestsHarness) endsWithItsContext(t *testing.T) {
	s := serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	ctx, cancel := context.WithCancel(t.Context())
	client, ended := h.New(t), make(chan error, 1)
	go func() {
		_, err := client.Do(ctx, request.Request{Method: "GET", URL: s.url, Timeout: request.LongestTimeout})
		ended <- err
	}()
	s.receive(t)
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a request that was broken off gave no error")
		}
	case <-time.After(requestTime):
		t.Error("the request does not end with its context")
	}
}

func (h RequestsHarness) sideBySide(t *testing.T) {
	s := serve(t, reply("200 OK", "fine"))
	client := h.New(t)
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			got, err := h.do(t, client, request.Request{Method: "POST", URL: s.url, Body: []byte(strconv.Itoa(i))})
			if err != nil || string(got.Body) != "fine" {
				t.Errorf("%d: %q, %v", i, got.Body, err)
			}
		})
	}
	wait.Wait()
}

// reachesNoPrivateAddress checks that a guarded client connects to no private address, even by a host name that is resolved only when the
// client connects.
func (h RequestsHarness) reachesNoPrivateAddress(t *testing.T) {
	s := serve(t, reply("200 OK", "private"))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	for _, scheme := range []string{"http", "https"} {
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
			got, err := h.do(t, h.Guarded(t), request.Request{Method: "GET", URL: scheme + "://" + host + ":" + port + "/"})
			if err == nil {
				t.Errorf("%s by %s gave %d", host, scheme, got.Status)
			}
		}
	}
	if n := s.connections.Load(); n != 0 {
		t.Errorf("the server got %d connections", n)
	}
}

// do sends the given request, with a Timeout of requestTime unless the request has a Timeout, and checks that Do returns within
// 2*requestTime.
func (h RequestsHarness) do(t *testing.T, c request.Client, r request.Request) (request.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*requestTime)
	defer cancel()
	if r.Timeout == 0 {
		r.Timeout = requestTime
	}
	response, err := c.Do(ctx, r)
	if ctx.Err() != nil {
		t.Error("the request does not end in time")
	}
	return response, err
}
