package agentstest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright/agents/request"
)

// Requests is a request.Client that sends nothing. A test scripts its answers and reads its requests. It is safe for concurrent use.
type Requests struct {
	// Check implements CheckURL. If nil, every URL is allowed.
	Check func(url string) error
	// Answer returns the response to a request. If nil, every response is 200 with the body {}. Concurrent requests call it concurrently.
	Answer func(ctx context.Context, r request.Request) (request.Response, error)

	mu   sync.Mutex
	made []request.Request
}

// CheckURL returns the result of Check, or nil without Check.
func (c *Requests) CheckURL(url string) error {
	if c.Check == nil {
		return nil
	}
	return c.Check(url)
}

// Do records the request and returns the result of Answer. If ctx has ended, it returns ctx's error.
func (c *Requests) Do(ctx context.Context, r request.Request) (request.Response, error) {
	c.mu.Lock()
	c.made = append(c.made, r)
	c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return request.Response{}, err
	}
	if c.Answer == nil {
		return request.Response{Status: 200, Body: []byte("{}")}, nil
	}
	return c.Answer(ctx, r)
}

// Made returns the requests so far, in order.
func (c *Requests) Made() []request.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.made)
}

// JSON returns a value for Requests.Answer: a function that always returns status 200 and the given body.
func JSON(body string) func(context.Context, request.Request) (request.Response, error) {
	return func(context.Context, request.Request) (request.Response, error) {
		return request.Response{Status: 200, Body: []byte(body)}, nil
	}
}
