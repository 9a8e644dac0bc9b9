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
	Method string     // empty: GET
	Path   string     // escaped, such as Path returns, and below Config.BaseURL
	Query  url.Values // nil: none
	Body   any        // []byte and json.RawMessage are sent as they are, anything else as JSON; nil: none
	// IdempotencyKey makes the server answer a repeated request as the first one, so that it may be retried; empty: none.
	IdempotencyKey string
	Header         http.Header // further headers; nil: none
}

// Answer is a successful answer. Its body has at most Config.MaxAnswer bytes.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a request and returns the answer as it is. A failed answer is an *Error.
func (c *Client) Do(ctx context.Context, q Request) (Answer, error) {
	r, err := c.request(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	return c.answer(r)
}

// answer sends a request and reads its answer.
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
		return Answer{}, callwright.Errorf(callwright.CodePayloadTooLarge, "the answer of %s has more than %d bytes", operation(r), c.cfg.MaxAnswer)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// Decode decodes the JSON of an answer into v: its member data if it has one that is not null, and otherwise all of it.
func (a Answer) Decode(v any) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	body := a.Body
	if json.Unmarshal(body, &envelope) == nil && len(envelope.Data) > 0 && string(envelope.Data) != "null" {
		body = envelope.Data
	}
	if err := json.Unmarshal(body, v); err != nil {
		return callwright.Errorf(callwright.CodeInternal, "unexpected answer: check that %s names a Callwright server",
			BaseVariable).Because(err)
	}
	return nil
}

// request makes the request of q.
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
		return nil, callwright.Invalid("path", "the request cannot be made: check method and path")
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

// bodyOf returns the body of a request; nil: none.
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

// get makes a GET request and decodes the whole answer, without a look for data.
func (c *Client) get(ctx context.Context, path string, query url.Values, v any) error {
	return c.call(ctx, Request{Path: path, Query: query}, v)
}

// call makes a request and decodes the whole answer.
func (c *Client) call(ctx context.Context, q Request, v any) error {
	r, err := c.request(ctx, q)
	if err != nil {
		return err
	}
	return c.receive(r, v)
}

// receive sends a request and decodes the whole answer.
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

// unexpected returns an error of a success that cannot be read.
func unexpected(r *http.Request) *callwright.Error {
	return callwright.Errorf(callwright.CodeInternal, "%s: unexpected answer: check that %s names a Callwright server",
		operation(r), BaseVariable)
}
