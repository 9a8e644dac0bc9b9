package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Handler returns a handler that calls server and fails the test at each answer that Check rejects.
func Handler(t testing.TB, server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &answer{ResponseWriter: w}
		server.ServeHTTP(seen, r)
		if err := Check(r, seen.status, seen.body.Bytes()); err != nil {
			t.Error(err)
		}
	})
}

// answer records the status of an answer, and the body of an error.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader records the first final status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write records the body of an error.
func (a *answer) Write(p []byte) (int, error) {
	if a.status >= http.StatusBadRequest {
		a.body.Write(p)
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap returns the underlying writer, which http.ResponseController needs.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Transport returns a transport that uses base and fails the test at each answer that Check rejects.
func Transport(t testing.TB, base http.RoundTripper) http.RoundTripper { return &transport{t, base} }

type transport struct {
	t    testing.TB
	base http.RoundTripper
}

// RoundTrip reads and checks the body of an error, and replaces it by an unread copy.
func (c *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.base.RoundTrip(r)
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err := Check(r, response.StatusCode, body); err != nil {
		c.t.Error(err)
	}
	return response, nil
}
