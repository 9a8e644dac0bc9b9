package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright"
)

// errSilent is the cause with which a request is canceled after Config.Silence.
var errSilent = errors.New("the server stayed silent for too long")

// send sends a request to the API, with the key. It returns a successful answer, whose body the caller must close. Any other answer becomes
// an *Error. A JSON body has already been read and checked against Config.MaxAnswer.
func (c *Client) send(r *http.Request) (*http.Response, error) { return c.sendWith(r, c.readJSON) }

// sendStream is like send, but leaves a JSON body to the caller, who must limit its size.
func (c *Client) sendStream(r *http.Request) (*http.Response, error) {
	return c.sendWith(r, func(*http.Response, string, callwright.Secret) error { return nil })
}

// reader checks a successful answer, and may read its body.
type reader func(resp *http.Response, operation string, key callwright.Secret) error

func (c *Client) sendWith(r *http.Request, read reader) (*http.Response, error) {
	if r.URL.Scheme != c.base.Scheme || r.URL.Host != c.base.Host {
		return nil, callwright.Invalid(baseField, "the request is for %s://%s, but the client is for %s://%s: make a client for the server of the request",
			r.URL.Scheme, r.URL.Host, c.base.Scheme, c.base.Host)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.key().Reveal())
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json, */*;q=0.5")
	}
	return c.withRetry(r.Context(), repeatable(r), func() (*http.Response, error) { return c.once(c.api, r, c.key(), read) })
}

// load sends a request to any host, without the key.
func (c *Client) load(r *http.Request) (*http.Response, error) {
	return c.withRetry(r.Context(), repeatable(r), func() (*http.Response, error) { return c.once(c.loader, r, "", c.readJSON) })
}

// once sends a request without retries. It cancels the request if no data is sent or received for Config.Silence.
func (c *Client) once(via *http.Client, r *http.Request, key callwright.Secret, read reader) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watch{timer: time.AfterFunc(c.cfg.Silence, func() { cancel(errSilent) }), silence: c.cfg.Silence, cancel: cancel}
	try := r.Clone(ctx)
	try.Header.Set("User-Agent", c.cfg.UserAgent)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			w.end()
			return nil, fmt.Errorf("client: the request's body cannot be read: %w", err)
		}
		try.Body = body
	}
	if try.Body != nil && try.Body != http.NoBody {
		try.Body = &watched{ReadCloser: try.Body, watch: w, keep: true}
	}
	resp, err := via.Do(try) //nolint:gosec // to the address of the configuration, or one that checkLink has passed
	if err != nil {
		err = c.noAnswer(ctx, r, err)
		w.end()
		return nil, err
	}
	w.touch()
	resp.Body = &watched{ReadCloser: resp.Body, watch: w}
	if err := check(resp, operation(r), key, read); err != nil {
		err = c.noAnswer(ctx, r, err)
		_ = resp.Body.Close() // check has read all that is needed
		return nil, err
	}
	return resp, nil
}

// operation returns the method and the path of a request. It omits the query, which may contain a signature.
func operation(r *http.Request) string { return r.Method + " " + r.URL.EscapedPath() }

// check converts a failed answer to an *Error, and passes a successful answer to the function read.
func check(resp *http.Response, operation string, key callwright.Secret, read reader) error {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, MaxErrorBody)) // if this fails, the partial body is used
		return newError(operation, resp.StatusCode, resp.Header, body, key)
	}
	return read(resp, operation, key)
}

// readJSON reads a JSON body and replaces it by a copy in memory. It returns CodePayloadTooLarge if the body has more than Config.MaxAnswer
// bytes, and an *Error if the JSON contains errors. It leaves other bodies unread.
func (c *Client) readJSON(resp *http.Response, operation string, key callwright.Secret) error {
	if !isJSON(resp.Header) {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.cfg.MaxAnswer+1))
	switch {
	case err != nil:
		return err
	case int64(len(body)) > c.cfg.MaxAnswer:
		return callwright.Errorf(callwright.CodePayloadTooLarge, "the answer of %s has more than %d bytes: ask for less, such as a smaller page, or raise Config.MaxAnswer",
			operation, c.cfg.MaxAnswer)
	case hasErrors(body):
		return newError(operation, resp.StatusCode, resp.Header, body[:min(len(body), MaxErrorBody)], key)
	}
	_ = resp.Body.Close() // completely read
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// isJSON reports whether the Content-Type of an answer is JSON.
func isJSON(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// noAnswer returns the error for a request without a complete answer. It returns errors of the API and of the client unchanged. It omits
// the URL that package http adds to its errors, because the query may contain a signature.
func (c *Client) noAnswer(ctx context.Context, r *http.Request, err error) error {
	var failed *Error
	var coded *callwright.Error
	if errors.As(err, &failed) || errors.As(err, &coded) {
		return err
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if cause := context.Cause(r.Context()); cause != nil {
		return callwright.Errorf(callwright.CodeUnavailable, "%s: interrupted: %w", operation(r), cause)
	}
	if errors.Is(context.Cause(ctx), errSilent) {
		err = fmt.Errorf("%w (%s)", errSilent, c.cfg.Silence)
	}
	remedy := "check that the server runs"
	if r.URL.Host == c.base.Host {
		remedy += " and that " + BaseVariable + " names it"
	}
	return callwright.Errorf(callwright.CodeUnavailable,
		"%s: no answer from %s://%s: %s: %s", operation(r), r.URL.Scheme, r.URL.Host, err, remedy).
		Because(errors.Join(errNoAnswer, err))
}

// watch cancels a request after a period without data.
type watch struct {
	timer   *time.Timer
	silence time.Duration
	cancel  context.CancelCauseFunc
	ended   atomic.Bool
}

func (w *watch) touch() {
	if !w.ended.Load() {
		w.timer.Reset(w.silence)
	}
}

func (w *watch) end() {
	w.ended.Store(true)
	w.timer.Stop()
	w.cancel(nil)
}

// watched is a body that restarts the watch with each read.
type watched struct {
	io.ReadCloser

	watch *watch
	keep  bool // Close does not end the request
}

// Read reads from the body and restarts the watch.
func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.touch()
	return n, err
}

// Close closes the body. It also ends the request, unless keep is set.
func (b *watched) Close() error {
	err := b.ReadCloser.Close()
	if !b.keep {
		b.watch.end()
	}
	return err
}
