package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// These constants limit recorded requests, in bytes.
const (
	maxURL    = 8 << 10
	maxHeader = 256      // of a header's value
	maxBody   = 16 << 10 // of a body; the beginning of a longer one is recorded as a JSON string
)

// Sink is a request.Client that sends no requests. It records them for the evidence, and answers them with mocks. It is safe for concurrent
// use.
type Sink struct {
	mocks []scenario.WebhookMock

	mu     sync.Mutex
	caught map[int]assert.Webhook // by request.Request.Place
}

var _ request.Client = (*Sink)(nil)

// NewSink returns a sink that answers each request with the first matching mock. If no mock matches, or if the mock has no body, the
// response body is {}.
func NewSink(mocks []scenario.WebhookMock) *Sink { return &Sink{mocks: mocks} }

// CheckURL permits every URL, because requests are not sent.
func (s *Sink) CheckURL(string) error { return nil }

// Do records the request and, after the matching mock's delay, returns the mock's response, or CodeUnavailable if the mock's fault is a
// connection error. If the fault is a timeout, or if the delay reaches the timeout of the request, Do returns CodeUnavailable immediately,
// without waiting.
func (s *Sink) Do(ctx context.Context, r request.Request) (request.Response, error) {
	s.record(r)
	m := s.mock(r)
	longest := min(cmp.Or(r.Timeout, request.DefaultTimeout), request.LongestTimeout)
	late := m.Fault == scenario.Timeout || m.Delay >= longest
	if late {
		m.Delay = 0
	}
	switch err := pause(ctx, m.Delay); {
	case err != nil:
		return request.Response{}, err
	case late:
		return request.Response{}, callwright.Errorf(callwright.CodeUnavailable, "no answer within %s", longest)
	case m.Fault != scenario.NoFault:
		return request.Response{}, callwright.Errorf(callwright.CodeUnavailable, "the connection failed")
	case len(m.Body) == 0:
		m.Body = json.RawMessage("{}")
	}
	return request.Response{Status: cmp.Or(m.Status, 200), Body: m.Body}, nil
}

// Drain returns the requests recorded since the last call, by request.Request.Place.
func (s *Sink) Drain() map[int]assert.Webhook {
	s.mu.Lock()
	defer s.mu.Unlock()
	caught := s.caught
	s.caught = nil
	return caught
}

// record records a request without user info, and without header and query values that may be secret.
func (s *Sink) record(r request.Request) {
	w := assert.Webhook{
		Node: r.Node, Method: r.Method, URL: callwright.Clip(callwright.Redact(withoutUser(r.URL)), maxURL), Body: body(r.Body),
	}
	if len(r.Header) > 0 {
		w.Header = make(map[string]string, len(r.Header))
	}
	for _, h := range r.Header {
		value := callwright.Clip(callwright.Redact(h.Value), maxHeader)
		if mayBeSecret(h.Name) {
			value = callwright.Redacted
		}
		if before, twice := w.Header[h.Name]; twice {
			value = before + ", " + value
		}
		w.Header[h.Name] = value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caught == nil {
		s.caught = map[int]assert.Webhook{}
	}
	s.caught[r.Place] = w
}

// mock returns the first mock that matches a request, or the zero WebhookMock if none does.
func (s *Sink) mock(r request.Request) scenario.WebhookMock {
	address := withoutUser(r.URL)
	for _, m := range s.mocks {
		if (m.Node == "" || m.Node == r.Node) && (m.Method == "" || strings.EqualFold(m.Method, r.Method)) &&
			(m.URL == "" || assert.Glob(m.URL, address)) {
			return m
		}
	}
	return scenario.WebhookMock{}
}

// withoutUser returns a URL without its user info.
func withoutUser(address string) string {
	if !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// mayBeSecret reports whether the name of a header suggests a credential.
func mayBeSecret(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// body returns the body of a request as JSON: unchanged if it is short and valid JSON, else its beginning as a JSON string.
func body(raw []byte) json.RawMessage {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) <= maxBody && json.Valid(raw):
		return raw
	default:
		return request.Encode(strings.ToValidUTF8(callwright.Clip(string(raw), maxBody), "\uFFFD"))
	}
}

// pause sleeps for d. It returns the error of ctx if ctx is done before.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
