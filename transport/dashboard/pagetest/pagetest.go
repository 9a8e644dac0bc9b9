// Package pagetest sends requests to pages in tests.
package pagetest

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Answer is the answer to a request, with its whole body.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	URL    *url.URL // URL of the answer, after redirects
}

// Send requests a page if form is nil; otherwise it posts the form. It returns the final answer, after redirects, and fails the test on an
// error.
func Send(t testing.TB, c *http.Client, address string, form url.Values) Answer {
	t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return Do(t, c, r)
}

// Do sends a request and returns the final answer, after redirects. It fails the test on an error.
func Do(t testing.TB, c *http.Client, r *http.Request) Answer {
	t.Helper()
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Status: answer.StatusCode, Header: answer.Header, Body: string(text), URL: answer.Request.URL}
}
