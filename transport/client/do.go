package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/callwright/callwright"
)

// Request is a request for Client.Do.
type Request struct {
	Method string     // default GET
	Path   string     // escaped path below Config.BaseURL, as Path returns it
	Query  url.Values // may be nil
	Body   any        // []byte and json.RawMessage are sent unchanged, other values as JSON; nil means no body
	// IdempotencyKey makes the server answer a repeated request as it answered the first one, so that the client may retry the request. It
	// may be empty.
	IdempotencyKey string
	Header         http.Header // further headers; may be nil
}

// Answer is a successful answer. Body has at most Config.MaxAnswer bytes.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and returns the answer without decoding it. If the answer is not successful or contains errors, Do returns an *Error.
func (c *Client) Do(ctx context.Context, q Request) (Answer, error) {
	r, err := c.request(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	return c.answer(r)
}

// answer sends a request and reads its answer, up to Config.MaxAnswer bytes.
func (c *Client) answer(r *http.Request) (Answer, error) {
	resp, err := c.send(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.cfg.MaxAnswer+1))
	if err != nil {
		return Answer{}, c.noAnswer(r.Context(), r, err)
	}
	if int64(len(body)) > c.cfg.MaxAnswer {
		return Answer{}, callwright.Errorf(callwright.CodePayloadTooLarge, "the answer of %s has more than %d bytes: ask for less, such as a smaller page, or raise Config.MaxAnswer",
			operation(r), c.cfg.MaxAnswer)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// Decode decodes the JSON of an answer into v. If the JSON has a member "data" that is not null, Decode decodes only this member. It
// returns CodeInternal if the JSON does not fit v.
func (a Answer) Decode(v any) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	body := a.Body
	if json.Unmarshal(body, &envelope) == nil && len(envelope.Data) > 0 && string(envelope.Data) != "null" {
		body = envelope.Data
	}
	if err := json.Unmarshal(body, v); err != nil {
		return callwright.Errorf(callwright.CodeInternal, "the answer does not fit the type %T: check the type, and that %s names a Callwright server",
			v, BaseVariable).Because(err)
	}
	return nil
}

// request converts q to an HTTP request, without the key.
func (c *Client) request(ctx context.Context, q Request) (*http.Request, error) {
	if err := checkPath(q.Path); err != nil {
		return nil, err
	}
	address := c.base.String() + q.Path
	if len(q.Query) > 0 {
		address += "?" + q.Query.Encode()
	}
	body, err := bodyOf(q.Body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, orElse(q.Method, http.MethodGet), address, body)
	if err != nil {
		if _, bad := url.Parse(address); bad != nil {
			return nil, callwright.Invalid("path", "must be an escaped path such as /v1/voices, without spaces and control characters")
		}
		return nil, callwright.Invalid("path", "the method of the request must be an HTTP method such as GET, not %q", q.Method)
	}
	for name, values := range q.Header {
		r.Header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
	if body != nil && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.IdempotencyKey != "" {
		r.Header.Set(idempotencyKey, q.IdempotencyKey)
	}
	return r, nil
}

// bodyOf returns the encoded body of a request, or nil for nil.
func bodyOf(body any) (io.Reader, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil //nolint:nilnil // http's word for no body
	case []byte:
		return bytes.NewReader(body), nil
	case json.RawMessage:
		return bytes.NewReader(body), nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, callwright.Invalid("body", "cannot be written as JSON: %s", err)
	}
	return bytes.NewReader(text), nil
}

// get sends a GET request and decodes the whole answer into v. Answer.Decode, in contrast, decodes only the member "data" if there is one.
func (c *Client) get(ctx context.Context, path string, query url.Values, v any) error {
	return c.call(ctx, Request{Path: path, Query: query}, v)
}

// call sends a request and decodes the whole answer into v.
func (c *Client) call(ctx context.Context, q Request, v any) error {
	r, err := c.request(ctx, q)
	if err != nil {
		return err
	}
	return c.receive(r, v)
}

// receive sends an HTTP request and decodes the whole answer into v.
func (c *Client) receive(r *http.Request, v any) error {
	a, err := c.answer(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(a.Body, v); err != nil {
		return unexpected(r).Because(err)
	}
	return nil
}

// unexpected returns the error for a successful answer that cannot be decoded.
func unexpected(r *http.Request) *callwright.Error {
	return callwright.Errorf(callwright.CodeInternal, "%s: the answer is not that of a Callwright server: check that %s names one",
		operation(r), BaseVariable)
}
