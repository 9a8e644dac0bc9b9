package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Handler passes requests on to a server and fails the test for each answer that Check refuses.
func Handler(t testing.TB, server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &answer{ResponseWriter: w}
		server.ServeHTTP(seen, r)
		if err := Check(r, seen.status, seen.body.Bytes()); err != nil {
			t.Error(err)
		}
	})
}

// answer keeps the status, and the body of an error.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the first final status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write keeps the body of an error.
func (a *answer) Write(p []byte) (int, error) {
	if a.status >= http.StatusBadRequest {
		a.body.Write(p)
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Transport passes requests on to another transport and fails the test for each answer that Check refuses.
func Transport(t testing.TB, base http.RoundTripper) http.RoundTripper { return &transport{t, base} }

type transport struct {
	t    testing.TB
	base http.RoundTripper
}

// RoundTrip reads the body of an error and puts it back.
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
