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

// errSilent is the cause of a request that is given up because nothing came.
var errSilent = errors.New("the server stayed silent for too long")

// send sends a request to the API with the key. It returns a successful answer, whose body must be closed; every other is an
// *Error. A JSON body has been read, within Config.MaxAnswer.
func (c *Client) send(r *http.Request) (*http.Response, error) { return c.sendWith(r, c.readJSON) }

// sendStream is send with a JSON body for the caller to read and bound.
func (c *Client) sendStream(r *http.Request) (*http.Response, error) {
	return c.sendWith(r, func(*http.Response, string, callwright.Secret) error { return nil })
}

// reader reads a successful answer.
type reader func(resp *http.Response, operation string, key callwright.Secret) error

func (c *Client) sendWith(r *http.Request, read reader) (*http.Response, error) {
	if r.URL.Scheme != c.base.Scheme || r.URL.Host != c.base.Host {
		return nil, callwright.Invalid(baseField, "the request is for another host than the client's: make a client for it")
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.key().Reveal())
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json, */*;q=0.5")
	}
	return c.withRetry(r.Context(), repeatable(r), func() (*http.Response, error) { return c.once(c.api, r, c.key(), read) })
}

// load sends a request without the key, to any host.
func (c *Client) load(r *http.Request) (*http.Response, error) {
	return c.withRetry(r.Context(), repeatable(r), func() (*http.Response, error) { return c.once(c.loader, r, "", c.readJSON) })
}

// once tries a request once.
func (c *Client) once(via *http.Client, r *http.Request, key callwright.Secret, read reader) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watch{timer: time.AfterFunc(c.cfg.Silence, func() { cancel(errSilent) }), silence: c.cfg.Silence, cancel: cancel}
	try := r.Clone(ctx)
	try.Header.Set("User-Agent", c.cfg.UserAgent)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			w.end()
			return nil, fmt.Errorf("client: repeat the body: %w", err)
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
		_ = resp.Body.Close() // nothing of it is needed
		return nil, err
	}
	return resp, nil
}

// operation names a request, without its query, which may hold a signature.
func operation(r *http.Request) string { return r.Method + " " + r.URL.EscapedPath() }

// check reads a failed answer as an error, and others with read.
func check(resp *http.Response, operation string, key callwright.Secret, read reader) error {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, MaxErrorBody)) // a partial body is enough
		return newError(operation, resp.StatusCode, resp.Header, body, key)
	}
	return read(resp, operation, key)
}

// readJSON reads a body that is JSON, which holds errors or is the result.
func (c *Client) readJSON(resp *http.Response, operation string, key callwright.Secret) error {
	if !isJSON(resp.Header) {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.cfg.MaxAnswer+1))
	switch {
	case err != nil:
		return err
	case int64(len(body)) > c.cfg.MaxAnswer:
		return callwright.Errorf(callwright.CodePayloadTooLarge, "the answer of %s has more than %d bytes: ask for a smaller page", operation, c.cfg.MaxAnswer)
	case hasErrors(body):
		return newError(operation, resp.StatusCode, resp.Header, body[:min(len(body), MaxErrorBody)], key)
	}
	_ = resp.Body.Close() // it is read
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// isJSON reports whether an answer is JSON.
func isJSON(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// noAnswer explains an error of a request whose answer did not come or did not end. Errors of the API and of the client pass. The
// address that package http puts into its errors is omitted, because its query may hold a signature.
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
	where := r.URL.Scheme + "://" + r.URL.Host
	return callwright.Errorf(callwright.CodeUnavailable,
		"%s: no answer from %s: %s: check that the server runs and that %s names it", operation(r), where, err, BaseVariable).
		Because(errors.Join(errNoAnswer, err))
}

// watch aborts a request after a time without data.
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

// watched is a body whose reading shows that something moves.
type watched struct {
	io.ReadCloser

	watch *watch
	keep  bool // the end of this body does not end the request
}

// Read reads, and lets the watch begin again.
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
